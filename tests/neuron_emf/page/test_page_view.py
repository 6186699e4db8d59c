"""The page's answers equal the account's lines, and all tabs share one read."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.page.charts import MAX_SERIES, charts
from neuron_emf.page.view import UnknownClusterError
from neuron_emf.reading.rollup_lines import RollupLines
from neuron_emitter.errors import SettingsError
from neuron_wire.names import MINUTE_MS
from tests.neuron_emf.page.page_account import PAGE_START_MS, line, view_of
from tests.neuron_emf.page.page_account import line as rollup_line


def test_the_cores_of_a_large_fleet_ask_for_a_cluster(double):
    """Up to 2,000 instances are read at once; with more, only one cluster at a time."""
    for instances, is_read in ((1_000, True), (1_001, False)):
        lines = [rollup_line(name, -1, Instances=instances) for name in ("research", "serving")]
        double.put_lines(double.rollups_group, lines)
        view = view_of(lambda: PAGE_START_MS / 1000)
        assert [] == view.cores({"cluster": "serving"})["instances"]
        if is_read:
            assert [] == view.cores({})["instances"]
        else:
            with pytest.raises(SettingsError, match=r"2,002 instances.*Choose a cluster"):
                view.cores({})


def test_a_cluster_that_is_not_there_is_refused(view):
    """An unknown cluster is refused without its name, which is foreign text."""
    view.now({})
    for path in ("/now.json", "/charts.json", "/cores.json"):
        with pytest.raises(UnknownClusterError, match="No cluster of that name") as caught:
            view.reads[path]({"cluster": "<b>"})
        assert "<b>" not in str(caught.value)


def test_looking_asks_for_nothing_that_costs(view, looked_at):
    """
    The page calls neither GetMetricData nor a query, except with a query's own button.

    It reads the ledger: the objects of a day and a week before are two GET requests of S3.
    """
    for path, answer in view.reads.items():
        answer({"cluster": "research", "instance": "i-0", "minutes": "720"})
        assert path.endswith(".json")
    assert {
        "FilterLogEvents",
        "DescribeAlarms",
        "DescribeAlarmContributors",
        "DescribeQueryDefinitions",
        "DescribeStacks",
    } == set(looked_at.operations)


def test_tabs_that_ask_at_the_same_time_read_once(view, looked_at):
    """Four tabs at the same time cost one read."""
    tabs = [threading.Thread(target=view.now, args=({},)) for _ in range(4)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    alone = looked_at.operations.count("FilterLogEvents")
    view_of().now({})
    assert 2 * alone == looked_at.operations.count("FilterLogEvents")


ALL_CLUSTERS = "All clusters"


def drawn(*texts, by_cluster=True):
    """Return by chart ID the values of each series by minute after the start."""
    read = RollupLines()
    read.fold_lines(texts)
    rollups = read.rollups(0)
    x = range(PAGE_START_MS, PAGE_START_MS + 20 * MINUTE_MS, MINUTE_MS)
    cells = {(rollup.cluster, rollup.minute_ms): rollup for rollup in rollups}
    drawn_charts = {}
    for chart in charts(cells, x):
        series = chart["series"]
        if not by_cluster:
            series = [{"label": ALL_CLUSTERS, "values": chart["all"]}]
        drawn_charts[chart["id"]] = {
            row["label"]: [
                (minute, value) for minute, value in enumerate(row["values"]) if value is not None
            ]
            for row in series
            if {*row["values"]} != {None}
        }
    return drawn_charts


def test_a_minute_without_a_line_has_no_value():
    """A minute without a line, or whose line lacks the number, has no value."""
    shown = drawn(line(), line(minute=1, IdleCores=None), line(minute=3, IdleCores=0))
    assert [(0, 40), (3, 0)] == shown["idle_cores"]["research"]
    assert [(0, 60), (1, 60), (3, 60)] == shown["core_states"]["Busy"]


def test_cores_of_unknown_allocation_are_neither_allocated_nor_unallocated():
    """
    The chart counts reserved cores as allocated, as the card does, and unknown allocation as
    neither.
    """
    shown = drawn(line(ReservedCores=4, UnknownAllocationCores=5), line(minute=1))["core_states"]
    assert [(0, 34), (1, 30)] == shown["Allocated, not busy"]
    assert [(0, 1), (1, 10)] == shown["Unallocated"]
    assert [(0, 5)] == shown["Allocation unknown"]


def test_a_sum_waits_for_every_cluster():
    """
    A sum waits for every cluster: the newest minute has one only after all clusters have lines.

    Before a cluster's first line and after its last, sums omit it.
    """
    texts = [line("a", at) for at in range(12)] + [line("b", at) for at in (2, 3, 5)]
    assert [(0, 40), (1, 40), (2, 80), (3, 80), (5, 80), *((at, 40) for at in range(6, 12))] == (
        drawn(*texts, by_cluster=False)["idle_cores"][ALL_CLUSTERS]
    )
    texts = [line("a", at) for at in range(7)] + [line("b", at) for at in range(6)]
    assert [(at, 80) for at in range(6)] == (
        drawn(*texts, by_cluster=False)["idle_cores"][ALL_CLUSTERS]
    )


def test_a_part_of_the_clusters_is_not_the_sum():
    """A minute in which a cluster lacks the number has no sum, but a greatest value."""
    numbers = {"Executions": 7, "LatencyP99Max": 0.5}
    shown = drawn(line("a", **numbers), line("b"), by_cluster=False)
    assert {} == shown["executions"]
    assert [(0, 0.5)] == shown["latency"][ALL_CLUSTERS]


def test_a_tally_is_the_sum_of_its_publications():
    """A tally is the sum of its publications; a gauge is that of the last one."""
    texts = (
        line(Executions=10, IdleCores=5),
        line(publication=2, Executions=3, IdleCores=4),
        line(publication=3, IdleCores=6),
        line(publication=2, Executions=3, IdleCores=4),
    )
    shown = drawn(*texts)
    assert [(0, 13)] == shown["executions"]["research"]
    assert [(0, 6)] == shown["idle_cores"]["research"]


def test_a_mean_is_weighted():
    """Means are weighted: utilization by known cores, coverage by instances."""
    larger = line(
        "b", NeuronCores=328, NeuronCoreUtilization=90.0, Instances=12, CoveragePercent=60.0
    )
    shown = drawn(line("a"), larger, by_cluster=False)
    assert [(0, (100 * 50 + 300 * 90) / 400)] == shown["utilization"][ALL_CLUSTERS]
    assert [(0, (4 * 100 + 12 * 60) / 16)] == shown["coverage"][ALL_CLUSTERS]


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=20))
def test_others_have_what_the_eight_largest_clusters_do_not_have(sizes):
    """The series of a sum, including others, add up to all clusters."""
    texts = [line(f"c{number}", IdleCores=cores) for number, cores in enumerate(sizes)]
    series = drawn(*texts)["idle_cores"]
    assert min(len(sizes), MAX_SERIES + 1) == len(series)
    assert sum(sizes) == sum(value for ((_, value),) in series.values())
    own = sorted(sizes, reverse=True)[:MAX_SERIES]
    assert own == [value for label, ((_, value),) in series.items() if label != "[others]"]
