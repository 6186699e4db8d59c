"""
The temporary folder of neuron-monitor's configuration, and what killed emitters left of theirs.

A kill -9 leaves the folder behind, and nobody else removes it in a long-lived
machine's /tmp. The kernel's lock on the folder says whose process still lives,
also across the process namespaces that share a /tmp.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

PREFIX: Final = "neuron-emf-monitor-"  # of nothing else: what has it and no lock is removed
CONFIG_NAME: Final = "monitor.json"
NEW_NAME: Final = "monitor.new"
_TRIES: Final = 3
_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class ConfigFolder:
    """
    A folder for one emitter, locked until `remove` or until the process ends.

    Attributes:
        file: Where the configuration stands.

    Raises:
        OSError: If it cannot be made, or not take *config*.
    """

    def __init__(self, config: str) -> None:
        _remove_left()
        for _ in range(_TRIES):
            self._path = Path(tempfile.mkdtemp(prefix=PREFIX))
            with suppress(FileNotFoundError):  # another that starts took it for a left one
                self._lock = os.open(self._path, _FLAGS)
                fcntl.flock(self._lock, fcntl.LOCK_EX)
                if self._path.exists():
                    break
                os.close(self._lock)
        else:
            raise FileNotFoundError(self._path)
        self.file = self._path / CONFIG_NAME
        try:
            self.write(config)
        except OSError:
            self.remove()
            raise

    def write(self, config: str) -> None:
        """
        Put *config* in place of the one that is there, or leave that.

        Raises:
            OSError: If it cannot be written.
        """
        written = self._path / NEW_NAME  # beside it first: a full disk must not cost the old one
        written.write_bytes(config.encode())
        written.replace(self.file)

    def remove(self) -> None:
        """Remove it. May be called twice."""
        if self._lock >= 0:
            _remove(self._path, self._lock)
            os.close(self._lock)
            self._lock = -1


def _remove_left() -> None:
    """Remove the folders of emitters of this user that live no more."""
    with suppress(OSError):
        for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            with suppress(OSError):
                _remove_if_left(path)


def _remove_if_left(path: Path) -> None:
    folder = os.open(path, _FLAGS)
    try:
        if os.fstat(folder).st_uid == os.getuid():
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path, folder)
    finally:
        os.close(folder)


def _remove(path: Path, folder: int) -> None:
    for name in (CONFIG_NAME, NEW_NAME):
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)
    with suppress(OSError):  # somebody put something of their own there
        path.rmdir()
