"""
Charts: the numbers of clusters over time, from rollups or from hours of the ledger.

A minute or an hour without data has no value, so that the page draws a gap and never a zero. A sum
over clusters is missing if a cluster with earlier and later lines has none, or if a cluster's line
lacks the number.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from neuron_accounts.core_time import Part
from neuron_accounts.ledger import USD_PLACES
from neuron_emf.cost.tariff import TABLES
from neuron_emf.reading.rollup_lines import COVERAGE_SPREAD_MINUTES, PublishedRollup
from neuron_wire.names import HOUR_MINUTES, MICRO, MINUTE_MS, OTHER_OWNERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from neuron_accounts.core_time import CoreTime
    from neuron_wire.line_members import JsonObject

    Cells = Mapping[tuple[str, int], PublishedRollup | CoreTime]
    """The values of a cluster, by its name and a time in milliseconds."""
    Samples = dict[str, dict[int, tuple[float, float]]]
    """Values with their weights in a mean, by cluster and moment."""

MAX_SERIES: Final = 8
"""Clusters with their own series; all others together are one more."""

_CHARTS: Final = TABLES["charts"]
STATES: Final = "core_states"
_STATES: Final = TABLES["cores by state"]
"""Sums of gauges. ReservedCores and UnknownAllocationCores are parts of UnattachedCores."""


def _avoidable_cost(time: CoreTime) -> float | None:
    return sum(time.cost_by_part[: Part.SHARED]) / _USD if time.has_idle_price else None


_USD: Final = 10**USD_PLACES
_HOUR_VALUES: Final[dict[str, Callable[[CoreTime], float | None]]] = {
    "IdleCores": lambda time: time.idle / MICRO / HOUR_MINUTES,
    "IdleCostPerHour": lambda time: None if time.idle_cost is None else time.idle_cost / _USD,
    "AvoidableCostPerHour": _avoidable_cost,
    "NeuronCoreUtilization": lambda time: 100 * time.used / time.known,
    "CoveragePercent": lambda time: 100 * time.known / time.allocated,
    "Executions": lambda time: time.executions and time.executions / HOUR_MINUTES,
}
"""Functions that compute a member of rollups from an hour of the ledger with known time."""


def charts(cells: Cells, x: Sequence[int]) -> list[JsonObject]:
    """
    Return the charts of *cells*; each value belongs to the moment of *x* at its place.

    The series of a chart are clusters, or states of cores; `all` has all clusters together.
    """
    whole = _whole_moments(cells)
    answers: list[JsonObject] = []
    for name, chart in _CHARTS.items():
        left_out = 0
        if name == STATES:
            together = {}
            series = {
                label: _together({}, _samples({"signs": signs}, cells), whole)
                for label, signs in _STATES.items()
            }
        else:
            samples = _samples(chart, cells)
            together = _together(chart, samples, whole)
            series, left_out = _by_cluster(chart, samples, whole)
        shown = [
            {"label": label, "values": _values(values, x)}
            for label, values in series.items()
            if values
        ]
        answers.append(
            {
                "id": name, "title": chart["title"], "unit": chart["unit"], "left_out": left_out,
                "series": shown, "all": _values(together, x),
            }
        )  # fmt: skip
    return answers


def _values(values: Mapping[int, float], x: Sequence[int]) -> list[float | None]:
    return [float(f"{values[at_ms]:.6g}") if at_ms in values else None for at_ms in x]


def _by_cluster(
    chart: JsonObject, samples: Samples, whole: Mapping[int, set[str]]
) -> tuple[dict[str, dict[int, float]], int]:
    """Return the largest clusters, all others together, and how many others there are."""
    sizes = {
        cluster: -sum(value for value, _ in values.values())
        for cluster, values in samples.items()
        if values
    }
    order = sorted(sizes, key=lambda cluster: (sizes[cluster], cluster))
    series = {
        cluster: {at_ms: value for at_ms, (value, _) in samples[cluster].items()}
        for cluster in order[:MAX_SERIES]
    }
    others = {cluster: samples[cluster] for cluster in order[MAX_SERIES:]}
    if others:
        series[OTHER_OWNERS] = _together(chart, others, whole)
    return series, len(others)


def _samples(chart: JsonObject, cells: Cells) -> Samples:
    samples: Samples = defaultdict(dict)
    signs = chart.get("signs") or {chart["member"]: 1}
    first = next(iter(signs))
    of_hour = _HOUR_VALUES.get(first)
    for (cluster, at_ms), cell in cells.items():
        # Make the entry of a cluster without values too: it makes the sum of all unknown.
        of_cluster = samples[cluster]
        value = None
        if isinstance(cell, PublishedRollup):
            weight = _signed(cell, chart["weight"]) if "weight" in chart else 1.0
            if cell.amount(first) is not None:
                value = _signed(cell, signs)
        else:
            weight = cell.known
            value = of_hour(cell) if of_hour and weight else None
        if value is not None and weight:
            of_cluster[at_ms] = value, weight
    return samples


def _signed(rollup: PublishedRollup, signs: Mapping[str, int]) -> float:
    return sum(sign * (rollup.amount(name) or 0) for name, sign in signs.items())


def _together(
    chart: JsonObject, samples: Samples, whole: Mapping[int, set[str]]
) -> dict[int, float]:
    """Return one value for each moment of *whole*; a sum only if every cluster there has one."""
    together = {}
    for at_ms, clusters in whole.items():
        there = clusters & samples.keys()
        some = [samples[cluster][at_ms] for cluster in there if at_ms in samples[cluster]]
        if some and "max" in chart:
            together[at_ms] = max(value for value, _ in some)
        elif some and "weight" in chart:
            total = sum(weight for _, weight in some)
            together[at_ms] = sum(value * weight for value, weight in some) / total
        elif some and len(some) == len(there):
            together[at_ms] = sum(value for value, _ in some)
    return together


def _whole_moments(cells: Iterable[tuple[str, int]]) -> dict[int, set[str]]:
    """
    Return the clusters of each complete moment.

    A moment is incomplete if it lacks a cluster that has lines before and after it.
    """
    clusters: dict[int, set[str]] = defaultdict(set)
    spans: dict[str, list[int]] = {}
    for cluster, at_ms in cells:
        clusters[at_ms].add(cluster)
        span = spans.setdefault(cluster, [at_ms, at_ms])
        span[:] = min(span[0], at_ms), max(span[1], at_ms)
    newest_ms = max(clusters, default=0)
    for span in spans.values():
        # The cluster's newest line may still come.
        if newest_ms - span[1] <= COVERAGE_SPREAD_MINUTES * MINUTE_MS:
            span[1] = newest_ms
    return {
        at_ms: there
        for at_ms, there in clusters.items()
        if all(
            cluster in there
            for cluster, (first_ms, last_ms) in spans.items()
            if first_ms <= at_ms <= last_ms
        )
    }
