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
    instance,
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
        ({"flops": 1.0}, 0.0),
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
    entries = [
        runtime(counters([50, 0], effective_flops={0: 1e12, 1: 0}), pid=pid) for pid in (1, 2)
    ]
    assert 2.0 == flops_of(two_cores(*entries))


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
    found = []
    for first in ({"neuroncore_utilization": 50, "flops": 1e12}, silent):
        group = counters([50, 50])
        group["neuroncores_in_use"] = {"0": first, "1": silent}
        fold = new_fold(runtime_lines="all")
        add(fold, two_cores(runtime(group)), START_S)
        closed(fold)
        found.append(fold.runtimes[0].tera_flops)
    assert [1.0, None] == found


def test_flops_are_absent_when_no_report_had_them():
    """inf1 has none: absent, never 0."""
    assert flops_of(two_cores(runtime(counters([50, 50])))) is None
    assert flops_of(nobody(), nobody()) is None
    null = counters([50, 50])
    null["neuroncores_in_use"]["0"] = None
    assert flops_of(two_cores(runtime(null))) is None
    assert flops_of(two_cores(runtime(counters([50, 50]))), nobody(), nobody()) is None


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


def test_flops_of_a_core_without_a_sample_do_not_count():
    """Too short a sample is noise in FLOP/s too."""
    short = two_cores(runtime(counters([90, 90], 0.07, effective_flops={0: 9e12, 1: 9e12})))
    assert flops_of(short) is None


def test_a_split_into_physical_cores_is_no_further_core():
    """
    As documented for trn2 with two physical cores in a logical one: the split neither
    adds cores nor changes the logical value, whatever its key is called.
    """
    for key in ("v3d", "v4d"):
        group = counters([42.01, 42.02], 1.000113182, flops={0: 1234567891011, 1: 1234567891021})
        for core in ("0", "1"):
            group["neuroncores_in_use"][core][key] = {
                f"nc_v3.{2 * int(core)}": {"neuroncore_utilization": 21.01},
                f"nc_v3.{2 * int(core) + 1}": {"neuroncore_utilization": 63.01},
            }
        record = minute_of(
            report(
                runtime(group),
                system_data=None,
                instance_info=instance("trn2n.48xlarge"),
                neuron_hardware_info=hardware(16, 4, logical_neuroncore_config=2),
            )
        )
        assert (42.01, 42.02) == record.utilization_percent[:2]
        assert 64 == record.neuron_cores
