"""
A wall clock that a test sets or speeds up, shared by all its processes.

Only the time of day is replaced: minutes, timestamps and ages follow it. Waits for another program
(timeouts, backoff, the patience with a silent monitor) use the monotonic clock, which does not
change: a machine under load is slow in real seconds, and must be allowed to be. It is only for
tests: the emitter has no setting for it. As a program, `wall_clock.py CLOCK MODULE ARGUMENTS...`
runs a program of this repository with the clock, which is replaced before the import. The simulated
monitor waits for times of day, so a faster clock wakes it earlier. It does not end when no process
reads its output any more, so its parent must end it.
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

_FORM = struct.Struct("ddd")  # time of day, its monotonic time, speed


@final
class WallClock:
    """
    The time of day in a file that is mapped into memory.

    With a new file it stands still; with an existing one it shows the same time as every other
    clock with that file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("a+b") as file:
            if not file.tell():
                file.write(_FORM.pack(0.0, 0.0, 0.0))
                file.flush()
            self._shared = mmap.mmap(file.fileno(), _FORM.size)

    def set(self, now_s: float, speed: float = 0.0) -> None:
        """Set the time to *now_s*, seconds since the epoch. It runs *speed* times as fast."""
        # A program may read the file while the time is being set. Each of the three values is one
        # aligned word, so each read is whole.
        self._shared[:] = _FORM.pack(now_s, time.monotonic(), speed)

    def __call__(self) -> float:
        """Return seconds since the epoch."""
        now_s, since_s, speed = _FORM.unpack(self._shared[:])
        return float(now_s + (time.monotonic() - since_s) * speed)

    def __enter__(self) -> WallClock:
        return self

    def __exit__(self, *_error: object) -> None:
        self._shared.close()


def main() -> None:
    """Run MODULE in this process."""
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
    from local.monitor import play  # noqa: PLC0415 - it must find the new clock

    play.LONGEST_SLEEP_S = 0.02


if __name__ == "__main__":
    main()
