"""
The rows of the spool's file: records, counters and the fold's state.

The other modules of the spool number records from 1 at every open; the numbers of rows continue, so
an ID is `id = row - first`, and older records have IDs up to 0.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from neuron_emitter.spool.layout import sqlite_errors, writing
from neuron_emitter.spool.spool_records import (
    BOOT_FORM,
    LINE_OVERHEAD_DIVISOR,
    RECORD_OVERHEAD_BYTES,
    BootCounters,
    RecordSize,
    SpooledRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from neuron_emitter.spool.spool_records import PendingChanges

# the largest number from which counting can continue: SQLite ends at 64 bits
_LARGEST: Final = 1 << 53

# Earlier records get smaller IDs, so that they stay first in the order of arrival.
_COPY_RECORDS: Final = (
    """
    INSERT OR IGNORE INTO boots (boot, produced, delivered)
    SELECT boot, produced, delivered FROM earlier.boots
    """,
    """
    INSERT OR IGNORE INTO drops (boot_id, reason, records)
    SELECT own.id, reason, records FROM earlier.drops
    JOIN earlier.boots AS theirs ON theirs.id = boot_id JOIN main.boots AS own USING (boot)
    """,
    """
    INSERT OR IGNORE INTO records (id, boot_id, seq, timestamp_ms, bytes, line)
    SELECT records.id - ?, own.id, seq, timestamp_ms, bytes, line FROM earlier.records
    JOIN earlier.boots AS theirs ON theirs.id = boot_id JOIN main.boots AS own USING (boot)
    """,
)


@dataclass(frozen=True, slots=True)
class Contents:
    """
    The content of a file when it is opened.

    Attributes:
        counters: Counters by boot, the oldest first.

        cost_bytes: Room all waiting records take.

        state: The fold's state, None before the first.

        is_state_beside: True if the state is not the file's own, but a newer one from the state
            file.
    """

    counters: Mapping[str, BootCounters]
    cost_bytes: int
    state: bytes | None
    is_state_beside: bool = False


class SpoolDatabase:
    """
    A database in the spool's layout. One thread at a time.

    Every read raises DiskDamagedError if it fails.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._boots: dict[int, str] = {}
        self._first = 0

    @sqlite_errors(is_reading=True)
    def load_contents(self) -> Contents:
        """Return the content of the file without its records."""
        (last,) = self.connection.execute("SELECT coalesce(max(id), 0) FROM records").fetchone()
        self._first = _whole(last)
        counters = {}
        self._boots.clear()
        for boot_id, boot, produced, delivered in self.connection.execute(
            "SELECT id, boot, produced, delivered FROM boots ORDER BY boot"
        ):
            is_known = isinstance(boot, str) and BOOT_FORM.fullmatch(boot)
            _require(is_known, "a boot id has an unknown form")
            counters[boot] = BootCounters(_whole(produced), _whole(delivered), changed=False)
            self._boots[boot_id] = boot
        held_cost_bytes = 0
        for boot_id, records, line_bytes, cost in self.connection.execute(
            "SELECT boot_id, count(*), sum(bytes), sum(bytes + bytes / ? + ?)"
            " FROM records GROUP BY boot_id",
            (LINE_OVERHEAD_DIVISOR, RECORD_OVERHEAD_BYTES),
        ):
            counter = counters[self._boot(boot_id)]
            counter.records = _whole(records)
            counter.bytes = _whole(line_bytes)
            held_cost_bytes += _whole(cost)
        for boot_id, reason, records in self.connection.execute(
            "SELECT boot_id, reason, records FROM drops"
        ):
            if boot_id in self._boots:
                counters[self._boots[boot_id]].dropped[reason] = _whole(records)
        (state,) = self.connection.execute("SELECT state FROM fold").fetchone() or (None,)
        _require(state is None or isinstance(state, bytes), "the state is not bytes")
        return Contents(counters, held_cost_bytes, state)

    def sizes(self, first: int = -_LARGEST, last: int = _LARGEST) -> Iterator[RecordSize]:
        """Yield the sizes of records from ID *first* to *last*, in order of arrival."""
        with sqlite_errors(is_reading=True):
            for row, boot_id, line_bytes in self.connection.execute(
                "SELECT id, boot_id, bytes FROM records WHERE id BETWEEN ? AND ? ORDER BY id",
                (self._row(first), self._row(last)),
            ):
                yield RecordSize(_whole(row) - self._first, self._boot(boot_id), _whole(line_bytes))

    def records(self, first: int, last: int) -> Iterator[SpooledRecord]:
        """Yield the records from ID *first* to *last*, in order of arrival."""
        with sqlite_errors(is_reading=True):
            for row, boot_id, seq, timestamp_ms, line in self.connection.execute(
                "SELECT id, boot_id, seq, timestamp_ms, line FROM records"
                " WHERE id BETWEEN ? AND ? ORDER BY id",
                (self._row(first), self._row(last)),
            ):
                _require(isinstance(line, str), "a line is not text")
                boot = self._boot(boot_id)
                record_id = _whole(row) - self._first
                yield SpooledRecord(record_id, boot, _whole(seq), _whole(timestamp_ms), line)

    def older_than(self, earliest_ms: int) -> list[int]:
        """Return the IDs of records with a timestamp before *earliest_ms*."""
        with sqlite_errors(is_reading=True):
            rows = self.connection.execute(
                "SELECT id FROM records WHERE timestamp_ms < ?", (earliest_ms,)
            )
            return [_whole(row) - self._first for (row,) in rows]

    def write_changes(self, pending: PendingChanges, counters: Mapping[str, BootCounters]) -> None:
        """
        Write all changes to the file, or none.

        Repeating it is harmless: a commit may be reported as failed although the file has it.

        Raises:
            DiskRefusedError, DiskDamagedError:
                If it could not be done.
        """
        boot_ids = {boot: boot_id for boot_id, boot in self._boots.items()}
        with writing(self.connection):
            self.connection.executemany(
                "DELETE FROM records WHERE id = ?", [(self._row(left),) for left in pending.settled]
            )
            for boot, counter in counters.items():
                if counter.changed:
                    boot_ids[boot] = self._keep_counters(boot, counter)
            for boot in boot_ids.keys() - counters.keys():
                boot_id = boot_ids.pop(boot)
                self.connection.execute("DELETE FROM drops WHERE boot_id = ?", (boot_id,))
                self.connection.execute("DELETE FROM boots WHERE id = ?", (boot_id,))
            self.connection.executemany(
                "INSERT OR REPLACE INTO records (id, boot_id, seq, timestamp_ms, bytes, line)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (
                        self._row(record.id),
                        boot_ids[record.boot],
                        record.seq,
                        record.timestamp_ms,
                        len(record.line.encode()),
                        record.line,
                    )
                    for record in pending.added.values()
                ),
            )
            if pending.state_changed:
                self.connection.execute(
                    "INSERT OR REPLACE INTO fold (id, state) VALUES (1, ?)", (pending.state,)
                )
        self._boots = {boot_id: boot for boot, boot_id in boot_ids.items()}

    def copy_earlier(self, path: Path, state: bytes | None) -> None:
        """
        Copy the database at *path* ahead of the rows here, and *state* if there is none here.

        Repeating it is harmless.

        Raises:
            DiskRefusedError, DiskDamagedError:
                If it could not be done; nothing is copied then.
        """
        with sqlite_errors():
            self.connection.execute("ATTACH ? AS earlier", (str(path),))
        try:
            with writing(self.connection):
                (distance,) = self.connection.execute(
                    "SELECT coalesce(max(id) + 1 - (SELECT min(id) FROM main.records), 0)"
                    " FROM earlier.records"
                ).fetchone()
                for statement in _COPY_RECORDS:
                    self.connection.execute(statement, (distance,) * statement.count("?"))
                if state is not None:
                    self.connection.execute("INSERT OR IGNORE INTO fold VALUES (1, ?)", (state,))
        finally:
            self.connection.execute("DETACH earlier")

    def _keep_counters(self, boot: str, counter: BootCounters) -> int:
        self.connection.execute("INSERT OR IGNORE INTO boots (boot) VALUES (?)", (boot,))
        self.connection.execute(
            "UPDATE boots SET produced = ?, delivered = ? WHERE boot = ?",
            (counter.produced, counter.delivered, boot),
        )
        row = self.connection.execute("SELECT id FROM boots WHERE boot = ?", (boot,)).fetchone()
        boot_id = _whole(row[0])
        self.connection.execute("DELETE FROM drops WHERE boot_id = ?", (boot_id,))
        self.connection.executemany(
            "INSERT INTO drops (boot_id, reason, records) VALUES (?, ?, ?)",
            [(boot_id, reason, records) for reason, records in counter.dropped.items()],
        )
        return boot_id

    def _row(self, record_id: int) -> int:
        return record_id + self._first

    def _boot(self, boot_id: object) -> str:
        boot = self._boots.get(_whole(boot_id), "")
        _require(boot, "a record belongs to no boot")
        return boot


def _whole(value: Any) -> int:  # noqa: ANN401 - as SQLite has it
    is_whole = isinstance(value, int) and -_LARGEST < value < _LARGEST
    _require(is_whole, "a number is missing or out of range")
    return int(value)


def _require(is_right: object, problem: str) -> None:
    """Raise an error unless *is_right*: SQLite accepts any type in any column."""
    if not is_right:
        raise sqlite3.DatabaseError(problem)
