"""Reports have the shape of captured ones, and say what the scenario is."""

from __future__ import annotations

import json

import pytest

from local.monitor.hosts import HOST_NAMES
from local.monitor.instance import SCENARIOS
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
