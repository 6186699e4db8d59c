"""
The owner of a runtime, and the scheduler's assignments to pods, tasks and jobs, used or not.

A source reports cores or devices. From IDs alone only their number is certain, because the Neuron
scheduler extension may have assigned others. Unknown does not mean unreserved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

# `none`: no kubelet, ECS agent or slurmd runs here. `unknown`: one runs, and did not answer
# completely.
Text = str | None  # None if unknown
Status = Literal["known", "none", "unknown"]


class RuntimeOwner(NamedTuple):
    """
    The owner of a process or of one runtime.

    Attributes:
        name: The name that people group by, such as `namespace/pod/container` or
            `ecs:search/llama/server`; None if unknown.

        team: Team name from the scheduler; None if unknown.

        gone: True if its pod or job is no longer on the instance while its process is.

        is_final: True if another lookup would find the same owner.

        pod: ID of the pod of its process; None if the process is in none.

        job: Number of the Slurm job of its process, or `sluid=` and the SLUID if its control group
            has no number; None if it is in no job.

        started: The minute in which its process started, such as `2026-11-22T02:10Z`; None if
            unknown.

        command: The command name of its process, without arguments; None if unknown.
    """

    name: Text = None
    team: Text = None
    gone: bool = False
    is_final: bool = True
    pod: Text = None
    job: Text = None
    started: Text = None
    command: Text = None

    @property
    def is_sure(self) -> bool:
        """Return True if the process itself shows its pod, task or job."""
        name = self.name or ""
        if self.pod is not None:
            return not name.startswith("pod:")
        return self.job is not None or name.startswith("ecs:")


OwnerOf = Callable[[int], RuntimeOwner | None]
"""Returns the owner of the process with an ID; None if unknown."""


class Allocation(NamedTuple):
    """
    The cores and devices assigned to one pod, task or job.

    Attributes:
        name: The same name as for the owner of its processes: `ml/trainer-0/main`, or
            `ml/trainer-0` for several containers, `ecs:search/llama/server`, `slurm:4711 ada`;
            empty if unknown.

        team: Team name from the scheduler; None if unknown.

        cores: Indexes of logical NeuronCores, from 0 on the instance.

        devices: Indexes of Neuron devices; it has all cores of each.

        is_exact: True if these cores and devices are certain; otherwise only their number is.

        is_verified: True if it runs or waits to start. An allocation that has no process and does
            not start is counted and reserves nothing.

        odd_ids: The number of its IDs that are not indexes, such as `0::1` of a device-sharing
            tool; they are dropped.

        job: Slurm job, as in `RuntimeOwner.job`; None if it is not a job.

        has_ended: True if the job no longer runs: one of its processes is left over.
    """

    name: str
    team: Text = None
    cores: frozenset[int] = frozenset()
    devices: frozenset[int] = frozenset()
    is_exact: bool = False
    is_verified: bool = True
    odd_ids: int = 0
    job: Text = None
    has_ended: bool = False


Allocations = Sequence[Allocation]


def with_job(owner: RuntimeOwner, allocations: Iterable[Allocation]) -> RuntimeOwner:
    """Return *owner* with the members that the scheduler knows of its job."""
    for known in allocations:
        if owner.job is not None and owner.job == known.job:
            return owner._replace(
                name=known.name or owner.name,
                team=known.team or owner.team,
                gone=owner.gone or known.has_ended,
            )
    return owner


@dataclass(frozen=True, slots=True)
class Assignments:
    """
    The known assignments; *allocations* and *sources* are empty if *status* is `none`.

    Attributes:
        allocations: All of them if *status* is `known`, the known part if it is `unknown`.

        sources: Names of the sources that answered.
    """

    status: Status
    allocations: tuple[Allocation, ...] = ()
    sources: tuple[str, ...] = ()


class UnknownAssignmentsError(Exception):
    """
    A source did not answer, or not completely.

    Attributes:
        remedy: Advice, such as which folder to mount; a sentence without its period.

        known: The part that is known in spite of the failure; None if nothing is.
    """

    def __init__(self, reason: str, remedy: str, known: Allocations | None = None) -> None:
        super().__init__(reason)
        self.remedy = remedy
        self.known = known


class AssignmentSource(Protocol):
    """A source of assignments."""

    name: str
    """Name for people: `the kubelet's pod-resources socket`."""

    def read_allocations(self) -> Allocations:
        """
        Return all assignments; empty if there are none.

        Called every 15 s: an expensive source repeats its last answer.

        Raises:
            UnknownAssignmentsError: If it did not answer.
        """
