"""
Read what waits: first what is on the disk, without what has left it, then what only memory has.

Every read raises DiskDamagedError if the disk's part of it cannot be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from emitter.spool.ledger import RecordSize, cost_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emitter.spool.boot_counters import PendingChanges
    from emitter.spool.ledger import Ledger
    from emitter.spool.records import SpooledRecord

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Backlog:
    """A file, or None, and the changes it does not have yet."""

    ledger: Ledger | None
    pending: PendingChanges

    def oldest(self, limit_events: int, limit_bytes: int) -> list[SpooledRecord]:
        """The first records that fit both limits, but never none while there is one."""
        taken: list[SpooledRecord] = []
        taken_bytes = 0
        on_disk = () if self.ledger is None else self.ledger.records(self.pending.settled_to)
        waiting = self._not_settled(on_disk, lambda row: row[0].id)
        for record, line_bytes in chain(waiting, self.pending.added.values()):
            taken_bytes += line_bytes
            if len(taken) == limit_events or (taken and taken_bytes > limit_bytes):
                break
            taken.append(record)
        return taken

    def find(self, ids: Iterable[int]) -> list[SpooledRecord]:
        """Those of *ids* that wait, in the order given."""
        return [record for each in ids if (record := self._find(each)) is not None]

    def places(self, ids: Iterable[int]) -> list[RecordSize]:
        """The same without the lines, each once."""
        on_disk: list[int] = []
        sizes: list[RecordSize] = []
        for each in dict.fromkeys(ids):
            if each in self.pending.added:
                record, line_bytes = self.pending.added[each]
                sizes.append(RecordSize(each, record.boot, line_bytes))
            elif not self._has_left(each):
                on_disk.append(each)
        return sizes if self.ledger is None else sizes + self.ledger.find(on_disk)

    def older_than(self, earliest_ms: int) -> list[int]:
        """Ids of records with a timestamp before *earliest_ms*, also of some that have left."""
        ids = [] if self.ledger is None else self.ledger.older_than(earliest_ms)
        return ids + [
            record.id
            for record, _ in self.pending.added.values()
            if record.timestamp_ms < earliest_ms
        ]

    def first(self, room_bytes: int) -> list[int]:
        """Ids of the oldest that together give *room_bytes*, by `cost_bytes`."""
        ids: list[int] = []
        on_disk = () if self.ledger is None else self.ledger.places(self.pending.settled_to)
        in_memory = (
            RecordSize(one.id, one.boot, size) for one, size in self.pending.added.values()
        )
        places = chain(self._not_settled(on_disk, lambda place: place.id), in_memory)
        while room_bytes > 0 and (place := next(places, None)) is not None:
            ids.append(place.id)
            room_bytes -= cost_bytes(place.line_bytes)
        return ids

    def _not_settled(self, rows: Iterable[Row], id_of: Callable[[Row], int]) -> Iterator[Row]:
        """Those of *rows* that have not left."""
        settled, is_first = self.pending.settled, True
        for row in rows:
            record_id = id_of(row)
            if record_id not in settled:
                is_first = False
                yield row
            elif is_first:
                # What left in order is one number, not thousands, while the disk refuses.
                self.pending.settled_to = record_id
                settled.discard(record_id)

    def _find(self, record_id: int) -> SpooledRecord | None:
        if record_id in self.pending.added:
            return self.pending.added[record_id][0]
        if self.ledger is None or self._has_left(record_id):
            return None
        return self.ledger.find_record(record_id)

    def _has_left(self, record_id: int) -> bool:
        pending = self.pending
        return record_id in pending.settled or (
            pending.settled_to is not None and record_id <= pending.settled_to
        )
