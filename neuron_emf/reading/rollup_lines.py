"""
The current state from log lines: the newest rollup of each cluster, or minute lines.

Each rollup counts once. Of lines with the same RollupId (repeated after a crash, or read again),
the last counts. Of several publications of a minute, the gauges of the last count, because it
states each in full; a tally is the sum of all publications.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from neuron_accounts.cluster_idle import ClusterIdle
from neuron_accounts.core_time import CostRules
from neuron_accounts.now import (
    BY_REASON,
    NOW_COSTS,
    NOW_COUNTS,
    OWNER_ROWS,
    ClusterNow,
    IdleOwner,
    cluster_now,
    total_of,
)
from neuron_accounts.prices import PRICES_AS_OF
from neuron_emf.reading import MINUTES_FILTER, Records
from neuron_wire.line_members import (
    count_in,
    entries_in,
    epoch_ms_of,
    iso_minute,
    micros_in,
    number_in,
    object_in,
    text_in,
    texts_in,
)
from neuron_wire.merging import merge_clusters, merge_records
from neuron_wire.names import (
    CLUSTER_DIMENSION,
    MINUTE_MS,
    REASON_NOT_REPORTED,
    ROLLUP_KIND,
    UNKNOWN_STATE,
    VERSION,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from neuron_accounts.prices import Prices
    from neuron_wire import MinuteRecord
    from neuron_wire.line_members import Amounts, JsonObject, Members
    from neuron_wire.merging import InstanceMinute

NOW_GAUGES: Final = (
    "AttachedIdleCores", "AvoidableCostPerHour", "BusyCores", "CoveragePercent",
    "DeviceMemoryUsed", "DuplicateEmitters", "FlopsPercentOfBf16Peak", "IdleCores",
    "IdleCostPerHour", "IdleInstanceCount", "Instances", "InstancesInOtherClusters",
    "LatencyP99Max", "NeuronCoreUtilization", "NeuronCores", "ReservedCores", "SilentInstances",
    "UnattachedCores", "UnknownAllocationCores", "UnknownCores", "UnpricedCores",
)  # fmt: skip

IDLE_INSTANCES: Final = "TopIdleInstances"
NOW_TALLIES: Final = ("Executions", "ExecutionErrors", "HardwareErrors")

COVERAGE_SPREAD_MINUTES: Final = 5
"""A cluster is gone if its newest rollup is this much older than the newest rollup of all."""

FOLDED_MINUTES: Final = 3
"""
The newest minutes of which one is shown: the one with most instances, because lines arrive over
30 s.
"""


class IdleRow(NamedTuple):
    """
    The idle cores of one owner or one instance in a minute.

    Attributes:
        name: The owner or the ID of the instance.

        kind: The team of an owner or the type of an instance; None if unknown.

        idle: Idle cores, in millionths.

        cost: Price of the idle cores in micro-USD per hour; None if no core has a price.

        unpriced: Idle cores without a price, in millionths.
    """

    name: str
    kind: str | None
    idle: int
    cost: int | None
    unpriced: int


@dataclass(frozen=True, slots=True)
class PublishedRollup:
    """
    One minute of one cluster, as its last publication states it.

    Attributes:
        publication: Number of the publication of the minute, from 1.

        gauges: Values of `NOW_GAUGES` in the line.

        tallies: Values of `NOW_TALLIES`, by the publication that added them.

        owners: Owners of idle cores, with all idle cores if the line has owners.

        instances: The instances with idle cores that the line lists.

        duplicates: Instances with two emitters, if the line names them.

        in_other_clusters: Instances that are in another cluster too, if the line names them.
    """

    cluster: str
    minute_ms: int
    publication: int
    gauges: Amounts
    duplicates: frozenset[str]
    in_other_clusters: frozenset[str]
    tallies: Mapping[int, Amounts]
    owners: tuple[IdleRow, ...]
    instances: tuple[IdleRow, ...]

    def amount(self, name: str) -> float | None:
        """Return a gauge, or a tally's sum over all publications; None if no line has it."""
        if name not in NOW_TALLIES:
            return self.gauges.get(name)
        parts = [amounts[name] for amounts in self.tallies.values() if name in amounts]
        return sum(parts) if parts else None


