"""Take a spool directory for this emitter, or say in one sentence why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.errors import EXIT_SOURCE_FAILED, EmitterError, SettingsError
from emitter.spool.directory_lock import DirectoryHeldError, DirectoryLock
from emitter.spool.layout import FILE_NAME, LAYOUT_VERSION, LayoutError, open_database
from emitter.spool.transactions import DiskRefusedError, told_apart

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


class SpoolUnusableError(SettingsError):
    """The file cannot be used until somebody acts."""


class SpoolHeldError(EmitterError):
    """Another emitter works in the directory; when it has ended, a restart helps."""

    exit_code = EXIT_SOURCE_FAILED


def lock_directory(directory: Path) -> DirectoryLock:
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
            f"the spool directory {directory} is held by {by}:"
            " stop that emitter first, or pass another --spool-dir"
        )
        raise SpoolHeldError(msg) from None
    except OSError as error:
        raise DiskRefusedError(error.strerror or str(error)) from error


def open_in(directory: Path) -> sqlite3.Connection:
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
        with told_apart():
            return open_database(path)
    except LayoutError as error:
        msg = (
            f"the spool {path} has layout {error.version}, this version knows up to"
            f" {LAYOUT_VERSION}: install the newer neuron-emf again, or pass another --spool-dir"
        )
        raise SpoolUnusableError(msg) from None
    except OSError as error:
        raise DiskRefusedError(error.strerror or str(error)) from error
