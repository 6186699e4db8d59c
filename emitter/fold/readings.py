"""
Numbers of a minute that each report tells in one of its system groups: one line each.

A new one is an entry in `neuron_wire.catalogue` that says how it `merges`, and
a line in a table below that says how it is read; nothing else knows its name.
How the reports of a minute become one number is what the entry says:

* `last`  the last report that tells it
* `sum`   of all reports: an amount of the period
* `mean`  of the reports, weighted by the period of the group; those under
          half a second are noise and left out

A group that is absent or in error tells nothing, and a number that cannot be
(`emitter.fold.amounts`) is missing: what nobody told is in no line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from emitter.fold.amounts import MAX_AMOUNT, as_told
from emitter.fold.periods import is_long_enough
from neuron_wire.catalogue import READINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from emitter.reports.system_groups import HostMemory, System, VcpuUsage

MAX_WAITING: Final = 12
"""
Reports that are looked at together, as many as a minute has at the usual period
of 5 s: one by one they would cost more.
"""


_Group = TypeVar("_Group", bound="HostMemory | VcpuUsage")
Rules = Mapping[str, Callable[[_Group], float | None]]
"""By the name of the member, how it is read from its group."""


def _working_percent(vcpu: VcpuUsage) -> float | None:
    """Time in which something runs; waiting for I/O is not work."""
    average = vcpu.average_usage
    if average is None:
        return None
    percent = (
        (average.user or 0.0)
        + (average.nice or 0.0)
        + (average.system or 0.0)
        + (average.irq or 0.0)
        + (average.soft_irq or 0.0)
    )
    if not percent and average.user is average.nice is average.system is None:
        return 0.0 if average.irq is not None or average.soft_irq is not None else None
    return min(100.0, max(0.0, percent))


MEMORY: Final[Rules[HostMemory]] = {
    "HostMemoryUsed": lambda memory: memory.memory_used_bytes,
    "HostMemoryTotal": lambda memory: memory.memory_total_bytes,
}
VCPU: Final[Rules[VcpuUsage]] = {"HostCpuPercent": _working_percent}

BESIDE: Final = ("HardwareFaults",)
"""Readings that no report tells: `Readings.add_count` takes them."""


class Readings:
    """The readings of the open minute."""

    def __init__(self) -> None:
        # Without error: what a group says of its errors may be as long as a report.
        self._memory: list[HostMemory] = []
        self._vcpu: list[VcpuUsage] = []
        self._values: dict[str, float] = {}  # of a mean, the weighted sum
        self._weights_s: dict[str, float] = {}

    def add(self, system: System) -> None:
        """Take the system groups of one report."""
        memory, vcpu = system.memory_info, system.vcpu_usage
        if memory is not None and not memory.error:
            self._memory.append(memory)
        if vcpu is not None and not vcpu.error:
            self._vcpu.append(vcpu)
        if max(len(self._memory), len(self._vcpu)) == MAX_WAITING:
            self._fold()

    def add_count(self, member: str, amount: int) -> None:
        """Add to a tally that is told beside the reports; 0 is told, too."""
        self._values[member] = self._values.get(member, 0) + amount

    def told(self) -> dict[str, int | float]:
        """Every reading that anybody told, by the name of its member."""
        self._fold()
        return {
            member: as_told(value / self._weights_s.get(member, 1), READINGS[member].unit)
            for member, value in self._values.items()
        }

    def _fold(self) -> None:
        self._take(MEMORY, self._memory)
        self._take(VCPU, self._vcpu)
        self._memory, self._vcpu = [], []

    def _take(self, rules: Rules[_Group], groups: Sequence[_Group]) -> None:
        if not groups:
            return
        for member, read in rules.items():
            merges = READINGS[member].merges
            if merges == "mean":
                self._weigh(member, read, groups)
            elif merges == "last":
                last = next(_told(read, reversed(groups)), None)
                if last is not None:
                    self._values[member] = last
            elif values := [*_told(read, groups)]:
                self._values[member] = self._values.get(member, 0) + sum(values)

    def _weigh(
        self, member: str, read: Callable[[_Group], float | None], groups: Sequence[_Group]
    ) -> None:
        total, weight_s = self._values.get(member, 0.0), self._weights_s.get(member, 0.0)
        for group in groups:
            period_s, value = group.period, read(group)
            if is_long_enough(period_s) and value is not None and 0 <= value <= MAX_AMOUNT:
                total += period_s * value
                weight_s += period_s
        if weight_s:
            self._values[member], self._weights_s[member] = total, weight_s


def _told(read: Callable[[_Group], float | None], groups: Iterable[_Group]) -> Iterator[float]:
    """What *groups* tell that can be."""
    for group in groups:
        value = read(group)
        if value is not None and 0 <= value <= MAX_AMOUNT:
            yield value
