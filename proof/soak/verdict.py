"""
What was promised, compared with what a soak has seen. Pure: no process, no clock.

Memory is judged twice, by all that follows the warm-up: what it grew in sum, and
what it grew in nearly every hour (the lower quartile). A step may be there by
chance, of a heap that had no room in the right place; what leaks, leaks always.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from proof.soak.history import is_broken
from proof.soak.receivers import ROTATE_KEEP, ROTATE_MIB
from proof.soak.run import START_S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from proof.soak.run import Look, Soaked

KIB = 1 << 10
MIB = 1 << 20
MINUTE_MS = 60_000
WHOLE_S = 45  # covered seconds of a whole minute, by definition
MAX_GROWTH_BYTES = 3 * MIB  # a late burst of troubles took 2.2; the steady bound finds leaks
MAX_STEADY_BYTES = 36 * KIB
"""In an hour: 0.6 KiB a minute. A young process still settles, with half of it."""

MAX_SPOOL_GROWTH_BYTES = MIB  # of its files: what was freed in them is used again
MEDIAN_OF = 50
"""The beginning and the end that are compared: a fiftieth of the timetable, an hour at least."""


def growth_bytes(soaked: Soaked) -> int:
    """
    Of memory, from the hour after the warm-up to the last; what goes up and down in it is none.
    """
    hour = soaked.timetable.looks_an_hour
    span = max(hour, len(soaked.looks) // MEDIAN_OF)
    warm = soaked.timetable.warm_hours * hour
    after, last = soaked.looks[warm : warm + span], soaked.looks[-span:]
    return int(statistics.median(_resident(last)) - statistics.median(_resident(after)))


def steady_bytes(soaked: Soaked) -> int:
    """By how much memory grew, at least, in three of four hours after the warm-up."""
    hour = soaked.timetable.looks_an_hour
    after = _resident(soaked.looks[soaked.timetable.warm_hours * hour :])
    grown = [later - before for before, later in zip(after, after[hour:], strict=False)]
    return int(statistics.quantiles(grown)[0])


def broken(soaked: Soaked) -> list[str]:
    """Sentences, one for each promise that was not kept."""
    return [
        *_minutes(soaked),
        *_records(soaked),
        *_process(soaked),
        *_disk(soaked),
        *_timetable(soaked),
    ]


def _minutes(soaked: Soaked) -> Iterable[str]:
    arrivals = soaked.found
    minutes = [one for one in arrivals.documents if one["Kind"] == "minute"]
    ended_ms = (START_S + soaked.timetable.hours * 3_600) * 1000
    expected = set(range(START_S * 1000, ended_ms, MINUTE_MS))
    if missing := expected - arrivals.minutes():
        yield f"{len(missing)} minutes have no line, the first at {min(missing)} ms"
    if others := arrivals.minutes() - expected:
        yield f"{len(others)} minutes have a line and never were, the first at {min(others)} ms"
    if partial := [one["Seq"] for one in minutes if one["CoveredSeconds"] < WHOLE_S]:
        yield f"{len(partial)} minutes are not whole, the first has Seq {partial[0]}"
    whole = soaked.reports - sum(map(is_broken, range(soaked.reports)))
    if whole != (read := sum(one["Reports"] for one in minutes)):
        yield f"{whole} reports were written and {read} are in lines"


def _records(soaked: Soaked) -> Iterable[str]:
    arrivals = soaked.found
    if gaps := arrivals.gaps():
        yield f"{len(gaps)} records did not arrive, the first is {gaps[0]}"
    if arrivals.conflicts:
        yield f"{len(arrivals.conflicts)} records came as two different lines"
    if unbalanced := arrivals.unbalanced():
        yield f"{len(unbalanced)} lines do not add up, the first is {unbalanced[0]}"
    if dropped := arrivals.dropped():
        yield f"{dropped} records were dropped"
    if soaked.left:
        yield f"{soaked.left} records were left in the spool"
    if soaked.exit_code:
        yield f"the emitter ended with {soaked.exit_code} and said: {soaked.said[-500:]}"


def _process(soaked: Soaked) -> Iterable[str]:
    if (grown := growth_bytes(soaked)) >= MAX_GROWTH_BYTES:
        yield (
            f"memory grew by {grown / KIB:.0f} KiB after the warm-up, not by less than "
            f"{MAX_GROWTH_BYTES / KIB:.0f}"
        )
    if (steady := steady_bytes(soaked)) >= MAX_STEADY_BYTES:
        yield (
            f"memory grew by {steady / KIB:.0f} KiB in nearly every hour, not by less than "
            f"{MAX_STEADY_BYTES / KIB:.0f}"
        )
    most = max(_resident(soaked.looks)) / MIB
    if most > soaked.resident_limit_mib:
        yield f"memory was {most:.1f} MiB, over the limit of {soaked.resident_limit_mib}"
    # A connection that broke may not have been opened again while nothing can be sent.
    for what in ("descriptors", "threads"):
        warm, after = (
            {getattr(look, what) for look in looks if look.is_quiet} for looks in _halves(soaked)
        )
        if max(after) > max(warm):
            yield f"{what} were at most {max(warm)} in the warm-up and {max(after)} after it"


def _disk(soaked: Soaked) -> Iterable[str]:
    warm, after = _halves(soaked)
    before, later = (max(look.spool_bytes for look in looks) for looks in (warm, after))
    if later > before + MAX_SPOOL_GROWTH_BYTES:
        yield f"the spool's files had at most {before} bytes in the warm-up and {later} after it"
    room = (ROTATE_KEEP + 1) * ROTATE_MIB * MIB
    most = max(look.output_bytes for look in soaked.looks)
    if most > room:
        yield f"files of lines had {most} bytes, over the {room} of {ROTATE_KEEP + 1} files"


def _timetable(soaked: Soaked) -> Iterable[str]:
    if missing := sorted(name for name in soaked.expected if not soaked.happened[name]):
        yield f"it was no proof: nothing of this happened: {', '.join(missing)}"


def _halves(soaked: Soaked) -> tuple[list[Look], list[Look]]:
    warm = soaked.timetable.warm_hours * soaked.timetable.looks_an_hour
    return soaked.looks[:warm], soaked.looks[warm:]


def _resident(looks: Iterable[Look]) -> list[int]:
    return [look.resident for look in looks]
