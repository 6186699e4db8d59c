"""
The sums of a cluster's minute: amounts, cores by what they did, FLOP/s, by instance type too.

A new metric that is made of one number of the instances' minutes is an entry in
`neuron_wire.catalogue`, which says whether it is a gauge or a tally, and an entry
in a table below. What no instance reported is absent.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from math import fsum
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from neuron_wire.catalogue import ROLLUP_NUMBERS
from neuron_wire.instance_types import Flops, flops_of
from neuron_wire.names import ATTACHED_IDLE, BUSY, OTHER_OWNERS, UNATTACHED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from neuron_wire import MinuteRecord
    from neuron_wire.catalogue import Family


_Thing = TypeVar("_Thing")

_SLACK: Final = 10  # times the limit that may wait before the rest is let go


@dataclass(slots=True)
class Ranking(Generic[_Thing]):
    """
    The first *limit* things by key, and how many there were.

    Memory stays that of a few times *limit*, however many are added.

    Attributes:
        limit: How many are kept, at least 1.

        count: How many were added.
    """

    limit: int
    count: int = 0
    _kept: list[tuple[tuple[Any, ...], _Thing]] = field(default_factory=list)

    def add(self, key: tuple[Any, ...], thing: _Thing) -> None:
        """Add *thing*; a smaller *key* comes first, and no two are equal."""
        self.count += 1
        self._kept.append((key, thing))
        if len(self._kept) >= _SLACK * self.limit:
            self._kept = self._first()

    def include(self, other: Ranking[_Thing]) -> None:
        """Add all that was added to *other*."""
        self.count += other.count
        self._kept = [*self._first(), *other._first()]

    def __reduce__(self) -> tuple[object, ...]:
        """To another process goes what may still be among the first."""
        return type(self), (self.limit, self.count, self._first())

    def first(self) -> list[_Thing]:
        """At most *limit* of what was added, the smallest key first."""
        return [thing for _, thing in self._first()]

    def _first(self) -> list[tuple[tuple[Any, ...], _Thing]]:
        return sorted(self._kept, key=itemgetter(0))[: self.limit]


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


MAX_TYPES: Final = 20
"""Instance types of a cluster that its rollup names: all of them, of any fleet there is."""

_TYPE: Final = re.compile(r"[a-z][a-z0-9-]{0,31}\.[a-z0-9-]{1,32}")  # as EC2 spells them


@dataclass(slots=True)
class CoreSums:
    """
    Sums over instances, all of them whole numbers: their order does not matter.

    Attributes:
        instances: Instances that reported.

        cores: Their logical NeuronCores.

        busy: Those at or above the busy threshold.

        attached_idle: Those that a runtime holds but does not keep busy.

        unattached: Those that are neither.

        hundredths: Utilization of the known cores, in hundredths of a percent.
    """

    instances: int = 0
    cores: int = 0
    busy: int = 0
    attached_idle: int = 0
    unattached: int = 0
    hundredths: int = 0

    @property
    def known(self) -> int:
        """Cores with utilization telemetry."""
        return self.busy + self.attached_idle + self.unattached

    def add(self, state: str, hundredths: int) -> None:
        """Add an instance by the letters of its cores and their utilization."""
        self.instances += 1
        self.cores += len(state)
        self.busy += state.count(BUSY)
        self.attached_idle += state.count(ATTACHED_IDLE)
        self.unattached += state.count(UNATTACHED)
        self.hundredths += hundredths

    def include(self, other: CoreSums) -> None:
        """Add the instances of *other*."""
        self.instances += other.instances
        self.cores += other.cores
        self.busy += other.busy
        self.attached_idle += other.attached_idle
        self.unattached += other.unattached
        self.hundredths += other.hundredths

    def gauges(self) -> dict[str, float]:
        """
        What there is to say, by metric.

        Without a core nothing is said about cores, and without a known one
        nothing about what they did.
        """
        gauges: dict[str, float] = {"Instances": self.instances}
        if self.cores:
            gauges["NeuronCores"] = self.cores
        if self.known:
            gauges["BusyCores"] = self.busy
            gauges["AttachedIdleCores"] = self.attached_idle
            gauges["UnattachedCores"] = self.unattached
            gauges["NeuronCoreUtilization"] = round(self.hundredths / self.known / 100, 6)
        return gauges


@dataclass(slots=True)
class CoresByType:
    """The same by instance type."""

    _sums: dict[str | None, CoreSums] = field(default_factory=dict)

    def add(self, instance_type: str | None, state: str, hundredths: int) -> None:
        """Add an instance; None is one of which nobody knows the type."""
        self._sums.setdefault(instance_type, CoreSums()).add(state, hundredths)

    def include(self, other: CoresByType) -> None:
        """Add the instances of *other*."""
        for instance_type, sums in other._sums.items():
            self._sums.setdefault(instance_type, CoreSums()).include(sums)

    def total(self) -> CoreSums:
        """The sums over all types."""
        total = CoreSums()
        for sums in self._sums.values():
            total.include(sums)
        return total

    def gauges(self) -> tuple[dict[str, dict[str, float]], int]:
        """
        What there is to say of each type.

        Returns:
            Gauges by type, of those that EC2 would spell so, the 20 with the
            most instances first; and how many types there are beyond those.
        """
        named = [(name, one) for name, one in self._sums.items() if name is not None]
        listed = [(name, one) for name, one in named if _TYPE.fullmatch(name)]
        listed.sort(key=lambda pair: (-pair[1].instances, pair[0]))
        found = {name: one.gauges() for name, one in listed[:MAX_TYPES]}
        return found, len(named) - len(found)


@dataclass(slots=True)
class PeakShares:
    """
    The instances that told FLOPs and whose chip is known, by type.

    FLOP/s are kept one by one and summed at the end, because the sum of floats depends on
    their order; peaks are whole numbers.
    """

    _tera_flops: dict[str, array[float]] = field(default_factory=dict)
    _peak_micros: dict[str, int] = field(default_factory=dict)

    def add(self, record: MinuteRecord) -> None:
        """Add an instance; one that told none, or of an unknown chip, is in no share."""
        flops = flops_of(record)
        if flops is None or record.instance_type is None:
            return
        name = record.instance_type
        self._tera_flops.setdefault(name, array("d")).append(flops.tera_flops)
        self._peak_micros[name] = self._peak_micros.get(name, 0) + flops.peak_micros

    def include(self, other: PeakShares) -> None:
        """Add the instances of *other*."""
        for name, tera_flops in other._tera_flops.items():
            self._tera_flops.setdefault(name, array("d")).extend(tera_flops)
            self._peak_micros[name] = self._peak_micros.get(name, 0) + other._peak_micros[name]

    def percent(self) -> float | None:
        """Of all of them together; None without any."""
        return self._percent(self._tera_flops)

    def by_type(self) -> dict[str, float]:
        """Of each type."""
        shares = {name: self._percent([name]) for name in self._tera_flops}
        return {name: round(share, 6) for name, share in shares.items() if share is not None}

    def _percent(self, names: Iterable[str]) -> float | None:
        names = list(names)
        tera_flops = fsum(value for name in names for value in self._tera_flops[name])
        return Flops(tera_flops, sum(self._peak_micros[name] for name in names)).percent_of_peak
