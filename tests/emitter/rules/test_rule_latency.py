"""Rule: latency. The mean of two 99th percentiles is no percentile of anything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.factories.groups import execution_stats, percentiles, runtime
from proof.factories.reports import inf1_busy, inf1_first, inf2_loaded, minute_of

LATENCY_S = st.floats(1e-6, 100)


def ran(completed, p50, p99=None, device=None):
    """The inf1 report with these executions and latencies."""
    total = None if p50 is None else percentiles(p50, p50 if p99 is None else p99)
    device = None if device is None else percentiles(device, device)
    return inf1_busy(execution_stats=execution_stats(completed, total=total, device=device))


def test_latencies_are_seconds():
    """Seconds: 63 microseconds on inf2, 24.5 milliseconds on inf1, as they were written."""
    assert 6.3e-05 == minute_of(inf2_loaded()).latency_p50_mean_s
    assert (0.0245, 0.053) == (
        minute_of(inf1_busy()).latency_p50_mean_s, minute_of(inf1_busy()).latency_p99_max_s,
    )  # fmt: skip


def test_null_when_nothing_ran():
    """Null when nothing ran: absent, and no weight beside reports in which something ran."""
    record = minute_of(inf1_first())
    assert (None, None, None) == (
        record.latency_p50_mean_s, record.latency_p99_max_s, record.latency_gap_s,
    )  # fmt: skip
    assert 0.02 == minute_of(ran(0, None), ran(10, 0.02), ran(0, None)).latency_p50_mean_s


@given(st.lists(st.tuples(st.integers(1, 10**6), LATENCY_S), min_size=1, max_size=5))
def test_the_median_is_the_execution_weighted_mean(reports):
    """Percentiles do not merge: the execution-weighted mean of p50."""
    expected = sum(count * p50 for count, p50 in reports) / sum(count for count, _ in reports)
    found = minute_of(*[ran(count, p50) for count, p50 in reports]).latency_p50_mean_s
    assert pytest.approx(expected, rel=1e-6, abs=1e-9) == found


def test_the_weight_is_completed_or_1_if_0():
    """Weight `completed`, 1 if 0: what failed took its time too."""
    assert 0.25 == minute_of(ran(3, 0.3), ran(0, 0.1)).latency_p50_mean_s


@given(st.lists(LATENCY_S, min_size=1, max_size=5))
def test_the_99th_percentile_is_the_maximum(latencies):
    """And the maximum of p99, over reports and runtimes."""
    documents = [ran(1, 1e-6, p99) for p99 in latencies]
    whole = ran(1, 1e-6, latencies[0])
    whole["neuron_runtime_data"] = [
        runtime(pid, "1", **document["neuron_runtime_data"][0]["report"])
        for pid, document in enumerate(documents)
    ]
    expected = pytest.approx(max(latencies), abs=1e-9)
    assert expected == minute_of(*documents).latency_p99_max_s
    assert expected == minute_of(whole).latency_p99_max_s


def test_for_total_and_device_apart():
    """For total and device apart."""
    record = minute_of(inf1_busy())
    assert (0.0216, 0.0337) == (
        record.device_latency_p50_mean_s, record.device_latency_p99_max_s,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("total", "device", "gap"),
    [(0.03, 0.02, 0.01), (0.02, 0.02, 0.0), (0.02, 0.03, 0.0), (0.02, None, None)],
)
def test_the_gap(total, device, gap):
    """gap = max(0, total p50 - device p50)."""
    assert gap == minute_of(ran(10, total, device=device)).latency_gap_s
