"""
Turn the records of one cluster and minute into numbers.

Pure, and streaming: instances are added one at a time in any order, or as the merged sums of
another process; nothing is kept per core. A value that no instance reported is absent, never zero.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from aggregator.rollups.instances import (
    MAX_IDLE_INSTANCES,
    BusyInstance,
    IdleInstance,
    rank_stragglers,
)
from aggregator.rollups.sums import (
    FAILING,
    HARDWARE_ERRORS,
    MAX_FAILING_INSTANCES,
    SUMMED_METRICS,
    Ranking,
    Sums,
    failing_members,
    read_numbers,
)
from neuron_accounts.cluster_idle import ClusterIdle
from neuron_accounts.now import BY_REASON
from neuron_accounts.prices import PRICES_AS_OF
from neuron_wire.catalogue import ROLLUP_NUMBERS
from neuron_wire.line_members import Amounts, Members, filled, iso_minute, present_members
from neuron_wire.names import BUSY_STATE, HOUR_MINUTES, MINUTE_S, UNKNOWN_STATE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from neuron_accounts.core_time import CostRules
    from neuron_wire import MinuteRecord
    from neuron_wire.catalogue import Family
    from neuron_wire.merging import InstanceMinute

SilentOf: TypeAlias = "dict[str, list[SilentInstance]]"
"""Silent instances by cluster."""

MAX_NAMES_IN_ROLLUP: Final = 50
"""Instances that a rollup names in one list; the number next to it is always complete."""

MAX_UNPRICED: Final = 20
PERCENTILES: Final = (10, 50, 90, 99)
MAX_TYPES_IN_ROLLUP: Final = 20
"""Instance types of a cluster that its rollup names: more than any fleet has."""

_TYPE: Final = re.compile(r"[a-z][a-z0-9-]{0,31}\.[a-z0-9-]{1,32}")  # as EC2 writes them


@dataclass(frozen=True, slots=True)
class SilentInstance:
    """
    An instance that stopped reporting without a clean shutdown.

    Attributes:
        instance_id: Its name.

        instance_type: The last reported type, or None.

        last_minute: The last minute it reported in.
    """

    instance_id: str
    instance_type: str | None
    last_minute: int

    def members(self) -> dict[str, str]:
        """Return its row in a rollup and in an event."""
        return present_members(
            {
                "InstanceId": self.instance_id,
                "InstanceType": self.instance_type,
                "LastSeen": iso_minute(self.last_minute),
            }
        )


Lists: TypeAlias = "Mapping[str, Sequence[object]]"
"""Lists of names by member, the most important first; no list is empty."""


class Rollup(NamedTuple):
    """
    One minute of one cluster.

    Attributes:
        cluster: Its name.

        gauges: Values of the minute, by metric.

        tallies: Amounts of the minute, by metric.

        records: Distinct records behind them.

        lists: Rows and names by member, the most important first; a long line has fewer.

        properties: Further members, which a line always has in full.
    """

    cluster: str
    gauges: Amounts
    tallies: Amounts
    records: int
    lists: Lists
    properties: Members


class RollupInProgress:
    """
    The instances of one cluster and minute counted so far, in any order.

    Attributes:
        idle: Their idle cores, and the work of their owners.
    """

    def __init__(self, cluster: str, rules: CostRules) -> None:
        """Start *cluster* without instances; *rules* decide the cost of its cores."""
        self._cluster = cluster
        self._records = 0
        self._sums: dict[str | None, Sums] = defaultdict(Sums)  # by instance type
        self._latency_p99_max_s: float | None = None
        # Known cores by utilization, in hundredths of a percent.
        self._utilization: Counter[int] = Counter()
        self.idle = ClusterIdle(rules)
        self._idle_instances: Ranking[IdleInstance] = Ranking(MAX_IDLE_INSTANCES)
        self._failing: dict[str, Ranking[Members]] = {
            name: Ranking(MAX_FAILING_INSTANCES) for name in FAILING
        }
        self._busy: dict[str, list[BusyInstance]] = defaultdict(list)  # by instance type
        self._duplicates: list[str] = []
        self._in_other_clusters: list[str] = []

    def fold_instance(self, instance: InstanceMinute) -> None:
        """Count one instance."""
        record = instance.record
        instance_id = record.instance_id
        state = record.core_state
        self._records += instance.records
        if instance.duplicate_emitters:
            self._duplicates.append(instance_id)
        if instance.in_other_clusters:
            self._in_other_clusters.append(instance_id)
        hundredths = _known_hundredths(record)
        self._utilization.update(hundredths)
        numbers = read_numbers(record, sum(hundredths))
        self._sums[record.instance_type].fold_numbers(numbers)
        self._fold_latency(record.latency_p99_max_s)
        for name, member in FAILING.items():
            if count := numbers.get(member):
                self._failing[name].rank(
                    (-count, instance_id), partial(failing_members, record, member, count)
                )
        busy = state.count(BUSY_STATE)
        busy_percent = None
        if busy:
            busy_hundredths = _busy_hundredths(state, hundredths)
            busy_percent = round(busy_hundredths / busy / 100, 2)
            if record.instance_type is not None:
                self._busy[record.instance_type].append(
                    BusyInstance(busy_hundredths / busy, busy_hundredths, busy, instance_id)
                )
        idle, price = self.idle.fold_record(record, in_other_clusters=instance.in_other_clusters)
        if idle:
            minutes = max([record.idle_minutes[core] for core in idle])
            self._idle_instances.rank(
                (-len(idle), -minutes, instance_id),
                partial(
                    IdleInstance,
                    record,
                    idle,
                    minutes,
                    price,
                    busy_percent,
                    instance.in_other_clusters,
                ),
            )

    def merge_sums(self, other: RollupInProgress) -> None:
        """Add the instances of *other*; no instance is in both."""
        self._records += other._records
        self._duplicates += other._duplicates
        self._in_other_clusters += other._in_other_clusters
        self._utilization.update(other._utilization)
        for instance_type, sums in other._sums.items():
            self._sums[instance_type].merge_sums(sums)
        self._fold_latency(other._latency_p99_max_s)
        for name, ranking in other._failing.items():
            self._failing[name].merge_ranking(ranking)
        for instance_type, busy in other._busy.items():
            self._busy[instance_type].extend(busy)
        self.idle.fold_sums(other.idle)
        self._idle_instances.merge_ranking(other._idle_instances)

    def _fold_latency(self, latency_s: float | None) -> None:
        if latency_s is not None:
            self._latency_p99_max_s = max(self._latency_p99_max_s or 0.0, latency_s)

    def finish(self, silent: Sequence[SilentInstance]) -> Rollup:
        """Return the cluster's numbers; *silent* are its silent instances."""
        stragglers, straggler_rows = rank_stragglers(self._busy)
        types, types_left_out = self._gauges_by_type()
        usd_per_hour = self.idle.usd_per_hour()
        total = Sums()
        for sums in self._sums.values():
            total.merge_sums(sums)
        team_of = partial(self.idle.rules.teams.team_of, self._cluster)
        idle_owners = self.idle.owners
        return Rollup(
            cluster=self._cluster,
            gauges=self._gauges(total, len(silent), stragglers, usd_per_hour),
            tallies=self._tallies(total, usd_per_hour.get("IdleCostPerHour")),
            records=self._records,
            lists=self._lists(silent, straggler_rows, team_of),
            properties=filled(
                {
                    "PricesAsOf": self.idle.basis.regions and PRICES_AS_OF,
                    BY_REASON: total.unknown_by_reason(),
                    "IdleOwnersLeftOut": idle_owners.left_out,
                    "TypesMore": types_left_out,
                    "Types": types,
                    "TopIdleOwners": [
                        replace(row, team=team_of(row.owner, row.team)).members()
                        for row in idle_owners.rows(self.idle.total.instances)
                    ],
                }
            ),
        )

    def _lists(
        self,
        silent: Sequence[SilentInstance],
        stragglers: Sequence[Members],
        team_of: Callable[[str, str | None], str | None],
    ) -> Lists:
        basis = self.idle.basis
        latest_first = sorted(silent, key=lambda lost: (-lost.last_minute, lost.instance_id))
        lists: Lists = {
            "TopIdleInstances": [
                instance.members(team_of) for instance in self._idle_instances.first()
            ],
            "StragglerInstances": stragglers,
            "SilentInstanceNames": [lost.members() for lost in latest_first[:MAX_NAMES_IN_ROLLUP]],
            "DuplicateEmitterInstances": sorted(self._duplicates)[:MAX_NAMES_IN_ROLLUP],
            "InstanceNamesInOtherClusters": sorted(self._in_other_clusters)[:MAX_NAMES_IN_ROLLUP],
            **{name: ranking.first() for name, ranking in self._failing.items()},
            "PriceRegions": sorted(basis.regions),
            "PricesOverridden": sorted(basis.overridden),
            "UnpricedTypes": basis.unpriced_names()[:MAX_UNPRICED],
        }
        return filled(lists)

    def _gauges_by_type(self) -> tuple[list[Members], int]:
        """
        Return a row of gauges for each type, and the number of omitted types.

        Types in EC2's form, the 20 with the most instances first.
        """
        named = [(name, sums) for name, sums in self._sums.items() if name is not None]
        listed = [(name, sums) for name, sums in named if _TYPE.fullmatch(name)]
        listed.sort(key=lambda pair: (-pair[1].whole("Instances"), pair[0]))
        types: list[Members] = [
            {
                "InstanceType": name,
                **sums.core_gauges(),
                **_rounded({"FlopsPercentOfBf16Peak": sums.percent_of_peak()}),
            }
            for name, sums in listed[:MAX_TYPES_IN_ROLLUP]
        ]
        return types, len(named) - len(types)

    def _gauges(
        self,
        sums: Sums,
        silent: int,
        stragglers: int | None,
        usd_per_hour: Amounts,
    ) -> Amounts:
        cores = sums.whole("NeuronCores")
        known = sums.whole("KnownCores")
        expected = sums.whole("Instances") + silent
        gauges: dict[str, float | None] = {
            **sums.core_gauges(),
            **_of_family("gauge", sums),
            "LatencyP99Max": self._latency_p99_max_s,
            "SilentInstances": silent,
            "DuplicateEmitters": len(self._duplicates),
            "InstancesInOtherClusters": len(self._in_other_clusters),
            **usd_per_hour,
            **_percentiles(self._utilization),
            "FlopsPercentOfBf16Peak": sums.percent_of_peak(),
            "DeviceMemoryPercent": _ratio(100 * sums.whole("MemoryUsed"), sums, "MemoryCapacity"),
            "LatencyP50Mean": _ratio(sums.total("LatencyWeighted"), sums, "LatencyWeight"),
            "Stragglers": stragglers,
            "CoveragePercent": (
                100 * (sums.total("CoveredSeconds") or 0) / (MINUTE_S * expected)
                if expected
                else None
            ),
        }
        if cores:
            gauges["UnknownCores"] = cores - known
            gauges["UnpricedCores"] = self.idle.unpriced_cores
        if known:
            gauges["ReservedCores"] = sums.total("ReservedCores")
            gauges["UnknownAllocationCores"] = sums.whole("UnknownAllocationCores")
            gauges |= self.idle.core_members()
            gauges["IdleCorePercent"] = 100 * self.idle.cores / known
            gauges["IdleInstanceCount"] = self.idle.total.instances
        return _rounded(gauges)

    def _tallies(self, sums: Sums, usd_per_hour: float | None) -> Amounts:
        tallies: dict[str, float | None] = {
            **_of_family("tally", sums),
            "IdleCoreMinutes": self.idle.cores if self._utilization else None,
            "IdleCost": None if usd_per_hour is None else usd_per_hour / HOUR_MINUTES,
        }
        return _rounded(tallies)


