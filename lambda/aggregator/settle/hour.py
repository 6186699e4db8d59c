"""
The minutes of one bucket in one hour, of which its instances' rows of the ledger are made.

An instance without a record is missed, and its minute unknown, until it is
forgotten, said goodbye, was stopped as EC2 says, or reports to another cluster:
the rule of close, told by the records alone. So the minutes before the hour are
read too, as many as it takes to forget an instance, and an hour that is settled
again, whenever, has the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from aggregator.minutes import SILENT_FORGET_MINUTES
from neuron_wire.instance_hours import InstanceHour, OwnerWork
from neuron_wire.merging import merge_records
from neuron_wire.names import HOUR_MINUTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from neuron_wire import MinuteRecord
    from neuron_wire.instance_hours import Ec2Instance, LedgerRules

Key = tuple[str, str]  # cluster, instance


class _Sight(NamedTuple):
    minute: int
    record: MinuteRecord
    gone: bool


@dataclass(slots=True)
class BucketHour:
    """
    One bucket in one hour.

    Attributes:
        hour: Whole hours since the epoch.

        rules: What a minute costs and whose it is.

        departures: The minutes in which EC2 said that each instance stopped.

        purchases: What EC2 says of each instance that it knows.
    """

    hour: int
    rules: LedgerRules
    departures: Mapping[str, Sequence[int]]
    purchases: Mapping[str, Ec2Instance]

    def minutes(self) -> range:
        """Those that must be read: the hour's own, and those that say who is missed in it."""
        first = self.hour * HOUR_MINUTES
        return range(first - SILENT_FORGET_MINUTES, first + HOUR_MINUTES)

    def instance_hours(
        self,
        minutes: Iterable[tuple[int, Mapping[Key, Sequence[MinuteRecord]]]],
        works: dict[str, OwnerWork],
    ) -> list[tuple[str, InstanceHour]]:
        """
        The hours of *minutes*, all of `minutes()` in their order, each with its cluster.

        What owners did in the hour is added to the *works* of their clusters.
        """
        sights: dict[Key, _Sight] = {}
        latest: dict[str, int] = {}
        hours: dict[Key, InstanceHour] = {}
        for minute, records_of in minutes:
            is_ours = minute >= self.hour * HOUR_MINUTES
            for key, records in records_of.items():
                instance = merge_records(records)
                sights[key] = _Sight(minute, instance.record, instance.gone)
                latest[key[1]] = minute
                if is_ours:
                    work = works.setdefault(key[0], OwnerWork())
                    self._hour(hours, key).fold_minute(instance.record, work)
            if not is_ours:
                continue
            for key, sight in sights.items():
                if sight.minute < minute and self._is_missed(key[1], sight, minute, latest):
                    self._hour(hours, key).fold_unknown_minute(sight.record)
        return [(key[0], hours[key]) for key in sorted(hours)]

    def _hour(self, hours: dict[Key, InstanceHour], key: Key) -> InstanceHour:
        if key not in hours:
            hours[key] = InstanceHour(self.hour, self.rules, self.purchases.get(key[1]))
        return hours[key]

    def _is_missed(
        self, instance_id: str, sight: _Sight, minute: int, latest: Mapping[str, int]
    ) -> bool:
        if sight.gone or minute - sight.minute > SILENT_FORGET_MINUTES:
            return False
        if latest[instance_id] > sight.minute:
            return False  # it reports to another cluster since
        departed = self.departures.get(instance_id, ())
        return not any(sight.minute <= departure < minute for departure in departed)
