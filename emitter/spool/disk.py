"""
The spool's directory: locked, its file opened, and replaced when it is damaged.

It says refused or damaged and decides nothing: what that means for the records
is `emitter.spool.record_queue`.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

from emitter.errors import EXIT_SOURCE_FAILED, EmitterError, SettingsError
from emitter.spool.directory_lock import DirectoryHeldError, DirectoryLock, holder_of
from emitter.spool.layout import (
    FILE_NAME,
    LAYOUT_VERSION,
    LayoutError,
    open_database,
    open_read_only,
)
from emitter.spool.ledger import Contents, Ledger
from emitter.spool.state_file import StateFile
from emitter.spool.transactions import DiskDamagedError, DiskRefusedError, sqlite_errors

if TYPE_CHECKING:
    from pathlib import Path

KEPT: Final = 2  # damaged files, for people: a disk that spoils file after file is not filled
_PREFIX: Final = "damaged-"
_COMPANIONS: Final = ("-wal", "-shm", "-journal")  # of SQLite, named after their file


class SpoolUnusableError(SettingsError):
    """The file cannot be used until somebody acts."""


class SpoolHeldError(EmitterError):
    """Another emitter works in the directory; when it has ended, a restart helps."""

    exit_code = EXIT_SOURCE_FAILED


class Disk:
    """
    One directory.

    Attributes:
        ledger: Its file, None until `attach` and after `detach`.

        state_file: What is beside it for a disk that is full.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.state_file = StateFile(directory)
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
            self._lock = _lock(self.directory)
        self._database = _open(self.directory)
        ledger = Ledger(self._database)
        try:
            contents = ledger.load()
        except BaseException:
            self.detach()
            raise
        self.ledger = ledger
        return self._with_newest_state(contents)

    def state_left(self) -> bytes | None:
        """
        What an earlier start left of the fold, where nothing can be written.

        None where that cannot be read either, or another emitter works with it.
        """
        if self._lock is None and holder_of(self.directory):
            return None
        try:
            with closing(open_read_only(self._path)) as database:
                contents = Ledger(database).load()
        except (LayoutError, DiskDamagedError, sqlite3.Error, OSError):
            return None
        return self._with_newest_state(contents).state

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

    def _with_newest_state(self, contents: Contents) -> Contents:
        delivered = self.state_file.read()
        produced = {boot: counters.produced for boot, counters in contents.counters.items()}
        if delivered is None or not delivered.is_newer(produced):
            return contents
        return replace(contents, state=delivered.state, is_state_beside=True)

    @property
    def _path(self) -> Path:
        return self.directory / FILE_NAME


def _lock(directory: Path) -> DirectoryLock:
    """
    Make *directory* if need be and hold it.

    Raises:
        SpoolHeldError:
            If another emitter holds it.

        DiskRefusedError:
            If it cannot be made or written.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return DirectoryLock(directory)
    except DirectoryHeldError as error:
        by = f"process {error.holder}" if error.holder else "another process"
        msg = (
            f"Spool directory {directory} is in use by {by}. Stop that emitter first, "
            "or use another --spool-dir."
        )
        raise SpoolHeldError(msg) from None
    except OSError as error:
        raise DiskRefusedError(error.strerror or str(error)) from error


def _open(directory: Path) -> sqlite3.Connection:
    """
    Open the file in *directory*.

    Raises:
        SpoolUnusableError:
            If it was written by a newer version.

        DiskRefusedError, DiskDamagedError:
            If it cannot be written now, or not be read.
    """
    path = directory / FILE_NAME
    try:
        with sqlite_errors():
            return open_database(path)
    except LayoutError as error:
        msg = (
            f"Spool {path} has layout {error.version}, newer than the "
            f"{LAYOUT_VERSION} that this version reads. Install the newer neuron-emf "
            "again, or use another --spool-dir."
        )
        raise SpoolUnusableError(msg) from None
    except OSError as error:
        raise DiskRefusedError(error.strerror or str(error)) from error


def set_aside(path: Path, now_s: float) -> str | None:
    """
    Rename *path*; its new name, or None when it is not there.

    Raises:
        OSError:
            If it cannot be renamed.
    """
    at = datetime.fromtimestamp(now_s, timezone.utc)
    dated = f"{_PREFIX}{at:%Y%m%dT%H%M%S}.{at.microsecond // 1000:03d}Z-{path.name}"
    name = dated if path.exists() else None
    if name is not None:
        path.replace(path.with_name(name))
    for companion in _COMPANIONS:
        beside = path.with_name(path.name + companion)
        if not beside.exists():
            continue
        if name is None:
            beside.unlink()  # of a file that is gone: it belongs to none that comes after it
        else:
            beside.replace(path.with_name(name + companion))
    _prune(path)
    return name


def _prune(path: Path) -> None:
    # The dates sort as they passed.
    kept = sorted(path.parent.glob(f"{_PREFIX}*Z-{path.name}"))
    for old in kept[:-KEPT]:
        for companion in ("", *_COMPANIONS):
            with suppress(OSError):  # what was to be moved has been moved
                old.with_name(old.name + companion).unlink(missing_ok=True)
