"""
Take a spool directory for this emitter, or say in one sentence why not.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
from typing import TYPE_CHECKING, Final

from emitter.errors import EXIT_SOURCE_FAILED, EmitterError, SettingsError
from emitter.spool.directory_lock import DirectoryHeldError, DirectoryLock
from emitter.spool.layout import FILE_NAME, LAYOUT_VERSION, LayoutError, open_database

if TYPE_CHECKING:
    from pathlib import Path

BOOT_FORM: Final = re.compile(r"[0-9a-f]{20}")
_BOOT_TIME_DIGITS: Final = 12


class SpoolUnusableError(SettingsError):
    """
    The directory or the file in it cannot be used until somebody acts.
    """


class SpoolHeldError(EmitterError):
    """
    Another emitter works in the directory; when it has ended, a restart helps.
    """

    exit_code = EXIT_SOURCE_FAILED


def lock_directory(directory: Path) -> DirectoryLock:
    """
    Make *directory* if need be and hold it.

    Raises:
        SpoolHeldError:
            If another emitter holds it.

        SpoolUnusableError:
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
        raise _not_writable(directory, error.strerror or str(error)) from error


def open_in(directory: Path) -> sqlite3.Connection:
    """
    Open the file in *directory*.

    Raises:
        SpoolUnusableError:
            If it cannot be written, is damaged, or has a newer layout.
    """
    path = directory / FILE_NAME
    try:
        return open_database(path)
    except LayoutError as error:
        msg = (
            f"the spool {path} has layout {error.version}, this version knows up to"
            f" {LAYOUT_VERSION}: install the newer neuron-emf again, or pass another --spool-dir"
        )
        raise SpoolUnusableError(msg) from None
    except OSError as error:
        raise _not_writable(directory, error.strerror or str(error)) from error
    except sqlite3.OperationalError as error:
        raise _not_writable(directory, str(error)) from error
    except sqlite3.DatabaseError as error:
        msg = f"the spool {path} is damaged ({error}): move it away, or pass another --spool-dir"
        raise SpoolUnusableError(msg) from error


def new_boot(now_s: float, latest: str | None) -> str:
    """
    A name for this emitter start, greater than *latest*.
    """
    now_ms = int(now_s * 1000)
    if latest is not None:
        # The clock may have been set back; the latest start must stay the greatest name.
        now_ms = max(now_ms, int(latest[:_BOOT_TIME_DIGITS], 16) + 1)
    return f"{now_ms:0{_BOOT_TIME_DIGITS}x}{secrets.token_hex(4)}"


def _not_writable(directory: Path, problem: str) -> SpoolUnusableError:
    msg = (
        f"the spool directory {directory} cannot be written ({problem}):"
        " pass --spool-dir with a directory this user can write"
    )
    return SpoolUnusableError(msg)
