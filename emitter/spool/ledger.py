"""
The rows of the spool: records, counters and the fold's state, in one file.

The rest of the spool numbers records from 1 at every open; their rows go on
counting, so that an id is `id = row - first`, and older records have ids up to 0.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.spool.boot_counters import BootCounters
from emitter.spool.records import BOOT_FORM, SpooledRecord
from emitter.spool.transactions import reading, writing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from emitter.spool.boot_counters import PendingChanges

# What a record costs in the file beside its line: row header, three index
# entries, the unfilled rest of its pages and of those above. Measured, rounded up.
_RECORD_OVERHEAD_BYTES: Final = 600
_LINE_OVERHEAD_DIVISOR: Final = 16

_LOWEST_ROW: Final = -(1 << 63)
_LARGEST: Final = 1 << 53  # of a number that is to count on: SQLite ends at 64 bits
_RECORD: Final = "SELECT id, boot_id, seq, timestamp_ms, line, bytes FROM records"


def cost_bytes(line_bytes: int) -> int:
    """Room a line of *line_bytes* takes in the file, rather too much than too little."""
    return line_bytes + line_bytes // _LINE_OVERHEAD_DIVISOR + _RECORD_OVERHEAD_BYTES


@dataclass(frozen=True, slots=True)
class RecordSize:
    """A waiting record without its line."""

    id: int
    boot: str
    line_bytes: int


@dataclass(frozen=True, slots=True)
class Contents:
    """
    What a file holds when it is opened.

    Attributes:
        counters: By boot, the oldest first.

        cost_bytes: Room all waiting records take.

        state: The fold's, None before the first.

        is_state_beside: Whether it is not the file's own, but a newer one from beside it.
    """

    counters: Mapping[str, BootCounters]
    cost_bytes: int
    state: bytes | None
    is_state_beside: bool = False


class Ledger:
    """A database in the spool's layout. One thread at a time."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._boot_ids: dict[str, int] = {}
        self._boots: dict[int, str] = {}
        self._first = 0

    def load(self) -> Contents:
        """
        All but the records.

        Raises:
            DiskDamagedError:
                If it cannot be read.
        """
        with reading():
            return self._load()

    def records(self, after: int | None) -> Iterator[tuple[SpooledRecord, int]]:
        """
        Records after id *after* in order of arrival, with the UTF-8 bytes of their lines.

        Raises:
            DiskDamagedError:
                If one cannot be read.
        """
        with reading():
            for row in self._database.execute(
                f"{_RECORD} WHERE id > ? ORDER BY id", (self._row(after),)
            ):
                yield self._record(row)

    def places(self, after: int | None) -> Iterator[RecordSize]:
        """The same, without reading the lines."""
        with reading():
            for row, boot_id, line_bytes in self._database.execute(
                "SELECT id, boot_id, bytes FROM records WHERE id > ? ORDER BY id",
                (self._row(after),),
            ):
                yield RecordSize(_whole(row) - self._first, self._boot(boot_id), _whole(line_bytes))

    def find(self, ids: Iterable[int]) -> list[RecordSize]:
        """Those of *ids* that have a row."""
        sizes = []
        with reading():
            for record_id in ids:
                row = self._database.execute(
                    "SELECT boot_id, bytes FROM records WHERE id = ?", (self._row(record_id),)
                ).fetchone()
                if row is not None:
                    sizes.append(RecordSize(record_id, self._boot(row[0]), _whole(row[1])))
        return sizes

    def find_record(self, record_id: int) -> SpooledRecord | None:
        """One record, None without a row."""
        with reading():
            row = self._database.execute(
                f"{_RECORD} WHERE id = ?", (self._row(record_id),)
            ).fetchone()
            return None if row is None else self._record(row)[0]

    def older_than(self, earliest_ms: int) -> list[int]:
        """Ids of records with a timestamp before *earliest_ms*."""
        with reading():
            rows = self._database.execute(
                "SELECT id FROM records WHERE timestamp_ms < ?", (earliest_ms,)
            )
            return [_whole(row) - self._first for (row,) in rows]

    def write(self, pending: PendingChanges, counters: Mapping[str, BootCounters]) -> None:
        """
        Bring the file up to date: all of it or nothing.

        Doing it twice does no harm: a commit may be reported as failed and
        still be in the file.

        Raises:
            DiskRefusedError, DiskDamagedError:
                If it could not be done.
        """
        boot_ids = dict(self._boot_ids)
        with writing(self._database):
            self._delete(pending)
            for boot, counter in counters.items():
                if counter.changed:
                    boot_ids[boot] = self._keep_counters(boot, counter)
            for boot in [boot for boot in boot_ids if boot not in counters]:
                self._forget(boot_ids.pop(boot))
            self._database.executemany(
                "INSERT OR REPLACE INTO records (id, boot_id, seq, timestamp_ms, bytes, line)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (
                        self._row(record.id),
                        boot_ids[record.boot],
                        record.seq,
                        record.timestamp_ms,
                        line_bytes,
                        record.line,
                    )
                    for record, line_bytes in pending.added.values()
                ),
            )
            if pending.state_changed:
                self._database.execute(
                    "INSERT OR REPLACE INTO fold (id, state) VALUES (1, ?)", (pending.state,)
                )
        self._know_boots(boot_ids)

    def _load(self) -> Contents:
        (last,) = self._database.execute("SELECT coalesce(max(id), 0) FROM records").fetchone()
        self._first = _whole(last)
        counters: dict[str, BootCounters] = {}
        by_id: dict[int, BootCounters] = {}
        boot_ids: dict[str, int] = {}
        for boot_id, boot, produced, delivered in self._database.execute(
            "SELECT id, boot, produced, delivered FROM boots ORDER BY boot"
        ):
            if not isinstance(boot, str) or not BOOT_FORM.fullmatch(boot):
                msg = "a boot id has an unknown form"
                raise sqlite3.DatabaseError(msg)
            counter = BootCounters(_whole(produced), _whole(delivered), changed=False)
            counters[boot] = by_id[boot_id] = counter
            boot_ids[boot] = boot_id
        self._know_boots(boot_ids)
        held_cost_bytes = 0
        for boot_id, records, line_bytes, cost in self._database.execute(
            "SELECT boot_id, count(*), sum(bytes), sum(bytes + bytes / ? + ?)"
            " FROM records GROUP BY boot_id",
            (_LINE_OVERHEAD_DIVISOR, _RECORD_OVERHEAD_BYTES),
        ):
            counter = by_id[self._boot_ids[self._boot(boot_id)]]
            counter.records, counter.bytes = _whole(records), _whole(line_bytes)
            held_cost_bytes += _whole(cost)
        for boot_id, reason, records in self._database.execute(
            "SELECT boot_id, reason, records FROM drops"
        ):
            if boot_id in by_id:
                by_id[boot_id].dropped[reason] = _whole(records)
        row = self._database.execute("SELECT state FROM fold").fetchone()
        return Contents(counters, held_cost_bytes, None if row is None else _blob(row[0]))

    def _delete(self, pending: PendingChanges) -> None:
        if pending.settled_to is not None:
            self._database.execute(
                "DELETE FROM records WHERE id <= ?", (self._row(pending.settled_to),)
            )
        self._database.executemany(
            "DELETE FROM records WHERE id = ?", [(self._row(each),) for each in pending.settled]
        )

    def _keep_counters(self, boot: str, counter: BootCounters) -> int:
        self._database.execute("INSERT OR IGNORE INTO boots (boot) VALUES (?)", (boot,))
        self._database.execute(
            "UPDATE boots SET produced = ?, delivered = ? WHERE boot = ?",
            (counter.produced, counter.delivered, boot),
        )
        row = self._database.execute("SELECT id FROM boots WHERE boot = ?", (boot,)).fetchone()
        boot_id = _whole(row[0])
        self._database.execute("DELETE FROM drops WHERE boot_id = ?", (boot_id,))
        self._database.executemany(
            "INSERT INTO drops (boot_id, reason, records) VALUES (?, ?, ?)",
            [(boot_id, reason, records) for reason, records in counter.dropped.items()],
        )
        return boot_id

    def _forget(self, boot_id: int) -> None:
        self._database.execute("DELETE FROM drops WHERE boot_id = ?", (boot_id,))
        self._database.execute("DELETE FROM boots WHERE id = ?", (boot_id,))

    def _know_boots(self, boot_ids: dict[str, int]) -> None:
        self._boot_ids = boot_ids
        self._boots = {boot_id: boot for boot, boot_id in boot_ids.items()}

    def _row(self, record_id: int | None) -> int:
        return _LOWEST_ROW if record_id is None else record_id + self._first

    def _record(self, row: tuple[object, ...]) -> tuple[SpooledRecord, int]:
        record_id, boot_id, seq, timestamp_ms, line, line_bytes = row
        if not isinstance(line, str):
            msg = "a line is not text"
            raise sqlite3.DatabaseError(msg)
        record = SpooledRecord(
            _whole(record_id) - self._first,
            self._boot(boot_id),
            _whole(seq),
            _whole(timestamp_ms),
            line,
        )
        return record, _whole(line_bytes)

    def _boot(self, boot_id: object) -> str:
        boot = self._boots.get(_whole(boot_id))
        if boot is None:
            msg = "a record belongs to no boot"
            raise sqlite3.DatabaseError(msg)
        return boot


def _whole(value: object) -> int:
    """SQLite puts any type into any column; a damaged row shows it."""
    if not isinstance(value, int) or not -_LARGEST < value < _LARGEST:
        msg = "a number is missing or out of range"
        raise sqlite3.DatabaseError(msg)
    return value


def _blob(value: object) -> bytes:
    if not isinstance(value, bytes):
        msg = "the state is not bytes"
        raise sqlite3.DatabaseError(msg)
    return value
