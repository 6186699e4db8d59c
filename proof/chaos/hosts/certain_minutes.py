"""
Which minutes of a host were closed for certain, and in which of them nothing was done to it.

Pure: what was noted in, minutes out.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from proof.chaos.truth.comparison import Undisturbed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from local.monitor.truth import ReportTruth
    from proof.chaos.hosts.host_program import SeenMinute
    from proof.chaos.hosts.notes import Moved

MINUTE_MS = 60_000
MOST_AHEAD = 120  # minutes: a clock that was wrong by more is followed back
READ_WITHIN_S = 6.5  # of the host's clock: a loop that was longer away may have read late
MARGIN_MS = 6_500


def surely_closed(seen: Sequence[SeenMinute], reports: Sequence[ReportTruth]) -> set[int]:
    """
    Minutes that one life must have closed and kept, ms since the epoch.

    The loop opens the minute it sees, unless one is open; it closes that when
    it sees a later one, or one that is hours earlier. It has kept it when it has
    seen one more minute after that. Before the first report it may not have
    begun, and have seen the time all the same.
    """
    if not reports:
        return set()
    first = reports[0].at_ms // MINUTE_MS
    begun = next((place for place, one in enumerate(seen) if one.minute == first), None)
    if begun is None:
        return set()
    opened = seen[begun].minute
    closed: list[int] = []
    for label in seen[begun + 1 : -1]:
        if label.minute > opened or opened - label.minute > MOST_AHEAD:
            closed.append(opened)
            opened = label.minute
    return {minute * MINUTE_MS for minute in closed}


def runs(reports: Sequence[ReportTruth]) -> Iterator[Sequence[ReportTruth]]:
    """Each monitor's own, of a file that several wrote to one after the other."""
    begins = [place for place, one in enumerate(reports) if not one.report]
    for begin, end in pairwise([*begins, len(reports)]):
        yield reports[begin:end]


def undisturbed(
    instance_id: str,
    reports: Sequence[ReportTruth],
    seen: Sequence[SeenMinute],
    moves: Sequence[Moved],
) -> list[Undisturbed]:
    """Minutes of one life to compare with what its monitors say."""
    steady = _steady(seen)
    found = []
    for run in runs(reports):
        first_ms, last_ms = run[0].at_ms, run[-1].at_ms
        whole = range(first_ms // MINUTE_MS + 2, last_ms // MINUTE_MS - 1)
        minutes = [
            minute * MINUTE_MS
            for minute in whole
            if minute in steady and not any(_touches(minute * MINUTE_MS, moved) for moved in moves)
        ]
        if minutes:
            found.append(Undisturbed(instance_id, run, minutes, MARGIN_MS))
    return found


def _steady(seen: Sequence[SeenMinute]) -> set[int]:
    """Minutes that the loop came to once, stayed in, and left for the next, never long away."""
    times = [one.minute for one in seen]
    return {
        one.minute
        for one, after in pairwise(seen)
        if after.minute == one.minute + 1
        and times.count(one.minute) == 1
        and max(one.longest_gap_s, after.longest_gap_s) <= READ_WITHIN_S
    }


def _touches(minute_ms: int, moved: Moved) -> bool:
    """Whether the clock was anywhere near that minute when it was moved, or passed it twice."""
    near_ms = 2 * MINUTE_MS
    times_ms = sorted((moved.before_s * 1000, moved.after_s * 1000))
    is_near = any(ms - 2 * near_ms <= minute_ms <= ms + near_ms for ms in times_ms)
    return is_near or (
        moved.after_s < moved.before_s and times_ms[0] - near_ms <= minute_ms <= times_ms[1]
    )
