"""
Everything that waits, on the disk and in memory, as one row of records.

Every change happens in memory first and then on the disk, in one transaction
with everything the disk did not take before. So the counters are right whether
or not the disk works, and what was settled while it refused is neither offered
again nor forgotten. The records of a file that is damaged are counted as dropped.

It does not know the bounds: that is `emitter.spool.spool`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from emitter.spool.backlog import Backlog
from emitter.spool.boot_counters import BootCounters, PendingChanges
from emitter.spool.ledger import cost_bytes
from emitter.spool.mirror import Mirror
from emitter.spool.records import SpooledRecord
from emitter.spool.state_file import DeliveredState
from emitter.spool.transactions import DiskDamagedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emitter.spool.disk import Disk
    from emitter.spool.ledger import Contents
    from emitter.spool.notices import Notices
    from emitter.spool.records import DropReason

Found = TypeVar("Found")


class RecordQueue:
    """
    One disk, or None, and what it did not take yet. Not thread-safe.

    Attributes:
        counters: By boot: those that have records waiting, and our own.

        cost_bytes: Room that all waiting records take in the file.

        older_dropped: Records of earlier boots that this one dropped: their counters are
            forgotten with their last record.
    """

    def __init__(
        self,
        disk: Disk | None,
        notices: Notices,
        *,
        clock: Callable[[], float],
        monotonic: Callable[[], float],
    ) -> None:
        self.counters: dict[str, BootCounters] = {}
        self.cost_bytes = 0
        self.older_dropped = 0
        self._boot: str | None = None  # until `enter`
        self._last_id = 0
        self._pending = PendingChanges()
        self._changed = False
        self._mirror: Mirror | None = None  # while the first file is being opened, too
        if disk is not None:
            self._mirror = Mirror(
                disk,
                notices,
                on_contents=self._take_in,
                on_lost=self._give_up,
                clock=clock,
                monotonic=monotonic,
            )
            if self._mirror.refused is not None:
                self._pending.state = self._mirror.disk.state_left()

    def enter(self, boot: str) -> None:
        """Name this emitter start, before anything is added."""
        self._boot = boot
        self.own.changed = self._changed = True

    @property
    def own(self) -> BootCounters:
        """The counter of this emitter start."""
        assert self._boot is not None  # noqa: S101 - entered
        return self.counters.setdefault(self._boot, BootCounters())

    @property
    def state(self) -> bytes | None:
        """The fold's state last given, by whichever boot."""
        return self._pending.state

    @property
    def refused(self) -> str | None:
        """Why the disk does not take anything now; None while it does, and without one."""
        return None if self._mirror is None else self._mirror.refused

    @property
    def in_memory(self) -> int:
        """Records that should be on the disk and are not."""
        return 0 if self._mirror is None else len(self._pending.added)

    @property
    def set_aside(self) -> int:
        """Damaged files that were replaced."""
        return 0 if self._mirror is None else self._mirror.set_aside

    def produce(self, records: int) -> int:
        """Count *records* more as produced; the number of the first."""
        first_seq = self.own.produced + 1
        self.own.produced += records
        self.own.changed = self._changed = True
        return first_seq

    def add(self, seq: int, timestamp_ms: int, line: str, line_bytes: int) -> None:
        """Keep one record that `produce` has counted."""
        assert self._boot is not None  # noqa: S101 - entered
        self._last_id += 1
        record = SpooledRecord(self._last_id, self._boot, seq, timestamp_ms, line)
        self._pending.added[record.id] = (record, line_bytes)
        self.own.records += 1
        self.own.bytes += line_bytes
        self.cost_bytes += cost_bytes(line_bytes)

    def lose(self, reason: DropReason) -> None:
        """Count one record as dropped that `produce` has counted."""
        self.own.dropped[reason] += 1

    def keep_state(self, state: bytes) -> None:
        """Replace the fold's state by that after the last added record."""
        self._pending.state = state
        if self._mirror is not None and self._boot is not None:
            given = DeliveredState(self._boot, self.own.produced, state)
            self._pending.states.append((self._last_id, given))
        self._pending.state_changed = self._changed = True

    def oldest(self, limit_events: int, limit_bytes: int) -> list[SpooledRecord]:
        """The first records that fit both limits, but never none while there is one."""
        return self._read(lambda waiting: waiting.oldest(limit_events, limit_bytes))

    def find(self, ids: Iterable[int]) -> list[SpooledRecord]:
        """Those of *ids* that still wait, in the order given."""
        wanted = list(ids)
        return self._read(lambda waiting: waiting.find(wanted))

    def drop_older(self, earliest_ms: int) -> int:
        """Drop what has a timestamp before *earliest_ms*; how many there were."""
        return self.drop(self._read(lambda waiting: waiting.older_than(earliest_ms)), "too_old")

    def drop_beyond(self, limit_bytes: int) -> int:
        """Drop the oldest so that the rest takes at most *limit_bytes*; how many there were."""
        if self.cost_bytes <= limit_bytes:
            return 0
        ids = self._read(lambda waiting: waiting.first(self.cost_bytes - limit_bytes))
        return self.drop(ids, "spool_full")

    def drop_beyond_in_memory(self, limit_bytes: int) -> int:
        """The same for what the disk should have and refuses."""
        if self.refused is None:
            return 0
        room_bytes = self._memory_cost_bytes() - limit_bytes
        waiting = Backlog(None, self._pending)
        return self.drop(waiting.first(room_bytes), "spool_full")

    def deliver(self, ids: Iterable[int]) -> int:
        """Take *ids* out and count them as delivered; how many there were."""
        delivered = list(ids)
        gone = self._take_out(delivered)
        for boot, records in gone.items():
            self.counters[boot].delivered += records
        if delivered:
            self._pending.deliver_to(max(delivered))
        return sum(gone.values())

    def drop(self, ids: Iterable[int], reason: DropReason) -> int:
        """Take *ids* out and count them as dropped; how many there were."""
        gone = self._take_out(ids)
        for boot, records in gone.items():
            self._count_dropped(boot, reason, records)
        return sum(gone.values())

    def write(self, *, at_once: bool = False) -> None:
        """Bring the disk up to date, if there is one and it lets us."""
        for boot in [boot for boot, counter in self.counters.items() if not counter.records]:
            if boot != self._boot:
                del self.counters[boot]
        if self._mirror is None or not (self._changed or self._mirror.refused):
            return
        if self._mirror.write(self._pending, self.counters, at_once=at_once):
            self._pending.written()
            for counter in self.counters.values():
                counter.changed = False
            self._changed = False
        elif self._pending.delivered is not None:
            self._mirror.disk.state_file.write(self._pending.delivered)
            self._pending.delivered = None

    def close(self) -> None:
        """Close the file; what it did not take is gone. May be called twice."""
        if self._mirror is not None:
            self._mirror.close()

    def _take_in(self, contents: Contents) -> None:
        if self._boot is not None and self._boot in contents.counters:
            msg = "it could not be read before"  # its records are counted as dropped
            raise DiskDamagedError(msg)
        self.counters.update(contents.counters)
        self.cost_bytes += contents.cost_bytes
        if not self._pending.state_changed:
            self._pending.state = contents.state
            self._pending.state_changed = contents.is_state_beside

    def _give_up(self) -> int:
        pending = self._pending
        lost = 0
        for boot, counter in self.counters.items():
            kept = pending.added.values() if boot == self._boot else ()
            damaged = counter.records - len(kept)
            if damaged:
                self._count_dropped(boot, "damaged", damaged)
            counter.records, counter.bytes = len(kept), sum(line_bytes for _, line_bytes in kept)
            counter.changed = True
            lost += damaged
        self.cost_bytes = self._memory_cost_bytes()
        pending.settled.clear()
        pending.settled_to = None
        pending.state_changed = pending.state is not None
        self._changed = True
        return lost

    def _count_dropped(self, boot: str, reason: DropReason, records: int) -> None:
        self.counters[boot].dropped[reason] += records
        if boot != self._boot:
            self.older_dropped += records

    def _memory_cost_bytes(self) -> int:
        return sum(cost_bytes(line_bytes) for _, line_bytes in self._pending.added.values())

    def _take_out(self, ids: Iterable[int]) -> Counter[str]:
        gone: Counter[str] = Counter()
        wanted = list(ids)
        for place in self._read(lambda waiting: waiting.places(wanted)):
            if self._pending.added.pop(place.id, None) is None:
                self._pending.settled.add(place.id)
            counter = self.counters[place.boot]
            counter.records -= 1
            counter.bytes -= place.line_bytes
            counter.changed = self._changed = True
            self.cost_bytes -= cost_bytes(place.line_bytes)
            gone[place.boot] += 1
        return gone

    def _read(self, read: Callable[[Backlog], Found]) -> Found:
        if self._mirror is not None:
            try:
                return read(Backlog(self._mirror.disk.ledger, self._pending))
            except DiskDamagedError as error:
                self._mirror.spoil(error)
        return read(Backlog(None, self._pending))
