"""
One alarm of the template as typed values.

Pure. Reads alarms only as far as this template writes them: one metric, one query, or
an expression over metrics that is listed before what it refers to.
Properties: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudwatch-alarm.html
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from local.alarms.expressions import MetricsInsightsQuery, parse_expression, parse_query
from local.alarms.template import AlarmDefinitionError
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Mapping

    from local.alarms.template import Template

MAX_QUERIED_S: Final = 3 * 60 * MINUTE_S
"""Of a Metrics Insights query, period times N; CloudWatch refuses more."""

COMPARISONS: Final[Mapping[str, tuple[Callable[[float, float], bool], str]]] = {
    "GreaterThanOrEqualToThreshold": (operator.ge, "at or above"),
    "GreaterThanThreshold": (operator.gt, "above"),
    "LessThanThreshold": (operator.lt, "below"),
}


@dataclass(frozen=True, slots=True)
class MetricSource:
    """
    One metric by its full identity.

    Attributes:
        dimensions: Names with values, sorted; a metric with one more is another.

        statistic: `Average`, `Maximum` or `Sum`.
    """

    namespace: str
    metric: str
    dimensions: tuple[tuple[str, str], ...]
    statistic: str


@dataclass(frozen=True, slots=True)
class MetricMath:
    """
    A time series made of several metrics.

    Attributes:
        metrics: By their ids, in the order of the template.

        expressions: By their ids, each after those that it refers to; the last
            is what the alarm watches.
    """

    metrics: Mapping[str, MetricSource]
    expressions: Mapping[str, ast.expr]

    @property
    def namespace(self) -> str:
        """Of the metric that is named first."""
        return next(iter(self.metrics.values())).namespace


@dataclass(frozen=True, slots=True)
class Alarm:
    """
    One metric alarm.

    Attributes:
        logical_id: Its name in the template.

        period_s: Length of one data point.

        evaluation_periods: N, the data points looked at.

        datapoints_to_alarm: M, how many of them must breach.

        missing: `missing`, `notBreaching`, `breaching` or `ignore`.
    """

    logical_id: str
    source: MetricSource | MetricsInsightsQuery | MetricMath
    comparison: str
    threshold: float
    period_s: int
    evaluation_periods: int
    datapoints_to_alarm: int
    missing: str

    @property
    def namespace(self) -> str:
        """Where its metrics live."""
        return self.source.namespace

    def breaches(self, value: float) -> bool:
        """Whether one data point is on the wrong side of the threshold."""
        return COMPARISONS[self.comparison][0](value, self.threshold)

    @property
    def limit(self) -> str:
        """The threshold as people say it, for example `at or above 25`."""
        return f"{COMPARISONS[self.comparison][1]} {self.threshold:g}"


def read_alarms(template: Template) -> list[Alarm]:
    """
    Every metric alarm that *template* makes with its parameters.

    Raises:
        AlarmDefinitionError: If CloudWatch would refuse the query of one.
    """
    return [
        _alarm(logical_id, properties)
        for logical_id, properties in template.resources("AWS::CloudWatch::Alarm")
    ]


def _alarm(logical_id: str, properties: Mapping[str, Any]) -> Alarm:
    source, period_s = _source(properties)
    periods = int(properties["EvaluationPeriods"])
    if isinstance(source, MetricsInsightsQuery) and not (
        MINUTE_S <= period_s <= MAX_QUERIED_S // periods
    ):
        msg = (
            f"CloudWatch refuses the alarm {logical_id}: a query over {periods} periods of "
            f"{period_s} s; the least is {MINUTE_S} s, the most 3 hours in all"
        )
        raise AlarmDefinitionError(msg)
    return Alarm(
        logical_id=logical_id,
        source=source,
        comparison=properties["ComparisonOperator"],
        threshold=float(properties["Threshold"]),
        period_s=period_s,
        evaluation_periods=periods,
        datapoints_to_alarm=int(properties.get("DatapointsToAlarm", periods)),
        missing=properties.get("TreatMissingData", "missing"),
    )


def _source(
    properties: Mapping[str, Any],
) -> tuple[MetricSource | MetricsInsightsQuery | MetricMath, int]:
    if "Metrics" not in properties:
        return _metric(properties, properties["Statistic"]), int(properties["Period"])
    queries = properties["Metrics"]
    stated = {query["Id"]: query["MetricStat"] for query in queries if "MetricStat" in query}
    if not stated:
        (query,) = queries
        return parse_query(query["Expression"]), int(query["Period"])
    expressions = {
        query["Id"]: parse_expression(query["Expression"])
        for query in reversed(queries)
        if "Expression" in query
    }
    metrics = {name: _metric(stat["Metric"], stat["Stat"]) for name, stat in stated.items()}
    (period_s,) = {int(stat["Period"]) for stat in stated.values()}
    return MetricMath(metrics, expressions), period_s


def _metric(properties: Mapping[str, Any], statistic: str) -> MetricSource:
    dimensions = [(str(row["Name"]), str(row["Value"])) for row in properties.get("Dimensions", [])]
    return MetricSource(
        namespace=properties["Namespace"],
        metric=properties["MetricName"],
        dimensions=tuple(sorted(dimensions)),
        statistic=statistic,
    )
