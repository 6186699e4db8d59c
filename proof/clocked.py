"""
Run a program of this repository with a test's wall clock: `clocked.py CLOCK MODULE ARGUMENTS...`.

The clock is put in place before the program is imported. The simulated monitor
waits for moments of the day, so it is woken as much earlier as the clock is
fast; and, like a program that takes no notice of its reader, it stays when
nobody reads any more: only whoever started it can end it.
"""

from __future__ import annotations

import runpy
import select
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from proof.wall_clock import WallClock

if TYPE_CHECKING:
    from collections.abc import Callable

SOON_S = 0.02


def main(prepare: Callable[[str, WallClock], Callable[[], float]] = lambda _, clock: clock) -> None:
    """Become MODULE; *prepare* may put another clock in the place of the one it is given."""
    path, module, *arguments = sys.argv[1:]
    clock = WallClock(Path(path))
    time.time = clock
    time.time_ns = lambda: int(clock() * 1e9)
    time.time = prepare(module, clock)
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
    from local.monitor.output import Stop  # noqa: PLC0415 - after the clock

    wait = Stop.wait
    Stop.wait = lambda self, seconds: wait(self, min(seconds, SOON_S))  # type: ignore[method-assign]


if __name__ == "__main__":
    main()
