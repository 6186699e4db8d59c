"""Which runtime, and whose it is: for Kubernetes, the pod of its cores and its only container."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from emitter.fold.inventory import CORE_INDEX
from emitter.owners.given import Allocation
from neuron_wire.holders import MAX_NAME_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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

        is_sure: The process itself says that it is in a pod, task or job, whatever was given.
    """

    name: str | None = None
    team: str | None = None
    gone: bool = False
    is_sure: bool = False


NOBODY = RuntimeOwner()


def runtime_key(runtime: Runtime) -> RuntimeKey:
    """What tells one runtime from another: of the tag, as much as a line has."""
    tag = runtime.neuron_runtime_tag
    return runtime.pid, tag[:MAX_NAME_CHARS] if tag else tag


class CorePods:
    """Pods by core and by device as reports last told, and of runtimes while nothing is told."""

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

    def allocations(self) -> tuple[Allocation, ...] | None:
        """What reports say that pods were given; None where they do not tell it."""
        if self._info is None:
            return None
        cores: dict[RuntimeOwner, set[int]] = {}
        devices: dict[RuntimeOwner, set[int]] = {}
        for told, found in (
            (self._info.neuroncores_k8s_info, cores), (self._info.neurondevices_k8s_info, devices),
        ):  # fmt: skip
            for text, pod in (told or {}).items():
                owner = _owner(pod)
                if owner is not None and text in CORE_INDEX:
                    found.setdefault(owner, set()).add(CORE_INDEX[text])
        return tuple(
            Allocation(
                owner.name or "", owner.team, frozenset(cores.get(owner, ())),
                frozenset(devices.get(owner, ())),
            )
            for owner in dict.fromkeys((*cores, *devices))
        )  # fmt: skip

    def owner(
        self,
        runtime: RuntimeKey,
        cores: Iterable[int],
        pods: Mapping[int, RuntimeOwner] | None,
    ) -> RuntimeOwner | None:
        """
        Of *pods*, to whom each core is given, that of most of *cores*, of the first on a tie.

        While nobody tells that, the pod of *runtime* in the minute before.
        """
        if pods is None:
            owner = self._named_before.get(runtime)
        else:
            counts = Counter(pods[core] for core in cores if core in pods)
            owner = counts.most_common(1)[0][0] if counts else None
        self._named[runtime] = owner
        return owner


def _owner(pod: Pod | None) -> RuntimeOwner | None:
    if pod is None or not pod.pod_name:
        return None
    name = f"{pod.namespace}/{pod.pod_name}" if pod.namespace else pod.pod_name
    containers = pod.container_name or ()
    if pod.namespace and len(containers) == 1 and containers[0]:
        name = f"{name}/{containers[0]}"
    return RuntimeOwner(name[:MAX_NAME_CHARS], team=pod.namespace or None)
