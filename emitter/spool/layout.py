"""
The spool's file: how it is opened, its tables, and which versions are read.

Nothing here knows what a record is for. Journal modes and what survives a
crash: https://www.sqlite.org/wal.html and https://www.sqlite.org/pragma.html
"""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING, Final

from emitter.spool.transactions import writing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILE_NAME: Final = "spool.sqlite"
LAYOUT_VERSION: Final = 1

_PAGE_BYTES: Final = 1024  # lines fill 4 KiB pages badly: one of 2,400 bytes would take a whole one
_CACHE_KIB: Final = 1024
_WAL_LIMIT_BYTES: Final = 4 << 20
_LOCKED_WAIT_S: Final = 1.0  # for somebody who looks into it; minutes are kept in memory meanwhile
_SOUND: Final = "ok"  # what quick_check answers

_TABLES: Final = """
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


class LayoutError(Exception):
    """
    The file was written by a newer version.

    Attributes:
        version: Its layout.
    """

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.version = version


def open_database(path: Path) -> sqlite3.Connection:
    """
    Open *path*, bring it to this layout and check that it is whole.

    Raises:
        LayoutError:
            If the file has a newer layout; it is left as it is.

        DiskRefusedError, OSError, sqlite3.Error:
            If it cannot be read or written, or is damaged.
    """
    # Made by us, so that lines are private from the first byte; SQLite
    # gives its journals the permissions of the file.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    database = sqlite3.connect(
        path,
        timeout=_LOCKED_WAIT_S,
        isolation_level=None,  # transactions are begun and ended by hand
        check_same_thread=False,  # one thread at a time, by the spool's own lock
    )
    return _checked(database, _prepare)


def open_read_only(path: Path) -> sqlite3.Connection:
    """
    Open *path* where nothing can be written, for who knows that nobody writes to it.

    Raises:
        LayoutError:
            If the file has a newer layout.

        OSError, sqlite3.Error:
            If it cannot be read.
    """
    log = path.with_name(f"{path.name}-wal")
    # Without a lock file system calls cannot get one; without a log SQLite would make one.
    how = "vfs=unix-none" if log.exists() and log.stat().st_size else "immutable=1"
    database = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro&{how}", uri=True, isolation_level=None
    )
    return _checked(database, _known_version)


def _checked(
    database: sqlite3.Connection, check: Callable[[sqlite3.Connection], object]
) -> sqlite3.Connection:
    try:
        # Nobody else reads it: without this the index of the log is a mapped file,
        # and a disk that goes read-only under a mapped file ends the process.
        database.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        check(database)
    except BaseException:
        database.close()
        raise
    return database


def _known_version(database: sqlite3.Connection) -> int:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > LAYOUT_VERSION:
        raise LayoutError(version)
    return int(version)


def _prepare(database: sqlite3.Connection) -> None:
    version = _known_version(database)
    for pragma in (
        f"page_size = {_PAGE_BYTES}",  # counts only before the first table
        "journal_mode = WAL",
        "synchronous = FULL",  # a commit a minute: an fsync each costs nothing
        "temp_store = MEMORY",  # /tmp may be as full as the rest
        f"cache_size = -{_CACHE_KIB}",
        f"journal_size_limit = {_WAL_LIMIT_BYTES}",
    ):
        database.execute(f"PRAGMA {pragma}").fetchall()
    if version < LAYOUT_VERSION:
        # One transaction: a kill in the middle leaves an empty file, not half a layout.
        with writing(database):
            for statement in _TABLES.split(";"):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {LAYOUT_VERSION}")
    (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if found != _SOUND:
        raise sqlite3.DatabaseError(found)
