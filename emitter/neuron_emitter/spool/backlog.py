"""
The queue of undelivered records, on disk and in memory, and their counters.

Every change is made here first and then on the disk, in one transaction with all changes that the
disk did not accept before. So the counters are right whether or not the disk works, and a record
that was settled while the disk refused is neither sent again nor forgotten. The records of a
damaged file are counted as dropped.

It does not know the limits (`neuron_emitter.spool.spool`), nor how a file is replaced
(`neuron_emitter.spool.spool_file`).
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, TypeVar, final

from neuron_emitter.spool.database import SpoolDatabase
from neuron_emitter.spool.layout import DiskDamagedError
from neuron_emitter.spool.spool_records import (
    BootCounters,
    DeliveredState,
    PendingChanges,
    RecordSize,
    SpooledRecord,
    size_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from neuron_emitter.spool.database import Contents
    from neuron_emitter.spool.spool_records import DropReason

Answer = TypeVar("Answer")
Found = TypeVar("Found", SpooledRecord, RecordSize)


@final
class Backlog:
    """
    The undelivered records of one spool. Not thread-safe.

    Attributes:
        database: The database with the older records; None in memory and while a file is replaced.

        counters: The counters of boots with undelivered records, and of this boot.

        cost_bytes: Room that all undelivered records take in the file.

        older_dropped: Records of earlier boots that this boot dropped: their counters are removed
            with their last record.

        pending: Changes that the disk does not have yet.

        changed: True if the disk must be written.

        spoiled: None while the file can be read; then the reason why it cannot, and the number of
            lost records, which is None if the file was never read.
    """

    def __init__(self) -> None:
        self.database: SpoolDatabase | None = None
        self.counters: dict[str, BootCounters] = {}
        self.cost_bytes = 0
        self.older_dropped = 0
        self.pending = PendingChanges()
        self.changed = False
        self.spoiled: tuple[str, int | None] | None = None
        self._is_read = False  # True if the content of the file is known
        self._boot = ""  # set by `enter_boot`
        self._last_id = 0

    def enter_boot(self, boot: str) -> None:
        """Set the boot of this emitter start, before any record is added."""
        self._boot = boot
        self.counters[boot] = BootCounters()
        self.changed = True

    @property
    def own(self) -> BootCounters:
        """The counters of this emitter start."""
        return self.counters[self._boot]

    def add_record(self, seq: int, timestamp_ms: int, line: str) -> None:
        """Add one record, which is counted as produced."""
        self._last_id += 1
        record = SpooledRecord(self._last_id, self._boot, seq, timestamp_ms, line)
        self.pending.added[record.id] = record
        size = size_of(record)
        self.own.records += 1
        self.own.bytes += size.line_bytes
        self.cost_bytes += size.cost_bytes

    def keep_state(self, state: bytes) -> None:
        """Replace the fold's state by the state after the last added record."""
        self.pending.state = state
        given = DeliveredState(self._boot, self.own.produced, state)
        self.pending.states.append((self._last_id, given))
        self.pending.state_changed = self.changed = True

    def oldest(self, limit_events: int, limit_bytes: int) -> list[SpooledRecord]:
        """Return the first records that fit both limits, at least one if there is any."""

        def read() -> list[SpooledRecord]:
            ids: list[int] = []
            taken_bytes = 0
            for size in islice(self._sizes(), limit_events):
                taken_bytes += size.line_bytes
                if ids and taken_bytes > limit_bytes:
                    break
                ids.append(size.id)
            return self._find(ids)

        return self._read(read)

    def find(self, ids: Iterable[int]) -> list[SpooledRecord]:
        """Return the undelivered records with these *ids*, in the same order."""
        wanted = list(ids)
        return self._read(lambda: self._find(wanted))

    def drop_older(self, earliest_ms: int) -> int:
        """Drop records with a timestamp before *earliest_ms*. Return their number."""

        def read() -> list[int]:
            added = self.pending.added.values()
            in_memory = [record.id for record in added if record.timestamp_ms < earliest_ms]
            # The disk also has records that have left the queue: they are not dropped again.
            database = self.database
            return in_memory if database is None else database.older_than(earliest_ms) + in_memory

        return self.drop(self._read(read), "too_old")

    def drop_beyond(self, limit_bytes: int, *, in_memory: bool = False) -> int:
        """
        Drop the oldest records, or the oldest *in_memory*, until the rest fits *limit_bytes*.

        Returns:
            How many there were.
        """

        def read() -> list[int]:
            ids = []
            room_bytes = self._memory_cost_bytes() if in_memory else self.cost_bytes
            for size in self._sizes_in_memory() if in_memory else self._sizes():
                if room_bytes <= limit_bytes:
                    break
                ids.append(size.id)
                room_bytes -= size.cost_bytes
            return ids

        return self.drop(self._read(read), "spool_full")

    def deliver(self, ids: Iterable[int]) -> int:
        """Remove *ids* and count them as delivered. Return their number."""
        delivered = list(ids)
        gone = self._take_out(delivered)
        for boot, records in gone.items():
            self.counters[boot].delivered += records
        states = self.pending.states
        last_id = max(delivered, default=0)
        while states and delivered and states[0][0] <= last_id:
            _, self.pending.delivered = states.popleft()
        return gone.total()

    def drop(self, ids: Iterable[int], reason: DropReason) -> int:
        """Remove *ids* and count them as dropped. Return their number."""
        gone = self._take_out(ids)
        for boot, records in gone.items():
            self._count_dropped(boot, reason, records)
        return gone.total()

    def forget_empty_boots(self) -> None:
        """Remove the counters of older boots without undelivered records."""
        for boot in [boot for boot, counter in self.counters.items() if not counter.records]:
            if boot != self._boot:
                del self.counters[boot]

    def mark_written(self) -> None:
        """Note that the disk has all changes; only the newest state stays."""
        self.pending = PendingChanges(state=self.pending.state)
        for counter in self.counters.values():
            counter.changed = False
        self.changed = False

    def take_in(self, database: SpoolDatabase, contents: Contents) -> None:
        """
        Start to use a file that was opened.

        Raises:
            DiskDamagedError: If its records are counted as dropped already.
        """
        if self._boot in contents.counters:
            msg = "it could not be read before"
            raise DiskDamagedError(msg)
        self.database = database
        self._is_read = True
        self.counters.update(contents.counters)
        self.cost_bytes += contents.cost_bytes
        if not self.pending.state_changed:
            self.pending.state = contents.state
            self.pending.state_changed = contents.is_state_beside

    def give_up_file(self, why: str) -> None:
        """Drop the records of a file that cannot be read as damaged; records in memory stay."""
        if self.spoiled is not None:
            return
        self.database = None
        pending = self.pending
        lost = 0
        kept = [size_of(record) for record in pending.added.values()]
        for boot, counter in self.counters.items():
            ours = kept if boot == self._boot else []
            if damaged := counter.records - len(ours):
                self._count_dropped(boot, "damaged", damaged)
            counter.records = len(ours)
            counter.bytes = sum(size.line_bytes for size in ours)
            counter.changed = True
            lost += damaged
        self.cost_bytes = self._memory_cost_bytes()
        pending.settled.clear()
        pending.state_changed = pending.state is not None
        self.changed = True
        self.spoiled = (why, lost if self._is_read else None)
        self._is_read = False

    def _read(self, read: Callable[[], Answer]) -> Answer:
        try:
            return read()
        except DiskDamagedError as error:
            self.give_up_file(str(error))
            return read()

    def _sizes(self) -> Iterator[RecordSize]:
        """Yield the sizes of all undelivered records: first those on disk, then the others."""
        for size in () if self.database is None else self.database.sizes():
            if size.id not in self.pending.settled:
                yield size
        yield from self._sizes_in_memory()

    def _memory_cost_bytes(self) -> int:
        return sum(size.cost_bytes for size in self._sizes_in_memory())

    def _sizes_in_memory(self) -> Iterator[RecordSize]:
        return map(size_of, self.pending.added.values())

    def _find(self, ids: Sequence[int]) -> list[SpooledRecord]:
        found = {**self._on_disk(ids, SpoolDatabase.records), **self.pending.added}
        return [found[record_id] for record_id in ids if record_id in found]

    def _find_sizes(self, ids: Sequence[int]) -> list[RecordSize]:
        added = self.pending.added
        on_disk = self._on_disk(ids, SpoolDatabase.sizes)
        in_memory = (size_of(added[record_id]) for record_id in ids if record_id in added)
        return [*on_disk.values(), *in_memory]

    def _on_disk(
        self, ids: Iterable[int], read: Callable[[SpoolDatabase, int, int], Iterator[Found]]
    ) -> dict[int, Found]:
        """Return those of *ids* that the disk has: one query over their range, as neighbors."""
        pending = self.pending
        wanted = {i for i in ids if i not in pending.added and i not in pending.settled}
        if self.database is None or not wanted:
            return {}
        rows = read(self.database, min(wanted), max(wanted))
        return {row.id: row for row in rows if row.id in wanted}

    def _take_out(self, ids: Iterable[int]) -> Counter[str]:
        gone: Counter[str] = Counter()
        wanted = list(ids)
        for size in self._read(lambda: self._find_sizes(wanted)):
            if self.pending.added.pop(size.id, None) is None:
                self.pending.settled.add(size.id)
            counter = self.counters[size.boot]
            counter.records -= 1
            counter.bytes -= size.line_bytes
            counter.changed = self.changed = True
            self.cost_bytes -= size.cost_bytes
            gone[size.boot] += 1
        return gone

    def _count_dropped(self, boot: str, reason: DropReason, records: int) -> None:
        self.counters[boot].dropped[reason] += records
        if boot != self._boot:
            self.older_dropped += records
