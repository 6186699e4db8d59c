"""
The emitter's own members of each minute line, and a heartbeat file for health checks.

The members are cumulative since the boot, as of just before the record that contains them, so that
any two lines account for everything between them.

The heartbeat is a small file next to the spool, written once a minute; a reading loop that hangs
does not write it. It is overwritten in place and never grows, so that a full disk accepts it too.
Its times are of the monotonic clock, which all processes of a machine share: if the wall clock is
set back, no minute may close for a long time. The reader decides whether an emitter is healthy
(`neuron_emf.check.quick`).
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from os import O_NOFOLLOW, O_WRONLY
from pathlib import Path
from resource import RUSAGE_SELF, getpagesize, getrusage
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, json

from neuron_emitter.spool.directory import open_private

if TYPE_CHECKING:
    from neuron_emitter.fold import Fold
    from neuron_emitter.logs import Clock
    from neuron_emitter.reports.framing import Framer
    from neuron_emitter.spool import SpoolHealth
    from neuron_emitter.spool.spool_records import DropReason


_STATM: Final = Path("/proc/self/statm")
_RESIDENT_FIELD: Final = 1  # proc(5): size resident shared ..., in pages

DROP_MEMBERS: Final[dict[DropReason, str]] = {
    "spool_full": "DroppedSpoolFull",
    "too_old": "DroppedTooOld",
    "too_new": "DroppedTooNew",
    "too_large": "DroppedTooLarge",
    "expired": "DroppedExpired",
    "invalid": "DroppedInvalid",
    "damaged": "DroppedDamaged",
}


def above_zero(**counts: int) -> dict[str, int]:
    """Return the *counts* above 0: a line omits the others."""
    return {name: count for name, count in counts.items() if count}


def reading_members(fold: Fold, framer: Framer) -> dict[str, int]:
    """Return reports read, input pieces that are not reports, and dropped parts of reports."""
    members = {"ReportsRead": fold.reports_read, "ReportsMalformed": framer.malformed}
    return members | above_zero(PartsMalformed=fold.malformed, RuntimesGone=fold.runtimes.gone)


def spool_members(health: SpoolHealth) -> dict[str, int]:
    """Return the spool's members: RecordsProduced is the sum of the others."""
    members = {
        "RecordsProduced": health.produced,
        "RecordsDelivered": health.delivered,
        "RecordsDropped": sum(health.dropped.values()),
        "SpoolRecords": health.records,
        "SpoolBytes": health.bytes,
    }
    return members | above_zero(
        SpoolRecordsOlder=health.older_records,
        RecordsDroppedOlder=health.older_dropped,
        SpoolInMemory=health.in_memory,
        SpoolsSetAside=health.set_aside,
        **{DROP_MEMBERS[reason]: count for reason, count in health.dropped.items()},
    )


def process_members() -> dict[str, float]:
    """Return the emitter's own CPU seconds since its start, and its resident bytes."""
    return {"EmitterCpuSeconds": round(time.process_time(), 2), "EmitterMemory": _resident_bytes()}


def _resident_bytes() -> int:
    with suppress(OSError, ValueError, IndexError):
        pages = int(_STATM.read_text(encoding="ascii").split()[_RESIDENT_FIELD])
        return pages * getpagesize()
    # The maximum so far, in KiB: the best value without /proc.
    return getrusage(RUSAGE_SELF).ru_maxrss << 10


PULSE_NAME: Final = "pulse.json"
PULSE_INTERVAL_S: Final = 60.0
PULSE_BYTES: Final = 512  # always the same size: overwriting it needs no room on the disk

_Count = Annotated[int, Meta(ge=0, le=1 << 53)]
_Time = Annotated[float, Meta(ge=0, le=1 << 53)]


@dataclass(frozen=True, slots=True)
class Pulse:
    """
    The state of the reading loop at its last heartbeat.

    Attributes:
        pid: The emitter's pid, in its own PID namespace.

        started_s: When it started to read, on the monotonic clock, like all times here.

        at_s: When this was written.

        reported_s: When the last new report came, to the minute; None before the first.

        waiting: Undelivered records.

        undelivered_s: Since when records wait and none was delivered; None if no record waits.

        in_memory: Undelivered records that the disk did not accept.
    """

    pid: _Count
    started_s: _Time
    at_s: _Time
    reported_s: _Time | None
    waiting: _Count
    undelivered_s: _Time | None
    in_memory: _Count


class PulseFile:
    """The heartbeat file of one emitter. Without a directory, no file is written."""

    def __init__(self, directory: Path | None, *, clock: Clock = time.monotonic) -> None:
        self._path = None if directory is None else directory / PULSE_NAME
        self._clock = clock
        self._started_s = clock()
        self._next_s = self._started_s
        self._reports = 0
        self._reported_s: float | None = None
        self._progress: tuple[int, int] | None = None
        self._undelivered_s: float | None = None

    def is_due(self) -> bool:
        """Return True if the last heartbeat is a minute old, or none was written yet."""
        return self._clock() >= self._next_s

    def write_beat(self, reports_read: int, spool: SpoolHealth) -> None:
        """Write a heartbeat. A full disk is not an error."""
        now_s = self._clock()
        self._next_s = now_s + PULSE_INTERVAL_S
        if reports_read > self._reports:
            self._reports = reports_read
            self._reported_s = now_s
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
        text = json.encode(pulse)
        # The spool has already logged that its directory cannot be written.
        with (
            suppress(OSError),
            open_private(self._path, O_WRONLY | O_NOFOLLOW, "w") as file,
        ):
            file.write(text.ljust(PULSE_BYTES - 1) + b"\n")


def read_pulse(directory: Path) -> Pulse | None:
    """
    Read the last heartbeat in *directory*; None if the file has none.

    Raises:
        OSError: If it is not there or must not be read.
    """
    with (directory / PULSE_NAME).open("rb") as file:
        text = file.read(PULSE_BYTES)
    with suppress(ValueError, RecursionError):
        return json.decode(text, type=Pulse)
    return None
