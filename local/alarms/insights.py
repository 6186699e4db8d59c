"""
The one family of Metrics Insights queries that the template's alarms use.

    SELECT AVG(IdleCorePercent) FROM SCHEMA("Neuron/Cluster", ClusterName)
    GROUP BY ClusterName ORDER BY AVG() DESC

    SELECT SUM(DeliveryErrors) FROM "AWS/Logs" WHERE FilterName = 'a' AND LogGroupName = 'b'

Anything else is refused, never half understood. Grammar:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch-metrics-insights-querylanguage.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from local.alarms.template import AlarmDefinitionError

_NAME: Final = r'(?:"[^"]+"|[A-Za-z_][\w./]*)'
_QUERY: Final = re.compile(
    rf"""SELECT\ (AVG|COUNT|MAX|MIN|SUM)\(({_NAME})\)
    \ FROM\ (?:SCHEMA\(({_NAME}(?:,\ ?{_NAME})*)\)|({_NAME}))
    (?:\ WHERE\ ({_NAME}\ =\ '[^']*'(?:\ AND\ {_NAME}\ =\ '[^']*')*))?
    (?:\ GROUP\ BY\ ({_NAME}(?:,\ ?{_NAME})*)\ ORDER\ BY\ \1\(\)(?:\ ASC|\ DESC)?)?""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class MetricsInsightsQuery:
    """
    One parsed query.

    Attributes:
        function: `AVG`, `COUNT`, `MAX`, `MIN` or `SUM`, over all metrics of a group.

        dimensions: Exactly the dimension names a metric must have; None without SCHEMA,
            when it may have any beside those that are asked for.

        group_by: Names that make one contributor each, a part of *dimensions*;
            empty when the query makes one time series of all it finds.

        where: Dimension values that a metric must have.
    """

    function: str
    metric: str
    namespace: str
    dimensions: tuple[str, ...] | None
    group_by: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()

    def takes(self, names: set[str]) -> bool:
        """Whether it finds metrics with dimensions of these *names*."""
        return set(self.dimensions) == names if self.dimensions is not None else True


def parse_query(text: str) -> MetricsInsightsQuery:
    """
    Read *text*.

    Raises:
        AlarmDefinitionError: If it is not of the family this module knows.
    """
    match = _QUERY.fullmatch(" ".join(text.split()))
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
    return tuple(one.strip(' "') for one in text.split(",")) if text else ()
