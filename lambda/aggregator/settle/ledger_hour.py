"""
One hour of the ledger: read its minutes by bucket, compute rows, put objects.

A minute without a record of a known instance counts as unknown. This ends if the instance is
forgotten, shuts down cleanly, reports to another cluster, or if EC2 reports that it stopped. The
rule is that of close, but it uses only stored records. So settle also reads the minutes before the
hour in which a missed instance may have reported last, and an hour that is settled again has the
same rows.

Whether an idle minute is avoidable depends on the owners' work on all instances of their cluster.
So every worker reads its parts first, and puts them after the other workers' results are known.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from aggregator.minutes import SILENT_FORGET_MINUTES, Departures, TimeCheck, has_departed
from aggregator.reading.bucket_reader import BucketReader, ReadingCounts
from aggregator.reading.capacity import HourAdmission
from aggregator.settle.purchases import unpacked
from aggregator.storage.record_items import TABLE_BUCKETS
from neuron_accounts.instance_hours import InstanceHour, OwnerWork
from neuron_accounts.ledger import PARTS_OF_HOUR, pack_rows, part_key
from neuron_accounts.then import then_of
from neuron_wire.merging import merge_clusters
from neuron_wire.names import HOUR_MINUTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from aggregator.storage.ledger_objects import LedgerObjects
    from aggregator.storage.table import Table
    from neuron_accounts.core_time import CostRules
    from neuron_accounts.instance_hours import Ec2Instance
    from neuron_wire.line_members import Counts
    from neuron_wire.merging import InstanceMinute, Key, RecordsOf


MINUTES_BETWEEN_LOOKS: Final = 15
"""Minutes of a bucket between two time checks."""


@dataclass(slots=True)
class BucketHour:
    """
    One bucket in one hour.

    Attributes:
        hour: Whole hours since the epoch.

        rules: The cost of a minute and its owner.

        departures: The minutes in which EC2 reported that each instance stopped.

        purchases: EC2's answer about each instance that it knows.
    """

    hour: int
    rules: CostRules
    departures: Departures
    purchases: Mapping[str, Ec2Instance]

    def minutes(self) -> range:
        """Return the minutes to read: the hour's, and earlier ones that show missed instances."""
        first = self.hour * HOUR_MINUTES
        return range(first - SILENT_FORGET_MINUTES, first + HOUR_MINUTES)

    def instance_hours(
        self,
        minutes: Iterable[tuple[int, RecordsOf]],
        works: dict[str, OwnerWork],
    ) -> list[tuple[str, InstanceHour]]:
        """
        Return the hours of *minutes*, all of `minutes()` in order, each with its cluster.

        The owners' work in the hour is added to the *works* of their clusters.
        """
        latest_of: dict[Key, InstanceMinute] = {}
        latest: dict[str, int] = {}
        hours: dict[Key, InstanceHour] = {}
        for minute, records_of in minutes:
            is_ours = minute >= self.hour * HOUR_MINUTES
            clusters = Counter(instance_id for _, instance_id in records_of)
            for key, instance in merge_clusters(records_of).items():
                latest_of[key] = instance
                latest[key[1]] = minute
                if is_ours:
                    work = works.setdefault(key[0], OwnerWork())
                    instance_hour = self._hour(hours, key)
                    instance_hour.overlap_minutes += clusters[key[1]] > 1
                    instance_hour.fold_minute(
                        instance.record, work, in_other_clusters=instance.in_other_clusters
                    )
            if not is_ours:
                continue
            for key, instance in latest_of.items():
                if key not in records_of and self._is_missed(instance, minute, latest):
                    self._hour(hours, key).fold_unknown_minute(instance.record)
                    work = works.setdefault(key[0], OwnerWork())
                    work.fold_unseen(instance.record, 1 << minute % HOUR_MINUTES)
        return [(key[0], hours[key]) for key in sorted(hours)]

    def _hour(self, hours: dict[Key, InstanceHour], key: Key) -> InstanceHour:
        if key not in hours:
            hours[key] = InstanceHour(self.hour, self.rules, self.purchases.get(key[1]))
        return hours[key]

    def _is_missed(self, last: InstanceMinute, minute: int, latest: Counts) -> bool:
        instance_id = last.record.instance_id
        seen = last.record.epoch_minute
        if last.gone or minute - seen > SILENT_FORGET_MINUTES:
            return False
        if latest[instance_id] > seen:
            return False  # it has reported to another cluster since
        return not has_departed(self.departures, instance_id, seen, minute)


