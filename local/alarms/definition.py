"""
One alarm of the template as typed values.

Pure. Refuses what the evaluator does not know (percentiles, anomaly bands, most of
metric math): an alarm it cannot evaluate is named, never passed over.
Properties: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudwatch-alarm.html
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from local.alarms.insights import MetricsInsightsQuery, parse_query
from local.alarms.mathematics import ids, parse_expression
from local.alarms.template import AlarmDefinitionError
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Mapping, Sequence

    from local.alarms.template import Template

MAX_QUERIED_S: Final = 3 * 60 * MINUTE_S
"""Of a Metrics Insights query, period times N; CloudWatch refuses more."""

STATISTICS: Final = ("Average", "Maximum", "Minimum", "SampleCount", "Sum")
TREATMENTS: Final = ("breaching", "ignore", "missing", "notBreaching")
COMPARISONS: Final[Mapping[str, tuple[Callable[[float, float], bool], str]]] = {
    "GreaterThanOrEqualToThreshold": (operator.ge, "at or above"),
    "GreaterThanThreshold": (operator.gt, "above"),
    "LessThanOrEqualToThreshold": (operator.le, "at or below"),
    "LessThanThreshold": (operator.lt, "below"),
}


@dataclass(frozen=True, slots=True)
class MetricSource:
    """
    One metric by its full identity.

    Attributes:
        dimensions: Names with values, sorted; a metric with one more is another.

        statistic: `Average`, `Maximum`, `Minimum`, `SampleCount` or `Sum`.
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
        AlarmDefinitionError: If one of them cannot be evaluated faithfully.
    """
    return [
        _alarm(logical_id, properties)
        for logical_id, properties in template.resources("AWS::CloudWatch::Alarm")
    ]


def survey(template: Template, *namespaces: str) -> tuple[list[Alarm], dict[str, str]]:
    """The alarms of *template* on metrics of *namespaces*, and why each other is left out."""
    alarms: list[Alarm] = []
    left_out: dict[str, str] = {}
    for logical_id, properties in template.resources("AWS::CloudWatch::Alarm"):
        try:
            alarm = _alarm(logical_id, properties)
        except AlarmDefinitionError as error:
            left_out[logical_id] = str(error)
            continue
        if alarm.namespace in namespaces:
            alarms.append(alarm)
        else:
            left_out[logical_id] = f"nothing here publishes all metrics of {alarm.namespace}"
    return alarms, left_out


def _alarm(logical_id: str, properties: Mapping[str, Any]) -> Alarm:
    try:
        source, period_s = _source(properties)
        evaluation_periods = int(properties["EvaluationPeriods"])
        alarm = Alarm(
            logical_id=logical_id,
            source=source,
            comparison=_one_of(properties["ComparisonOperator"], COMPARISONS),
            threshold=float(properties["Threshold"]),
            period_s=period_s,
            evaluation_periods=evaluation_periods,
            datapoints_to_alarm=int(properties.get("DatapointsToAlarm", evaluation_periods)),
            missing=_one_of(properties.get("TreatMissingData", "missing"), TREATMENTS),
        )
    except KeyError as error:
        msg = f"the alarm {logical_id} has no property {error.args[0]}"
        raise AlarmDefinitionError(msg) from None
    except ValueError as error:
        msg = f"the alarm {logical_id} cannot be evaluated: {error}"
        raise AlarmDefinitionError(msg) from error
    if isinstance(source, MetricsInsightsQuery):
        _check_query_periods(alarm)
    return alarm


def _check_query_periods(alarm: Alarm) -> None:
    refusal = ""
    if alarm.period_s < MINUTE_S:
        refusal = f"a query with a period of {alarm.period_s} s; the least is {MINUTE_S}"
    elif alarm.period_s * alarm.evaluation_periods > MAX_QUERIED_S:
        looked_at = f"{alarm.evaluation_periods} periods of {alarm.period_s} s"
        refusal = f"a query over {looked_at}; the most is 3 hours in all"
    if refusal:
        msg = f"CloudWatch refuses the alarm {alarm.logical_id}: {refusal}"
        raise AlarmDefinitionError(msg)


def _source(
    properties: Mapping[str, Any],
) -> tuple[MetricSource | MetricsInsightsQuery | MetricMath, int]:
    if "Metrics" not in properties:
        statistic = _one_of(properties.get("Statistic", "no Statistic"), STATISTICS)
        return _metric(properties, statistic), int(properties["Period"])
    if len(properties["Metrics"]) != 1:
        return _mathematics(properties["Metrics"])
    query = properties["Metrics"][0]
    if "Expression" in query:
        return parse_query(query["Expression"]), int(query["Period"])
    return _stated(query["MetricStat"])


def _stated(stat: Mapping[str, Any]) -> tuple[MetricSource, int]:
    statistic = _one_of(stat["Stat"], STATISTICS)
    return _metric(stat["Metric"], statistic), int(stat["Period"])


def _mathematics(queries: Sequence[Mapping[str, Any]]) -> tuple[MetricMath, int]:
    stated = {one["Id"]: _stated(one["MetricStat"]) for one in queries if "MetricStat" in one}
    left = {
        one["Id"]: parse_expression(one["Expression"]) for one in queries if "Expression" in one
    }
    watched = [one["Id"] for one in queries if one.get("ReturnData", True)]
    periods = {period_s for _, period_s in stated.values()}
    if len(watched) != 1 or watched[0] not in left or len(periods) != 1:
        msg = "it combines metrics, expected one expression to be returned and one period for all"
        raise AlarmDefinitionError(msg)
    expressions: dict[str, ast.expr] = {}
    while watched[0] in left:
        known = stated.keys() | expressions.keys()
        ready = [name for name, tree in left.items() if ids(tree) <= known]
        if not ready:
            msg = f"the expression {min(left)} refers to itself or to an id that is not there"
            raise AlarmDefinitionError(msg)
        name = min(ready, key=watched[0].__eq__)  # what is watched comes last
        expressions[name] = left.pop(name)
    metrics = {name: source for name, (source, _) in stated.items()}
    return MetricMath(metrics, expressions), periods.pop()


def _metric(properties: Mapping[str, Any], statistic: str) -> MetricSource:
    dimensions = [(str(row["Name"]), str(row["Value"])) for row in properties.get("Dimensions", [])]
    return MetricSource(
        namespace=properties["Namespace"],
        metric=properties["MetricName"],
        dimensions=tuple(sorted(dimensions)),
        statistic=statistic,
    )


def _one_of(found: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    if found not in known:
        msg = f"it has {found} instead of one of {', '.join(known)}"
        raise AlarmDefinitionError(msg)
    return found
