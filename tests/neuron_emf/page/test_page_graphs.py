"""Graphs have a point where lines tell one: gaps are gaps, and sums are of all clusters or none."""

from __future__ import annotations

import json

from neuron_emf.now_lines import rollup_of
from neuron_emf.page.graphs import MOST_CLUSTERS, graphs
from tests.neuron_emf.page.rollup_lines import MINUTE_MS, START_MS, line


def drawn(*texts):
    """By title, the points of each series by its label, minutes after the start."""
    rollups = sorted((rollup_of(json.loads(one)) for one in texts), key=lambda one: one.minute_ms)
    return {
        graph["title"]: {
            series["label"]: [
                ((at - START_MS) // MINUTE_MS, value) for at, value in series["points"]
            ]
            for series in graph["series"]
        }
        for graph in graphs(rollups)
    }


def test_a_minute_without_a_line_has_no_point():
    """Nor one whose line has no such number."""
    shown = drawn(line(), line(minute=1, IdleCores=None), line(minute=3, IdleCores=0))
    assert [(0, 40), (3, 0)] == shown["Idle cores"]["research"]
    assert [(0, 60), (1, 60), (3, 60)] == shown["Cores by state"]["Busy"]


def test_a_sum_waits_for_every_cluster():
    """
    The newest minute of one is no sum until the others have theirs; before a cluster came or
    after it went it is in none.
    """
    texts = [line("a", at) for at in range(12)] + [line("b", at) for at in (2, 3, 5)]
    assert [(0, 60), (1, 60), (2, 120), (3, 120), (5, 120), *((at, 60) for at in range(6, 12))] == (
        drawn(*texts)["Cores by state"]["Busy"]
    )
    texts = [line("a", at) for at in range(7)] + [line("b", at) for at in range(6)]
    assert [(at, 120) for at in range(6)] == drawn(*texts)["Cores by state"]["Busy"]


def test_a_mean_is_weighted():
    """Utilization by known cores, coverage by instances."""
    shown = drawn(line("a"), line("b", NeuronCores=328, NeuronCoreUtilization=90.0, Instances=12,
                                  CoveragePercent=60.0))["Utilization and coverage"]  # fmt: skip
    assert [(0, (100 * 50 + 300 * 90) / 400)] == shown["Utilization"]
    assert [(0, (4 * 100 + 12 * 60) / 16)] == shown["Coverage"]


def test_the_clusters_with_most_idle_cores_have_a_line():
    """The others are counted."""
    texts = [line(f"c{at:02}", IdleCores=at) for at in range(MOST_CLUSTERS + 3)]
    rollups = [rollup_of(json.loads(one)) for one in texts]
    graph = graphs(rollups)[0]
    assert ["c10", "c09"] == [one["label"] for one in graph["series"]][:2]
    assert (MOST_CLUSTERS, 3) == (len(graph["series"]), graph["left_out"])
