"""
One database, many threads, one transaction at a time.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from emitter.errors import EXIT_SOURCE_FAILED, EmitterError
from emitter.spool.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Iterator


class SpoolFailedError(EmitterError):
    """
    The file could not be read or written just now: the disk is full, or failing.

    Nothing of the call has happened.
    """

    exit_code = EXIT_SOURCE_FAILED


class Transactions:
    """
    All or nothing, for whichever thread comes next.
    """

    def __init__(self, database: sqlite3.Connection, place: str) -> None:
        self._database: sqlite3.Connection | None = database
        self._place = place  # for the message of an error
        self._mutex = threading.RLock()

    @contextmanager
    def begin(self) -> Iterator[Ledger]:
        """
        The ledger, until the end of the block; any exception undoes the block.

        Raises:
            SpoolFailedError:
                If SQLite could not do it, or after `close`.
        """
        with self._mutex:
            if self._database is None:
                msg = f"the spool in {self._place} is closed"
                raise SpoolFailedError(msg)
            database = self._database
            try:
                database.execute("BEGIN IMMEDIATE")
                try:
                    yield Ledger(database)
                    database.execute("COMMIT")
                finally:
                    # Any way out but the commit, an interrupt between two lines included.
                    if database.in_transaction:
                        with suppress(sqlite3.Error):
                            database.execute("ROLLBACK")
            except sqlite3.Error as error:
                msg = f"the spool in {self._place} could not be read or written: {error}"
                raise SpoolFailedError(msg) from error

    def close(self) -> None:
        """
        Wait for the transaction that is open, then close. May be called twice.
        """
        with self._mutex:
            if self._database is not None:
                self._database.close()
                self._database = None
