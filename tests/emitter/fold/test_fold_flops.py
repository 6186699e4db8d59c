"""FLOP/s of the cores, and the physical cores behind them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neuron_reports import (
    START_S,
    add,
    closed,
    counters,
    hardware,
    memory,
    minute_of,
    new_fold,
    nobody,
    report,
    runtime,
    two_cores,
)


def flops_of(*documents, **settings):
    """TeraFlops of the minute."""
    return minute_of(*documents, **settings).tera_flops


@pytest.mark.parametrize(
    ("rates", "tera_flops"),
    [
        ({"effective_flops": 3e12, "flops": 2e12}, 3.0),
        ({"effective_flops": 0, "flops": 2e12}, 0.0),
        ({"effective_flops": None, "flops": 2e12}, 2.0),
        ({"flops": 2e12}, 2.0),
        ({"flops": 1e18}, 1e6),
        ({"flops": 1.1e18}, None),
        ({"flops": 1.0}, 1e-12),
        ({"flops": -0.5}, None),
        ({}, None),
    ],
)
def test_effective_flops_win_over_flops(rates, tera_flops):
    """
    The observed name is effective_flops, and 0 counts; the documentation and older tools say
    flops. What is below 0 or above 10^18 of one core is missing.
    """
    group = counters([50, 50], **{name: {0: rate} for name, rate in rates.items()})
    assert tera_flops == flops_of(two_cores(runtime(group)))


def test_flops_are_the_sum_over_the_runtimes_of_a_core():
    """Work adds up where shares do not."""
    group = counters([50, 0], effective_flops={0: 1e12, 1: 0})
    assert 2.0 == flops_of(two_cores(runtime(group, pid=1), runtime(group, pid=2)))


def test_flops_of_a_core_are_the_mean_of_the_reports_that_told_them():
    """A report that is silent about a core's FLOP/s is no report of 0."""
    first = two_cores(runtime(counters([50, 50], effective_flops={0: 1e12})))
    second = two_cores(runtime(counters([50, 50], effective_flops={1: 1e12})))
    assert 2.0 == flops_of(first, second)
    told = two_cores(runtime(counters([50, 50], effective_flops={0: 1e12, 1: 0})))
    silent = two_cores(runtime(counters([50, 50])))
    assert 1.0 == flops_of(told, silent) == flops_of(silent, told)
    failing = runtime(counters([0, 0], error="x"), memory({1: 1}), pid=2)
    assert 1.0 == flops_of(told, two_cores(runtime(counters([50, 0])), failing))


@pytest.mark.parametrize(
    "silent", [None, {"neuroncore_utilization": 0}, {"neuroncore_utilization": 0, "flops": -1}]
)
def test_a_runtime_that_told_flops_of_any_core_has_told_them(silent):
    """Of one of two cores: its rate is the sum of what it told; of none: it is absent."""
    for first, expected in (({"neuroncore_utilization": 50, "flops": 1e12}, 1.0), (silent, None)):
        group = {**counters([]), "neuroncores_in_use": {"0": first, "1": silent}}
        fold = new_fold(runtime_lines="all")
        add(fold, two_cores(runtime(group)), START_S)
        closed(fold)
        assert expected == fold.due_runtimes[0].tera_flops


def test_flops_are_absent_when_no_report_had_them():
    """inf1 has none: absent, never 0."""
    null = counters([50, 50])
    null["neuroncores_in_use"]["0"] = None
    silent = two_cores(runtime(counters([50, 50])))
    minutes = (
        [silent],
        [nobody(), nobody()],
        [two_cores(runtime(null))],
        [silent, nobody(), nobody()],
    )
    assert [None] * 4 == [flops_of(*documents) for documents in minutes]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.floats(0.5, 10), st.integers(0, 10**14)), min_size=1, max_size=4))
def test_flops_are_weighted_like_utilization(reports):
    """By the length of each sample."""
    documents = [
        two_cores(runtime(counters([90, 0], period, flops={0: rate, 1: 0})))
        for period, rate in reports
    ]
    expected = sum(w * rate for w, rate in reports) / sum(w for w, _ in reports) / 1e12
    assert pytest.approx(expected, abs=1e-4) == flops_of(*documents)


def test_a_core_that_nobody_uses_any_more_does_no_flops():
    """Weighted like utilization also means: the zeros of a minute without a runtime count."""
    working = two_cores(runtime(counters([90, 0], effective_flops={0: 3e12, 1: 0})))
    record = minute_of(working, nobody(), nobody())
    assert (30.0, 0.0) == record.utilization_percent
    assert 1.0 == record.tera_flops


@pytest.mark.parametrize("key", ["v3d", "v4d"])
def test_a_split_into_physical_cores_is_no_further_core(key):
    """
    As documented for trn2 with two physical cores in a logical one: the split neither
    adds cores nor changes the logical value, whatever its key is called.
    """
    group = counters([42.01, 42.02], 1.000113182, flops={0: 1234567891011, 1: 1234567891021})
    for core, use in group["neuroncores_in_use"].items():
        use[key] = {
            f"nc_v3.{2 * int(core) + half}": {"neuroncore_utilization": 21.01 + 42 * half}
            for half in (0, 1)
        }
    logical = hardware(16, 4, logical_neuroncore_config=2)
    record = minute_of(report(runtime(group), system_data=None, neuron_hardware_info=logical))
    assert ((42.01, 42.02), 64) == (record.utilization_percent[:2], record.neuron_cores)
