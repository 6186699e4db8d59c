"""
One emitter per directory: a lock the kernel releases when its holder dies.

flock, not a pid file: after kill -9 or a power cut nothing stale is left to
remove. The pid in the file is only for the message.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

LOCK_NAME: Final = "lock"
_PID_BYTES: Final = 32


class DirectoryHeldError(Exception):
    """
    Another process holds the lock.

    Attributes:
        holder: Its pid as text, or an empty text when it has not written it yet.
    """

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


def holder_of(directory: Path) -> str:
    """Who holds *directory*, found out without writing; empty when nobody does."""
    try:
        with (directory / LOCK_NAME).open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # let go when the file is closed
            except BlockingIOError:
                pid = file.read(_PID_BYTES).decode("ascii", "replace").strip()
                return f"process {pid}" if pid.isdigit() else "another process"
    except OSError:
        return ""
    return ""


class DirectoryLock:
    """
    Held from construction until `release`, or until the process ends.

    Raises:
        DirectoryHeldError:
            If somebody holds it, this process included.

        OSError:
            If the directory cannot be written or its file system has no locks.
    """

    def __init__(self, directory: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._fd = os.open(directory / LOCK_NAME, flags, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(OSError):  # a full disk has no room for it, and the lock is held
                os.ftruncate(self._fd, 0)
                os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)
        except BlockingIOError:
            holder = os.pread(self._fd, _PID_BYTES, 0).decode(errors="replace").strip()
            os.close(self._fd)
            raise DirectoryHeldError(holder) from None
        except OSError:
            os.close(self._fd)
            raise

    def release(self) -> None:
        """Let go. The file stays: removing it would let two processes lock two files."""
        os.close(self._fd)
