"""
Assignments of the kubelet: the parts that its sources share, and the file of another container.

Until Kubernetes 1.34 the kubelet also lists finished pods
(https://github.com/kubernetes/kubernetes/pull/132028). A pod that runs has a process, at least the
one that holds its network; a pod that pulls its image has no container yet, and so no log folder.

The device plugin's IDs are numbers as strings. The scheduler extension may assign other cores and
does not report which: only their number is certain. Resources and driver are those of
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/index.html

Only root may open the kubelet's socket, and the emitter is not root: a small container next to it
asks the kubelet and writes the answer, or the reason why there is none, to a file in a volume that
both mount.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from msgspec import Struct, json

from neuron_emitter.instance.machine import MAX_MACHINE_FILE_BYTES, POD_MARK, read_bytes, read_text
from neuron_emitter.owners.assignments import Allocation, UnknownAssignmentsError
from neuron_emitter.owners.container_names import KUBERNETES_NAME, PodName, logged_pods
from neuron_emitter.owners.membership import POD_LOGS
from neuron_emitter.owners.places import reach
from neuron_wire.names import MAX_CORES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from neuron_emitter.logs import Clock
    from neuron_emitter.owners.assignments import Allocations, AssignmentSource
    from neuron_emitter.owners.places import Places

KUBELET: Final = "var/lib/kubelet"
CORES_RESOURCE: Final = "aws.amazon.com/neuroncore"
DEVICES_RESOURCES: Final = frozenset({"aws.amazon.com/neuron", "aws.amazon.com/neurondevice"})
DRA_DRIVER: Final = "neuron.aws.com"
RUN_AS_ROOT: Final = (
    "Run as root, without any capability; in a pod, have the chart's container `reservations` do it"
)
_RESOURCE_INDEX: Final = re.compile(r"([0-9]{1,4})")
_DEVICE_NAME: Final = re.compile(r"(?:[a-z0-9-]*[a-z-])?([0-9]{1,4})")
FRESH_S: Final = 30.0  # the file is written every 15 s
_CONTAINER_REMEDY: Final = (
    "Check the pod's container `reservations`: kubectl describe pod, kubectl logs"
)


def is_here(places: Places) -> bool:
    """Return True if a kubelet runs on this machine, or ran."""
    folders = [places.root / KUBELET, places.root / POD_LOGS]
    if not places.is_saved:
        folders.append(places.handed_over.parent)
        if POD_MARK in os.environ:
            return True
    return any(map(os.path.isdir, folders))  # os.path.isdir never raises


@dataclass(slots=True)
class PodIds:
    """The IDs assigned to one pod, collected from its containers."""

    cores: set[int] = field(default_factory=set)
    devices: set[int] = field(default_factory=set)
    containers: set[str] = field(default_factory=set)
    odd_ids: int = 0
    is_exact: bool = True

    def gather_resource(self, container: str, resource: str, ids: Iterable[str]) -> None:
        """Add the *ids* that a device plugin assigned to *container*, if of cores or devices."""
        if resource == CORES_RESOURCE or resource in DEVICES_RESOURCES:
            indexes = self.cores if resource == CORES_RESOURCE else self.devices
            self._gather(container, indexes, map(_RESOURCE_INDEX.fullmatch, ids))
            self.is_exact = False

    def gather_devices(self, container: str, names: Iterable[str]) -> None:
        """Add devices by name, such as `neuron-device-0`: exactly these are assigned."""
        self._gather(container, self.devices, map(_DEVICE_NAME.fullmatch, names))

    def _gather(
        self, container: str, indexes: set[int], matches: Iterable[re.Match[str] | None]
    ) -> None:
        for match in matches:
            if match and int(match[1]) < MAX_CORES:
                indexes.add(int(match[1]))
            else:
                self.odd_ids += 1
            self.containers.add(container)

    def allocation(self, pod: PodName) -> Allocation:
        """Return the assignment of *pod*, named by its container if only one container has any."""
        container = next(iter(self.containers)) if len(self.containers) == 1 else ""
        return Allocation(
            PodName(
                pod.namespace, pod.pod, container if KUBERNETES_NAME.fullmatch(container) else None
            ).text,
            team=pod.namespace,
            cores=frozenset(self.cores),
            devices=frozenset(self.devices),
            is_exact=self.is_exact,
            odd_ids=self.odd_ids,
        )


def mark_ended_pods(allocations: Allocations, places: Places) -> list[Allocation]:
    """Mark those of *allocations* as unverified whose pod has ended, if processes can be seen."""
    began: dict[str, dict[str, bool]] = {}
    for uid, pod, containers in logged_pods(places.root) if allocations else ():
        began.setdefault(pod.text, {})[uid] = bool(containers)
    maybe_ended = {}
    for allocation in allocations:
        ids = began.get("/".join(allocation.name.split("/")[:2]))
        if ids and all(ids.values()):
            maybe_ended[allocation.name] = set(ids)
    at_work = _with_processes(places, set().union(*maybe_ended.values()))
    ended = {name for name, ids in maybe_ended.items() if at_work is not None and not ids & at_work}
    return [
        allocation._replace(is_verified=allocation.name not in ended) for allocation in allocations
    ]


def _with_processes(places: Places, pods: AbstractSet[str]) -> set[str] | None:
    """Return the *pods* that have a process; None if processes of other pods are hidden."""
    if not pods or reach(places).why_not or read_text(places.proc / "1" / "cgroup") is None:
        return None
    forms = {uid: (uid.encode(), uid.replace("-", "_").encode()) for uid in pods}
    found = set()
    sees_pods = False
    with os.scandir(places.proc) as entries:
        pids = [int(entry.name) for entry in entries if entry.name.isdecimal()]
    for pid in sorted(pids, reverse=True):  # jobs start after the node's own processes
        groups = b""
        with suppress(OSError):  # the process has ended
            groups = read_bytes(places.proc / str(pid) / "cgroup", 64 << 10)
        if b"kubepods" not in groups or b"user@" in groups:  # users can give groups any name
            continue
        sees_pods = True
        found |= {uid for uid, names in forms.items() if any(name in groups for name in names)}
        if len(found) == len(forms):
            break
    return found if sees_pods else None


class _HandedOverFile(Struct, omit_defaults=True, gc=False):
    """Allocations at *at_s*, seconds since the epoch; or why there are none, and advice."""

    at_s: float
    allocations: tuple[Allocation, ...] = ()
    reason: str = ""
    remedy: str = ""


class HandedOver:
    """The file to which another container writes the kubelet's latest answer."""

    name = "the container reservations of this pod"

    def __init__(self, places: Places, *, clock: Clock = time.time) -> None:
        self._places = places
        self._clock = clock

    def read_allocations(self) -> Allocations:
        """
        Return the kubelet's answer to the other container.

        Raises:
            UnknownAssignmentsError: If it has no answer, or none of the last 30 s.
        """
        try:
            content = read_bytes(self._places.handed_over)
            answer = json.decode(content, type=_HandedOverFile)
        except (OSError, ValueError) as error:
            reason = f"{self._places.handed_over} cannot be read ({type(error).__name__})"
            raise UnknownAssignmentsError(reason, _CONTAINER_REMEDY) from error
        if abs(self._clock() - answer.at_s) > FRESH_S:
            reason = f"{self._places.handed_over} was written more than {FRESH_S:.0f} s ago"
            raise UnknownAssignmentsError(reason, _CONTAINER_REMEDY)
        if answer.reason:
            raise UnknownAssignmentsError(answer.reason, answer.remedy)
        return mark_ended_pods(answer.allocations, self._places)


def hand_over(source: AssignmentSource, file: Path, now_s: float) -> None:
    """
    Write the answer of *source* to *file*, completely or not at all.

    Raises:
        OSError: If it cannot be written.
    """
    try:
        answer = _HandedOverFile(now_s, tuple(source.read_allocations()))
    except UnknownAssignmentsError as error:
        answer = _HandedOverFile(now_s, reason=str(error), remedy=error.remedy)
    content = json.encode(answer)
    if len(content) > MAX_MACHINE_FILE_BYTES:
        reason = f"the answer is larger than {MAX_MACHINE_FILE_BYTES >> 20} MiB"
        content = json.encode(_HandedOverFile(now_s, reason=reason, remedy=_CONTAINER_REMEDY))
    written = file.with_suffix(".new")
    written.write_bytes(content)
    written.chmod(0o644)
    written.replace(file)
