"""
A few lines of a file of the machine, or nothing: never an error, never without bound.

A FIFO or a device in the place of the file is not opened: reading it could wait
for ever.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_FILE_BYTES: Final = 1 << 20  # a slurm.conf of thousands of nodes


def read_text(path: Path) -> str | None:
    """The beginning of *path* without the white space around it, None when it cannot be read."""
    try:
        return read_bytes(path).decode("utf-8", errors="replace").strip()
    except (OSError, ValueError):  # ValueError: a NUL in a path out of a variable
        return None


def read_bytes(path: Path, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """
    The beginning of *path*.

    Raises:
        OSError: If it cannot be read, or is no regular file.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return file.read(max_bytes)


def assignments(text: str) -> Iterator[tuple[str, str]]:
    """
    Key and value of each line `KEY=VALUE`, as shells and Slurm write them.

    Comments, quotes around the value and `export` before the key are removed.
    """
    for line in text.splitlines():
        key, equals, value = line.partition("#")[0].partition("=")
        if equals:
            yield key.strip().removeprefix("export ").strip(), value.strip().strip("\"'")
