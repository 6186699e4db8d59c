"""
The template's alarms as typed values, and the expressions that they watch.

Pure. It reads alarms only in the forms of this template: one metric, one query, or an expression
followed by its metrics. Properties:
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudwatch-alarm.html

It accepts one family of queries:

    SELECT AVG(IdleCorePercent) FROM SCHEMA("Neuron/Cluster", ClusterName)
        GROUP BY ClusterName ORDER BY AVG() DESC
    SELECT SUM(DeliveryErrors) FROM "AWS/Logs" WHERE FilterName = 'a' AND LogGroupName = 'b'

Any other query is rejected. Metric math has numbers, IDs, `+ - * /`, `>`, `==`, `AND`, `FILL`,
`IF`, `MAX` of an array, `SUM` and `RUNNING_SUM` of one time series. A point is missing if an
operand's point is; FILL covers the whole window and MAX of an array skips gaps, as recordings of
CloudWatch show. Grammars:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch-metrics-insights-querylanguage.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
"""

from __future__ import annotations

import ast
import operator
import re
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from local.alarms.template import AlarmDefinitionError
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from local.alarms.template import Template


_QUERY_NAME: Final = r'(?:"[^"]+"|[A-Za-z_][\w./]*)'
_METRICS_QUERY: Final = re.compile(
    rf"""SELECT\ (AVG|MAX|SUM)\(({_QUERY_NAME})\)
    \ FROM\ (?:SCHEMA\(({_QUERY_NAME}(?:,\ ?{_QUERY_NAME})*)\)|({_QUERY_NAME}))
    (?:\ WHERE\ ({_QUERY_NAME}\ =\ '[^']*'(?:\ AND\ {_QUERY_NAME}\ =\ '[^']*')*))?
    (?:\ GROUP\ BY\ ({_QUERY_NAME}(?:,\ ?{_QUERY_NAME})*)\ ORDER\ BY\ \1\(\)(?:\ ASC|\ DESC)?)?""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class MetricsInsightsQuery:
    """
    One parsed query.

    Attributes:
        function: `AVG`, `MAX` or `SUM`, over all metrics of a group.

        dimensions: The exact dimension names of a metric; None without SCHEMA, which permits
            further dimensions.

        group_by: Names that make one contributor each, a part of *dimensions*; empty if the query
            makes one time series of everything it finds.

        where: Dimension values that a metric must have.
    """

    function: str
    metric: str
    namespace: str
    dimensions: tuple[str, ...] | None
    group_by: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()


def parse_query(text: str) -> MetricsInsightsQuery:
    """
    Parse the query *text*.

    >>> query = 'SELECT MAX(IdleCores) FROM SCHEMA("Neuron/Cluster", ClusterName) '
    >>> query += "GROUP BY ClusterName ORDER BY MAX() DESC"
    >>> parse_query(query).function
    'MAX'

    Raises:
        AlarmDefinitionError: If it is not of the family that this module accepts.
    """
    match = _METRICS_QUERY.fullmatch(" ".join(text.split()))
    if match is None:
        msg = f"the evaluator does not know the query {text!r}"
        raise AlarmDefinitionError(msg)
    function, metric, schema, namespace, where, groups = match.groups()
    names = _names(schema)
    return MetricsInsightsQuery(
        function=function,
        metric=metric.strip('"'),
        namespace=names[0] if schema else namespace.strip('"'),
        dimensions=names[1:] if schema else None,
        group_by=_names(groups),
        where=tuple(re.findall(r"(\w+)\"? = '([^']*)'", where or "")),
    )


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip(' "') for name in text.split(",")) if text else ()


Points = list[float | None]
"""One time series, newest first, None if missing."""

_OPERATORS: Final[Mapping[type, Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Gt: operator.gt,
    ast.Eq: operator.eq,
    ast.And: lambda a, b: bool(a) and bool(b),
}


def calculate(node: ast.expr, series: Mapping[str, Points]) -> Points:
    """Return the time series that *node* makes of *series*, by ID, all of one length."""
    length = len(next(iter(series.values())))
    if isinstance(node, ast.Constant):
        return [float(node.value)] * length  # type: ignore[arg-type]  # a number
    if isinstance(node, ast.Name):
        return series[node.id]
    if isinstance(node, ast.Call):
        given = node.args[0].elts if isinstance(node.args[0], ast.List) else node.args
        return _called(ast.unparse(node.func), [calculate(argument, series) for argument in given])
    operands, operation = _operation(node)
    left, right = (calculate(operand, series) for operand in operands)
    return [
        None if a is None or b is None else float(operation(a, b))
        for a, b in zip(left, right, strict=True)
    ]


def _operation(node: Any) -> tuple[list[ast.expr], Callable[[float, float], float]]:  # noqa: ANN401  # three kinds
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators], _OPERATORS[type(node.ops[0])]
    operands = node.values if isinstance(node, ast.BoolOp) else [node.left, node.right]
    return operands, _OPERATORS[type(node.op)]


def _choice(test: float | None, then: float | None, other: float | None) -> float | None:
    if test is None:
        return None
    return then if test else other


def _called(name: str, arguments: list[Points]) -> Points:
    rows = [*zip(*arguments, strict=True)]
    points = arguments[0]
    if name == "FILL":
        return [fill if value is None else value for value, fill in rows]
    if name == "IF":
        return [_choice(test, then, other) for test, then, other in rows]
    if name == "MAX":
        return [max((value for value in row if value is not None), default=None) for row in rows]
    if name == "SUM":
        return [sum(point or 0.0 for point in points)] * len(points)
    totals = [*accumulate(point or 0.0 for point in reversed(points))][::-1]  # RUNNING_SUM
    return [None if point is None else total for point, total in zip(points, totals, strict=True)]


MAX_QUERIED_S: Final = 3 * 60 * MINUTE_S
"""The longest window of a Metrics Insights query, period times N; CloudWatch rejects more."""

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
        dimensions: Names with values, sorted; a metric with one more dimension is another metric.

        statistic: `Average`, `Maximum` or `Sum`.
    """

    namespace: str
    metric: str
    dimensions: tuple[tuple[str, str], ...]
    statistic: str


@dataclass(frozen=True, slots=True)
class MetricMath:
    """
    A time series computed from several metrics.

    Attributes:
        metrics: Metrics by ID, in the order of the template.

        expressions: Expressions by ID, each after those in it; the last one is what the alarm
            watches.
    """

    metrics: Mapping[str, MetricSource]
    expressions: Mapping[str, ast.expr]

    @property
    def namespace(self) -> str:
        """The namespace of the first metric."""
        return next(iter(self.metrics.values())).namespace


@dataclass(frozen=True, slots=True)
class Alarm:
    """
    One metric alarm.

    Attributes:
        logical_id: Its name in the template.

        period_s: Length of one data point.

        evaluation_periods: N, the number of data points in the window.

        datapoints_to_alarm: M, the number of data points that must breach.

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
        """The namespace of its metrics."""
        return self.source.namespace

    def breaches(self, value: float) -> bool:
        """Return True if one data point breaches the threshold."""
        return COMPARISONS[self.comparison][0](value, self.threshold)

    @property
    def limit(self) -> str:
        """Return the threshold in words, for example `at or above 25`."""
        return f"{COMPARISONS[self.comparison][1]} {self.threshold:g}"


def read_alarms(template: Template) -> list[Alarm]:
    """
    Return every metric alarm that *template* makes with its parameters.

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
        query["Id"]: ast.parse(query["Expression"].replace(" AND ", " and "), mode="eval").body
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
