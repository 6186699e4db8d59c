"""
Metrics read again and again, at little cost.

The terminal and every tab of the page ask for the same three hours each few
seconds, and mostly the last minutes of them are new. So most times only the
newest minutes are read, and each `WHOLE_EACH_S` all of them, because a late
record restates an old minute.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from local.alarms.history import Dimensions, MetricHistory, StatisticSet

NEWEST_S: Final = 600
WHOLE_EACH_S: Final = 60.0


@dataclass(slots=True)
class _Reading:
    """One metric name in one period length."""

    whole_at_s: float
    newest_at_s: float
    start_s: int
    found: dict[Dimensions, dict[int, StatisticSet]] = field(default_factory=dict)


class CachedHistory:
    """A metric history that remembers what it read; any thread may ask it."""

    def __init__(
        self,
        history: MetricHistory,
        range_s: int,
        newest_each_s: float,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        """Remember *range_s* of *history*; its newest minutes for *newest_each_s*."""
        self._history = history
        self._range_s = range_s
        self._now_s = now_s
        self._newest_each_s = newest_each_s
        self._readings: dict[tuple[str, str, int], _Reading] = {}
        self._lock = threading.Lock()

    def forget(self) -> None:
        """Remember nothing: whoever asks next gets what is there then."""
        with self._lock:
            self._readings.clear()

    def read(
        self, namespace: str, metric: str, period_s: int, start_s: int, end_s: int
    ) -> Mapping[Dimensions, Mapping[int, StatisticSet]]:
        """As `MetricHistory.read`."""
        with self._lock:
            reading = self._current(namespace, metric, period_s)
            cut = {
                dimensions: {at_s: one for at_s, one in periods.items() if start_s <= at_s < end_s}
                for dimensions, periods in reading.found.items()
            }
        if start_s < reading.start_s:  # further back than it remembers
            return self._history.read(namespace, metric, period_s, start_s, end_s)
        return {dimensions: periods for dimensions, periods in cut.items() if periods}

    def _current(self, namespace: str, metric: str, period_s: int) -> _Reading:
        now_s = self._now_s()
        key = namespace, metric, period_s
        known = self._readings.get(key)
        if known is None or now_s - known.whole_at_s >= WHOLE_EACH_S:
            start_s = int(now_s - self._range_s) // period_s * period_s
            found = self._read(key, start_s, now_s)
            known = self._readings[key] = _Reading(now_s, now_s, start_s, found)
        elif now_s - known.newest_at_s >= self._newest_each_s:
            start_s = max(known.start_s, int(now_s - NEWEST_S) // period_s * period_s)
            for dimensions, periods in self._read(key, start_s, now_s).items():
                known.found.setdefault(dimensions, {}).update(periods)
            known.newest_at_s = now_s
        return known

    def _read(
        self, key: tuple[str, str, int], start_s: int, now_s: float
    ) -> dict[Dimensions, dict[int, StatisticSet]]:
        found = self._history.read(*key, start_s, int(now_s) + 60)
        return {dimensions: dict(periods) for dimensions, periods in found.items()}
