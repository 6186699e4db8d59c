"""
How the running emitter is, for a health check that must cost next to nothing.

The spool's file is locked for as long as the emitter runs, so the reading loop
leaves a small file beside it once a minute: a loop that hangs leaves none. It
is overwritten in place and never grows, so that a full disk takes it too. Times
are of the monotonic clock, which all processes of a machine share and nobody
sets: when the wall clock is set back no minute may close for as long.

Whether it is well is for the reader to say (`neuron_emf.check.quick`).
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from emitter.spool import SpoolHealth

PULSE_NAME: Final = "pulse.json"
PULSE_INTERVAL_S: Final = 60.0
PULSE_BYTES: Final = 512  # always as many: what is there already needs no room on the disk

_MOST: Final = 1 << 53  # of a time or a count

_FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "pid": (int,),
    "started_s": (int, float),
    "at_s": (int, float),
    "reported_s": (int, float, type(None)),
    "waiting": (int,),
    "undelivered_s": (int, float, type(None)),
    "in_memory": (int,),
}


@dataclass(frozen=True, slots=True)
class Pulse:
    """
    What the reading loop knew when it was last seen.

    Attributes:
        pid: Of the emitter, in its own PID namespace.

        started_s: When it began to read, on the monotonic clock, as all times here.

        at_s: When this was written.

        reported_s: When there was last a new report, to the minute; None before the first.

        waiting: Records that are not delivered yet.

        undelivered_s: Since when records wait and none was delivered; None when none waits.

        in_memory: Those of them that the disk did not take.
    """

    pid: int
    started_s: float
    at_s: float
    reported_s: float | None
    waiting: int
    undelivered_s: float | None
    in_memory: int


class PulseFile:
    """The file of one emitter; without a directory there is none, and nothing to do."""

    def __init__(
        self, directory: Path | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._path = None if directory is None else directory / PULSE_NAME
        self._clock = clock
        self._started_s = clock()
        self._next_s = self._started_s
        self._reports = 0
        self._reported_s: float | None = None
        self._progress: tuple[int, int] | None = None
        self._undelivered_s: float | None = None

    def is_due(self) -> bool:
        """Whether the last beat is a minute ago, or none was yet."""
        return self._clock() >= self._next_s

    def beat(self, reports_read: int, spool: SpoolHealth) -> None:
        """The loop is at work. A disk that takes nothing is no error."""
        now_s = self._clock()
        self._next_s = now_s + PULSE_INTERVAL_S
        if reports_read > self._reports:
            self._reports, self._reported_s = reports_read, now_s
        waiting = spool.records + spool.older_records
        progress = (spool.delivered, spool.older_records)
        if not waiting:
            self._undelivered_s = None
        elif self._undelivered_s is None or progress != self._progress:
            self._undelivered_s = now_s
        self._progress = progress
        self._write(
            Pulse(
                pid=os.getpid(),
                started_s=self._started_s,
                at_s=now_s,
                reported_s=self._reported_s,
                waiting=waiting,
                undelivered_s=self._undelivered_s,
                in_memory=spool.in_memory,
            )
        )

    def _write(self, pulse: Pulse) -> None:
        if self._path is None:
            return
        text = json.dumps(asdict(pulse), separators=(",", ":")).encode()
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        # The spool has said already that its directory takes nothing.
        with suppress(OSError):
            file = os.open(self._path, flags, 0o600)
            try:
                os.pwrite(file, text.ljust(PULSE_BYTES - 1) + b"\n", 0)
            finally:
                os.close(file)


def read_pulse(directory: Path) -> Pulse | None:
    """
    What was last written in *directory*; None when that is no pulse.

    Raises:
        OSError: If it is not there or must not be read.
    """
    with (directory / PULSE_NAME).open("rb") as file:
        text = file.read(PULSE_BYTES)
    try:
        members: Any = json.loads(text)
        fields = {name: members[name] for name in _FIELDS}
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    for name, value in fields.items():
        if isinstance(value, bool) or not isinstance(value, _FIELDS[name]):
            return None
    if not all(0 <= (value or 0) <= _MOST for value in fields.values()):
        return None  # nobody can count with it; nor with NaN
    return Pulse(**fields)
