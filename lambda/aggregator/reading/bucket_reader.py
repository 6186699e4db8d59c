"""
Read the records of one bucket of a minute, within the memory of close.

Anyone who can write to the log group can write any number of lines, under any name. Each record is
parsed, and kept only within these limits, so that a flood costs time and not memory:

* instances and clusters that the registry does not remember: as many as it has room for; remembered
  ones are never rejected to make room;
* one instance and minute: a few records of the largest kind;
* one bucket: about ten times its records in a fleet of 100,000 instances. Beyond that, each
  instance still has room for one record of the largest possible size.

Records over a limit are left out of the minute and counted. The last record of an instance without
telemetry is read from earlier minutes: the table still has them, so only the minute of each is
remembered.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from aggregator.minutes import SILENT_FORGET_MINUTES
from aggregator.reading.capacity import HourAdmission
from aggregator.storage.record_items import records_of
from neuron_wire.line_members import stands_as
from neuron_wire.merging import merge_records
from neuron_wire.names import MAX_CORES, UNKNOWN_STATE

if TYPE_CHECKING:
    from collections.abc import (
        Collection,
        Container,
        Iterable,
        Iterator,
        Mapping,
    )
    from typing import Protocol

    from aggregator.minutes import TimeCheck
    from aggregator.storage.table import Table
    from neuron_wire import MinuteRecord
    from neuron_wire.merging import Key, RecordsOf


MAX_REFUSED_CLUSTERS: Final = 5
"""Clusters named when records are rejected."""


@dataclass(slots=True)
class ReadingCounts:
    """
    Counts of the records that were read.

    Attributes:
        records_read: Records read, counting every copy and every reading.

        records_unreadable: Records dropped because they cannot be parsed. An item that is damaged
            as a whole counts as one.

        records_refused: Records left out of their minute because they exceed a limit, counting
            every reading.

        refused_clusters: The first few clusters of refused records.
    """

    records_read: int = stands_as("RecordsRead", 0)
    records_unreadable: int = stands_as("RecordsUnreadable", 0)
    records_refused: int = stands_as("RecordsRefused", 0)
    refused_clusters: list[str] = field(default_factory=list)

    def refuse(self, cluster: str, records: int = 1) -> None:
        """Count *records* of *cluster* over a limit; name the cluster if there are few."""
        self.records_refused += records
        named = self.refused_clusters
        if len(named) < MAX_REFUSED_CLUSTERS and cluster not in named:
            named.append(cluster)

    def fold_counts(self, other: ReadingCounts) -> None:
        """Add the counts of *other*."""
        self.records_read += other.records_read
        self.records_unreadable += other.records_unreadable
        self.records_refused += other.records_refused
        for cluster in other.refused_clusters:
            self.refuse(cluster, records=0)


if TYPE_CHECKING:

    class Admission(Protocol):
        """Decides which instances count."""

        def admits(self, cluster: str, instance_id: str, *, is_published: bool = False) -> bool: ...


RECORD_WEIGHT: Final = 16
"""The weight of a record without its cores and holders; a core weighs 1, about 64 bytes."""

_HOLDER_CHARS: Final = 64  # characters of its holders that weigh as much as a core
MOST_OF_AN_INSTANCE: Final = 4 * MAX_CORES
"""The most weight of one instance and minute: about thirty records of 128 cores."""

MOST_IN_A_BUCKET: Final = 4_000_000
"""
The most weight of a bucket's records in memory at once: 256 MB. The bucket of 100,000 instances of
128 cores has 450,000.
"""

FAIR_SHARE: Final = 160
"""
The weight that each instance may have in a full bucket: one record of 128 cores, the number that
the largest instance has.
"""

PAYLOADS_BETWEEN_LOOKS: Final = 64
"""Payloads between two time checks: a bucket alone may take longer than a run."""

BUCKETS_BETWEEN_LOOKS: Final = 8
"""Buckets between two time checks: a query without a result takes some milliseconds."""


@dataclass(slots=True)
class BucketReader:
    """
    Reads the buckets of one minute.

    Attributes:
        table: The table of the records.

        registry: Decides which instances count.

        outcome: The counts of read and omitted records.

        check_time: Raises an error if the run must stop.

        minute: The minute.

        published: The clusters that were published in it; None until they are needed.

        instances: The instances to read; None reads all of them.
    """

    table: Table
    registry: Admission
    outcome: ReadingCounts
    check_time: TimeCheck
    minute: int
    published: frozenset[str] | None = None
    instances: Collection[str] | None = None

    def read_buckets(
        self, buckets: Iterable[int], occupied: Container[int]
    ) -> Iterator[tuple[int, RecordsOf]]:
        """Yield *buckets* with the records that count, without empty buckets except *occupied*."""
        for number, bucket in enumerate(buckets):
            if number % BUCKETS_BETWEEN_LOOKS == 0:
                self.check_time()
            records_of = self.read_bucket(bucket)
            if records_of or bucket in occupied:
                yield bucket, records_of

    def read_bucket(self, bucket: int) -> RecordsOf:
        """Return the distinct records of *bucket* that count, by instance."""
        found: dict[Key, list[MinuteRecord]] = {}
        total = 0
        for number, payload in enumerate(self.table.read_bucket(self.minute, bucket), 1):
            if number % PAYLOADS_BETWEEN_LOOKS == 0:
                self.check_time()
            records, unreadable = records_of(payload, self.minute, self.instances)
            self.outcome.records_read += len(records)
            self.outcome.records_unreadable += unreadable
            for record in records:
                key = record.cluster, record.instance_id
                held = found.get(key, [])
                if held and _is_copy(record, held):
                    continue
                weight = _weight(record)
                most = MOST_OF_AN_INSTANCE if total < MOST_IN_A_BUCKET else FAIR_SHARE
                if weight + sum(map(_weight, held)) > most or not (held or self._admits(key)):
                    self.outcome.refuse(record.cluster)
                    continue
                total += weight
                held.append(record)
                found[key] = held
        return found

    def _admits(self, key: Key) -> bool:
        cluster, instance_id = key
        if self.registry.admits(cluster, instance_id):
            return True
        # A killed run may have published a cluster that is not in the registry.
        if self.published is None:
            self.published = frozenset(self.table.read_publications(self.minute))
        return cluster in self.published and self.registry.admits(
            cluster, instance_id, is_published=True
        )


MAX_EARLIER_MINUTES: Final = 8
"""
The most earlier minutes of one bucket that are read for one minute. In a fleet of 10,000 instances
they suffice if at most 1 in 40 is silent, each since a different minute. Older records count as not
read.
"""


def read_last_records(
    table: Table,
    bucket: int,
    before_minute: int,
    last_seen: Mapping[Key, int],
    check_time: TimeCheck,
) -> Iterator[tuple[Key, MinuteRecord | None]]:
    """
    Return the last merged record that knows a core of each instance of *bucket*.

    *last_seen* has the latest minute before *before_minute* that may have the record of each
    instance. A record that cannot be read is None. An instance is left out if its record is so old
    that the instance is forgotten.
    """
    left = dict(last_seen)
    for _ in range(MAX_EARLIER_MINUTES):
        if not left:
            return
        check_time()
        minute = max(left.values())
        wanted = {key for key, at in left.items() if at == minute}
        counts = ReadingCounts()
        reader = BucketReader(
            table=table,
            registry=HourAdmission(wanted),
            outcome=counts,
            check_time=check_time,
            minute=minute,
            published=frozenset(),
            instances={instance_id for _, instance_id in wanted},
        )
        records_of = reader.read_bucket(bucket)
        for key in wanted:
            record = merge_records(records_of[key]).record if key in records_of else None
            if record is not None and knows_a_core(record):
                del left[key]
                yield key, record
            elif counts.records_unreadable:
                del left[key]
                yield key, None
            elif before_minute - minute < SILENT_FORGET_MINUTES:
                left[key] = minute - 1
            else:
                del left[key]
    yield from ((key, None) for key in left)


def knows_a_core(record: MinuteRecord) -> bool:
    """Return True if *record* has telemetry of a core."""
    return len(record.core_state) > record.core_state.count(UNKNOWN_STATE)


def _is_copy(record: MinuteRecord, held: list[MinuteRecord]) -> bool:
    """Return True if *held* has *record*; the copy with most holders is kept."""
    for place, kept in enumerate(held):
        if (kept.boot, kept.seq) == (record.boot, record.seq):
            # Copies differ only in their holders: an item of the table has room for some of them.
            if record.holders_more < kept.holders_more:
                held[place] = record
            return True
    return False


def _weight(record: MinuteRecord) -> int:
    chars = sum([len(holder.cores) for holder in record.holders])
    return RECORD_WEIGHT + len(record.core_state) + chars // _HOLDER_CHARS
