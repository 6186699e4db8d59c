"""
Whole minutes in a row that each core has not been busy.

Kept by minute label, so that a minute counts once however often the emitter
starts, and forgotten after ten minutes without telemetry: idleness that nobody
watched is not idleness.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from neuron_wire.names import BUSY, UNKNOWN, WHOLE_MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Sequence

FORGOTTEN_AFTER_MINUTES: Final = 10


class IdleMinutes:
    """
    The counters of one instance.

    Attributes:
        label: Epoch minute that last added or reset a count, or None.

        minutes: Idle minutes by core index.

        watched: Last epoch minute in which any core was known, or None.
    """

    def __init__(
        self, label: int | None = None, minutes: Sequence[int] = (), watched: int | None = None
    ) -> None:
        self.label = label
        self.minutes = list(minutes)
        self.watched = label if watched is None else watched

    def close(self, label: int, states: str, covered_s: Sequence[float]) -> tuple[int, ...]:
        """
        Count the minute *label*, given each core's state and covered seconds.

        Busy in any part resets; a whole minute that was not busy adds one; a
        partial or unknown one neither adds nor resets.

        Returns:
            Idle minutes by core, this minute included.
        """
        # Further ahead than behind: the clock was wrong when the counts were stored.
        if self.watched is not None and abs(label - self.watched) > FORGOTTEN_AFTER_MINUTES:
            self.minutes = []
            self.label = self.watched = None
        is_later = self.label is None or label > self.label
        counts = self.minutes + [0] * (len(states) - len(self.minutes))
        for core, state in enumerate(states):
            if state == BUSY:
                counts[core] = 0
            elif state != UNKNOWN and is_later and covered_s[core] >= WHOLE_MINUTE_S:
                counts[core] += 1
            else:
                continue
            self.label = label if self.label is None else max(self.label, label)
        self.minutes = counts[: len(states)] if states else counts
        if any(state != UNKNOWN for state in states):
            self.watched = label if self.watched is None else max(self.watched, label)
        return tuple(self.minutes[: len(states)])
