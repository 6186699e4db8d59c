"""
A metric widget with its points, or why there are none.

A metric without data is said to be without data, never drawn as zero: a wrong
name must not hide behind an empty graph.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from local.page.series import DashboardError, MetricRequest, asked_by
from neuron_wire import CLUSTER_NAMESPACE, NAMESPACE, STACK_NAMESPACE
from neuron_wire.catalogue import BY_TYPE, MINUTE, PROFILE, ROLLUP, STACK
from neuron_wire.names import CLUSTER_DIMENSION, MODEL_DIMENSION, PROFILE_NAMESPACE, TYPE_DIMENSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from local.alarms.history import Dimensions, MetricHistory, StatisticSet
    from neuron_wire.catalogue import Member

_OURS: Final[Mapping[tuple[str, frozenset[str]], Mapping[str, Member]]] = {
    (NAMESPACE, frozenset({CLUSTER_DIMENSION})): MINUTE,
    (CLUSTER_NAMESPACE, frozenset({CLUSTER_DIMENSION})): ROLLUP,
    (CLUSTER_NAMESPACE, frozenset({CLUSTER_DIMENSION, TYPE_DIMENSION})): BY_TYPE,
    (PROFILE_NAMESPACE, frozenset({CLUSTER_DIMENSION, MODEL_DIMENSION})): PROFILE,
    (STACK_NAMESPACE, frozenset({"StackName"})): STACK,
}
_NAMESPACES: Final = frozenset(namespace for namespace, _ in _OURS)
_PROPERTIES: Final = frozenset(
    {"legend", "metrics", "period", "region", "stacked", "stat", "title", "view", "yAxis"}
)
OF_AWS: Final = "AWS/"
"""Namespaces that begin so are those of AWS's own services."""


def graph(
    properties: Mapping[str, Any], history: MetricHistory, start_s: int, end_s: int
) -> dict[str, Any]:
    """What the page draws of the metric widget with *properties* in [*start_s*, *end_s*)."""
    drawn: dict[str, Any] = {
        "title": properties.get("title", ""),
        "stacked": bool(properties.get("stacked", False)),
        "axes": {
            name: {"min": axis.get("min"), "max": axis.get("max")}
            for name, axis in properties.get("yAxis", {}).items()
        },
        "series": [],
        "missing": [],
    }
    drawn["axes"].setdefault("left", {"min": None, "max": None})
    try:
        requests = _asked(properties)
    except DashboardError as error:
        drawn["missing"].append(f"Not drawn: {error}.")
        return drawn
    found: list[tuple[MetricRequest, Dimensions, Mapping[int, StatisticSet]]] = []
    for request in requests:
        read = history.read(request.namespace, request.metric, request.period_s, start_s, end_s)
        matches = [
            (request, dimensions, read[dimensions])
            for dimensions in sorted(read)
            if request.finds(dimensions)
        ]
        if not matches and request.is_search:
            drawn["missing"].append(without_data(request, end_s - start_s))
        found += matches or ([] if request.is_search else [(request, request.dimensions, {})])
    labels = _labels([(one, dimensions) for one, dimensions, _ in found])
    for label, (request, dimensions, periods) in zip(labels, found, strict=True):
        missing = None if periods else without_data(request, end_s - start_s)
        if missing:
            drawn["missing"].append(missing)
        drawn["series"].append(_series(label, request, dimensions, periods, missing))
    return drawn


def without_data(asked: MetricRequest, range_s: int) -> str:
    """A sentence for what was asked for and is not there."""
    sentence = f"{asked} has no data in the last {_hours(range_s)}"
    if asked.namespace.startswith(OF_AWS):
        return f"{sentence}: the embedded AWS publishes few of the metrics of AWS's own services."
    if asked.namespace in _NAMESPACES and _member(asked) is None:
        return f"{sentence}: the catalogue has no metric of that name with these dimensions."
    return f"{sentence}."


def _asked(properties: Mapping[str, Any]) -> list[MetricRequest]:
    strangers = sorted(properties.keys() - _PROPERTIES)
    if strangers:
        msg = f"it has the property {strangers[0]}, which the page does not know"
        raise DashboardError(msg)
    if properties.get("view", "timeSeries") != "timeSeries":
        msg = f"it is a {properties['view']}, the page knows timeSeries"
        raise DashboardError(msg)
    return asked_by(properties)


def _series(
    label: str,
    asked: MetricRequest,
    dimensions: Dimensions,
    periods: Mapping[int, StatisticSet],
    missing: str | None,
) -> dict[str, Any]:
    member = _member(asked)
    unit = member.unit if member else None
    return {
        "label": label,
        "namespace": asked.namespace,
        "metric": asked.metric,
        "dimensions": dict(dimensions),
        "statistic": asked.statistic,
        "period_s": asked.period_s,
        "axis": asked.axis,
        "unit": "Count" if asked.statistic == "SampleCount" else unit,
        "points": [[at_s * 1000, periods[at_s].value(asked.statistic)] for at_s in sorted(periods)],
        "missing": missing,
    }


def _member(asked: MetricRequest) -> Member | None:
    names = frozenset(name for name, _ in asked.dimensions) | asked.open
    return _OURS.get((asked.namespace, names), {}).get(asked.metric)


def _labels(found: Sequence[tuple[MetricRequest, Dimensions]]) -> list[str]:
    """What tells the series of one widget apart: the metric, or the dimensions that differ."""
    metrics = {asked.metric for asked, _ in found}
    values: dict[str, set[str]] = {}
    for _, dimensions in found:
        for name, value in dimensions:
            values.setdefault(name, set()).add(value)
    labels = []
    for request, dimensions in found:
        parts = [
            value for name, value in dimensions if name in request.open or len(values[name]) > 1
        ]
        named = len(metrics) > 1 or not parts
        labels.append(request.label or " ".join([request.metric, *parts] if named else parts))
    twice = {label for label, count in Counter(labels).items() if count > 1}
    return [
        f"{label} {asked.statistic}" if label in twice else label
        for label, (asked, _) in zip(labels, found, strict=True)
    ]


def _hours(range_s: int) -> str:
    if range_s == 3600:
        return "hour"
    return f"{range_s / 3600:g} hours" if range_s % 3600 == 0 else f"{range_s // 60} minutes"
