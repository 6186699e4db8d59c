"""
The rows of the spool: records in, records out, and the counters that say why.

Every function works inside a transaction that somebody else begins and ends,
and keeps *produced = delivered + spooled + dropped* for each boot.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.spool.records import NewRecord, SpooledRecord

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping

    from emitter.spool.records import DropReason

# What a record costs in the file beside its line: row header, three index
# entries, the unfilled rest of its pages and of those above. Measured, rounded up.
RECORD_OVERHEAD_BYTES: Final = 600
_LINE_OVERHEAD_DIVISOR: Final = 16

_RECORD: Final = (
    "SELECT records.id, boot, seq, timestamp_ms, line, bytes"
    " FROM records JOIN boots ON boots.id = boot_id"
)


def cost_bytes(line_bytes: int) -> int:
    """
    Room a line of *line_bytes* takes in the file, rather too much than too little.
    """
    return line_bytes + line_bytes // _LINE_OVERHEAD_DIVISOR + RECORD_OVERHEAD_BYTES


@dataclass(frozen=True, slots=True)
class BootCounters:
    """
    What became of one boot's records so far, without those still held.
    """

    produced: int
    delivered: int
    dropped: Mapping[DropReason, int]


@dataclass(frozen=True, slots=True)
class Ledger:
    """
    A database in the spool's layout, within a transaction.
    """

    database: sqlite3.Connection

    def enter_boot(self, boot: str) -> int:
        """
        The row of *boot*, made if it is new.
        """
        self.database.execute("INSERT OR IGNORE INTO boots (boot) VALUES (?)", (boot,))
        row = self.database.execute("SELECT id FROM boots WHERE boot = ?", (boot,)).fetchone()
        return int(row[0])

    def boots(self) -> dict[str, int]:
        """
        The row of every boot that is not finished, by boot, the oldest first.
        """
        return dict(self.database.execute("SELECT boot, id FROM boots ORDER BY boot"))

    def counters(self, boot_id: int) -> BootCounters:
        """
        The counters of one boot.
        """
        produced, delivered = self.database.execute(
            "SELECT produced, delivered FROM boots WHERE id = ?", (boot_id,)
        ).fetchone()
        dropped = self.database.execute(
            "SELECT reason, records FROM drops WHERE boot_id = ?", (boot_id,)
        )
        return BootCounters(produced, delivered, dict(dropped))

    def held(self) -> dict[int, tuple[int, int]]:
        """
        Waiting records and the UTF-8 bytes of their lines, by the row of their boot.
        """
        rows = self.database.execute(
            "SELECT boot_id, count(*), sum(bytes) FROM records GROUP BY boot_id"
        )
        return {boot_id: (records, line_bytes) for boot_id, records, line_bytes in rows}

    def held_cost_bytes(self) -> int:
        """
        Room all waiting records take, by `cost_bytes`.
        """
        row = self.database.execute(
            "SELECT coalesce(sum(bytes + bytes / ? + ?), 0) FROM records",
            (_LINE_OVERHEAD_DIVISOR, RECORD_OVERHEAD_BYTES),
        ).fetchone()
        return int(row[0])

    def state(self) -> bytes | None:
        """
        The fold's state, None before the first.
        """
        row = self.database.execute("SELECT state FROM fold").fetchone()
        return None if row is None else bytes(row[0])

    def keep_state(self, state: bytes) -> None:
        """
        Replace the fold's state.
        """
        self.database.execute("INSERT OR REPLACE INTO fold (id, state) VALUES (1, ?)", (state,))

    def produce(self, boot_id: int, records: int) -> int:
        """
        Count *records* more as produced; the number of the first.
        """
        (produced,) = self.database.execute(
            "SELECT produced FROM boots WHERE id = ?", (boot_id,)
        ).fetchone()
        self.database.execute(
            "UPDATE boots SET produced = ? WHERE id = ?", (produced + records, boot_id)
        )
        return int(produced) + 1

    def insert(self, boot_id: int, seq: int, record: NewRecord, line_bytes: int) -> None:
        """
        Keep one record that `produce` has counted.
        """
        self.database.execute(
            "INSERT INTO records (boot_id, seq, timestamp_ms, bytes, line) VALUES (?, ?, ?, ?, ?)",
            (boot_id, seq, record.timestamp_ms, line_bytes, record.line),
        )

    def oldest(self, limit_events: int) -> Iterator[tuple[SpooledRecord, int]]:
        """
        Waiting records in order of arrival, with the UTF-8 bytes of their lines.
        """
        for *record, line_bytes in self.database.execute(
            f"{_RECORD} ORDER BY records.id LIMIT ?", (limit_events,)
        ):
            yield SpooledRecord(*record), line_bytes

    def find(self, record_id: int) -> SpooledRecord | None:
        """
        One waiting record, None when it is gone.
        """
        row = self.database.execute(f"{_RECORD} WHERE records.id = ?", (record_id,)).fetchone()
        return None if row is None else SpooledRecord(*row[:5])

    def older_than(self, earliest_ms: int) -> list[int]:
        """
        Waiting records with a timestamp before *earliest_ms*.
        """
        rows = self.database.execute(
            "SELECT id FROM records WHERE timestamp_ms < ?", (earliest_ms,)
        )
        return [record_id for (record_id,) in rows]

    def first_until(self, room_bytes: int) -> tuple[list[int], int]:
        """
        The oldest waiting records that together give *room_bytes*, and what they give.
        """
        ids: list[int] = []
        freed_bytes = 0
        for record_id, line_bytes in self.database.execute(
            "SELECT id, bytes FROM records ORDER BY id"
        ):
            if freed_bytes >= room_bytes:
                break
            ids.append(record_id)
            freed_bytes += cost_bytes(line_bytes)
        return ids, freed_bytes

    def deliver(self, ids: Iterable[int]) -> int:
        """
        Take *ids* out and count them as delivered; how many there were.
        """
        gone = self._take_out(ids)
        self.database.executemany(
            "UPDATE boots SET delivered = delivered + ? WHERE id = ?",
            [(records, boot_id) for boot_id, records in gone.items()],
        )
        return sum(gone.values())

    def drop(self, ids: Iterable[int], reason: DropReason) -> int:
        """
        Take *ids* out and count them as dropped; how many there were.
        """
        gone = self._take_out(ids)
        for boot_id, records in gone.items():
            self.count_dropped(boot_id, records, reason)
        return sum(gone.values())

    def count_dropped(self, boot_id: int, records: int, reason: DropReason) -> None:
        """
        Count records as dropped that are in no row.
        """
        self.database.execute(
            "INSERT OR IGNORE INTO drops (boot_id, reason, records) VALUES (?, ?, 0)",
            (boot_id, reason),
        )
        self.database.execute(
            "UPDATE drops SET records = records + ? WHERE boot_id = ? AND reason = ?",
            (records, boot_id, reason),
        )

    def forget_finished(self, boot_id: int) -> None:
        """
        Forget every boot but *boot_id* that has nothing waiting.
        """
        finished = self.database.execute(
            "SELECT id FROM boots WHERE id <> ?"
            " AND NOT EXISTS (SELECT 1 FROM records WHERE boot_id = boots.id)",
            (boot_id,),
        ).fetchall()
        self.database.executemany("DELETE FROM drops WHERE boot_id = ?", finished)
        self.database.executemany("DELETE FROM boots WHERE id = ?", finished)

    def _take_out(self, ids: Iterable[int]) -> Counter[int]:
        gone: Counter[int] = Counter()
        for record_id in ids:
            row = self.database.execute(
                "SELECT boot_id FROM records WHERE id = ?", (record_id,)
            ).fetchone()
            if row is not None:
                self.database.execute("DELETE FROM records WHERE id = ?", (record_id,))
                gone[row[0]] += 1
        return gone
