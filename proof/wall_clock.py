"""
A wall clock that a test sets or makes run fast, shared by all its processes.

Only the time of day is replaced: minutes, timestamps and ages follow it. What
waits for another program (timeouts, backoff, the patience with a silent
monitor) goes by the monotonic clock, which nobody touches: a machine under load
is slow in real seconds, and must be allowed to be.

A test's means only: the emitter has no setting that leads here. As a program,
`wall_clock.py CLOCK MODULE ARGUMENTS...` runs a program of this repository with the clock, which
is put in place before it is imported. The simulated monitor waits for moments of the day, so it is
woken as much earlier as the clock is fast; and, like a program that takes no notice of its reader,
it stays when nobody reads any more: only whoever started it can end it.
"""

from __future__ import annotations

import mmap
import runpy
import select
import struct
import sys
import time
from pathlib import Path
from typing import final

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
        # of the three is one aligned word.
        self._shared[:] = _FORM.pack(now_s, time.monotonic(), speed)

    def __call__(self) -> float:
        """Seconds since the epoch."""
        now_s, since_s, speed = _FORM.unpack(self._shared[:])
        return float(now_s + (time.monotonic() - since_s) * speed)

    def __enter__(self) -> WallClock:
        return self

    def __exit__(self, *_error: object) -> None:
        self._shared.close()


def main() -> None:
    """Become MODULE."""
    path, module, *arguments = sys.argv[1:]
    clock = WallClock(Path(path))
    time.time = clock
    time.time_ns = lambda: int(clock() * 1e9)
    sys.argv = [module, *arguments]
    is_monitor = module == "local.monitor"
    if is_monitor:
        _wait_in_short_steps()
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        while is_monitor and _nobody_reads():
            time.sleep(60)


def _nobody_reads() -> bool:
    watch = select.poll()
    watch.register(sys.stdout.fileno(), 0)  # errors are always reported
    return any(event & select.POLLERR for _, event in watch.poll(0))


def _wait_in_short_steps() -> None:
    from local.monitor import play  # noqa: PLC0415 - after the clock

    play.LONGEST_SLEEP_S = 0.02


if __name__ == "__main__":
    main()
