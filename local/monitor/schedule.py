"""
Which groups are due when, and why a report is never written near a full minute.

Pure: no clock. Milliseconds since the epoch in, milliseconds out.

A reader puts a report into the minute in which it receives it. A report written
a moment before a full minute may be received after it, and then nobody can say
which minute it belongs to: the comparison with the truth would be a guess. So
the writing lies in a phase of the minute that keeps away from its ends. A
writer on a loaded machine is late, never early: the phase lies in the first
half of the time between two writes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

MINUTE_MS: Final = 60_000
CLEAR_OF_MINUTES_MS: Final = 800


@dataclass(frozen=True, slots=True)
class Tick:
    """
    One report's moment.

    Attributes:
        number: Reports before it.

        at_ms: When it is due.

        elapsed_ms: Each due group's time since it was last due; None the first time.
    """

    number: int
    at_ms: int
    elapsed_ms: Mapping[str, int | None]


class Schedule:
    """
    The moments of all reports, in order.

    The first is due at *first_ms* and has every group. From then on each group
    is due at *anchor_ms* plus whole multiples of its period.
    """

    def __init__(
        self, periods_ms: Mapping[str, int], first_ms: int, anchor_ms: int | None = None
    ) -> None:
        anchor_ms = first_ms if anchor_ms is None else anchor_ms
        self._periods_ms = dict(periods_ms)
        self._first_ms = first_ms
        self._due_ms = {group: anchor_ms + period for group, period in periods_ms.items()}
        self._last_ms: dict[str, int] = {}
        self._number = 0

    def next(self, now_ms: int | None = None) -> Tick:
        """
        The next moment.

        Given *now_ms*, moments that have passed are left out, as a ticker
        leaves them out when nobody took the last report: the next one then
        covers the longer time.
        """
        number = self._number
        self._number += 1
        if number == 0:
            self._last_ms = dict.fromkeys(self._due_ms, self._first_ms)
            return Tick(0, self._first_ms, dict.fromkeys(self._due_ms))
        if now_ms is not None:
            for group, period_ms in self._periods_ms.items():
                missed = max(0, -(-(now_ms - self._due_ms[group]) // period_ms))
                self._due_ms[group] += missed * period_ms
        at_ms = min(self._due_ms.values())
        elapsed_ms: dict[str, int | None] = {}
        for group, due_ms in self._due_ms.items():
            if due_ms == at_ms:
                elapsed_ms[group] = at_ms - self._last_ms[group]
                self._last_ms[group] = at_ms
                self._due_ms[group] += self._periods_ms[group]
        return Tick(number, at_ms, elapsed_ms)


def live_schedule(periods_ms: Mapping[str, int], now_ms: int, *, chance: float) -> Schedule:
    """
    A schedule that starts now.

    The first report waits until it is clear of the full minute, and the second
    comes between one and two steps later, in the phase that all later ones
    keep. A step is the longest time that divides the minute and every period;
    under 1.6 s it cannot keep the whole distance, and half of it is kept.

    Args:
        periods_ms: Every group's period.

        now_ms: The time.

        chance: From 0 to 1: chooses the phase.
    """
    step_ms = math.gcd(MINUTE_MS, *periods_ms.values())
    clear_ms = min(CLEAR_OF_MINUTES_MS, step_ms // 2)
    phase_ms = clear_ms + int(chance * (step_ms // 2 - clear_ms))
    first_ms = now_ms
    into_ms = first_ms % MINUTE_MS
    if into_ms < clear_ms:
        first_ms += clear_ms - into_ms
    elif into_ms > MINUTE_MS - clear_ms:
        first_ms += MINUTE_MS - into_ms + clear_ms
    anchor_ms = first_ms + (phase_ms - first_ms) % step_ms
    return Schedule(periods_ms, first_ms, anchor_ms)
