"""
What the emitter reports about itself: members of each minute line, and a pulse for health checks.

The members are cumulative since its boot, as of just before the record that carries them, so
that any two lines show what became of everything between them.

The pulse is a small file beside the spool, written once a minute: a reading loop that hangs
writes none. It is overwritten in place and never grows, so that a full disk takes it too. Its
times are of the monotonic clock, which all processes of a machine share: when the wall clock is
set back no minute may close for as long. Whether an emitter is healthy is for the reader to
judge (`neuron_emf.check.quick`).
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
    """Those of *counts* that a line has only when there is something to count."""
    return {name: count for name, count in counts.items() if count}


def reading_members(fold: Fold, framer: Framer) -> dict[str, int]:
    """Reports read, pieces of input that were no report, and parts of reports that were dropped."""
    members = {"ReportsRead": fold.reports_read, "ReportsMalformed": framer.malformed}
    return members | above_zero(PartsMalformed=fold.malformed, RuntimesGone=fold.runtimes.gone)


def spool_members(health: SpoolHealth) -> dict[str, int]:
    """RecordsProduced = RecordsDelivered + SpoolRecords + RecordsDropped, always."""
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
    """The emitter's own CPU seconds since its start, and its resident bytes."""
    return {"EmitterCpuSeconds": round(time.process_time(), 2), "EmitterMemory": _resident_bytes()}


def _resident_bytes() -> int:
    with suppress(OSError, ValueError, IndexError):
        pages = int(_STATM.read_text(encoding="ascii").split()[_RESIDENT_FIELD])
        return pages * getpagesize()
    # The greatest so far, in KiB: the best there is without /proc.
    return getrusage(RUSAGE_SELF).ru_maxrss << 10


PULSE_NAME: Final = "pulse.json"
PULSE_INTERVAL_S: Final = 60.0
PULSE_BYTES: Final = 512  # always as many: what is there already needs no room on the disk

_Count = Annotated[int, Meta(ge=0, le=1 << 53)]
_Time = Annotated[float, Meta(ge=0, le=1 << 53)]


@dataclass(frozen=True, slots=True)
class Pulse:
    """
    The state of the reading loop at its last heartbeat.

    Attributes:
        pid: Of the emitter, in its own PID namespace.

        started_s: When it began to read, on the monotonic clock, as all times here.

        at_s: When this was written.

        reported_s: When there was last a new report, to the minute; None before the first.

        waiting: Records that are not delivered yet.

        undelivered_s: Since when records wait and none was delivered; None when none waits.

        in_memory: Those of them that the disk did not take.
    """

    pid: _Count
    started_s: _Time
    at_s: _Time
    reported_s: _Time | None
    waiting: _Count
    undelivered_s: _Time | None
    in_memory: _Count


class PulseFile:
    """The heartbeat file of one emitter; without a directory nothing is written."""

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
        """Whether the last heartbeat is a minute old, or none was written yet."""
        return self._clock() >= self._next_s

    def write_beat(self, reports_read: int, spool: SpoolHealth) -> None:
        """Write a heartbeat. A full disk is no error."""
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
        text = json.encode(pulse)
        # The spool has said already that its directory takes nothing.
        with (
            suppress(OSError),
            open_private(self._path, O_WRONLY | O_NOFOLLOW, "w") as file,
        ):
            file.write(text.ljust(PULSE_BYTES - 1) + b"\n")


def read_pulse(directory: Path) -> Pulse | None:
    """
    Read the last heartbeat in *directory*; None when the file holds none.

    Raises:
        OSError: If it is not there or must not be read.
    """
    with (directory / PULSE_NAME).open("rb") as file:
        text = file.read(PULSE_BYTES)
    with suppress(ValueError, RecursionError):
        return json.decode(text, type=Pulse)
    return None
