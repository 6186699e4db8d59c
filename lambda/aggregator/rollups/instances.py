"""
The instances that a rollup names: those with idle cores, and stragglers.

A straggler does less than other instances of its type in its cluster and delays every process that
waits for it: on its busy cores it reaches less than half of the usual utilization of its type. The
calculation uses whole numbers, so that an instance at exactly half is not a straggler on any
machine and in any order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from aggregator.rollups.sums import MAX_LISTED_OWNERS, Ranking
from neuron_accounts.owner_minutes import owner_name
from neuron_wire.core_members import core_indexes, core_ranges
from neuron_wire.holders import holder_members, holders_of
from neuron_wire.line_members import Members, present_members
from neuron_wire.names import ATTACHED_IDLE_STATE, BUSY_STATE, RESERVATIONS_UNKNOWN
from neuron_wire.owners import owner_members

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from neuron_wire import MinuteRecord
    from neuron_wire.owners import Owned


MAX_IDLE_INSTANCES: Final = 20


@dataclass(frozen=True, slots=True)
class IdleInstance:
    """
    An instance with idle cores.

    Attributes:
        record: Its merged record.

        cores: Indexes of its idle cores, ascending.

        minutes: Minutes for which its longest idle core has not been busy.

        price: The price of one of those cores per hour, or None if unknown.

        busy_percent: Mean utilization of its busy cores; None without any.

        in_other_clusters: True if another cluster has the instance in the same minute.
    """

    record: MinuteRecord
    cores: Sequence[int]
    minutes: int
    price: float | None
    busy_percent: float | None
    in_other_clusters: bool

    def members(self, team_of: Callable[[str, str | None], str | None]) -> Members:
        """
        Return its row in a rollup, with only the holders and owners of its idle cores.

        *team_of* returns an owner's team from its name and its scheduler's team.
        """
        record = self.record
        state = record.core_state
        attached = [core for core in self.cores if state[core] == ATTACHED_IDLE_STATE]
        holders, more = holders_of((record.holders, record.holders_more), set(attached))
        with_teams = [
            replace(holder, team=team_of(owner_name(holder.name), holder.team))
            for holder in holders
        ]
        owners, others = _owners_of(self)
        usd_per_hour = None if self.price is None else round(self.price * len(self.cores), 4)
        return present_members(
            {
                "InstanceId": record.instance_id,
                "Region": record.region,
                "InstanceType": record.instance_type,
                "NeuronCores": len(state),
                "BusyCores": state.count(BUSY_STATE),
                "Executions": record.executions,
                "IdleCores": len(self.cores),
                "Cores": core_ranges(self.cores),
                "IdleMinutes": self.minutes,
                "UsdPerHour": usd_per_hour,
                "AttachedCores": core_ranges(attached) or None,
                "Holders": holder_members(with_teams) or None,
                "HoldersMore": more or None,
                "Owners": owner_members(owners) or None,
                "OwnersMore": others or None,
                "Reservations": RESERVATIONS_UNKNOWN if record.is_allocation_unknown else None,
                "CoreState": state,
                "BusyUtilization": self.busy_percent,
                "HostCpuPercent": record.readings.get("HostCpuPercent"),
                "InOtherClusters": self.in_other_clusters or None,
            }
        )


def _owners_of(instance: IdleInstance) -> Owned:
    """
    Return the owners of idle cores of *instance*, and the idle cores of further owners.

    The rows of the owners have their teams and quiet minutes.
    """
    idle = set(instance.cores)
    found = []
    for owner in instance.record.owners:
        theirs = idle & {*core_indexes(owner.cores), *core_indexes(owner.reserved)}
        if theirs:
            found.append((theirs, replace(owner, team=None, quiet_minutes=None)))
    found.sort(key=lambda pair: -len(pair[0]))
    listed = found[:MAX_LISTED_OWNERS]
    others = idle.intersection(core_indexes(instance.record.owners_more)).union(
        *(cores for cores, _ in found[MAX_LISTED_OWNERS:])
    )
    others.difference_update(*(cores for cores, _ in listed))
    return tuple(owner for _, owner in listed), core_ranges(others)


MIN_BUSY_INSTANCES: Final = 4
"""Busy instances of a type from which a usual utilization exists."""

MAX_STRAGGLERS: Final = 20  # stragglers that a rollup names; it counts all of them


class BusyInstance(NamedTuple):
    """
    A busy instance, in the order of mean utilization.

    Attributes:
        mean: Mean utilization of its busy cores, in hundredths of a percent.

        hundredths: Sum of their utilization, in hundredths of a percent.

        cores: Number of busy cores.

        instance_id: Its name.
    """

    # The quotient of two whole numbers is rounded correctly, and two different quotients differ by
    # far more: ordering the floats orders the fractions.
    mean: float
    hundredths: int
    cores: int
    instance_id: str


def rank_stragglers(
    by_type: Mapping[str, list[BusyInstance]],
) -> tuple[int | None, Sequence[Members]]:
    """
    Return the number of stragglers, and the rows of those farthest behind.

    The number is None if no type has enough busy instances.
    """
    judged = {name: busy for name, busy in by_type.items() if len(busy) >= MIN_BUSY_INSTANCES}
    if not judged:
        return None, []
    ranking: Ranking[Members] = Ranking(MAX_STRAGGLERS)
    for instance_type, busy in judged.items():
        busy.sort()
        # The median is the mean of these two, which are equal if the number is odd.
        low = busy[(len(busy) - 1) // 2]
        high = busy[len(busy) // 2]
        twice_median = low.hundredths * high.cores + high.hundredths * low.cores
        cores = low.cores * high.cores
        median = twice_median / (2 * cores)
        for mean, hundredths, own_cores, instance_id in busy:
            if 4 * hundredths * cores >= own_cores * twice_median:
                break
            make = partial(
                dict[str, object],
                InstanceId=instance_id,
                InstanceType=instance_type,
                BusyUtilization=round(mean / 100, 2),
                TypeMedian=round(median / 100, 2),
            )
            ranking.rank((mean / median, instance_id), make)
    return ranking.count, ranking.first()
