"""
Instances that a cluster could have released, and how many its busy cores needed.

Instances are counted by hour and cluster, from rows of the ledger. Data that a row omits is unknown
here: unknown time counts as work. In clusters with committed capacity only unused time is counted,
because no release would have ended its cost.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_wire.names import HOUR_MINUTES, MICRO, WEEK_HOURS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from neuron_accounts.ledger import LedgerRow

RARE_PERCENT: Final = 5
"""The percentage of hours in which a cluster may need more instances than the savings leave it."""

_CORE_HOUR: Final = HOUR_MINUTES * MICRO

_MOST_PARTIAL: Final = (HOUR_MINUTES - 1) * MICRO
"""If samples cover more time than this, every minute of the hour has a record."""


@dataclass(slots=True)
class ClusterHour:
    """
    One cluster in one hour; time is in micro-core-minutes, money in billionths of a dollar.

    Attributes:
        instances: Number of instances that ran the whole hour, as far as samples cover it.

        busy: Time of busy cores.

        committed: Idle time that is paid whether instances run or not.

        largest: Time of the largest instance in a whole hour, at least.

        releasable: Instances whose whole hour was avoidable, by its price; None without a price.
    """

    instances: int = 0
    busy: int = 0
    committed: int = 0
    largest: int = 0
    releasable: Counter[int | None] = field(default_factory=Counter)

    def fold_instances(
        self,
        instances: int,
        busy: int,
        committed: int,
        largest: int,
        releasable: Iterable[tuple[int | None, int]],
    ) -> None:
        """Count *instances* of the cluster in the hour; the attributes define each value."""
        self.instances += instances
        self.busy += busy
        self.committed += committed
        self.largest = max(self.largest, largest)
        for cost, count in releasable:
            self.releasable[cost] += count


ClusterHours = dict[tuple[str, int], ClusterHour]
"""Hours by cluster and hour since the epoch."""


class Saving(NamedTuple):
    """
    The savings of one cluster in a period.

    Attributes:
        hours: Hours in which the cluster has rows.

        released: Number of instances that could be released in at least 95 % of the hours.

        saved: The least amount that their release would have saved, in billionths of a dollar; None
            without a price.

        instances: Number of instances that ran whole hours, in at least 95 % of the hours.

        packed: The number of instances that had room for the busy cores in 95 % of the hours, at
            least; None in a cluster with committed capacity.

        committed: Idle micro-core-minutes that are paid whether instances run or not.
    """

    cluster: str
    hours: int
    released: int
    saved: int | None
    instances: int
    packed: int | None
    committed: int


def pass_rows(hours: ClusterHours, rows: Iterable[LedgerRow]) -> Iterator[LedgerRow]:
    """Yield *rows*, then add them to *hours*: all rows of each instance in an hour."""
    times: dict[tuple[str, int, str], list[int]] = {}
    unpriced = set()
    for row in rows:
        yield row
        key = row.cluster, row.hour, row.instance_id
        time = times.get(key)
        if time is None:
            time = times[key] = [0, 0, 0, 0, 0, row.covered]
        time[0] += row.allocated
        time[3] += row.busy or 0
        time[4] += row.committed
        if row.avoidable:  # in few rows
            time[1] += row.avoidable
            time[2] += row.avoidable_cost or 0
            if row.avoidable_cost is None:
                unpriced.add(key)
    for key, (allocated, avoidable, cost, busy, committed, covered) in times.items():
        cost_or_none = None if key in unpriced else cost
        is_whole = covered > _MOST_PARTIAL
        releasable = [(cost_or_none, 1)] if is_whole and 0 < allocated == avoidable else []
        # An instance that ran for a part of the hour would have had more core time in a whole hour.
        # Without any sample its time is unknown; then earlier hours have the instance.
        minutes = -(-covered // MICRO) or HOUR_MINUTES
        largest = -(-allocated * HOUR_MINUTES // minutes)
        hour = hours.setdefault(key[:2], ClusterHour())
        hour.fold_instances(int(is_whole), busy, committed, largest, releasable)


def cluster_columns(hours: ClusterHours) -> list[tuple[object, ...]]:
    """Return the clusters of one hour by column, as `fold_instances` takes them."""
    rows = [
        (
            cluster,
            hour.instances,
            hour.busy,
            hour.committed,
            hour.largest,
            sorted(hour.releasable.items(), key=str),
        )
        for (cluster, _), hour in sorted(hours.items())
    ]
    return list(zip(*rows, strict=True))


def savings_of(hours: ClusterHours, period_hours: int) -> list[Saving]:
    """
    Return the savings of each cluster of *hours*, most money first.

    A period of less than seven days has none, because it may be a weekend or a holiday.
    """
    if period_hours < WEEK_HOURS:
        return []
    by_cluster: dict[str, list[ClusterHour]] = defaultdict(list)
    for (cluster, _), hour in hours.items():
        by_cluster[cluster].append(hour)
    savings = [_saving(cluster, of_cluster) for cluster, of_cluster in by_cluster.items()]
    return sorted(savings, key=lambda saving: (-(saving.saved or 0), saving.cluster))


def _saving(cluster: str, hours: Sequence[ClusterHour]) -> Saving:
    rare = len(hours) * RARE_PERCENT // 100
    released = sorted(hour.releasable.total() for hour in hours)[rare]
    cheapest = [
        sorted(hour.releasable.elements(), key=lambda cost: cost or 0)[:released] for hour in hours
    ]
    costs = [cost for of_hour in cheapest for cost in of_hour if cost is not None]
    committed = sum(hour.committed for hour in hours)
    room = -(-max(hour.largest for hour in hours) // _CORE_HOUR) * _CORE_HOUR or _CORE_HOUR
    needed = sorted(-(-hour.busy // room) for hour in hours)
    return Saving(
        cluster=cluster,
        hours=len(hours),
        released=released,
        saved=sum(costs) if costs or not released else None,
        instances=sorted(hour.instances for hour in hours)[rare],
        packed=None if committed else needed[-1 - rare],
        committed=committed,
    )
