"""
Run a program as on a host of the chaos: `host_program.py CLOCK MODULE ARGUMENTS...`.

Beside the wall clock (`proof.clocked`), for the emitter:

* It signs its calls by that clock, so that a host whose clock is wrong is refused.
* What it waits by the monotonic clock for programs and people to act, half a
  minute and a minute, is shortened: the day passes many times as fast.
* It writes down which minutes its reading loop has seen, and the longest time
  from one look at the clock to the next, in `PROOF_SEEN`: only so can be said
  from outside which minutes it must have closed, however slow the machine was.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from emitter.run.signals import end_at_once_if_stopped
from proof import clocked

if TYPE_CHECKING:
    from collections.abc import Callable

    from proof.wall_clock import WallClock

SEEN = "PROOF_SEEN"
SILENT_AFTER_S = 6.0
REFUSED_WAIT_S = 4.0
MOST_LABELS = 2_000
MINUTE_S = 60.0

_LABEL = struct.Struct("qd")  # epoch minute, longest gap


class SeenMinute(NamedTuple):
    """
    One minute as the reading loop saw it, once for each time it came to it.

    Attributes:
        minute: Epoch minute.

        longest_gap_s: Between two looks at the clock, by that clock; that before the first
            look in this minute counts to it.
    """

    minute: int
    longest_gap_s: float


class Sightings:
    """
    A file of fixed size, mapped: it is written when no file may grow, and stays after kill -9.
    """

    def __init__(self, path: Path) -> None:
        """*path* was made by `make_room`."""
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), 0)
        self._place = -1
        self._now = SeenMinute(-1, 0.0)
        self._last_s: float | None = None

    def note(self, now_s: float) -> None:
        """The loop has looked at the clock."""
        minute = int(now_s // MINUTE_S)
        gap_s = 0.0 if self._last_s is None else now_s - self._last_s
        self._last_s = now_s
        if minute != self._now.minute and self._place + 1 < MOST_LABELS:
            self._place += 1
            self._now = SeenMinute(minute, gap_s)
        elif gap_s <= self._now.longest_gap_s:
            return
        else:
            self._now = SeenMinute(minute, gap_s)
        _LABEL.pack_into(self._shared, self._place * _LABEL.size, *self._now)


def make_room(path: Path) -> Path:
    """A file for them."""
    path.write_bytes(bytes(_LABEL.size * MOST_LABELS))
    return path


def sightings(path: Path) -> list[SeenMinute]:
    """What was written down, in order."""
    found = (SeenMinute(*one) for one in _LABEL.iter_unpack(path.read_bytes()))
    return [one for one in found if one.minute]


def prepare(module: str, clock: WallClock) -> Callable[[], float]:
    """What is different for the emitter; the clock it looks at."""
    if module != "emitter":
        return clock
    import botocore.auth  # noqa: PLC0415 - after the clock

    import emitter.delivery.delivery  # noqa: PLC0415
    import emitter.reports.monitor  # noqa: PLC0415

    def now(*, remove_tzinfo: bool = True) -> datetime:
        zone = None if remove_tzinfo else timezone.utc
        return datetime.fromtimestamp(clock(), timezone.utc).replace(tzinfo=zone)

    botocore.auth.get_current_datetime = now
    emitter.reports.monitor.SILENT_AT_LEAST_S = SILENT_AFTER_S
    emitter.reports.monitor.SILENT_PERIODS = 1
    emitter.delivery.delivery.REFUSED_WAIT_S = REFUSED_WAIT_S
    seen = Sightings(Path(os.environ[SEEN]))

    def noted() -> float:
        now_s = clock()
        if sys._getframe(1).f_globals.get("__name__") == "emitter.run.loop":
            seen.note(now_s)
        return now_s

    return noted


if __name__ == "__main__":
    end_at_once_if_stopped()
    clocked.main(prepare)
