"""
The records of one cluster and minute become its numbers.

Pure, and streaming: instances are added one at a time and in any order, or
by the hundred as what another process made of them; nothing is kept per core but
two bytes, its utilization. What nobody reported is absent, never zero.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, Final

from aggregator.rollups.instances import IdleInstance, IdleInstances, Straggler, Stragglers
from aggregator.rollups.sums import Amounts, CoresByType, Failing, PeakShares
from neuron_wire.cluster_idle import ClusterIdle
from neuron_wire.merging import InstanceMinute, execution_weight
from neuron_wire.names import BUSY, HOUR_MINUTES, MINUTE_S, READ, UNKNOWN
from neuron_wire.prices import Prices
from neuron_wire.teams import TeamRules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_wire import MinuteRecord
    from neuron_wire.cluster_idle import IdleOwners
    from neuron_wire.now import IdleOwner

MAX_NAMES: Final = 50
"""Instances a rollup names in one list; the number beside it is always whole."""

MAX_UNPRICED: Final = 20
PERCENTILES: Final = (10, 50, 90, 99)


@dataclass(frozen=True, slots=True)
class SilentInstance:
    """
    An instance that stopped reporting without a goodbye.

    Attributes:
        instance_id: Its name.

        instance_type: As last reported, or None.

        last_minute: The last minute it reported in.
    """

    instance_id: str
    instance_type: str | None
    last_minute: int


@dataclass(frozen=True, slots=True)
class Rollup:
    """
    One minute of one cluster.

    Attributes:
        cluster: Its name.

        gauges: Values of the minute, by metric.

        tallies: Amounts of the minute, by metric.

        records: Distinct records behind them.

        types: Gauges by instance type, at most 20, most instances first.

        types_left_out: Types beyond those, or that EC2 would not spell so.

        idle_instances: Those with most idle cores first, at most 20.

        silent: Instances that stopped reporting, the latest first, at most 50.

        stragglers: Those farthest behind first, at most 20.

        duplicates: Instances on which two emitters report, at most 50.

        failing: Lists of instances with failures, most first, at most 20 each,
            by the name of the list.

        price_regions: Whose list prices are in the amounts.

        prices_overridden: The overrides that are in them.

        unpriced_types: What has no price, as `REGION/TYPE`, at most 20.

        idle_owners: Who has the idle cores, most cost first, at most 20 rows that
            add up to all of them, with the team of each.

        idle_owners_left_out: Sums of owners that went to `[others]` for want of room.
    """

    cluster: str
    gauges: Mapping[str, float]
    tallies: Mapping[str, float]
    records: int
    types: Mapping[str, Mapping[str, float]]
    types_left_out: int
    idle_instances: Sequence[IdleInstance]
    silent: Sequence[SilentInstance]
    stragglers: Sequence[Straggler]
    duplicates: Sequence[str]
    failing: Mapping[str, Sequence[Failing]]
    price_regions: Sequence[str] = ()
    prices_overridden: Sequence[str] = ()
    unpriced_types: Sequence[str] = ()
    idle_owners: Sequence[IdleOwner] = ()
    idle_owners_left_out: int = 0


class RollupInProgress:
    """
    What has been added so far of one cluster and minute.

    Amounts that are no whole numbers are kept one by one and summed at the
    end, because the sum of floats depends on their order and records come in any.
    """

    def __init__(
        self,
        cluster: str,
        idle_after_minutes: int,
        prices: Prices | None = None,
        paid_by_type: Mapping[str, str] | None = None,
    ) -> None:
        """Nothing yet of *cluster*; *prices* are list prices unless given."""
        self._cluster = cluster
        self._records = 0
        self._cores = CoresByType()
        self._utilization = array("H")  # of each known core, in hundredths of a percent
        self._idle = ClusterIdle(idle_after_minutes, prices or Prices(), paid_by_type or {})
        self._idle_instances = IdleInstances()
        self._stragglers = Stragglers()
        self._duplicates: list[str] = []
        self._reserved: int | None = None  # as long as no line tells it
        self._amounts = Amounts()
        self._peaks = PeakShares()
        self._covered_s = array("d")
        self._memory_bytes = [0, 0]  # used, and capacity of the same instances
        self._p50_weighted_s = array("d")
        self._p50_weight = 0

    def add(self, instance: InstanceMinute) -> None:
        """Count one instance."""
        record = instance.record
        self._records += instance.records
        self._covered_s.append(record.covered_seconds)
        if instance.duplicate_emitters:
            self._duplicates.append(record.instance_id)
        self._add_cores(record)
        self._add_memory(record)
        self._amounts.add(record)
        self._peaks.add(record)
        if record.latency_p50_mean_s is not None:
            weight = execution_weight(record)
            self._p50_weighted_s.append(record.latency_p50_mean_s * weight)
            self._p50_weight += weight

    def _add_cores(self, record: MinuteRecord) -> None:
        state, instance_type = record.core_state, record.instance_type
        hundredths = [
            round(percent * 100) for percent in record.utilization_percent if percent is not None
        ]
        self._utilization.extend(hundredths)
        self._cores.add(instance_type, state, sum(hundredths))
        if record.given == READ:
            self._reserved = (self._reserved or 0) + len(record.reserved)
        idle, price = self._idle.fold_record(record)
        busy, busy_percent = state.count(BUSY), None
        if busy:
            busy_hundredths = _busy_hundredths(state, hundredths)
            busy_percent = round(busy_hundredths / busy / 100, 2)
            if instance_type is not None:
                self._stragglers.add(record.instance_id, instance_type, busy_hundredths, busy)
        if idle:
            self._idle_instances.add(record, idle, price, busy_percent)

    def include(self, other: RollupInProgress) -> None:
        """Count the instances of *other*, of which this one has none."""
        self._records += other._records
        self._cores.include(other._cores)
        self._utilization.extend(other._utilization)
        if other._reserved is not None:
            self._reserved = (self._reserved or 0) + other._reserved
        self._idle.fold_sums(other._idle)
        self._idle_instances.include(other._idle_instances)
        self._stragglers.include(other._stragglers)
        self._duplicates += other._duplicates
        self._amounts.include(other._amounts)
        self._peaks.include(other._peaks)
        self._covered_s.extend(other._covered_s)
        self._memory_bytes = [
            sum(pair) for pair in zip(self._memory_bytes, other._memory_bytes, strict=True)
        ]
        self._p50_weighted_s.extend(other._p50_weighted_s)
        self._p50_weight += other._p50_weight

    def _add_memory(self, record: MinuteRecord) -> None:
        used, capacity = record.device_memory_used_bytes, record.device_memory_total_bytes
        if used is not None and capacity:
            self._memory_bytes[0] += used
            self._memory_bytes[1] += capacity

    @property
    def owners(self) -> IdleOwners:
        """What the owners of the instances did, and who of them has idle cores."""
        return self._idle.owners

    def awaited(self) -> Mapping[str, bool]:
        """Owners of idle instances who are not wholly idle, and whether they surely work."""
        return self._idle.awaited()

    def finish(self, silent: Sequence[SilentInstance], teams: TeamRules | None = None) -> Rollup:
        """The cluster's numbers, with *silent* those of its instances that are."""
        stragglers = self._stragglers.ranking()
        types, types_left_out = self._cores.gauges()
        for name, percent in self._peaks.by_type().items():
            if name in types:
                types[name]["FlopsPercentOfBf16Peak"] = percent
        basis, usd_per_hour = self._idle.basis, self._idle.usd_per_hour()
        team_of = partial((teams or TeamRules()).team_of, self._cluster)
        return Rollup(
            cluster=self._cluster,
            gauges=self._gauges(
                len(silent), None if stragglers is None else stragglers.count, usd_per_hour
            ),
            tallies=self._tallies(usd_per_hour.get("IdleCostPerHour")),
            records=self._records,
            types=types,
            types_left_out=types_left_out,
            idle_instances=self._idle_instances.first(team_of),
            silent=sorted(silent, key=lambda one: (-one.last_minute, one.instance_id))[:MAX_NAMES],
            stragglers=[] if stragglers is None else stragglers.first(),
            duplicates=sorted(self._duplicates)[:MAX_NAMES],
            failing=self._amounts.failing(),
            price_regions=sorted(basis.regions),
            prices_overridden=sorted(basis.overridden),
            unpriced_types=basis.unpriced_names()[:MAX_UNPRICED],
            idle_owners=[
                replace(one, team=team_of(one.owner, one.team))
                for one in self.owners.rows(self._idle.instance_count)
            ],
            idle_owners_left_out=self.owners.left_out,
        )

    def _gauges(
        self, silent: int, stragglers: int | None, usd_per_hour: Mapping[str, float]
    ) -> dict[str, float]:
        sums = self._cores.total()
        expected = sums.instances + silent
        used, capacity = self._memory_bytes
        gauges: dict[str, float | None] = {
            **sums.gauges(),
            **self._amounts.of("gauge"),
            "SilentInstances": silent,
            "DuplicateEmitters": len(self._duplicates),
            **usd_per_hour,
            **_percentiles(self._utilization),
            "FlopsPercentOfBf16Peak": self._peaks.percent(),
            "DeviceMemoryPercent": 100 * used / capacity if capacity else None,
            "LatencyP50Mean": (
                fsum(self._p50_weighted_s) / self._p50_weight if self._p50_weight else None
            ),
            "Stragglers": stragglers,
            "CoveragePercent": (
                100 * fsum(self._covered_s) / (MINUTE_S * expected) if expected else None
            ),
        }
        if sums.cores:
            gauges["UnknownCores"] = sums.cores - sums.known
            gauges["UnpricedCores"] = self._idle.unpriced_cores
        if sums.known:
            gauges["ReservedCores"] = self._reserved
            gauges["IdleCores"] = self._idle.cores
            gauges["IdleCorePercent"] = 100 * self._idle.cores / sums.known
            gauges["IdleInstanceCount"] = self._idle.instance_count
            gauges["WhollyIdleInstances"] = self._idle.wholly_idle_instances
        return _rounded(gauges)

    def _tallies(self, usd_per_hour: float | None) -> dict[str, float]:
        tallies: dict[str, float | None] = {
            **self._amounts.of("tally"),
            "IdleCoreMinutes": self._idle.cores if self._utilization else None,
            "IdleCost": None if usd_per_hour is None else usd_per_hour / HOUR_MINUTES,
        }
        return _rounded(tallies)


def _busy_hundredths(state: str, known: Sequence[int]) -> int:
    """The sum over the busy cores; *known* are the values of those that are not unknown."""
    letters = state.replace(UNKNOWN, "")
    # A list, because a generator takes twice as long, once for every core of the fleet.
    return sum(
        [hundredths for letter, hundredths in zip(letters, known, strict=True) if letter == BUSY]
    )


def _rounded(values: Mapping[str, float | None]) -> dict[str, float]:
    # Six decimals: a microsecond, a millionth of a dollar, and no tail of binary noise.
    return {name: round(value, 6) for name, value in values.items() if value is not None}


def _percentiles(utilization: array[int]) -> dict[str, float]:
    """
    The percentiles of values in hundredths by metric; empty when there is none.

    By nearest rank: each percentile is a value that somebody has.
    """
    total = len(utilization)
    if not total:
        return {}
    hundredths = Counter(utilization)
    percentiles: dict[str, float] = {}
    wanted = list(PERCENTILES)
    seen = 0
    for value in sorted(hundredths):
        seen += hundredths[value]
        while wanted and seen * 100 >= wanted[0] * total:
            percentiles[f"NeuronCoreUtilizationP{wanted.pop(0)}"] = value / 100
    return percentiles
