"""
The spool's directory: held, opened, replaced when it is damaged.

It says refused or damaged and decides nothing: what that means for the records
is `emitter.spool.holdings`.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from emitter.spool.layout import FILE_NAME
from emitter.spool.ledger import Contents, Ledger
from emitter.spool.opening import lock_directory, open_in
from emitter.spool.set_aside import set_aside
from emitter.spool.transactions import DiskDamagedError, DiskRefusedError

if TYPE_CHECKING:
    from pathlib import Path

    from emitter.spool.directory_lock import DirectoryLock


class Disk:
    """
    One directory.

    Attributes:
        ledger: Its file, None until `attach` and after `detach`.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.ledger: Ledger | None = None
        self._lock: DirectoryLock | None = None
        self._database: sqlite3.Connection | None = None

    def attach(self) -> Contents:
        """
        Hold the directory, open its file, made if need be, and read what it holds.

        Raises:
            SpoolHeldError:
                If another emitter holds it.

            SpoolUnusableError:
                If its file was written by a newer version.

            DiskRefusedError, DiskDamagedError:
                If it cannot be written now, or not be read.
        """
        if self._lock is None:
            self._lock = lock_directory(self.directory)
        self._database = open_in(self.directory)
        ledger = Ledger(self._database)
        try:
            contents = ledger.load()
        except BaseException:
            self.detach()
            raise
        self.ledger = ledger
        return contents

    def require_file(self) -> None:
        """
        Make sure that the open file is still there for the next start.

        Raises:
            DiskDamagedError:
                If it was removed under us: what is written to it would be gone
                with this process.

            DiskRefusedError:
                If that cannot be told now.
        """
        # Not by its inode: some network file systems change it under an open file.
        try:
            self._path.stat()
        except FileNotFoundError:
            msg = "it was removed"
            raise DiskDamagedError(msg) from None
        except OSError as error:
            raise DiskRefusedError(error.strerror or str(error)) from error

    def set_aside(self, now_s: float) -> str | None:
        """
        Give the file another name, if it is there; that name.

        Raises:
            DiskRefusedError:
                If it cannot be renamed.
        """
        self.detach()
        try:
            name = set_aside(self._path, now_s)
        except OSError as error:
            raise DiskRefusedError(error.strerror or str(error)) from error
        if name is None:
            self.close()  # perhaps the whole directory was removed: hold the one that comes
        return name

    def detach(self) -> None:
        """Close the file; the directory stays held."""
        self.ledger = None
        if self._database is not None:
            database, self._database = self._database, None
            with suppress(sqlite3.Error):
                database.close()

    def close(self) -> None:
        """Close the file and let the next emitter in. May be called twice."""
        self.detach()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    @property
    def _path(self) -> Path:
        return self.directory / FILE_NAME
