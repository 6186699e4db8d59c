"""
The spool's file in SQLite: how it is opened, its tables and its transactions.

Nothing here knows what a record is for. SQLite has many errors and its caller has two
questions: is it worth trying again with this file, and is what it holds still there? Journal
modes, what survives a crash, and result codes: https://www.sqlite.org/wal.html,
https://www.sqlite.org/pragma.html and https://www.sqlite.org/rescode.html
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
COMPANIONS: Final = ("-wal", "-shm", "-journal")  # of SQLite, named after their file
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

# What SQLite says when the disk, not the file, is the problem. By text: Python
# tells the result code only from 3.11 on.
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
    """A newer version wrote the file. Nothing of it has changed."""


class DiskRefusedError(Exception):
    """The disk does not take it now. Nothing of the call has happened; try again later."""


class DiskDamagedError(Exception):
    """The file cannot be read or makes no sense: what it holds is lost to us."""


def open_database(path: Path) -> sqlite3.Connection:
    """
    Open *path*, bring it to this layout and check that it is whole.

    Raises:
        NewerLayoutError:
            If a newer version wrote it; it is left as it is.

        DiskRefusedError, DiskDamagedError, OSError:
            If it cannot be written now, or not be read.
    """
    # Made by us, so that lines are private from the first byte; SQLite
    # gives its journals the permissions of the file.
    os.close(os.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
    database = sqlite3.connect(
        path,
        timeout=1.0,  # while a person looks into it; minutes are kept in memory meanwhile
        isolation_level=None,  # transactions are begun and ended by hand
        check_same_thread=False,  # one thread at a time, by the spool's own lock
    )
    with sqlite_errors():
        return _checked(database, lambda: _prepare(database, path))


def database_files(path: Path) -> list[Path]:
    """Return the path of the database *path*, then those that SQLite gives its companions."""
    return [path.with_name(f"{path.name}{end}") for end in ("", *COMPANIONS)]


def open_read_only(path: Path) -> sqlite3.Connection:
    """
    Open *path* where nothing can be written. The caller knows that no other process does.

    Raises:
        NewerLayoutError, OSError, sqlite3.Error:
            If it cannot be read, or a newer version wrote it.
    """
    log = path.with_name(f"{path.name}-wal")
    # Without a lock file system calls cannot get one; without a log SQLite would make one.
    how = "vfs=unix-none" if log.exists() and log.stat().st_size else "immutable=1"
    database = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro&{how}", uri=True, isolation_level=None
    )
    return _checked(database, lambda: _known_version(database, path))


def _checked(database: sqlite3.Connection, check: Callable[[], object]) -> sqlite3.Connection:
    try:
        # No other process reads it: without this the index of the log is a mapped file,
        # and a disk that goes read-only under a mapped file ends the process.
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
        # Counts only before the first table. Lines fill 4 KiB pages badly: one of 2,400 bytes
        # would take a whole one.
        "page_size = 1024",
        "journal_mode = WAL",
        "synchronous = FULL",  # a commit a minute: an fsync each costs nothing
        "temp_store = MEMORY",  # /tmp may be as full as the rest
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
    Write in the block; any exception undoes it.

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
            # Any way out but the commit, an interrupt between two lines included.
            if database.in_transaction:
                with suppress(sqlite3.Error):
                    database.execute("ROLLBACK")


@contextmanager
def sqlite_errors(*, is_reading: bool = False) -> Iterator[None]:
    """
    Raise what SQLite raises in the block as one of the two errors.

    What cannot be read is damaged, for whatever reason: a full disk can be read.
    """
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # ours
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if not is_reading and str(error).startswith(_DISK_REFUSALS):
            raise DiskRefusedError(str(error)) from error
        # A UnicodeDecodeError is a message of SQLite's that quotes damaged names.
        # Of quick_check: one finding, several lines.
        words = " ".join(str(error).partition(_PAYLOAD_FOLLOWS)[0].split())
        raise DiskDamagedError(words) from error
