"""
Metrics of a rollup that are each made of one number of the instances' minutes: one line each.

A new one is an entry in `neuron_wire.catalogue`, which says whether it
is a gauge or a tally, and an entry in a table below. What no instance told is absent.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING, Final

from aggregator.rollups.ranking import Ranking
from neuron_wire.catalogue import ROLLUP_NUMBERS
from neuron_wire.names import OTHER_OWNERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_wire import MinuteRecord
    from neuron_wire.catalogue import Family

MAX_FAILING_INSTANCES: Final = 20
MAX_LISTED_OWNERS: Final = 4  # of an instance

SUMS: Final = (
    "TeraFlops", "DeviceMemoryUsed", "Executions", "ExecutionErrors", "EccCorrectedRise",
    "EccUncorrectedRise", "HardwareFaults",
)  # fmt: skip
"""Metrics that add over the instances the number that has the same name in the minute line."""

LARGER: Final[Mapping[str, tuple[str, ...]]] = {
    "HardwareErrors": ("EccUncorrectedRise", "HardwareFaults"),
}
"""Metrics that add over the instances the larger of numbers that may tell of the same thing."""

GREATEST: Final = ("LatencyP99Max",)
"""Metrics that are the greatest of the instances' numbers of the same name."""

FAILING: Final = {
    "EccInstances": "EccUncorrectedRise",
    "ErrorInstances": "ExecutionErrors",
    "FaultyInstances": "HardwareFaults",
}
"""Lists of the instances that have most of something; a list is absent when none has any."""


@dataclass(frozen=True, slots=True)
class Failing:
    """
    An instance with failures.

    Attributes:
        instance_id: Its name.

        count: How many in the minute, at least 1.

        owners: Who had cores of it, most cores first, at most 4, and `[others]` for the rest.

        details: Of executions, how many ended and how the others failed, by member.
    """

    instance_id: str
    count: float
    owners: Sequence[str] = ()
    details: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Amounts:
    """
    What the tables above say, of the instances added so far in any order.

    Numbers that are not whole are kept one by one and summed at the end,
    because the sum of floats depends on their order.
    """

    _whole: dict[str, int] = field(default_factory=dict)
    _parts: dict[str, array[float]] = field(default_factory=dict)
    _greatest: dict[str, float] = field(default_factory=dict)
    _failing: dict[str, Ranking[Failing]] = field(
        default_factory=lambda: {name: Ranking(MAX_FAILING_INSTANCES) for name in FAILING}
    )

    def add(self, record: MinuteRecord) -> None:
        """Add an instance."""
        for metric in SUMS:
            if (amount := record.number(metric)) is not None:
                self._add_amount(metric, amount)
        for metric, members in LARGER.items():
            amounts = [one for one in map(record.number, members) if one is not None]
            if amounts:
                self._add_amount(metric, max(amounts))
        for metric in GREATEST:
            amount = record.number(metric)
            if amount is not None:
                self._greatest[metric] = max(self._greatest.get(metric, amount), amount)
        for name, member in FAILING.items():
            if count := record.number(member):
                failing = _failing(record, member, count)
                self._failing[name].add((-count, record.instance_id), failing)

    def _add_amount(self, metric: str, amount: float) -> None:
        if isinstance(amount, int):
            self._whole[metric] = self._whole.get(metric, 0) + amount
        else:
            self._parts.setdefault(metric, array("d")).append(amount)

    def include(self, other: Amounts) -> None:
        """Add the instances of *other*."""
        for metric, whole in other._whole.items():
            self._whole[metric] = self._whole.get(metric, 0) + whole
        for metric, parts in other._parts.items():
            self._parts.setdefault(metric, array("d")).extend(parts)
        for metric, amount in other._greatest.items():
            self._greatest[metric] = max(self._greatest.get(metric, amount), amount)
        for name, ranking in other._failing.items():
            self._failing[name].include(ranking)

    def of(self, family: Family) -> dict[str, float]:
        """The metrics of one family, `gauge` or `tally`."""
        sums: dict[str, float] = dict(self._whole)
        for metric, parts in self._parts.items():
            sums[metric] = fsum((*parts, self._whole.get(metric, 0)))
        found = {**sums, **self._greatest}
        return {
            metric: one for metric, one in found.items() if ROLLUP_NUMBERS[metric].family == family
        }

    def failing(self) -> Mapping[str, Sequence[Failing]]:
        """Each list that has somebody, most first."""
        lists = {name: ranking.first() for name, ranking in self._failing.items()}
        return {name: found for name, found in lists.items() if found}


def _failing(record: MinuteRecord, member: str, count: float) -> Failing:
    owners = [one.name for one in record.owners[:MAX_LISTED_OWNERS]]
    if record.owners_more or len(record.owners) > len(owners):
        owners.append(OTHER_OWNERS)
    details: dict[str, int] = {}
    if member == "ExecutionErrors":
        ended = {} if record.executions is None else {"Executions": record.executions}
        details = {**ended, **record.details}
    return Failing(record.instance_id, count, owners, details)
