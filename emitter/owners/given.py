"""
What the scheduler of this instance has given to pods, tasks and jobs, whether they use it or not.

A source says which cores or devices; from ids alone only their number is sure, for the Neuron
scheduler extension may have given others. Unread is not unreserved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

# `none`: no kubelet, ECS agent or slurmd runs here. `unread`: one does, and did not answer.
Status = Literal["read", "none", "unread"]


class Allocation(NamedTuple):
    """
    What one pod, task or job was given.

    Attributes:
        name: As the owner of its processes is called: `ml/trainer-0/main`, or `ml/trainer-0` of
            several containers; `ecs:search/llama/server`; `slurm:4711 ada`.

        team: Of whom, as the scheduler says; None where it does not.

        cores: Indexes of logical NeuronCores, from 0 on the instance.

        devices: Indexes of Neuron devices, of which it has all cores.

        is_exact: It got these very ones; else only their number is sure.

        is_verified: It runs or waits to start; one that has no process and does not start is
            counted and reserves nothing.

        odd_ids: How many ids of it are no index, such as `0::1` of a tool that shares devices;
            they are dropped.
    """

    name: str
    team: str | None = None
    cores: frozenset[int] = frozenset()
    devices: frozenset[int] = frozenset()
    is_exact: bool = False
    is_verified: bool = True
    odd_ids: int = 0


@dataclass(frozen=True, slots=True)
class Given:
    """
    What is known now; *allocations* and *sources* are empty where *status* is not `read`.

    Attributes:
        sources: Names of the sources that answered.
    """

    status: Status
    allocations: tuple[Allocation, ...] = ()
    sources: tuple[str, ...] = ()


class UnreadError(Exception):
    """
    A source did not answer.

    Attributes:
        remedy: What to do about it, such as which folder to mount; a sentence without its stop.
    """

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.remedy = remedy


class GivenSource(Protocol):
    """A place that knows what was given."""

    name: str
    """As a person knows it: `the kubelet's pod-resources socket`."""

    def read_allocations(self) -> Sequence[Allocation]:
        """
        All that it gave; none where it gave nothing.

        Called every 15 s: a source that is costly to ask repeats its last answer.

        Raises:
            UnreadError: If it did not answer.
        """
