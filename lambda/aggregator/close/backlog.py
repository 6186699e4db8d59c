"""
What is left to the next runs: which late minutes come first, and when a minute is given up.

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
Runs in a row that a minute may be tried with more than half of a run's time.
After them each further run in vain gives its minute up, until one is not.
"""


@dataclass(slots=True)
class Attempts:
    """
    The runs in vain so far.

    Attributes:
        tried: In a row with minutes that nobody has closed.

        tried_late: In a row with minutes to restate.
    """

    tried: int
    tried_late: int

    def count_run(
        self, stuck: int | None, opened: Collection[int], *, out_of_time: bool
    ) -> int | None:
        """
        Count a run that could not finish *stuck*; return that minute if it is given up.

        *opened* are the minutes that nobody has closed. None of *stuck* is a
        run that finished all, or that was *out_of_time* without telling whose
        fault it was.
        """
        if stuck is None:
            if not out_of_time:
                self.tried = self.tried_late = 0
            return None
        if stuck in opened:
            self.tried += 1
            return stuck if self.tried > RUNS_IN_VAIN else None
        self.tried = 0  # the open ones come first, and were done
        self.tried_late += 1
        return stuck if self.tried_late > RUNS_IN_VAIN else None


LONGEST_WAIT_MINUTES: Final = 30
"""
Age from which all late minutes wait alike. In proportion to all of its age, one
of two hours would wait for one even where each run has time for four.
"""


def restating_order(
    marked: Iterable[int], restated: Mapping[int, int], this_minute: int
) -> list[int]:
    """
    *marked* minutes, those first that have waited for the greatest part of their age.

    *restated* says in which minute some of them were last looked at; the others
    were published in the minute after them, or nobody knows.
    """

    def share_waited(minute: int) -> float:
        age = min(this_minute - minute, LONGEST_WAIT_MINUTES)
        return (this_minute - restated.get(minute, minute + 1)) / age

    return sorted(marked, key=lambda minute: (-share_waited(minute), minute))


@dataclass(frozen=True, slots=True)
class DueMinutes:
    """
    The minutes that one run has to look at.

    Attributes:
        open_minutes: Minutes that are not closed yet, ascending.

        early_minutes: Minutes that closed before an earlier one, ascending: findings take
            them in after it.

        marked_minutes: Closed minutes with late records, in the order of restating.

        next_minute: The first minute that is too young.

        dropped: Number of open minutes that were too old.
    """

    open_minutes: Sequence[int]
    early_minutes: Sequence[int]
    marked_minutes: Sequence[int]
    next_minute: int
    dropped: int

    @property
    def unpublished(self) -> list[int]:
        """Minutes of which records wait to be published."""
        return [*self.marked_minutes, *self.open_minutes]

    def without(self, done: Collection[int]) -> DueMinutes:
        """Return what is left once the minutes in *done* need nothing more."""
        return replace(
            self,
            open_minutes=[minute for minute in self.open_minutes if minute not in done],
            marked_minutes=[minute for minute in self.marked_minutes if minute not in done],
        )


def due_minutes(
    progress: CloseProgress, marked: Collection[int], oldest_minute: int, now_s: float
) -> DueMinutes:
    """
    Return what a run at *now_s* has to look at, from *oldest_minute* on.

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
