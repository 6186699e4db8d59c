"""
What the sources of the kubelet have in common: whether it is here, ids, and pods that have ended.

Until Kubernetes 1.34 the kubelet lists finished pods, too
(https://github.com/kubernetes/kubernetes/pull/132028). One that runs has a process, if only the
one that holds its network; one that pulls its image has no container yet, so no folder for logs.
Ids of the device plugin are strings of numbers, and what the scheduler extension gave in their
place is unknown: only their count is sure. Resources and driver as in
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/index.html
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from emitter.instance.machine import read_bytes, read_text
from emitter.owners.given import Allocation
from emitter.owners.kubernetes import NAME, POD_LOGS, PodName, logged_pods
from emitter.owners.reach import reach
from neuron_wire.names import MAX_CORES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from emitter.owners.places import Places

KUBELET: Final = "var/lib/kubelet"
IN_A_POD: Final = "KUBERNETES_SERVICE_HOST"  # in the environment of every container
CORES: Final = "aws.amazon.com/neuroncore"
DEVICES: Final = frozenset({"aws.amazon.com/neuron", "aws.amazon.com/neurondevice"})
DRIVER: Final = "neuron.aws.com"

RUN_AS_ROOT: Final = (
    "Run as root, without any capability; in a pod, have the chart's container `reservations` do it"
)

_INDEX: Final = re.compile(r"([0-9]{1,4})")
_DEVICE_NAME: Final = re.compile(r"(?:[a-z0-9-]*[a-z-])?([0-9]{1,4})")
_CGROUP_BYTES: Final = 64 << 10


def is_here(places: Places) -> bool:
    """Whether a kubelet runs on this machine, or ran."""
    folders = [places.root / KUBELET, places.root / POD_LOGS]
    if not places.is_saved:
        folders.append(places.handed_over.parent)
        if IN_A_POD in os.environ:
            return True
    return any(map(os.path.isdir, folders))  # which never raises


@dataclass(slots=True)
class PodIds:
    """The ids that one pod was given, gathered from its containers."""

    cores: set[int] = field(default_factory=set)
    devices: set[int] = field(default_factory=set)
    containers: set[str] = field(default_factory=set)
    odd_ids: int = 0
    is_exact: bool = True

    def gather_resource(self, container: str, resource: str, ids: Iterable[str]) -> None:
        """Take what a device plugin gave to *container*; other resources are none of ours."""
        if resource == CORES:
            self._gather(container, self.cores, map(_INDEX.fullmatch, ids))
        elif resource in DEVICES:
            self._gather(container, self.devices, map(_INDEX.fullmatch, ids))
        else:
            return
        self.is_exact = False

    def gather_devices(self, container: str, names: Iterable[str]) -> None:
        """Take devices by name, such as `neuron-device-0`: it has these very ones."""
        self._gather(container, self.devices, map(_DEVICE_NAME.fullmatch, names))

    def _gather(
        self, container: str, indexes: set[int], matches: Iterable[re.Match[str] | None]
    ) -> None:
        for match in matches:
            index = int(match[1]) if match else MAX_CORES
            if index < MAX_CORES:
                indexes.add(index)
            else:
                self.odd_ids += 1
            self.containers.add(container)

    def allocation(self, pod: PodName) -> Allocation:
        """What *pod* was given, by the name of its container where only one was given any."""
        container = next(iter(self.containers)) if len(self.containers) == 1 else ""
        return Allocation(
            PodName(pod.namespace, pod.pod, container if NAME.fullmatch(container) else None).text,
            team=pod.namespace,
            cores=frozenset(self.cores),
            devices=frozenset(self.devices),
            is_exact=self.is_exact,
            odd_ids=self.odd_ids,
        )


def verified(allocations: Sequence[Allocation], places: Places) -> list[Allocation]:
    """Allocations, those of pods that have ended marked; where that cannot be seen, none has."""
    began: dict[str, dict[str, bool]] = {}
    for uid, pod, containers in logged_pods(places.root) if allocations else ():
        began.setdefault(pod.text, {})[uid] = bool(containers)
    doubtful = {}
    for allocation in allocations:
        ids = began.get("/".join(allocation.name.split("/")[:2]))
        if ids and all(ids.values()):
            doubtful[allocation.name] = set(ids)
    at_work = _with_processes(places, set().union(*doubtful.values()))
    ended = {name for name, ids in doubtful.items() if at_work is not None and not ids & at_work}
    return [one._replace(is_verified=one.name not in ended) for one in allocations]


def _with_processes(places: Places, pods: AbstractSet[str]) -> set[str] | None:
    """Those of *pods* that have a process; None where no process of other pods can be seen."""
    if not pods or reach(places).why_not or read_text(places.proc / "1" / "cgroup") is None:
        return None
    forms = {uid: (uid.encode(), uid.replace("-", "_").encode()) for uid in pods}
    found: set[str] = set()
    sees_pods = False
    with os.scandir(places.proc) as entries:
        pids = [int(entry.name) for entry in entries if entry.name.isdecimal()]
    for pid in sorted(pids, reverse=True):  # jobs began after what the node itself runs
        try:
            groups = read_bytes(places.proc / str(pid) / "cgroup", _CGROUP_BYTES)
        except OSError:
            continue
        if b"kubepods" not in groups or b"user@" in groups:  # users name groups as they like
            continue
        sees_pods = True
        found |= {uid for uid, names in forms.items() if any(name in groups for name in names)}
        if len(found) == len(forms):
            break
    return found if sees_pods else None