class PartCounts(NamedTuple):
    """
    The counts of settled data.

    Attributes:
        summaries: The sums of each part's rows, as objects.

        rows: Rows of the ledger.

        bytes: Bytes of its objects.
    """

    summaries: dict[int, bytes]
    rows: int
    bytes: int


@dataclass(slots=True)
class LedgerParts:
    """
    The ledger parts that one worker writes.

    Attributes:
        parts: The numbers of the parts.

        connect: Opens the table and the bucket in the calling process.

        rules: The cost of a minute and its owner.

        check_time: Raises an error if the run must stop.
    """

    parts: Sequence[int]
    connect: Callable[[], tuple[Table, LedgerObjects]]
    rules: CostRules
    check_time: TimeCheck
    _opened: tuple[Table, LedgerObjects] | None = None
    _hours: dict[int, list[tuple[str, InstanceHour]]] = field(default_factory=dict)

    def read_hour(
        self, hour: int, departures: Departures
    ) -> tuple[dict[str, OwnerWork], ReadingCounts]:
        """
        Read these parts of *hour*. Return the work of owners by cluster, and the counts.

        Raises:
            TableError: If the table did not answer.
            OutOfTimeError: If the run must stop.
        """
        if self._opened is None:
            self._opened = self.connect()
        table, _ = self._opened
        counts = ReadingCounts()
        works = dict[str, OwnerWork]()
        self._hours = {}
        published: dict[int, frozenset[str]] = {}
        for part in self.parts:
            purchases = table.read_purchases(hour, part)
            bought = {} if purchases is None else unpacked(purchases)
            bucket_hour = BucketHour(hour, self.rules, departures, bought)
            self._hours[part] = [
                instance_hour
                for bucket in range(part, TABLE_BUCKETS, PARTS_OF_HOUR)
                for instance_hour in bucket_hour.instance_hours(
                    self._minutes(table, bucket_hour, bucket, counts, published), works
                )
            ]
        return works, counts

    def put_hour(self, hour: int, works: Mapping[str, OwnerWork]) -> PartCounts:
        """
        Put the objects of these parts of *hour*, which was read; *works* are of all processes.

        Raises:
            LedgerError: If the bucket rejected one.
            OutOfTimeError: If the run must stop.
        """
        _, objects = self._opened or self.connect()
        summaries = {}
        rows = size = 0
        for part in self.parts:
            self.check_time()
            of_part = [
                row
                for cluster, instance_hour in self._hours.pop(part)
                for row in instance_hour.rows(works.get(cluster, OwnerWork()))
            ]
            payload = pack_rows(of_part)
            objects.put(part_key(hour, part), payload)
            rows += len(of_part)
            size += len(payload)
            summaries[part] = then_of(of_part).summary()
        return PartCounts(summaries, rows, size)

    def _minutes(
        self,
        table: Table,
        bucket_hour: BucketHour,
        bucket: int,
        counts: ReadingCounts,
        published: dict[int, frozenset[str]],
    ) -> Iterator[tuple[int, RecordsOf]]:
        admission = HourAdmission()
        for minute in bucket_hour.minutes():
            if minute % MINUTES_BETWEEN_LOOKS == 0:
                self.check_time()
            if minute not in published:
                published[minute] = frozenset(table.read_publications(minute))
            if not published[minute]:  # avoids 32 queries that find no record that counts
                yield minute, {}
                continue
            reader = BucketReader(
                table, admission, counts, self.check_time, minute, published[minute]
            )
            yield minute, reader.read_bucket(bucket)
