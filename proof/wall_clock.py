"""
A wall clock that a test sets or makes run fast, shared by all its processes.

Only the time of day is replaced: minutes, timestamps and ages follow it. What
waits for another program (timeouts, backoff, the patience with a silent
monitor) goes by the monotonic clock, which nobody touches: a machine under load
is slow in real seconds, and must be allowed to be.

A test's means only: the emitter has no setting that leads here.
"""

from __future__ import annotations

import mmap
import struct
import time
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from pathlib import Path

_NOW = struct.Struct("d")
_FORM = struct.Struct("ddd")  # time of day, monotonic moment at which it was so, speed


@final
class WallClock:
    """
    The time of day in a file that is mapped into memory.

    Made with a new file it stands still; made with one that is there it shows
    the same time as every other that was made with it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("a+b") as file:
            if not file.tell():
                file.write(_FORM.pack(0.0, 0.0, 0.0))
                file.flush()
            self._shared = mmap.mmap(file.fileno(), _FORM.size)

    def set(self, now_s: float, speed: float = 0.0) -> None:
        """Let it be *now_s*, seconds since the epoch, and pass *speed* seconds a second."""
        # Read while it is written only by who asks for the time that is being set: each
        # of the three is one aligned word. A clock that runs is moved by `move`.
        self._shared[:] = _FORM.pack(now_s, time.monotonic(), speed)

    def move(self, by_s: float) -> None:
        """
        Let it be *by_s* later, or earlier, from now on: whoever reads it meanwhile reads either.
        """
        now_s, _, _ = _FORM.unpack(self._shared[:])
        self._shared[: _NOW.size] = _NOW.pack(now_s + by_s)

    def __call__(self) -> float:
        """Seconds since the epoch."""
        now_s, since_s, speed = _FORM.unpack(self._shared[:])
        return float(now_s + (time.monotonic() - since_s) * speed)

    def __enter__(self) -> WallClock:
        return self

    def __exit__(self, *_error: object) -> None:
        self._shared.close()
