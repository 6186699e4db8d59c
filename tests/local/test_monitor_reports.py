"""Reports have the shape of captured ones, and say what the scenario is."""

from __future__ import annotations

import json

import pytest

from local.monitor.configuration import parse_configuration
from local.monitor.hosts import HOST_NAMES
from local.monitor.scenarios import SCENARIOS
from tests.local.report_shape import misfits, shape_of
from tests.local.simulated_reports import groups, percents, play, reports_of


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_report_has_the_shape_of_a_captured_one(scenario):
    """Newest member names: effective_flops, no generic error; of every instance type."""
    for instance_type in HOST_NAMES:
        for line, _ in play(instance_type, scenario, reports=2):
            assert [] == misfits(shape_of(instance_type), json.loads(line)), instance_type


def test_the_first_report_covers_milliseconds():
    """In every group; all later ones cover their period, give or take a millisecond."""
    first, *later = reports_of("inf2.8xlarge", "multi-runtime")

    def periods(report):
        parts = [*report["system_data"].values()]
        for one in report["neuron_runtime_data"]:
            parts += one["report"].values()
        return [part["period"] for part in parts]

    assert all(0 < period < 0.08 for period in periods(first))
    for report in later:
        assert all(abs(period - 5) < 0.001 for period in periods(report))


def test_nothing_ran_and_there_is_no_latency():
    """Null, not zero; and where something ran, percentiles rise and the host adds to the device."""
    for report in reports_of(scenario="idle"):
        (stats,) = groups(report, "execution_stats")
        assert {"total_latency": None, "device_latency": None} == stats["latency_stats"]
        assert not any(stats["execution_summary"].values())
        assert [0, 0] == percents(report)
    for report in reports_of(scenario="busy"):
        (stats,) = groups(report, "execution_stats")
        device = stats["latency_stats"]["device_latency"]
        total = stats["latency_stats"]["total_latency"]
        order = [device[f"p{rank}"] for rank in (0, 1, 25, 50, 75, 99, 100)]
        assert sorted(order) == order
        assert all(0 < device[name] < total[name] < 0.1 for name in device)
        assert stats["execution_summary"]["completed"] > 0


def configured(*runtime_groups, tag_filter=".*", **system_groups):
    """A configuration of (name, period) pairs."""
    metrics = [{"type": name, "period": period} for name, period in runtime_groups]
    system = [{"type": name, "period": period} for name, period in system_groups.items()]
    runtimes = [{"tag_filter": tag_filter, "metrics": metrics}]
    return parse_configuration({"neuron_runtimes": runtimes, "system_metrics": system})


def test_groups_appear_only_in_the_lines_where_they_are_due():
    """Counters each 5 s, memory each 10 s, the host each 3 s."""
    configuration = configured(
        ("neuroncore_counters", "5s"), ("memory_used", "10s"), memory_info="3s"
    )
    rows = play(configuration=configuration, reports=6)
    shown = [
        (
            [sorted(one["report"]) for one in report["neuron_runtime_data"]],
            sorted(report["system_data"] or ()),
        )
        for report in (json.loads(line) for line, _ in rows)
    ]
    both = ["memory_used", "neuroncore_counters"]
    assert [
        ([both], ["memory_info"]),  # 0 s
        ([], ["memory_info"]),  # 3 s: runtimes are not due, and the list is empty
        ([["neuroncore_counters"]], []),  # 5 s
        ([], ["memory_info"]),  # 6 s
        ([], ["memory_info"]),  # 9 s
        ([both], []),  # 10 s
    ] == shown
    assert [False, True, False, True, True, False] == [one.percents is None for _, one in rows]
    assert [False, True, True, True, True, False] == [one.held is None for _, one in rows]
    assert {None} == {one.executions for _, one in rows}
    assert json.loads(rows[2][0])["system_data"] is None


def test_a_tag_filter_hides_runtimes():
    """With none left the list is empty, but nobody says that the cores are idle."""
    configuration = configured(("neuroncore_counters", "5s"), tag_filter="^2$")
    line, truth = play("inf2.24xlarge", "multi-runtime", configuration=configuration)[1]
    assert [] == json.loads(line)["neuron_runtime_data"]
    assert truth.percents is None
