"""
Graphs over time from rollup lines: pairs of milliseconds and a value.

A minute without a line has no point, so that the page draws a gap and never a zero;
a sum over clusters has none where a cluster that is still published has no line.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from neuron_emf.cost.tariff import TABLES
from neuron_emf.reading.rollup_lines import COVERAGE_SPREAD_MINUTES
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_emf.reading.rollup_lines import PublishedRollup
    from neuron_wire.line_members import JsonObject

MOST_CLUSTERS: Final = 8
"""Lines that a person can still tell apart; the clusters with the most idle cores now."""

_SERIES_MEMBERS: Final = TABLES["cores by state"]
"""Sums of gauges. ReservedCores and UnknownAllocationCores are parts of UnattachedCores."""


def graphs(rollups: Sequence[PublishedRollup]) -> list[JsonObject]:
    """The graphs of *rollups*, which are in order of time."""
    whole = _whole(rollups)
    states = {label: _sums(whole, signs) for label, signs in _SERIES_MEMBERS.items()}
    means = {
        "Utilization": _means(whole, "NeuronCoreUtilization", "NeuronCores", "UnknownCores", -1),
        "Coverage": [
            [minute_ms, math.floor(percent)]
            for minute_ms, percent in _means(
                whole, "CoveragePercent", "Instances", "SilentInstances", 1
            )
        ],
    }
    return [
        _by_cluster("Idle cores", "cores", "IdleCores", rollups),
        _by_cluster("Cost of idle cores", "USD per hour", "IdleCostPerHour", rollups),
        _graph("Cores by state", "cores", states, kind="bars"),
        _graph("Utilization and coverage", "percent", means),
        _by_cluster("Percent of BF16 peak", "percent", "FlopsPercentOfBf16Peak", rollups),
    ]


def _whole(rollups: Sequence[PublishedRollup]) -> list[PublishedRollup]:
    """Rollups of minutes in which no cluster is missing that is published before and after."""
    clusters: dict[int, set[str]] = defaultdict(set)
    span: dict[str, tuple[int, int]] = {}
    for rollup in rollups:
        clusters[rollup.minute_ms].add(rollup.cluster)
        first_ms, _ = span.get(rollup.cluster, (rollup.minute_ms, 0))
        span[rollup.cluster] = first_ms, rollup.minute_ms
    newest_ms = max(clusters, default=0)
    for cluster, (first_ms, last_ms) in span.items():
        if newest_ms - last_ms <= COVERAGE_SPREAD_MINUTES * MINUTE_MS:  # its newest may still come
            span[cluster] = first_ms, newest_ms
    whole = {
        minute_ms
        for minute_ms, there in clusters.items()
        if all(
            cluster in there
            for cluster, (first_ms, last_ms) in span.items()
            if first_ms <= minute_ms <= last_ms
        )
    }
    return [rollup for rollup in rollups if rollup.minute_ms in whole]


def _by_cluster(title: str, unit: str, name: str, rollups: Sequence[PublishedRollup]) -> JsonObject:
    points: dict[str, list[list[float]]] = defaultdict(list)
    for rollup in rollups:
        if name in rollup.gauges:
            points[rollup.cluster].append([rollup.minute_ms, rollup.gauges[name]])
    order = sorted(points, key=lambda cluster: (-points[cluster][-1][1], cluster))
    series = {cluster: points[cluster] for cluster in order[:MOST_CLUSTERS]}
    return _graph(title, unit, series, left_out=len(order[MOST_CLUSTERS:]))


def _graph(
    title: str, unit: str, series: JsonObject, *, kind: str = "lines", left_out: int = 0
) -> JsonObject:
    return {
        "title": title, "unit": unit, "kind": kind, "left_out": left_out,
        "series": [{"label": label, "points": points} for label, points in series.items()],
    }  # fmt: skip


def _sums(rollups: Sequence[PublishedRollup], signs: Mapping[str, int]) -> list[list[float]]:
    """Add up the gauges of *signs* by minute; a rollup without the first of them adds nothing."""
    first = next(iter(signs))
    sums: dict[int, float] = defaultdict(float)
    for rollup in rollups:
        if first in rollup.gauges:
            for name, sign in signs.items():
                sums[rollup.minute_ms] += sign * rollup.gauges.get(name, 0)
    return [[minute_ms, sums[minute_ms]] for minute_ms in sorted(sums)]


def _means(
    rollups: Sequence[PublishedRollup], name: str, first: str, second: str, sign: int
) -> list[list[float]]:
    """A mean of means, each weighted by the sum or the difference of two gauges."""
    sums: dict[int, float] = defaultdict(float)
    weights: dict[int, float] = defaultdict(float)
    for rollup in rollups:
        weight = rollup.gauges.get(first, 0.0) + sign * rollup.gauges.get(second, 0.0)
        if name in rollup.gauges and weight:
            sums[rollup.minute_ms] += rollup.gauges[name] * weight
            weights[rollup.minute_ms] += weight
    return [[minute_ms, sums[minute_ms] / weights[minute_ms]] for minute_ms in sorted(sums)]
