"""
What a metric widget asks for.

Pure. A row names one metric or searches for some; of metric math and of
searches it knows one family, the one that the template uses, and refuses the
rest by name:

    SEARCH('{Neuron/Cluster,ClusterName} MetricName="IdleCores"', 'Average', 60)

Grammar:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/search-expression-syntax.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from local.alarms.definition import STATISTICS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from local.alarms.history import Dimensions

_RENDERING: Final = frozenset(
    {"color", "expression", "id", "label", "period", "stat", "visible", "yAxis"}
)
_DEFAULT_PERIOD_S: Final = 300
_SEARCH: Final = re.compile(
    r"SEARCH\('\{(?P<schema>[^{}']+)\}(?P<terms>(?:\s+\w+=\"[^\"]*\")+)\s*',\s*"
    r"'(?P<statistic>\w+)',\s*(?P<period>[0-9]+)\)"
)
_TERM: Final = re.compile(r"(\w+)=\"([^\"]*)\"")


class DashboardError(ValueError):
    """The dashboard uses something that the page does not know: a drawing would be invented."""


@dataclass(frozen=True, slots=True)
class MetricRequest:
    """
    One metric by its full identity, or all that differ only in some dimensions.

    Attributes:
        dimensions: Names with values, sorted.

        open: Names of the dimensions that a search leaves open.

        statistic: `Average`, `Maximum`, `Minimum`, `SampleCount` or `Sum`.

        axis: `left` or `right`.

        label: As the dashboard gives it, empty when it gives none.

        is_search: It may find any number of metrics.
    """

    namespace: str
    metric: str
    dimensions: Dimensions
    statistic: str
    period_s: int
    open: frozenset[str] = frozenset()
    axis: str = "left"
    label: str = ""
    is_search: bool = False

    def finds(self, dimensions: Dimensions) -> bool:
        """Whether a metric with exactly these *dimensions* is meant."""
        given = dict(self.dimensions)
        names = {name for name, _ in dimensions}
        return names == given.keys() | self.open and given.items() <= dict(dimensions).items()

    def __str__(self) -> str:
        parts = [f"{name} {value}" for name, value in self.dimensions]
        parts += [f"any {name}" for name in sorted(self.open)]
        return f"{self.namespace} {self.metric}" + (f" of {', '.join(parts)}" if parts else "")


def asked_by(properties: Mapping[str, Any]) -> list[MetricRequest]:
    """
    What the metric widget with *properties* asks for, in its order.

    Raises:
        DashboardError: If it asks in a form that the page does not know.
    """
    requests: list[MetricRequest] = []
    above: list[str] = []
    for row in properties["metrics"]:
        rendering = row[-1] if isinstance(row[-1], dict) else {}
        strangers = sorted(rendering.keys() - _RENDERING)
        if strangers:
            msg = f"a metric has the property {strangers[0]}, which the page does not know"
            raise DashboardError(msg)
        if not rendering.get("visible", True):
            continue
        if "expression" in rendering:
            requests.append(search(rendering["expression"], rendering))
            continue
        texts = [one for one in row if isinstance(one, str)]
        above = [above[at] if one == "." else one for at, one in enumerate(texts)]
        requests.append(_named(above, {**_of_all(properties), **rendering}))
    return requests


def search(expression: str, rendering: Mapping[str, Any] | None = None) -> MetricRequest:
    """
    The search *expression*.

    Raises:
        DashboardError: If it is not of the family that this module knows.
    """
    match = _SEARCH.fullmatch(expression.strip())
    terms = dict(_TERM.findall(match["terms"])) if match else {}
    metric = terms.pop("MetricName", "")
    if not match or not metric:
        msg = (
            f"the page does not know the expression {expression}; it knows SEARCH('{{Namespace,"
            'Dimension} Dimension="value" MetricName="name"\', \'statistic\', period)'
        )
        raise DashboardError(msg)
    namespace, *names = [name.strip() for name in match["schema"].split(",")]
    strangers = sorted(terms.keys() - set(names))
    if strangers:
        msg = f"the search {expression} selects by {strangers[0]}, which its schema does not name"
        raise DashboardError(msg)
    return MetricRequest(
        namespace=namespace,
        metric=metric,
        dimensions=tuple(sorted(terms.items())),
        statistic=_statistic(match["statistic"]),
        period_s=_period_s(int(match["period"])),
        open=frozenset(names) - terms.keys(),
        axis=_axis((rendering or {}).get("yAxis", "left")),
        label=(rendering or {}).get("label", ""),
        is_search=True,
    )


def _of_all(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: properties[name] for name in ("period", "stat") if name in properties}


def _named(texts: Sequence[str], rendering: Mapping[str, Any]) -> MetricRequest:
    namespace, metric, *pairs = texts
    if len(pairs) % 2:
        msg = f"the dimension {pairs[-1]} of {namespace} {metric} has no value"
        raise DashboardError(msg)
    return MetricRequest(
        namespace=namespace,
        metric=metric,
        dimensions=tuple(sorted(zip(pairs[::2], pairs[1::2], strict=True))),
        statistic=_statistic(rendering.get("stat", "Average")),
        period_s=_period_s(rendering.get("period", _DEFAULT_PERIOD_S)),
        axis=_axis(rendering.get("yAxis", "left")),
        label=rendering.get("label", ""),
    )


def _statistic(found: str) -> str:
    if found not in STATISTICS:
        msg = f"a metric is read with {found}, the page knows {', '.join(STATISTICS)}"
        raise DashboardError(msg)
    return found


def _period_s(found: int) -> int:
    if found < 60 or found % 60:
        msg = f"a metric has a period of {found} s, expected a multiple of 60"
        raise DashboardError(msg)
    return found


def _axis(found: str) -> str:
    if found not in ("left", "right"):
        msg = f"a metric is drawn on the axis {found}, expected left or right"
        raise DashboardError(msg)
    return found
