"""A history of metrics in memory, with the interface of CloudWatch's history."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from local.alarms.history import CloudWatchHistory, StatisticSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from local.alarms.history import Dimensions


def statistics_of(values: list[float]) -> StatisticSet:
    """Return the statistics of *values*, which are not empty."""
    return StatisticSet(float(len(values)), sum(values), max(values))


class RecordedHistory(CloudWatchHistory):
    """A history of metrics in memory."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], dict[Dimensions, list[tuple[float, float]]]] = (
            defaultdict(lambda: defaultdict(list))
        )

    def put(
        self,
        namespace: str,
        metric: str,
        dimensions: Mapping[str, str],
        at_s: float,
        values: Iterable[float],
    ) -> None:
        """Record *values* of one metric at one time."""
        rows = self._values[namespace, metric][tuple(sorted(dimensions.items()))]
        rows.extend((at_s, value) for value in values)

    def read_metric(
        self, namespace: str, metric: str, period_s: int, start_s: int, end_s: int
    ) -> Mapping[Dimensions, Mapping[int, StatisticSet]]:
        """Return recorded values like `CloudWatchHistory.read_metric`."""
        series: dict[Dimensions, dict[int, StatisticSet]] = {}
        for dimensions, rows in self._values.get((namespace, metric), {}).items():
            periods: dict[int, list[float]] = defaultdict(list)
            for at_s, value in rows:
                if start_s <= at_s < end_s:
                    periods[int(at_s // period_s) * period_s].append(value)
            if periods:
                series[dimensions] = {
                    start: statistics_of(values) for start, values in periods.items()
                }
        return series