def _of_family(family: Family, sums: Sums) -> dict[str, float | None]:
    names = (*SUMMED_METRICS, HARDWARE_ERRORS)
    return {name: sums.total(name) for name in names if ROLLUP_NUMBERS[name].family == family}


def _ratio(total: float | None, sums: Sums, divisor: str) -> float | None:
    number = sums.whole(divisor)
    return total / number if number and total is not None else None


def _known_hundredths(record: MinuteRecord) -> list[int]:
    """Return the utilization of the known cores, in hundredths of a percent."""
    # Many instances are at 0, and rounding is expensive because it runs for every core of the
    # fleet.
    if not any(record.utilization_percent):
        return [0] * record.known_cores
    return [round(percent * 100) for percent in record.utilization_percent if percent is not None]


def _busy_hundredths(state: str, known: Sequence[int]) -> int:
    """Return the sum over the busy cores; *known* are the values of known cores."""
    if BUSY_STATE * len(state) == state:
        return sum(known)
    letters = state.replace(UNKNOWN_STATE, "")
    # A list, because a generator takes twice as long, and this runs for every core of the fleet.
    return sum(
        [
            hundredths
            for letter, hundredths in zip(letters, known, strict=True)
            if letter == BUSY_STATE
        ]
    )


def _rounded(values: Mapping[str, float | None]) -> Amounts:
    # Six decimals: a microsecond, a millionth of a dollar, and no binary noise.
    return {name: round(value, 6) for name, value in values.items() if value is not None}


def _percentiles(cores: Counter[int]) -> Amounts:
    """
    Return the percentiles by metric, from the number of *cores* at each utilization in hundredths.

    By nearest rank: each percentile is the value of some core. Empty without a core.
    """
    total = cores.total()
    percentiles: dict[str, float] = {}
    wanted = list(PERCENTILES)
    counted = 0
    for hundredths in sorted(cores):
        counted += cores[hundredths]
        while wanted and counted * 100 >= wanted[0] * total:
            percentiles[f"NeuronCoreUtilizationP{wanted.pop(0)}"] = hundredths / 100
    return percentiles
