"""
Sums over the instances of a cluster's minute, and rankings that keep only the first entries.

A new metric that adds one number of the instances' minutes is an entry in `neuron_wire.catalogue`,
which defines it as a gauge or a tally, and an entry in a table below. A number that no instance
reported is absent.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import dataclass, field
from math import fsum
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from neuron_accounts.instance_types import Flops, flops_of
from neuron_wire.line_members import Counts, Members, filled, present_members
from neuron_wire.merging import execution_weight
from neuron_wire.names import (
    ATTACHED_IDLE_STATE,
    BUSY_STATE,
    OTHER_OWNERS,
    REASON_NOT_REPORTED,
    REASON_WORDS,
    RESERVATIONS_KNOWN,
    UNATTACHED_STATE,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from neuron_wire import MinuteRecord
    from neuron_wire.minute_record import Number, Numbers


_Thing = TypeVar("_Thing")

# multiples of the limit that may be kept before all entries but the first are removed
_SLACK: Final = 3


@dataclass(slots=True)
class Ranking(Generic[_Thing]):
    """
    The first *limit* entries by key, and the number of all entries.

    Memory stays at a few times *limit*, however many are counted.

    Attributes:
        limit: The number of entries that are kept, at least 1.

        count: The number of all entries.
    """

    limit: int
    count: int = 0
    _kept: list[tuple[tuple[Any, ...], _Thing]] = field(default_factory=list)
    _last: tuple[Any, ...] | None = None  # a greater key is certainly not among the first

    def rank(self, key: tuple[Any, ...], make: Callable[[], _Thing]) -> None:
        """Count an entry; a smaller *key* comes first, and no two keys are equal."""
        self.count += 1
        if self._last is not None and key > self._last:
            return
        self._kept.append((key, make()))
        if len(self._kept) >= _SLACK * self.limit:
            self._kept = self._first()
            self._last = self._kept[-1][0]

    def merge_ranking(self, other: Ranking[_Thing]) -> None:
        """Count all entries of *other*."""
        self.count += other.count
        self._kept = [*self._first(), *other._first()]

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle only the entries that may still be among the first."""
        return type(self), (self.limit, self.count, self._first())

    def first(self) -> list[_Thing]:
        """Return at most *limit* entries, the smallest key first."""
        return [thing for _, thing in self._first()]

    def _first(self) -> list[tuple[tuple[Any, ...], _Thing]]:
        return sorted(self._kept, key=itemgetter(0))[: self.limit]


MAX_FAILING_INSTANCES: Final = 20
MAX_LISTED_OWNERS: Final = 4  # of an instance

SUMMED_METRICS: Final = (
    "DeviceMemoryUsed",
    "TeraFlops",
    "Executions",
    "ExecutionErrors",
    "EccCorrectedRise",
    "EccUncorrectedRise",
    "HardwareFaults",
)
"""Metrics that are the sum of the member with the same name over the instances."""

HARDWARE_ERRORS: Final = "HardwareErrors"
HARDWARE_ERROR_MEMBERS: Final = ("EccUncorrectedRise", "HardwareFaults")
"""
Members that may count the same event: each instance adds the larger number to `HARDWARE_ERRORS`.
"""

FAILING: Final = {
    "EccInstances": "EccUncorrectedRise",
    "ErrorInstances": "ExecutionErrors",
    "FaultyInstances": "HardwareFaults",
}
"""Lists of the instances with the highest sums, by list; an empty list is absent."""


def _no_floats() -> array[float]:
    return array("d")