def parsed_object(text: str) -> JsonObject | None:
    """
    Return the JSON object in *text*; None for anything else.

    >>> parsed_object('{"Kind": "rollup"}'), parsed_object("START")
    ({'Kind': 'rollup'}, None)
    """
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None


def rollup_of(line: JsonObject) -> PublishedRollup | None:
    """Return the rollup in *line*; None if a member is missing or the schema is newer."""
    cluster = text_in(line, CLUSTER_DIMENSION)
    minute_ms = epoch_ms_of(line.get("Minute"))
    publication = count_in(line, "Publication")
    schema = count_in(line, "Schema")
    if not cluster or minute_ms is None or publication is None:
        return None
    if schema is None or schema > VERSION:
        return None
    return PublishedRollup(
        cluster=cluster,
        minute_ms=minute_ms,
        publication=publication,
        gauges=_numbers(line, NOW_GAUGES),
        duplicates=frozenset(texts_in(line, "DuplicateEmitterInstances")),
        in_other_clusters=frozenset(texts_in(line, "InstanceNamesInOtherClusters")),
        tallies={publication: _numbers(line, NOW_TALLIES)},
        owners=_idle_rows(line, OWNER_ROWS, ("Owner", "Team", "Cores")),
        instances=_idle_rows(line, IDLE_INSTANCES, ("InstanceId", "InstanceType", "IdleCores")),
    )


def _numbers(line: JsonObject, names: Iterable[str]) -> Amounts:
    return {name: value for name in names if (value := number_in(line, name)) is not None}


def _idle_rows(line: JsonObject, member: str, members: tuple[str, str, str]) -> tuple[IdleRow, ...]:
    """Return the rows of *member* except those without a number of cores."""
    rows = []
    for row in entries_in(line, member):
        name, kind, cores = members
        idle = micros_in(row, cores)
        if idle is None:
            continue
        cost = micros_in(row, "UsdPerHour")
        rows.append(
            IdleRow(
                name=sys.intern(text_in(row, name)),
                kind=sys.intern(text_in(row, kind)) or None,
                idle=idle,
                cost=cost,
                unpriced=idle if cost is None else micros_in(row, "UnpricedCores") or 0,
            )
        )
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class Now:
    """
    The current state of clusters.

    Attributes:
        clusters: Clusters that are still published, by name.

        is_folded: True if it was added up from minute lines, not read from rollups.
    """

    clusters: tuple[ClusterNow, ...]
    is_folded: bool = False

    @property
    def total(self) -> ClusterNow:
        """The sum of all clusters."""
        return together(self.clusters)

    @property
    def owners(self) -> list[tuple[ClusterNow, IdleOwner]]:
        """The owners of idle cores with their cluster, highest cost first, then most cores."""
        rows = [(cluster, row) for cluster in self.clusters for row in cluster.owners]
        return sorted(rows, key=lambda pair: (-(pair[1].cost or 0), -pair[1].idle))

    def of_cluster(self, cluster: str) -> Now:
        """Return the state of *cluster* alone; it has no clusters if *cluster* is unknown."""
        rows = tuple(row for row in self.clusters if row.cluster == cluster)
        return Now(rows, self.is_folded)


def together(clusters: Sequence[ClusterNow]) -> ClusterNow:
    """Return the sum of *clusters*. A member is None if a cluster lacks it, or without clusters."""
    values: dict[str, Any] = {
        name: total_of([getattr(cluster, name) for cluster in clusters])
        for name in (*NOW_COUNTS, *NOW_COSTS, "covered", "used")
    }
    unknown_by_reason: Counter[str] = Counter()
    for cluster in clusters:
        unknown_by_reason.update(cluster.unknown_by_reason)
    values |= {
        field: tuple(
            dict.fromkeys(name for cluster in clusters for name in getattr(cluster, field))
        )
        for field in ("unpriced_types", "price_regions", "overridden")
    }
    return ClusterNow(
        cluster=clusters[0].cluster if len(clusters) == 1 else "",
        minute=max(
            (cluster.minute for cluster in clusters if cluster.minute is not None), default=None
        ),
        prices_as_of=max(
            filter(None, (cluster.prices_as_of for cluster in clusters)), default=None
        ),
        unknown_by_reason=dict(unknown_by_reason),
        owners_known=all(cluster.owners_known for cluster in clusters),
        **values,
    )


