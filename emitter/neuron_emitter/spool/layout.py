"""
The spool's SQLite file: opening it, its tables and its transactions.

This module does not know what a record is for. SQLite has many errors and its caller has two
questions: is another attempt with this file useful, and is its content still there? Journal modes,
crash safety, and result codes: https://www.sqlite.org/wal.html, https://www.sqlite.org/pragma.html
and https://www.sqlite.org/rescode.html
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from os import O_CLOEXEC, O_CREAT, O_RDWR
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FILE_NAME: Final = "spool.sqlite"
COMPANIONS: Final = ("-wal", "-shm", "-journal")  # SQLite's files, named after their database
LAYOUT_VERSION: Final = 1


_SPOOL_TABLES: Final = """
CREATE TABLE boots (
    id INTEGER PRIMARY KEY,
    boot TEXT NOT NULL UNIQUE,
    produced INTEGER NOT NULL DEFAULT 0,
    delivered INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE drops (
    boot_id INTEGER NOT NULL,
    reason TEXT NOT NULL,
    records INTEGER NOT NULL,
    PRIMARY KEY (boot_id, reason)
) WITHOUT ROWID;
-- AUTOINCREMENT: an id that was delivered must never name another record
CREATE TABLE records (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    boot_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    timestamp_ms INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    line TEXT NOT NULL,
    UNIQUE (boot_id, seq)
);
CREATE INDEX records_by_time ON records (timestamp_ms);
-- bytes are in it so that a sum never reads the lines
CREATE INDEX records_by_boot ON records (boot_id, bytes);
CREATE TABLE fold (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    state BLOB NOT NULL
);
"""

# SQLite's messages if the disk, not the file, is the problem. By text: Python has the result code
# only from 3.11.
_DISK_REFUSALS: Final = (
    "database or disk is full",
    "attempt to write a readonly database",
    "disk I/O error",
    "unable to open database file",
    "access permission denied",
    "database is locked",
    "locking protocol",
)
_PAYLOAD_FOLLOWS: Final = " with text "  # "Could not decode to UTF-8 column 'line' with text ..."


class NewerLayoutError(Exception):
    """A newer version wrote the file. Nothing in it has changed."""


class DiskRefusedError(Exception):
    """The disk does not accept the change now. Nothing has changed; try again later."""


class DiskDamagedError(Exception):
    """The file cannot be read or is inconsistent: its content is lost."""


def open_database(path: Path) -> sqlite3.Connection:
    """
    Open *path*, bring it to this layout and check its integrity.

    Raises:
        NewerLayoutError:
            If a newer version wrote it; it is left as it is.

        DiskRefusedError, DiskDamagedError, OSError:
            If it cannot be written now, or not be read.
    """
    # We create it, so that lines are private from the first byte; SQLite gives its journals the
    # permissions of the file.
    os.close(os.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
    database = sqlite3.connect(
        path,
        timeout=1.0,  # while a person inspects it; minutes stay in memory meanwhile
        isolation_level=None,  # this module begins and ends transactions
        check_same_thread=False,  # one thread at a time, by the spool's own lock
    )
    with sqlite_errors():
        return _checked(database, lambda: _prepare(database, path))


def database_files(path: Path) -> list[Path]:
    """Return the path of the database *path*, then the paths of SQLite's other files."""
    return [path.with_name(f"{path.name}{end}") for end in ("", *COMPANIONS)]


def open_read_only(path: Path) -> sqlite3.Connection:
    """
    Open *path* on a read-only disk. The caller knows that no other process uses it.

    Raises:
        NewerLayoutError, OSError, sqlite3.Error:
            If it cannot be read, or a newer version wrote it.
    """
    log = path.with_name(f"{path.name}-wal")
    # A file system without locks cannot lock; without a log SQLite would create one.
    how = "vfs=unix-none" if log.exists() and log.stat().st_size else "immutable=1"
    database = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro&{how}", uri=True, isolation_level=None
    )
    return _checked(database, lambda: _known_version(database, path))


def _checked(database: sqlite3.Connection, check: Callable[[], object]) -> sqlite3.Connection:
    try:
        # No other process reads it. Otherwise the log's index is a mapped file, and a disk that
        # becomes read-only under a mapped file ends the process.
        database.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        check()
    except BaseException:
        database.close()
        raise
    return database


def _known_version(database: sqlite3.Connection, path: Path) -> int:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > LAYOUT_VERSION:
        msg = f"{path} has layout {version}, newer than the {LAYOUT_VERSION} of this version"
        raise NewerLayoutError(msg)
    return int(version)


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    version = _known_version(database, path)
    for pragma in (
        # Only before the first table. Lines fill 4 KiB pages badly: a line of 2,400 bytes would
        # need a whole page.
        "page_size = 1024",
        "journal_mode = WAL",
        "synchronous = FULL",  # with one commit a minute, an fsync for each costs nothing
        "temp_store = MEMORY",  # /tmp may be as full as the disk of the spool
        "cache_size = -1024",  # KiB
        f"journal_size_limit = {4 << 20}",
    ):
        database.execute(f"PRAGMA {pragma}").fetchall()
    if version == 0:
        # One transaction: a kill in the middle leaves an empty file, not half a layout.
        with writing(database):
            for statement in _SPOOL_TABLES.split(";"):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {LAYOUT_VERSION}")
    (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(found)


@contextmanager
def writing(database: sqlite3.Connection) -> Iterator[None]:
    """
    Write in the block; any exception undoes the changes.

    Raises:
        DiskRefusedError, DiskDamagedError:
            If SQLite could not do it.
    """
    with sqlite_errors():
        database.execute("BEGIN IMMEDIATE")
        try:
            yield
            database.execute("COMMIT")
        finally:
            # Every exit except the commit, including an interrupt between two lines.
            if database.in_transaction:
                with suppress(sqlite3.Error):
                    database.execute("ROLLBACK")


@contextmanager
def sqlite_errors(*, is_reading: bool = False) -> Iterator[None]:
    """
    Raise SQLite's errors in the block as one of the two errors.

    A failed read always means damage: a full disk can be read.
    """
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # raised by this module
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if not is_reading and str(error).startswith(_DISK_REFUSALS):
            raise DiskRefusedError(str(error)) from error
        # A UnicodeDecodeError comes from an SQLite message that quotes damaged names.
        words = " ".join(str(error).partition(_PAYLOAD_FOLLOWS)[0].split())
        raise DiskDamagedError(words) from error
