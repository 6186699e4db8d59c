"""
One database, one transaction at a time: done, refused, or damaged.

SQLite has many errors and its caller has two questions: is it worth trying
again with this file, and is what it holds still there? Result codes:
https://www.sqlite.org/rescode.html
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from emitter.errors import EXIT_SOURCE_FAILED, EmitterError

if TYPE_CHECKING:
    from collections.abc import Iterator

# What SQLite says when the disk, not the file, is the problem. By text: Python
# tells the result code only from 3.11 on.
_REFUSALS: Final = (
    "database or disk is full", "attempt to write a readonly database", "disk I/O error",
    "unable to open database file", "access permission denied", "database is locked",
    "locking protocol",
)  # fmt: skip
_PAYLOAD_FOLLOWS: Final = " with text "  # "Could not decode to UTF-8 column 'line' with text ..."


class SpoolFailedError(EmitterError):
    """The spool was closed. Nothing of the call has happened."""

    exit_code = EXIT_SOURCE_FAILED


class DiskRefusedError(Exception):
    """The disk does not take it now. Nothing of the call has happened; try again later."""


class DiskDamagedError(Exception):
    """The file cannot be read or makes no sense: what it holds is lost to us."""


@contextmanager
def reading() -> Iterator[None]:
    """
    Read in the block.

    Raises:
        DiskDamagedError:
            If it cannot be read, for whatever reason: a full disk can.
    """
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # ours
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _damaged(error) from error


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
def sqlite_errors() -> Iterator[None]:
    """Raise what SQLite raises in the block as one of the two errors."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except (sqlite3.Error, UnicodeDecodeError) as error:
        if str(error).startswith(_REFUSALS):
            raise DiskRefusedError(str(error)) from error
        raise _damaged(error) from error


def _damaged(error: Exception) -> DiskDamagedError:
    # A UnicodeDecodeError is a message of SQLite's that quotes damaged names.
    # Of quick_check: one finding, several lines.
    return DiskDamagedError(" ".join(str(error).partition(_PAYLOAD_FOLLOWS)[0].split()))