class RollupLines:
    """The rollups of the lines read so far; safe to use from several threads."""

    def __init__(self) -> None:
        self._rollups: dict[tuple[str, int], PublishedRollup] = {}
        self._newest: dict[str, tuple[int, int, ClusterNow]] = {}  # minute, publication
        self._close: tuple[int, Amounts] | None = None
        self._lock = threading.Lock()
        self.changes = 0  # how often a minute has changed

    def fold_lines(self, lines: Iterable[str]) -> None:
        """Record the rollups among *lines*, and the counters of close."""
        for text in lines:
            line = (
                parsed_object(text) if text.startswith("{") else None
            )  # Lambda's own lines are text
            if line is None:
                continue
            if "MinutesClosed" in line:
                self._take_close(line)
            elif line.get("Kind") == ROLLUP_KIND and (rollup := rollup_of(line)) is not None:
                self._take_rollup(rollup, line)

    def forget_before(self, oldest_ms: int) -> None:
        """Forget rollups before *oldest_ms*."""
        with self._lock:
            for key in [key for key in self._rollups if key[1] < oldest_ms]:
                del self._rollups[key]
            for name in [name for name, kept in self._newest.items() if kept[0] < oldest_ms]:
                del self._newest[name]

    def rollups(self, start_ms: int) -> list[PublishedRollup]:
        """Return the rollups of each minute and cluster from *start_ms* on, in order of time."""
        with self._lock:
            rollups = [rollup for rollup in self._rollups.values() if rollup.minute_ms >= start_ms]
        return sorted(rollups, key=lambda rollup: (rollup.minute_ms, rollup.cluster))

    def now(self) -> Now:
        """Return the newest rollup of each cluster that is still published."""
        with self._lock:
            newest_ms = max((minute_ms for minute_ms, _, _ in self._newest.values()), default=0)
            oldest_ms = newest_ms - COVERAGE_SPREAD_MINUTES * MINUTE_MS
            kept = [entry for _, entry in sorted(self._newest.items()) if entry[0] >= oldest_ms]
        return Now(tuple(cluster for _, _, cluster in kept))

    def close_report(self) -> tuple[int, Amounts] | None:
        """Return the time of close's last report, and its counters; None before the first."""
        with self._lock:
            return self._close

    def _take_rollup(self, rollup: PublishedRollup, line: JsonObject) -> None:
        key = (rollup.cluster, rollup.minute_ms)
        place = (rollup.minute_ms, rollup.publication)
        with self._lock:
            known = self._rollups.get(key)
            newest_rollup = rollup
            if known is not None:
                if rollup.publication < known.publication:
                    newest_rollup = known
                tallies = {**known.tallies, **rollup.tallies}
                newest_rollup = replace(newest_rollup, tallies=tallies)
            self._rollups[key] = newest_rollup
            self.changes += newest_rollup != known
            newest = self._newest.get(rollup.cluster)
            if newest is None or place >= newest[:2]:
                self._newest[rollup.cluster] = (*place, cluster_now(line))

    def _take_close(self, line: JsonObject) -> None:
        at_ms = object_in(line, "_aws").get("Timestamp")
        last = {  # Powertools writes a list
            name: value[-1] if isinstance(value, list) and value else value
            for name, value in line.items()
        }
        numbers = _numbers(last, last)
        with self._lock:
            if type(at_ms) is int and (self._close is None or at_ms >= self._close[0]):
                self._close = at_ms, numbers


