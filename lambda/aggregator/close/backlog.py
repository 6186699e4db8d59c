"""
What is left to the next runs: which late minutes come first, and when a minute is given up.

Pure: no clock, no table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

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

    def count_run(self, stuck: int | None, opened: Collection[int], *, out_of_time: bool) -> bool:
        """
        Count a run that could not finish *stuck*; whether that minute is given up.

        *opened* are the minutes that nobody has closed. None of *stuck* is a
        run that finished all, or that was *out_of_time* without telling whose
        fault it was.
        """
        if stuck is None:
            if not out_of_time:
                self.tried = self.tried_late = 0
            return False
        if stuck in opened:
            self.tried += 1
            return self.tried > RUNS_IN_VAIN
        self.tried = 0  # the open ones come first, and were done
        self.tried_late += 1
        return self.tried_late > RUNS_IN_VAIN


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
