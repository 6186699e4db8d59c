"""
What one process does of every hour: some of its parts, read, reckoned and put.

Whether an idle minute is avoidable depends on what its owners did on all instances of their
cluster. So every process reads its parts first, and puts them once it is told what the others saw.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aggregator.reading.bucket_reader import BucketReader
from aggregator.reading.reading_counts import ReadingCounts
from aggregator.settle.admission import HourAdmission
from aggregator.settle.hour import BucketHour
from aggregator.settle.purchases import part_of, unpacked
from aggregator.storage.item import BUCKETS
from neuron_wire.instance_hours import OwnerWork
from neuron_wire.ledger import pack_rows, part_key
from neuron_wire.then import then_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from aggregator.settle.hour import Key
    from aggregator.storage.ledger_objects import LedgerObjects
    from aggregator.storage.table import Table
    from neuron_wire import MinuteRecord
    from neuron_wire.instance_hours import InstanceHour, LedgerRules


@dataclass(frozen=True, slots=True)
class PartCounts:
    """
    What was settled.

    Attributes:
        summaries: What the rows of each part add up to, as objects.

        rows: Of the ledger.

        bytes: Of its objects.
    """

    summaries: dict[int, bytes]
    rows: int
    bytes: int


@dataclass(slots=True)
class LedgerParts:
    """
    Some of the parts of every hour.

    Attributes:
        parts: Their numbers.

        connect: Opens the table and the bucket in the process that asks for them.

        rules: What a minute costs and whose it is.

        check_time: Raises when the run must stop.
    """

    parts: Sequence[int]
    connect: Callable[[], tuple[Table, LedgerObjects]]
    rules: LedgerRules
    check_time: Callable[[], None]
    _opened: tuple[Table, LedgerObjects] | None = field(default=None)
    _hours: dict[int, list[tuple[str, InstanceHour]]] = field(default_factory=dict)

    def read(
        self, hour: int, departures: Mapping[str, Sequence[int]]
    ) -> tuple[dict[str, OwnerWork], ReadingCounts]:
        """
        Read these parts of *hour*; what owners did in it, by cluster, and what was read.

        Raises:
            TableError: If the table did not answer.
            OutOfTimeError: If the run must stop.
        """
        if self._opened is None:
            self._opened = self.connect()
        table, _ = self._opened
        counts, works = ReadingCounts(), dict[str, OwnerWork]()
        self._hours = {}
        published: dict[int, frozenset[str]] = {}
        for part in self.parts:
            purchases = table.read_purchases(hour, part)
            reckoning = BucketHour(
                hour,
                self.rules,
                departures,
                {} if purchases is None else unpacked(purchases),
            )
            self._hours[part] = [
                one
                for bucket in range(BUCKETS)
                if part_of(bucket) == part
                for one in reckoning.instance_hours(
                    self._minutes(table, reckoning, bucket, counts, published), works
                )
            ]
        return works, counts

    def put(self, hour: int, works: Mapping[str, OwnerWork]) -> PartCounts:
        """
        Put the objects of these parts of *hour*, which was read; *works* are of all processes.

        Raises:
            LedgerError: If the bucket did not take one.
            OutOfTimeError: If the run must stop.
        """
        _, objects = self._opened or self.connect()
        summaries = {}
        rows = size = 0
        for part in self.parts:
            self.check_time()
            of_part = [
                row for cluster, one in self._hours.pop(part)
                for row in one.rows(works.get(cluster, OwnerWork()))
            ]  # fmt: skip
            payload = pack_rows(of_part)
            objects.put(part_key(hour, part), payload)
            rows += len(of_part)
            size += len(payload)
            summaries[part] = then_of(of_part).summary()
        return PartCounts(summaries, rows, size)

    def _minutes(
        self,
        table: Table,
        reckoning: BucketHour,
        bucket: int,
        counts: ReadingCounts,
        published: dict[int, frozenset[str]],
    ) -> Iterator[tuple[int, Mapping[Key, Sequence[MinuteRecord]]]]:
        admission = HourAdmission()
        for minute in reckoning.minutes():
            self.check_time()
            if minute not in published:
                published[minute] = frozenset(table.read_publications(minute))
            if not published[minute]:  # 32 queries that would find nothing that counts
                yield minute, {}
                continue
            reader = BucketReader(
                table, admission, counts, self.check_time, minute, published[minute]
            )
            yield minute, reader.read(bucket)
