"""
Which minute is open.

Minutes never reopen: after a backward clock step reports go to the open minute
until the clock passes it.
"""

from __future__ import annotations

from typing import Final

from neuron_wire.names import MINUTE_S

MAX_FUTURE_MINUTES: Final = 120
"""CloudWatch refuses what is further ahead: a clock that was wrong by more is followed back."""


class MinuteClock:
    """
    The open minute, if one is, and the one before.

    Attributes:
        now: The epoch minute that is open, or None.
    """

    def __init__(self) -> None:
        self.now: int | None = None
        self._closed: int | None = None  # epoch minute closed last

    def open(self, at_s: float) -> None:
        """Open the minute of *at_s*, seconds since the epoch, unless one is open."""
        if self.now is None:
            label = int(at_s // MINUTE_S)
            if self._closed is not None and label <= self._closed < label + MAX_FUTURE_MINUTES:
                label = self._closed + 1
            self.now = label

    def is_due(self, at_s: float) -> bool:
        """Whether the clock has left the open minute for good."""
        if self.now is None:
            return False
        label = int(at_s // MINUTE_S)
        return label > self.now or self.now - label > MAX_FUTURE_MINUTES

    def ends_at_s(self) -> float | None:
        """End of the open minute, seconds since the epoch."""
        return None if self.now is None else float((self.now + 1) * MINUTE_S)

    def close(self) -> None:
        """No minute is open."""
        self._closed, self.now = self.now, None
