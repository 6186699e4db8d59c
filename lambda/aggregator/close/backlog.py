"""
The order of minutes that are left to the next runs, and when a minute is given up.

Pure: no clock, no table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from aggregator.minutes import EARLIEST_CLOSE_S, minute_at

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from aggregator.storage.values import CloseProgress

RUNS_IN_VAIN: Final = 10
"""
The most failed runs in a row in which one minute took more than half of the time. Each further
failed run gives up its minute, until a run succeeds.
"""


@dataclass(slots=True)
class Attempts:
    """
    The failed runs so far.

    Attributes:
        tried: Failed runs in a row with open minutes.

        tried_late: Failed runs in a row with minutes to restate.
    """

    tried: int
    tried_late: int

    def count_run(
        self, stuck: int | None, opened: Collection[int], *, out_of_time: bool
    ) -> int | None:
        """
        Count a run that could not finish *stuck*. Return that minute if it is given up.

        *opened* are the minutes that no run has closed. *stuck* is None for a run that finished
        everything, or that was *out_of_time* without a single minute as the cause.
        """
        if stuck is None:
            if not out_of_time:
                self.tried = self.tried_late = 0
            return None
        if stuck in opened:
            self.tried += 1
            return stuck if self.tried > RUNS_IN_VAIN else None
        self.tried = 0  # open minutes come first, so they are closed
        self.tried_late += 1
        return stuck if self.tried_late > RUNS_IN_VAIN else None


LONGEST_WAIT_MINUTES: Final = 30
"""
Age from which all late minutes wait equally. If the wait were proportional to the whole age, a
minute that is two hours old would wait an hour even if each run had time for four minutes.
"""


def restating_order(
    marked: Iterable[int], restated: Mapping[int, int], this_minute: int
) -> list[int]:
    """
    Return the *marked* minutes, ordered by waiting time relative to age.

    *restated* maps a minute to the minute in which it was last read. For any other minute, one
    minute after it is assumed.
    """

    def share_waited(minute: int) -> float:
        age = min(this_minute - minute, LONGEST_WAIT_MINUTES)
        return (this_minute - restated.get(minute, minute + 1)) / age

    return sorted(marked, key=lambda minute: (-share_waited(minute), minute))


@dataclass(frozen=True, slots=True)
class DueMinutes:
    """
    The minutes that one run must read.

    Attributes:
        open_minutes: Minutes that are not closed yet, ascending.

        early_minutes: Minutes that closed before an earlier minute did, ascending. Findings fold
            them after the earlier minute.

        marked_minutes: Closed minutes with late records, in the order of restating.

        next_minute: The first minute that is too recent.

        dropped: Number of open minutes that were too old.
    """

    open_minutes: Sequence[int]
    early_minutes: Sequence[int]
    marked_minutes: Sequence[int]
    next_minute: int
    dropped: int

    @property
    def unpublished(self) -> list[int]:
        """The minutes with records that wait to be published."""
        return [*self.marked_minutes, *self.open_minutes]

    def without(self, done: Collection[int]) -> DueMinutes:
        """Return the due minutes without those in *done*, which need no further work."""
        return replace(
            self,
            open_minutes=[minute for minute in self.open_minutes if minute not in done],
            marked_minutes=[minute for minute in self.marked_minutes if minute not in done],
        )


def due_minutes(
    progress: CloseProgress, marked: Collection[int], oldest_minute: int, now_s: float
) -> DueMinutes:
    """
    Return the minutes that a run at *now_s* must read, from *oldest_minute* on.

    *marked* minutes have late records, unless they are still open.
    """
    next_minute = max(progress.next_minute, minute_at(now_s - EARLIEST_CLOSE_S))
    unclosed = [*progress.open_minutes, *range(progress.next_minute, next_minute)]
    open_minutes = [minute for minute in unclosed if minute >= oldest_minute]
    late = [minute for minute in {*marked}.difference(open_minutes) if minute < next_minute]
    return DueMinutes(
        open_minutes=open_minutes,
        early_minutes=[minute for minute in progress.early_minutes if minute >= oldest_minute],
        marked_minutes=restating_order(late, progress.restated, minute_at(now_s)),
        next_minute=next_minute,
        dropped=len(unclosed) - len(open_minutes),
    )
