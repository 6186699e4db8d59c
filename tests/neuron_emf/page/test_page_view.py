"""What the page says of an account is what its lines say, asked for once for every tab."""

from __future__ import annotations

import json
import threading

import pytest

from neuron_emf.page.graphs import graphs
from neuron_emf.page.view import UnknownClusterError
from neuron_emf.reading.rollup_lines import rollup_of
from neuron_emitter.errors import SettingsError
from neuron_wire.names import MINUTE_MS
from tests.neuron_emf.page.page_account import PAGE_START_MS, line, view_of
from tests.neuron_emf.page.page_account import line as rollup_line


def test_the_cores_of_a_large_fleet_ask_for_a_cluster(double):
    """2,000 instances are read at once; more only one cluster at a time, whatever its size."""
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
    """Without its name, which is anybody's text."""
    view.now({})
    for ask in (view.now, view.history, view.cores):
        with pytest.raises(UnknownClusterError, match="No cluster of that name") as caught:
            ask({"cluster": "<b>"})
        assert "<b>" not in str(caught.value)


def test_looking_asks_for_nothing_that_costs(view, looked_at):
    """Neither GetMetricData nor a query, whatever is looked at but a query's own button."""
    for path, answer in view.reads.items():
        answer({"cluster": "research", "instance": "i-0", "minutes": "720"})
        assert path.endswith(".json")
    assert {"FilterLogEvents", "DescribeAlarms", "DescribeAlarmContributors",
            "DescribeQueryDefinitions"} == set(looked_at.operations)  # fmt: skip


def test_tabs_that_ask_at_the_same_time_read_once(view, looked_at):
    """Four tabs cost what one does."""
    tabs = [threading.Thread(target=view.now, args=({},)) for _ in range(4)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    alone = looked_at.operations.count("FilterLogEvents")
    view_of().now({})
    assert 2 * alone == looked_at.operations.count("FilterLogEvents")


def drawn(*texts):
    """By title, the points of each series by its label, minutes after the start."""
    rollups = sorted(
        (rollup_of(json.loads(text)) for text in texts), key=lambda rollup: rollup.minute_ms
    )
    return {
        graph["title"]: {
            series["label"]: [
                ((at - PAGE_START_MS) // MINUTE_MS, value) for at, value in series["points"]
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


def test_cores_of_unknown_allocation_are_neither_allocated_nor_unallocated():
    """The graph counts reserved cores as allocated, as the card does."""
    shown = drawn(line(ReservedCores=4, UnknownAllocationCores=5), line(minute=1))["Cores by state"]
    assert [(0, 34), (1, 30)] == shown["Allocated, not busy"]
    assert [(0, 1), (1, 10)] == shown["Unallocated"]
    assert [(0, 5)] == shown["Allocation unknown"]


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
