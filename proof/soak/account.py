"""A soak as a person reads it: the rows of its table, and the curves of its picture."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from proof.soak.receivers import FILES, ROTATE_KEEP, ROTATE_MIB
from proof.soak.run import START_S
from proof.soak.verdict import (
    KIB,
    MAX_GROWTH_BYTES,
    MAX_SPOOL_GROWTH_BYTES,
    MAX_STEADY_BYTES,
    MIB,
    broken,
    growth_bytes,
    steady_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proof.soak.run import Soaked

POINTS = 336
"""Of a curve: one an hour in two weeks."""

HOUR_MS = 3_600_000
NONE = "-"


def heads(soaks: Sequence[Soaked]) -> tuple[str, ...]:
    """Of the columns: what, one for each soak, the limit."""
    return ("what", *(f"--output {one.output}" for one in soaks), "at most")


def rows(soaks: Sequence[Soaked]) -> list[tuple[str, ...]]:
    """The table: what went wrong and how often, what came of it, the limits it must keep."""
    limits = {
        "minutes without a line": "0",
        "records dropped": "0",
        "records left in the spool": "0",
        "files of lines at most, MiB": str((ROTATE_KEEP + 1) * ROTATE_MIB),
        "resident memory at most, MiB": " / ".join(str(one.resident_limit_mib) for one in soaks),
        "its growth after the warm-up, KiB": f"{MAX_GROWTH_BYTES / KIB:,.0f}",
        "its growth in nearly every hour, KiB": f"{MAX_STEADY_BYTES / KIB:,.0f}",
        "promises broken": "0",
    }
    columns = [{**_troubles(one), **_column(one)} for one in soaks]
    names = [*dict.fromkeys(name for one in soaks for name in _troubles(one)), *_column(soaks[0])]
    return [
        (name, *(column.get(name, NONE) for column in columns), limits.get(name, ""))
        for name in names
    ]


def _troubles(soaked: Soaked) -> dict[str, str]:
    kinds = sorted(soaked.expected - {FILES})
    return {f"trouble: {kind}": f"{soaked.happened[kind]:,}" for kind in kinds}


def _column(soaked: Soaked) -> dict[str, str]:
    timetable, arrivals, looks = soaked.timetable, soaked.found, soaked.looks
    minutes = [one for one in arrivals.documents if one["Kind"] == "minute"]
    resident = [look.resident for look in looks]
    files = max(look.output_bytes for look in looks)
    without = sum(not look.is_quiet for look in looks) / timetable.looks_an_hour
    return {
        "hours": f"{timetable.hours:,}",
        "hours of them without the service": f"{without:g}",
        "reports read": f"{sum(one['Reports'] for one in minutes):,}",
        "lines that arrived": f"{len(arrivals.lines):,}",
        "lines that came once more": f"{arrivals.copies:,}",
        "minutes without a line": f"{60 * timetable.hours - len(arrivals.minutes()):,}",
        "records dropped": f"{arrivals.dropped():,}",
        "records in the spool at most": f"{max(one['SpoolRecords'] for one in minutes):,}",
        "records left in the spool": f"{soaked.left:,}",
        "files of the spool at most, MiB": f"{max(one.spool_bytes for one in looks) / MIB:.1f}",
        "files of lines begun": f"{soaked.happened[FILES]:,}" if files else NONE,
        "files of lines at most, MiB": f"{files / MIB:.1f}" if files else NONE,
        "resident memory at most, MiB": f"{max(resident) / MIB:.1f}",
        "its growth after the warm-up, KiB": f"{growth_bytes(soaked) / KIB:,.0f}",
        "its growth in nearly every hour, KiB": f"{steady_bytes(soaked) / KIB:,.0f}",
        "descriptors": _span([look.descriptors for look in looks]),
        "threads": _span([look.threads for look in looks]),
        "promises broken": f"{len(broken(soaked))}",
    }


def _span(values: Sequence[int]) -> str:
    return f"{min(values)}" if min(values) == max(values) else f"{min(values)} to {max(values)}"


def curves(soaked: Soaked) -> dict[str, str]:
    """
    By name, numbers with a blank between: of so many looks at a time the greatest.

    What waits in the spool is what the minute lines of the time before the look tell of.
    """
    step = -(-len(soaked.looks) // POINTS)
    groups = [soaked.looks[at : at + step] for at in range(0, len(soaked.looks), step)]
    ends = [group[-1].hour for group in groups]
    waiting = [0] * len(ends)
    for document in soaked.found.documents:
        if document["Kind"] == "minute":
            hour = (document["_aws"]["Timestamp"] - START_S * 1000) / HOUR_MS
            place = min(int(hour / ends[0]), len(ends) - 1)
            waiting[place] = max(waiting[place], document["SpoolRecords"])
    return {
        "hour": _curve(ends, 2),
        "resident_mib": _curve([max(one.resident for one in group) / MIB for group in groups], 2),
        "descriptors": _curve([max(one.descriptors for one in group) for group in groups], 0),
        "threads": _curve([max(one.threads for one in group) for group in groups], 0),
        "spool_records": _curve(waiting, 0),
        "spool_mib": _curve([max(one.spool_bytes for one in group) / MIB for group in groups], 2),
    }


def limits(soaked: Soaked) -> dict[str, float]:
    """Of the curves: what none may be above, at least after the warm-up."""
    warm = [one for one in soaked.looks if one.hour <= soaked.timetable.warm_hours]
    room_bytes = max(one.spool_bytes for one in warm) + MAX_SPOOL_GROWTH_BYTES
    return {
        "resident_mib": soaked.resident_limit_mib,
        "descriptors": max(one.descriptors for one in warm if one.is_quiet),
        "threads": max(one.threads for one in warm if one.is_quiet),
        "spool_mib": round(room_bytes / MIB, 1),
    }


def _curve(values: Sequence[float], digits: int) -> str:
    return " ".join(f"{value:.{digits}f}" for value in values)


def digest(drawn: Mapping[str, object]) -> str:
    """Names what a picture was drawn from."""
    return hashlib.sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()[:16]
