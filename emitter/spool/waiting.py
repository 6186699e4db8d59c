"""
Read what waits: first what is on the disk, without what has left it, then what only memory has.

Every read raises DiskDamagedError if the disk's part of it cannot be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from emitter.spool.ledger import Place, cost_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emitter.spool.books import Journal
    from emitter.spool.ledger import Ledger
    from emitter.spool.records import SpooledRecord


@dataclass(frozen=True, slots=True)
class Waiting:
    """A file, or None, and the changes it does not have yet."""

    ledger: Ledger | None
    journal: Journal

    def oldest(self, limit_events: int, limit_bytes: int) -> list[SpooledRecord]:
        """The first records that fit both limits, but never none while there is one."""
        taken: list[SpooledRecord] = []
        taken_bytes = 0
        for record, line_bytes in chain(self._on_disk(), self.journal.added.values()):
            taken_bytes += line_bytes
            if len(taken) == limit_events or (taken and taken_bytes > limit_bytes):
                break
            taken.append(record)
        return taken

    def find(self, ids: Iterable[int]) -> list[SpooledRecord]:
        """Those of *ids* that wait, in the order given."""
        return [record for each in ids if (record := self._find(each)) is not None]

    def places(self, ids: Iterable[int]) -> list[Place]:
        """The same without the lines, each once."""
        on_disk: list[int] = []
        found: list[Place] = []
        for each in dict.fromkeys(ids):
            if each in self.journal.added:
                record, line_bytes = self.journal.added[each]
                found.append(Place(each, record.boot, line_bytes))
            elif not self._has_left(each):
                on_disk.append(each)
        return found if self.ledger is None else found + self.ledger.find(on_disk)

    def older_than(self, earliest_ms: int) -> list[int]:
        """Ids of records with a timestamp before *earliest_ms*, also of some that have left."""
        ids = [] if self.ledger is None else self.ledger.older_than(earliest_ms)
        return ids + [
            record.id
            for record, _ in self.journal.added.values()
            if record.timestamp_ms < earliest_ms
        ]

    def first(self, room_bytes: int) -> list[int]:
        """Ids of the oldest that together give *room_bytes*, by `cost_bytes`."""
        ids: list[int] = []
        places = chain(self._places_on_disk(), self._places_in_memory())
        while room_bytes > 0 and (place := next(places, None)) is not None:
            ids.append(place.id)
            room_bytes -= cost_bytes(place.line_bytes)
        return ids

    def _on_disk(self) -> Iterator[tuple[SpooledRecord, int]]:
        if self.ledger is None:
            return
        is_first = True
        for record, line_bytes in self.ledger.records(self.journal.settled_to):
            if record.id not in self.journal.settled:
                is_first = False
                yield record, line_bytes
            elif is_first:
                self._pass(record.id)

    def _places_on_disk(self) -> Iterator[Place]:
        if self.ledger is None:
            return
        is_first = True
        for place in self.ledger.places(self.journal.settled_to):
            if place.id not in self.journal.settled:
                is_first = False
                yield place
            elif is_first:
                self._pass(place.id)

    def _places_in_memory(self) -> Iterator[Place]:
        for record, line_bytes in self.journal.added.values():
            yield Place(record.id, record.boot, line_bytes)

    def _find(self, record_id: int) -> SpooledRecord | None:
        if record_id in self.journal.added:
            return self.journal.added[record_id][0]
        if self.ledger is None or self._has_left(record_id):
            return None
        return self.ledger.find_record(record_id)

    def _has_left(self, record_id: int) -> bool:
        journal = self.journal
        return record_id in journal.settled or (
            journal.settled_to is not None and record_id <= journal.settled_to
        )

    def _pass(self, record_id: int) -> None:
        # What left in order is one number, not thousands, while the disk refuses.
        self.journal.settled_to = record_id
        self.journal.settled.discard(record_id)
