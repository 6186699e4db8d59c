"""
The source of an alarm's data points: ListMetrics and GetMetricStatistics.

It does not know alarms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Dimensions = tuple[tuple[str, str], ...]
"""Names with values, sorted by name."""


@dataclass(frozen=True, slots=True)
class StatisticSet:
    """The values of one metric in one period."""

    sample_count: float
    total: float
    maximum: float

    @classmethod
    def merged(cls, parts: Sequence[StatisticSet]) -> StatisticSet:
        """Return the values of *parts*, which are not empty, as if they came from one metric."""
        return cls(
            sum(part.sample_count for part in parts),
            sum(part.total for part in parts),
            max(part.maximum for part in parts),
        )

    def value(self, statistic: str) -> float:
        """Return one CloudWatch statistic, or one Metrics Insights function, by name."""
        if statistic in ("Average", "AVG"):
            return self.total / self.sample_count
        return self.maximum if statistic in ("Maximum", "MAX") else self.total


class CloudWatchHistory:
    """The metrics of an account, or of the embedded AWS."""

    def __init__(self, cloudwatch: Any) -> None:  # noqa: ANN401  # a boto3 client
        self._cloudwatch = cloudwatch

    def read_metric(
        self, namespace: str, metric: str, period_s: int, start_s: int, end_s: int
    ) -> Mapping[Dimensions, Mapping[int, StatisticSet]]:
        """
        Return statistics by the start of their period, for every metric of this name.

        Covers periods that start in [*start_s*, *end_s*), seconds since the epoch. A metric without
        a value there is omitted.
        """
        pages = self._cloudwatch.get_paginator("list_metrics").paginate(
            Namespace=namespace, MetricName=metric
        )
        found: dict[Dimensions, dict[int, StatisticSet]] = {}
        for row in (row for page in pages for row in page["Metrics"]):
            rows = self._cloudwatch.get_metric_statistics(
                Namespace=namespace,
                MetricName=metric,
                Dimensions=row["Dimensions"],
                Period=period_s,
                StartTime=start_s,
                EndTime=end_s,
                Statistics=["SampleCount", "Sum", "Maximum"],
            )["Datapoints"]
            if rows:
                dimensions = sorted((pair["Name"], pair["Value"]) for pair in row["Dimensions"])
                found[tuple(dimensions)] = {
                    int(row["Timestamp"].timestamp()): StatisticSet(
                        row["SampleCount"], row["Sum"], row["Maximum"]
                    )
                    for row in rows
                }
        return found