@dataclass(slots=True)
class Sums:
    """
    Sums by name, independent of the order of the numbers.

    Fractions are kept and summed at the end, because the sum of floats depends on their order.
    """

    _whole: dict[str, int] = field(default_factory=dict)
    _parts: dict[str, array[float]] = field(default_factory=lambda: defaultdict(_no_floats))

    def fold_numbers(self, numbers: Mapping[str, Number]) -> None:
        """Add the numbers of one instance."""
        whole = self._whole
        for name, number in numbers.items():
            if type(number) is int:
                whole[name] = whole.get(name, 0) + number
            else:
                self._parts[name].append(number)

    def merge_sums(self, other: Sums) -> None:
        """Add the instances of *other*."""
        self.fold_numbers(other._whole)
        for name, parts in other._parts.items():
            self._parts[name].extend(parts)

    def whole(self, name: str) -> int:
        """Return a sum of whole numbers; 0 if there are none."""
        return self._whole.get(name, 0)

    def total(self, name: str) -> Number | None:
        """Return a sum; None if no instance has such a number."""
        if name in self._parts:
            return fsum((*self._parts[name], self.whole(name)))
        return self._whole.get(name)

    def core_gauges(self) -> Numbers:
        """Return the gauges of instances and cores; those of cores only if one is known."""
        gauges: Numbers = {"Instances": self.whole("Instances")}
        if cores := self.whole("NeuronCores"):
            gauges["NeuronCores"] = cores
        if known := self.whole("KnownCores"):
            for name in ("BusyCores", "AttachedIdleCores", "UnattachedCores"):
                gauges[name] = self.whole(name)
            gauges["NeuronCoreUtilization"] = round(
                self.whole("UtilizationHundredths") / known / 100, 6
            )
        return gauges

    def unknown_by_reason(self) -> Counts:
        """Return unknown cores by reason; a reason without a core is absent."""
        return filled({reason: self.whole(_unknown_member(reason)) for reason in REASON_WORDS})

    def percent_of_peak(self) -> float | None:
        """Return FLOP/s as a percentage of the peak of the instances that report them, or None."""
        flops = Flops(self.total("TeraFlopsOfPeak") or 0.0, self.whole("PeakMicros"))
        return flops.percent_of_peak


def read_numbers(record: MinuteRecord, utilization_hundredths: int) -> Numbers:
    """Return an instance's numbers that a rollup sums; a value that was not read is absent."""
    state = record.core_state
    busy = state.count(BUSY_STATE)
    attached_idle = state.count(ATTACHED_IDLE_STATE)
    unattached = state.count(UNATTACHED_STATE)
    numbers: Numbers = {
        "Instances": 1,
        "NeuronCores": len(state),
        "KnownCores": busy + attached_idle + unattached,
        "BusyCores": busy,
        "AttachedIdleCores": attached_idle,
        "UnattachedCores": unattached,
        "UtilizationHundredths": utilization_hundredths,
        "CoveredSeconds": record.covered_seconds,
    }
    if unknown := len(state) - busy - attached_idle - unattached:
        numbers[_unknown_member(record.unknown_reason or REASON_NOT_REPORTED)] = unknown
    read = zip(SUMMED_METRICS, map(record.number, SUMMED_METRICS), strict=True)
    numbers.update({name: number for name, number in read if number is not None})
    errors = [numbers[member] for member in HARDWARE_ERROR_MEMBERS if member in numbers]
    if errors:
        numbers[HARDWARE_ERRORS] = max(errors)
    reserved = record.reserved
    if reserved or record.reservations == RESERVATIONS_KNOWN:
        numbers["ReservedCores"] = len(reserved)
    if record.is_allocation_unknown:
        numbers["UnknownAllocationCores"] = unattached - len(reserved)
    _add_ratios(record, numbers)
    return numbers


def _unknown_member(reason: str) -> str:
    return f"UnknownCores.{reason}"


def _add_ratios(record: MinuteRecord, numbers: Numbers) -> None:
    """Add numerator and denominator of each ratio of a rollup, if the instance has both."""
    used = record.device_memory_used_bytes
    capacity = record.device_memory_total_bytes
    if used is not None and capacity:
        numbers["MemoryUsed"] = used
        numbers["MemoryCapacity"] = capacity
    if record.latency_p50_mean_s is not None:
        weight = execution_weight(record)
        numbers["LatencyWeighted"] = float(record.latency_p50_mean_s * weight)
        numbers["LatencyWeight"] = weight
    if (flops := flops_of(record)) is not None:
        numbers["TeraFlopsOfPeak"], numbers["PeakMicros"] = flops


def failing_members(record: MinuteRecord, member: str, count: float) -> Members:
    """
    Return the row of an instance with *count* failures in a list of such instances.

    It has at most 4 owners, most cores first, and `[others]` for the rest. In a list of failed
    executions it has the number that ended, and the failures by type.
    """
    owners = [owner.name for owner in record.owners[:MAX_LISTED_OWNERS]]
    if record.owners_more or len(record.owners) > len(owners):
        owners.append(OTHER_OWNERS)
    row: Members = {"InstanceId": record.instance_id, "Region": record.region, member: count}
    if member == "ExecutionErrors":
        row |= {"Executions": record.executions, **record.details}
    return present_members({**row, "Owners": owners or None})
