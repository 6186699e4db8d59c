"""Which runtime, and whose it is: for Kubernetes, the pod of its cores and its only container."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_wire.holders import MAX_NAME_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.reports.groups import Runtime
    from emitter.reports.system_groups import KubernetesInfo, Pod

RuntimeKey = tuple[int | None, str | None]
"""Pid and tag: tags collide (an unset one is "1" in every container), and so do pids over time."""

ALLOCATED_MINUTES: Final = 2
"""For which the last word on a core counts, the minute it was said in included."""

NAMED_MINUTES: Final = 10
"""Without any word, for which a runtime keeps its pod: whose processes are new, nobody says."""


class RuntimeOwner(NamedTuple):
    """
    The owner of one runtime.

    Attributes:
        name: What people group by, such as `namespace/pod/container`; None when nobody says.

        team: Of whom, as the scheduler says; None where it does not.

        gone: Its pod or job is no longer on the instance, and its process is.
    """

    name: str | None = None
    team: str | None = None
    gone: bool = False


NOBODY = RuntimeOwner()


def runtime_key(runtime: Runtime) -> RuntimeKey:
    """What tells one runtime from another: of the tag, as much as a line has."""
    tag = runtime.neuron_runtime_tag
    return runtime.pid, tag[:MAX_NAME_CHARS] if tag else tag


class CorePods:
    """Pods by core and by device, as last told, and those of runtimes while nothing is told."""

    def __init__(self) -> None:
        self._info: KubernetesInfo | None = None
        self._untold_minutes = 0
        self._named: dict[RuntimeKey, RuntimeOwner | None] = {}  # in the open minute
        self._named_before: dict[RuntimeKey, RuntimeOwner | None] = {}

    def add(self, info: KubernetesInfo | None) -> None:
        """Take the group of one report."""
        if info is None or info.error:
            return
        if info.neuroncores_k8s_info is not None or info.neurondevices_k8s_info is not None:
            self._info = info
            self._untold_minutes = 0

    def end_minute(self) -> None:
        """A minute ends: what was told long ago no longer counts."""
        if self._named:
            self._named, self._named_before = {}, self._named
        self._untold_minutes += 1
        if self._untold_minutes >= ALLOCATED_MINUTES:
            self._info = None
        if self._untold_minutes > NAMED_MINUTES:
            self._named_before = {}

    def owner(
        self, runtime: RuntimeKey, cores: Iterable[int], cores_per_device: int | None
    ) -> RuntimeOwner | None:
        """
        The pod that most of *cores* are allocated to, the one of the first core on a tie.

        While no report tells that, the pod of *runtime* in the minute before.
        """
        if self._info is None:
            owner = self._named_before.get(runtime)
        else:
            pods = Counter(
                pod for core in cores if (pod := _pod(self._info, core, cores_per_device))
            )
            owner = pods.most_common(1)[0][0] if pods else None
        self._named[runtime] = owner
        return owner


def _pod(info: KubernetesInfo, core: int, cores_per_device: int | None) -> RuntimeOwner | None:
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
    return RuntimeOwner(name[:MAX_NAME_CHARS], team=pod.namespace or None)
