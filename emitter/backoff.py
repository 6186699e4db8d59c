"""
How long to wait after a failure: exponential, with equal jitter.

Each step is half as long again as the one before, and each wait is drawn from
the upper half of its step: waits grow for certain, and instances that failed
together still do not come back together, also when all wait the longest. From
https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
"""

from __future__ import annotations

import random
from typing import Final

SHORTEST_S: Final = 0.2
LONGEST_S: Final = 60.0
GROWTH: Final = 1.5


class Backoff:
    """Waits after failures in a row."""

    def __init__(
        self,
        shortest_s: float = SHORTEST_S,
        longest_s: float = LONGEST_S,
        rng: random.Random | None = None,
    ) -> None:
        self._shortest_s = shortest_s
        self._first_step_s = min(2 * shortest_s, longest_s)
        self._longest_s = longest_s
        self._rng = rng or random.Random()
        self._step_s = self._first_step_s

    def next_s(self) -> float:
        """Seconds to wait after one more failure: never shorter or longer than the bounds."""
        wait_s = max(self._shortest_s, self._rng.uniform(self._step_s / 2, self._step_s))
        self._step_s = min(self._longest_s, GROWTH * self._step_s)
        return wait_s

    def reset(self) -> None:
        """Start again from the shortest wait: something worked."""
        self._step_s = self._first_step_s
