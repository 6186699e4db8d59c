"""
The records of one cluster and minute become its numbers.

Pure, and streaming: instances are added one at a time and in any order,
nothing is kept per core but how often each utilization occurred. What nobody
reported is absent, never zero.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Final

from aggregator.rollups.cores import CoresByType
from aggregator.rollups.idle import IdleCores, IdleInstance
from aggregator.rollups.percentiles import percentiles
from aggregator.rollups.ranking import Ranking
from aggregator.rollups.stragglers import Straggler, Stragglers
from neuron_wire.merging import InstanceMinute, execution_weight
from neuron_wire.names import BUSY, MINUTE_S, UNKNOWN
from neuron_wire.prices import Prices

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aggregator.closing.registry import Silent
    from neuron_wire import MinuteRecord

MAX_NAMES: Final = 50
"""Instances a rollup names in one list; the number beside it is always whole."""

MAX_FAILING_INSTANCES: Final = 20
_MINUTES_IN_HOUR: Final = 60


@dataclass(frozen=True, slots=True)
class Failing:
    """
    An instance with failures.

    Attributes:
        instance_id: Its name.

        count: How many in the minute, at least 1.
    """

    instance_id: str
    count: int


@dataclass(frozen=True, slots=True)
class Rollup:
    """
    One minute of one cluster.

    Attributes:
        cluster: Its name.

        gauges: Values of the minute, by metric.

        tallies: Amounts of the minute, by metric.

        records: Distinct records behind them.

        utilization_percentiles: Utilization over the known cores, by
            percentile; empty without known cores.

        types: Gauges by instance type, by metric: every type that a record or
            a silent instance names, at most 20.

        types_left_out: Types beyond those, or that EC2 would not spell so.

        idle_instances: Those with most idle cores first, at most 20.

        idle_instance_count: All of them.

        silent: Instances that stopped reporting, the latest first, at most 50.

        stragglers: Those farthest behind first, at most 20.

        duplicates: Instances on which two emitters report, at most 50.

        with_ecc: Instances with new uncorrectable memory errors, most first,
            at most 20.

        with_errors: Instances with failed executions, most first, at most 20.

        prices_overridden: Types whose price is not the one of the list.
    """

    cluster: str
    gauges: Mapping[str, float]
    tallies: Mapping[str, float]
    records: int
    utilization_percentiles: Mapping[int, float]
    types: Mapping[str, Mapping[str, float]]
    types_left_out: int
    idle_instances: Sequence[IdleInstance]
    idle_instance_count: int
    silent: Sequence[Silent]
    stragglers: Sequence[Straggler]
    duplicates: Sequence[str]
    with_ecc: Sequence[Failing]
    with_errors: Sequence[Failing]
    prices_overridden: Sequence[str]


class RollupInProgress:
    """
    What has been added so far of one cluster and minute.

    Amounts that are no whole numbers are kept one by one and summed at the
    end, because the sum of floats depends on their order and records come in any.
    """

    def __init__(self, cluster: str, idle_after_minutes: int, prices: Prices | None = None) -> None:
        """
        Nothing yet of *cluster*; *prices* are list prices unless given.
        """
        self._cluster = cluster
        self._records = 0
        self._cores = CoresByType()
        self._utilization: Counter[int] = Counter()  # in hundredths of a percent
        self._idle = IdleCores(idle_after_minutes, prices or Prices())
        self._stragglers = Stragglers()
        self._duplicates: list[str] = []
        self._with_ecc: Ranking[Failing] = Ranking(MAX_FAILING_INSTANCES)
        self._with_errors: Ranking[Failing] = Ranking(MAX_FAILING_INSTANCES)
        self._counts: dict[str, int] = {}
        self._covered_s = array("d")
        self._tera_flops = array("d")
        self._memory_bytes = [0, 0]  # used, and capacity of the same instances
        self._p50_weighted_s = array("d")
        self._p50_weight = 0
        self._p99_max_s: float | None = None

    def add(self, instance: InstanceMinute) -> None:
        """
        Count one instance.
        """
        record = instance.record
        self._records += instance.records
        self._covered_s.append(record.covered_seconds)
        if instance.duplicate_emitters:
            self._duplicates.append(record.instance_id)
        self._cores.name(instance.types)
        self._add_cores(record)
        self._add_memory(record)
        self._count("Executions", record.executions)
        self._count("ExecutionErrors", record.execution_errors)
        self._count("EccCorrectedRise", record.ecc_corrected_rise)
        self._count("EccUncorrectedRise", record.ecc_uncorrected_rise)
        _rank(self._with_errors, record.instance_id, record.execution_errors)
        _rank(self._with_ecc, record.instance_id, record.ecc_uncorrected_rise)
        if record.tera_flops is not None:
            self._tera_flops.append(record.tera_flops)
        if record.latency_p50_mean_s is not None:
            weight = execution_weight(record)
            self._p50_weighted_s.append(record.latency_p50_mean_s * weight)
            self._p50_weight += weight
        if record.latency_p99_max_s is not None:
            self._p99_max_s = max(self._p99_max_s or 0.0, record.latency_p99_max_s)

    def _add_cores(self, record: MinuteRecord) -> None:
        state, instance_type = record.core_state, record.instance_type
        hundredths = [
            round(percent * 100) for percent in record.utilization_percent if percent is not None
        ]
        self._utilization.update(hundredths)
        self._cores.add(instance_type, state, sum(hundredths))
        self._idle.add(record)
        if instance_type is not None and (busy := state.count(BUSY)):
            self._stragglers.add(
                record.instance_id, instance_type, _busy_hundredths(state, hundredths), busy
            )

    def _add_memory(self, record: MinuteRecord) -> None:
        used, capacity = record.device_memory_used_bytes, record.device_memory_total_bytes
        self._count("DeviceMemoryUsed", used)
        if used is not None and capacity:
            self._memory_bytes[0] += used
            self._memory_bytes[1] += capacity

    def _count(self, name: str, amount: int | None) -> None:
        if amount is not None:
            self._counts[name] = self._counts.get(name, 0) + amount

    def finish(self, silent: Sequence[Silent]) -> Rollup:
        """
        The cluster's numbers, with *silent* those of its instances that are.
        """
        self._cores.name(one.instance_type for one in silent)
        stragglers = self._stragglers.found()
        types, types_left_out = self._cores.gauges()
        return Rollup(
            cluster=self._cluster,
            gauges=self._gauges(len(silent), None if stragglers is None else stragglers.count),
            tallies=self._tallies(),
            records=self._records,
            utilization_percentiles=percentiles(self._utilization),
            types=types,
            types_left_out=types_left_out,
            idle_instances=self._idle.instances(),
            idle_instance_count=self._idle.instance_count,
            silent=sorted(silent, key=lambda one: (-one.last_minute, one.instance_id))[:MAX_NAMES],
            stragglers=[] if stragglers is None else stragglers.first(),
            duplicates=sorted(self._duplicates)[:MAX_NAMES],
            with_ecc=self._with_ecc.first(),
            with_errors=self._with_errors.first(),
            prices_overridden=sorted(self._idle.overridden),
        )

    def _gauges(self, silent: int, stragglers: int | None) -> dict[str, float]:
        sums = self._cores.total()
        expected = sums.instances + silent
        used, capacity = self._memory_bytes
        gauges: dict[str, float | None] = {
            **sums.gauges(),
            "SilentInstances": silent,
            "DuplicateEmitters": len(self._duplicates),
            "IdleCostPerHour": self._idle.usd_per_hour,
            "TeraFlops": fsum(self._tera_flops) if self._tera_flops else None,
            "DeviceMemoryUsed": self._counts.get("DeviceMemoryUsed"),
            "DeviceMemoryPercent": 100 * used / capacity if capacity else None,
            "LatencyP50Mean": (
                fsum(self._p50_weighted_s) / self._p50_weight if self._p50_weight else None
            ),
            "LatencyP99Max": self._p99_max_s,
            "Stragglers": stragglers,
            "CoveragePercent": (
                100 * fsum(self._covered_s) / (MINUTE_S * expected) if expected else None
            ),
        }
        if sums.cores:
            gauges["UnknownCores"] = sums.cores - sums.known
            gauges["UnpricedCores"] = self._idle.unpriced_cores
        if sums.known:
            gauges["IdleCores"] = self._idle.cores
            gauges["IdleCorePercent"] = 100 * self._idle.cores / sums.known
        return _rounded(gauges)

    def _tallies(self) -> dict[str, float]:
        usd_per_hour = self._idle.usd_per_hour
        tallies: dict[str, float | None] = {
            "IdleCoreMinutes": self._idle.cores if self._utilization else None,
            "IdleCost": None if usd_per_hour is None else usd_per_hour / _MINUTES_IN_HOUR,
        }
        for name in ("Executions", "ExecutionErrors", "EccCorrectedRise", "EccUncorrectedRise"):
            tallies[name] = self._counts.get(name)
        return _rounded(tallies)


def _rank(ranking: Ranking[Failing], instance_id: str, count: int | None) -> None:
    if count:
        ranking.add((-count, instance_id), Failing(instance_id, count))


def _busy_hundredths(state: str, known: Sequence[int]) -> int:
    """
    The sum over the busy cores; *known* are the values of those that are not unknown.
    """
    letters = state.replace(UNKNOWN, "")
    # A list, because a generator takes twice as long, once for every core of the fleet.
    return sum(
        [hundredths for letter, hundredths in zip(letters, known, strict=True) if letter == BUSY]
    )


def _rounded(values: Mapping[str, float | None]) -> dict[str, float]:
    # Six decimals: a microsecond, a millionth of a dollar, and no tail of binary noise.
    return {name: round(value, 6) for name, value in values.items() if value is not None}
