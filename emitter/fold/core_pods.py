"""Whose a core is, as Kubernetes says: the pod it is allocated to, and its only container."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from emitter.fold.runtime_owner import RuntimeOwner

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.reports.system_groups import KubernetesInfo, Pod

KEPT_MINUTES: Final = 2
"""Minutes for which the last word counts: the group is due every 15 s, or has gone."""

MAX_OWNER_CHARS: Final = 381
"""A namespace and a container have at most 63, a pod 253:
https://kubernetes.io/docs/concepts/overview/working-with-objects/names/"""


class CorePods:
    """Pods by core and by device, as last told."""

    def __init__(self) -> None:
        self._info: KubernetesInfo | None = None
        self._minutes_left = 0

    def add(self, info: KubernetesInfo | None) -> None:
        """Take the group of one report."""
        if info is None or info.error:
            return
        if info.neuroncores_k8s_info is not None or info.neurondevices_k8s_info is not None:
            self._info = info
            self._minutes_left = KEPT_MINUTES

    def end_minute(self) -> None:
        """A minute ends: what was told long ago no longer counts."""
        self._minutes_left -= 1
        if self._minutes_left <= 0:
            self._info = None

    def of(self, cores: Iterable[int], cores_per_device: int | None) -> RuntimeOwner | None:
        """The pod that most of *cores* are allocated to, the one of the first core on a tie."""
        if self._info is None:
            return None
        pods = Counter(owner for core in cores if (owner := self._pod(core, cores_per_device)))
        return pods.most_common(1)[0][0] if pods else None

    def _pod(self, core: int, cores_per_device: int | None) -> RuntimeOwner | None:
        info = self._info
        if info is None:
            return None
        owner = _owner((info.neuroncores_k8s_info or {}).get(str(core)))
        if owner is None and cores_per_device:
            # A pod that asked for whole devices.
            owner = _owner((info.neurondevices_k8s_info or {}).get(str(core // cores_per_device)))
        return owner


def _owner(pod: Pod | None) -> RuntimeOwner | None:
    if pod is None or not pod.pod_name:
        return None
    name = f"{pod.namespace}/{pod.pod_name}" if pod.namespace else pod.pod_name
    containers = pod.container_name or ()
    if pod.namespace and len(containers) == 1 and containers[0]:
        name = f"{name}/{containers[0]}"
    return RuntimeOwner(name[:MAX_OWNER_CHARS], team=pod.namespace or None)
