"""A history of metrics in memory, with the interface of CloudWatch's history."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from local.alarms.history import CloudWatchHistory, StatisticSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from local.alarms.history import Dimensions


class RecordedHistory(CloudWatchHistory):
    """
    A history of metrics in memory, in which every value has its own time of arrival.

    Attributes:
        now_s: Arrivals up to this time are visible, in seconds since the epoch.
    """

    def __init__(self) -> None:
        self.now_s = math.inf
        self._values: dict[tuple[str, str], dict[Dimensions, list[tuple[float, float, float]]]] = (
            defaultdict(lambda: defaultdict(list))
        )

    def put(
        self,
        namespace: str,
        metric: str,
        dimensions: Mapping[str, str],
        at_s: float,
        values: Iterable[float],
        *,
        arrived_s: float = 0.0,
    ) -> None:
        """Record *values* of one metric at one time, which arrive at *arrived_s*."""
        rows = self._values[namespace, metric][tuple(sorted(dimensions.items()))]
        rows.extend((at_s, arrived_s, value) for value in values)

    def read_metric(
        self, namespace: str, metric: str, period_s: int, start_s: int, end_s: int
    ) -> Mapping[Dimensions, Mapping[int, StatisticSet]]:
        """Return the values that have arrived, like `CloudWatchHistory.read_metric`."""
        series: dict[Dimensions, dict[int, StatisticSet]] = {}
        for dimensions, rows in self._values.get((namespace, metric), {}).items():
            periods: dict[int, list[float]] = defaultdict(list)
            for at_s, arrived_s, value in rows:
                if start_s <= at_s < end_s and arrived_s <= self.now_s:
                    periods[int(at_s // period_s) * period_s].append(value)
            if periods:
                series[dimensions] = {
                    start: StatisticSet(float(len(values)), sum(values), max(values))
                    for start, values in periods.items()
                }
        return series
