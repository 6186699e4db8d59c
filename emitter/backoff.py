"""
How long to wait after a failure: decorrelated jitter.

Each wait is drawn between the shortest and three times the one before, so that
instances that failed together do not come back together. From
https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
"""

from __future__ import annotations

import random
from typing import Final

SHORTEST_S: Final = 0.2
LONGEST_S: Final = 60.0


class Backoff:
    """
    Waits after failures in a row.
    """

    def __init__(
        self,
        shortest_s: float = SHORTEST_S,
        longest_s: float = LONGEST_S,
        rng: random.Random | None = None,
    ) -> None:
        self._shortest_s = shortest_s
        self._longest_s = longest_s
        self._rng = rng or random.Random()
        self._last_s = shortest_s

    def next_s(self) -> float:
        """
        Seconds to wait after one more failure: never shorter or longer than the bounds.
        """
        drawn_s = self._rng.uniform(self._shortest_s, self._last_s * 3)
        self._last_s = min(self._longest_s, drawn_s)
        return self._last_s

    def reset(self) -> None:
        """
        Start again from the shortest wait: something worked.
        """
        self._last_s = self._shortest_s
