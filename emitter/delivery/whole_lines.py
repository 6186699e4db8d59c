"""
A file that grows by whole lines only.

One write per batch, on a file opened for appending. What a crash or a full disk
leaves of a line is made good: a write that came only half way is cut off again,
and a half line found at opening is ended, so that the next line is a line of its
own. It is never removed: it may be somebody else's.

On return the lines are on the disk (fdatasync), not only in the kernel's memory:
a power cut loses nothing that was called delivered.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_MODE: Final = 0o644
# Not blocking: a named pipe without a reader must be found out, not waited for.
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
_LINE_END: Final = b"\n"


class NotAFileError(OSError):
    """There is something at the path that lines cannot be kept in: a pipe or a device."""


class WholeLines:
    """
    One open file.

    Raises:
        NotAFileError: If it is no ordinary file.
        OSError: If it cannot be opened, read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        is_new = not path.exists()
        self._fd = os.open(path, _FLAGS, _MODE)
        try:
            _require_file(self._fd)
            self._end_half_line()
            if is_new:
                sync_directory(path.parent)
        except BaseException:
            os.close(self._fd)
            raise

    @property
    def size_bytes(self) -> int:
        """Size now, whoever wrote last."""
        return os.fstat(self._fd).st_size

    def is_at_its_path(self) -> bool:
        """Whether the path still leads to this file: not after it was moved or removed."""
        ours = os.fstat(self._fd)
        try:
            found = self._path.stat()
        except OSError:
            return False
        return (ours.st_dev, ours.st_ino) == (found.st_dev, found.st_ino)

    def append(self, data: bytes) -> None:
        """
        Add *data*, all of it or nothing.

        Raises:
            OSError: If it could not be written and kept; ENOSPC also when a
                write came only half way.
        """
        start_bytes = self.size_bytes
        try:
            _write(self._fd, data)
            os.fdatasync(self._fd)
        except OSError:
            with suppress(OSError):  # what is left of it is ended at the next opening
                if self.size_bytes > start_bytes:
                    os.ftruncate(self._fd, start_bytes)
            raise

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def _end_half_line(self) -> None:
        size_bytes = self.size_bytes
        if size_bytes and os.pread(self._fd, 1, size_bytes - 1) != _LINE_END:
            _write(self._fd, _LINE_END)


def _require_file(fd: int) -> None:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise NotAFileError(errno.EINVAL, os.strerror(errno.EINVAL))


def _write(fd: int, data: bytes) -> None:
    """One write. The kernel writes less only when there is no room for more."""
    if os.write(fd, data) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def sync_directory(directory: Path) -> None:
    """Make the names in *directory* outlast a power cut, where its file system can."""
    with suppress(OSError):
        fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