class NewestMinutes:
    """The newest minute lines, as a source of the current state without a stack."""

    def __init__(self) -> None:
        self._records = Records()
        self._minutes: dict[str, dict[int, dict[str, list[MinuteRecord]]]] = defaultdict(dict)

    def fold_lines(self, lines: Iterable[str]) -> Iterator[str]:
        """Record the minutes among *lines*. Yield every line."""
        for text in lines:
            if MINUTES_FILTER in text:
                for record in self._records.read_records([text]):
                    self._take_record(record)
            yield text

    def now(self, prices: Prices, idle_after_minutes: int) -> Now:
        """Return the state that a stack's rollups would have, as far as minute lines contain it."""
        newest_ms = max((max(minutes) for minutes in self._minutes.values()), default=0)
        clusters = []
        for cluster, minutes in sorted(self._minutes.items()):
            minute_ms = max(minutes, key=lambda rollup: (len(minutes[rollup]), rollup))
            if minute_ms >= newest_ms - COVERAGE_SPREAD_MINUTES * MINUTE_MS:
                instances = merge_clusters(
                    {
                        (name, instance_id): parts
                        for name, of_cluster in self._minutes.items()
                        for instance_id, parts in of_cluster.get(minute_ms, {}).items()
                    }
                )
                own = [found for (name, _), found in instances.items() if name == cluster]
                idle = ClusterIdle(CostRules(prices, idle_after_minutes))
                for others in minutes.values():
                    for instance_id in others.keys() - minutes[minute_ms].keys():
                        last = merge_records(others[instance_id]).record
                        idle.owners.minutes.unseen.fold_last(last)
                clusters.append(_folded(cluster, minute_ms, own, idle))
        return Now(tuple(clusters), is_folded=True)

    def _take_record(self, record: MinuteRecord) -> None:
        minutes = self._minutes[record.cluster]
        instances = minutes.setdefault(record.minute_ms, {})
        instances.setdefault(record.instance_id, []).append(record)
        oldest_ms = max(minutes) - (FOLDED_MINUTES - 1) * MINUTE_MS
        for minute_ms in [at_ms for at_ms in minutes if at_ms < oldest_ms]:
            del minutes[minute_ms]


def _folded(
    cluster: str, minute_ms: int, instances: Sequence[InstanceMinute], idle: ClusterIdle
) -> ClusterNow:
    """Return the state of a cluster by building and reading the members of its rollup."""
    for instance in instances:
        idle.fold_record(instance.record, in_other_clusters=instance.in_other_clusters)
    records = [instance.record for instance in instances]
    cores = sum(len(record.core_state) for record in records)
    by_reason: Counter[str] = Counter()
    for record in records:
        reason = record.unknown_reason or REASON_NOT_REPORTED
        by_reason[reason] += record.core_state.count(UNKNOWN_STATE)
    unknown = by_reason.total()
    members: Members = {
        CLUSTER_DIMENSION: cluster,
        "Minute": iso_minute(minute_ms // MINUTE_MS),
        "Instances": len(records),
        "InstancesInOtherClusters": sum(instance.in_other_clusters for instance in instances),
        **idle.usd_per_hour(),
        "PriceRegions": sorted(idle.basis.regions),
        "PricesOverridden": sorted(idle.basis.overridden),
        "PricesAsOf": PRICES_AS_OF if idle.basis.regions else None,
        "UnpricedTypes": idle.basis.unpriced_names(),
    }
    if cores:
        members |= {
            "NeuronCores": cores,
            "UnknownCores": unknown,
            BY_REASON: by_reason,
            "UnpricedCores": idle.unpriced_cores,
        }
    if cores > unknown:
        members |= {
            **idle.core_members(),
            "NeuronCoreUtilization": _mean_percent(records),
            OWNER_ROWS: [row.members() for row in idle.owners.rows(idle.total.instances)],
        }
    return cluster_now(members)


def _mean_percent(records: Sequence[MinuteRecord]) -> float:
    percents = [
        percent
        for record in records
        for percent in record.utilization_percent
        if percent is not None
    ]
    return round(sum(percents) / len(percents), 6)
