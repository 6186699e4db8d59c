"""
Where an alarm's data points come from.

`CloudWatchHistory` reads the embedded AWS through ListMetrics and GetMetricData.
It does not know what an alarm is.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Dimensions = tuple[tuple[str, str], ...]
"""Names with values, sorted by name."""

_QUERIES_PER_CALL: Final = 500  # GetMetricData takes no more
SETTLE_S: Final = 10
"""CloudWatch evaluates up to about so long before now, as its recorded answers show."""

_STATISTICS: Final = ("SampleCount", "Sum", "Minimum", "Maximum")


@dataclass(frozen=True, slots=True)
class StatisticSet:
    """The values that one metric took in one period."""

    sample_count: float
    total: float
    minimum: float
    maximum: float

    @classmethod
    def merged(cls, parts: Sequence[StatisticSet]) -> StatisticSet:
        """As if all values had come from one metric; *parts* are not empty."""
        return cls(
            sum(part.sample_count for part in parts),
            sum(part.total for part in parts),
            min(part.minimum for part in parts),
            max(part.maximum for part in parts),
        )

    def value(self, statistic: str) -> float:
        """One CloudWatch statistic, or one Metrics Insights function, by name."""
        if statistic in ("Average", "AVG"):
            return self.total / self.sample_count
        return {
            "SampleCount": self.sample_count,
            "COUNT": self.sample_count,
            "Sum": self.total,
            "SUM": self.total,
            "Minimum": self.minimum,
            "MIN": self.minimum,
            "Maximum": self.maximum,
            "MAX": self.maximum,
        }[statistic]


class MetricHistory(Protocol):
    """What an evaluation asks for."""

    def read(
        self, namespace: str, metric: str, period_s: int, start_s: int, end_s: int
    ) -> Mapping[Dimensions, Mapping[int, StatisticSet]]:
        """
        Statistics by the start of their period, for every metric of this name.

        Covers periods that start in [*start_s*, *end_s*), seconds since the
        epoch. A metric without a value there is left out.
        """


class CloudWatchHistory:
    """The metrics of the embedded AWS."""

    def __init__(self, cloudwatch: Any) -> None:  # noqa: ANN401  # a boto3 client
        self._cloudwatch = cloudwatch

    def read(
        self, namespace: str, metric: str, period_s: int, start_s: int, end_s: int
    ) -> Mapping[Dimensions, Mapping[int, StatisticSet]]:
        """As `MetricHistory.read`."""
        known = self._metrics(namespace, metric)
        answers: dict[Dimensions, dict[int, dict[str, float]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        asked = {
            f"m{number}{statistic.lower()}": (dimensions, statistic)
            for number, dimensions in enumerate(known)
            for statistic in _STATISTICS
        }
        queries = [
            {
                "Id": key,
                "MetricStat": {
                    "Metric": {
                        "Namespace": namespace,
                        "MetricName": metric,
                        "Dimensions": [{"Name": n, "Value": value} for n, value in dimensions],
                    },
                    "Period": period_s,
                    "Stat": statistic,
                },
            }
            for key, (dimensions, statistic) in asked.items()
        ]
        for first in range(0, len(queries), _QUERIES_PER_CALL):
            for row in self._results(queries[first : first + _QUERIES_PER_CALL], start_s, end_s):
                dimensions, statistic = asked[row["Id"]]
                for at, value in zip(row["Timestamps"], row["Values"], strict=True):
                    answers[dimensions][int(at.timestamp())][statistic] = value
        return {
            dimensions: {
                start: StatisticSet(*(values[statistic] for statistic in _STATISTICS))
                for start, values in periods.items()
            }
            for dimensions, periods in answers.items()
        }

    def _metrics(self, namespace: str, metric: str) -> list[Dimensions]:
        pages = self._cloudwatch.get_paginator("list_metrics").paginate(
            Namespace=namespace, MetricName=metric
        )
        return [
            tuple(sorted((row["Name"], row["Value"]) for row in found["Dimensions"]))
            for page in pages
            for found in page["Metrics"]
        ]

    def _results(
        self, queries: Sequence[Mapping[str, object]], start_s: int, end_s: int
    ) -> Iterator[Mapping[str, Any]]:
        pages = self._cloudwatch.get_paginator("get_metric_data").paginate(
            StartTime=start_s, EndTime=end_s, ScanBy="TimestampAscending", MetricDataQueries=queries
        )
        for page in pages:
            yield from page["MetricDataResults"]


def newest_whole_period_s(period_s: int, now_s: float | None = None) -> int:
    """Start of the newest period that an alarm looks at, seconds since the epoch."""
    at_s = (time.time() if now_s is None else now_s) - SETTLE_S
    return (int(at_s // period_s) - 1) * period_s
