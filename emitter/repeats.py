"""
Say once what happens a thousand times.

A log that repeats itself hides what is new in it; a log that stays silent hides
that it goes on. So: the first time at once, then at most once per interval,
with the number that came together in between.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Repeats:
    """Events by key, let through at most once per interval each. Thread-safe."""

    def __init__(self, interval_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._interval_s = interval_s
        self._clock = clock
        self._lock = threading.Lock()
        self._said_at: dict[str, float] = {}
        self._unsaid: dict[str, int] = {}

    def due(self, key: str, count: int = 1) -> int:
        """Count *count* more of *key*; how many to speak of now, 0 for silence."""
        with self._lock:
            now = self._clock()
            unsaid = self._unsaid.get(key, 0) + count
            said_at = self._said_at.get(key)
            # A clock that was set back must not silence us until it catches up.
            if said_at is not None and 0 <= now - said_at < self._interval_s:
                self._unsaid[key] = unsaid
                return 0
            self._said_at[key] = now
            self._unsaid.pop(key, None)
            return unsaid
