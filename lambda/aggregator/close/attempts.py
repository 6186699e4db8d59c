"""
When to give up a minute that no run can read whole, so that later ones need not wait for it.

A slow table passes; a flood of lines in one minute stays until it expires.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

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

    def after(self, stuck: int | None, opened: Collection[int], *, out_of_time: bool) -> bool:
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
