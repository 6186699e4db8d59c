"""
Rule: first samples. A model that ran for 0.06 s of a first period showed what no minute is like.
"""

from __future__ import annotations

import pytest

from proof.factories.groups import core_counters, execution_stats, memory_used, vcpu_usage
from proof.factories.reports import START_S, Reading, inf1_busy, inf1_first, minute_of


def test_the_first_sample_of_the_monitor_is_noise():
    """The first sample of the monitor covers milliseconds: no utilization and no CPU sample."""
    record = minute_of(inf1_first())
    assert ("????", 0) == (record.core_state, record.covered_seconds)
    assert record.number("HostCpuPercent") is None


def test_the_first_sample_of_a_new_runtime_is_noise():
    """And of every new runtime: beside one that is measured, its 97 % of 0.06 s count nothing."""
    document = inf1_busy()
    new = inf1_first()["neuron_runtime_data"][0]
    new["report"]["neuroncore_counters"] = core_counters([0, 0, 0, 97.0], period=0.06)
    document["neuron_runtime_data"].append(new)
    record = minute_of(document)
    assert (27.4, 19.1) == record.utilization_percent[:2]
    assert record.utilization_percent[3] in (None, 0.0)


@pytest.mark.parametrize(("period", "is_sample"), [(0.4999, False), (0.5, True), (1.0001, True)])
def test_the_bound_is_half_a_second(period, is_sample):
    """
    A group with `period` under 0.5 s (1 s is the shortest that can be asked for) gives no
    utilization or CPU sample.
    """
    record = minute_of(
        {
            **inf1_busy(neuroncore_counters=core_counters([50.0, 0, 0, 0], period=period)),
            "system_data": {"vcpu_usage": vcpu_usage(period, user=10.0)},
        }
    )
    assert (
        is_sample == (record.covered_seconds > 0) == (record.number("HostCpuPercent") is not None)
    )


def test_tallies_and_gauges_still_count():
    """Tallies and gauges still count: executions, memory, hardware counters of a first report."""
    document = inf1_first()
    groups = document["neuron_runtime_data"][0]["report"]
    groups["execution_stats"] = execution_stats(7, timed_out=1, period=0.0709)
    groups["memory_used"] = memory_used(cores=4, host=626_000_000, period=0.0709)
    record = minute_of(document)
    assert (7, 1, 626_000_000) == (
        record.executions, record.execution_errors, record.runtime_host_memory_bytes,
    )  # fmt: skip
    assert 2 << 30 == record.number("HostMemoryUsed")
    assert 0 == record.ecc_uncorrected


def test_what_follows_the_first_is_counted():
    """The second report of the same runtime is a sample."""
    reading = Reading()
    reading.take(inf1_first(), START_S)
    reading.take(inf1_busy(), START_S + 5)
    record = reading.close()
    assert (5.0, 27.4) == (record.covered_seconds, record.utilization_percent[0])
