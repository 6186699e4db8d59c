"""
What the emitter says about itself in every minute line.

Cumulative since its boot, as of just before the record that carries it, so
that a reader can tell from any two lines what became of everything between.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from emitter.fold import Fold
    from emitter.reports.framing import Framer
    from emitter.spool import SpoolHealth
    from emitter.spool.records import DropReason

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


def reading_members(fold: Fold, framer: Framer) -> dict[str, int]:
    """Reports taken, pieces of input that were none, and what was left out of reports."""
    members = {"ReportsRead": fold.reports_read, "ReportsMalformed": framer.malformed}
    if parts := fold.malformed:
        members["PartsMalformed"] = parts
    if fold.runtimes_gone:
        members["RuntimesGone"] = fold.runtimes_gone
    return members


def spool_members(health: SpoolHealth) -> dict[str, int]:
    """RecordsProduced = RecordsDelivered + SpoolRecords + RecordsDropped, always."""
    members = {
        "RecordsProduced": health.produced,
        "RecordsDelivered": health.delivered,
        "RecordsDropped": sum(health.dropped.values()),
        "SpoolRecords": health.records,
        "SpoolBytes": health.bytes,
    }
    rare = {
        "SpoolRecordsOlder": health.older_records,
        "RecordsDroppedOlder": health.older_dropped,
        "SpoolInMemory": health.in_memory,
        "SpoolsSetAside": health.set_aside,
        **{DROP_MEMBERS[reason]: count for reason, count in health.dropped.items()},
    }
    members.update((name, count) for name, count in rare.items() if count)
    return members


def process_members() -> dict[str, float]:
    """The emitter's own CPU seconds since its start, and its resident bytes."""
    return {"EmitterCpuSeconds": round(time.process_time(), 2), "EmitterMemory": _resident_bytes()}


def _resident_bytes() -> int:
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[_RESIDENT_FIELD])
    except (OSError, ValueError, IndexError):
        # The greatest so far, in KiB but on macOS: the best there is without /proc.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak << 10
    return pages * resource.getpagesize()
