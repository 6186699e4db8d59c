"""Utilization and FLOP/s of a core over a minute, and what nobody measured."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neuron_reports import (
    counters,
    executions,
    hardware,
    memory,
    minute_of,
    report,
    runtime,
    two_cores,
)


@settings(max_examples=50)
@given(st.lists(st.tuples(*[st.floats(0, 100)] * 4), min_size=1, max_size=5))
def test_a_core_is_the_maximum_over_runtimes_never_their_mean(percents):
    """Every runtime lists every core it can see, 0 for those it does not use."""
    entries = [runtime(counters(each), pid=pid) for pid, each in enumerate(percents, start=1)]
    expected = [round(max(shares), 2) for shares in zip(*percents, strict=True)]
    assert expected == list(minute_of(report(*entries)).utilization_percent)


@pytest.mark.parametrize(
    ("found", "expected"),
    [(-0.5, 0.0), (0, 0.0), (0.01, 0.01), (99.99, 99.99), (100, 100.0), (100.01, 100.0)],
)
def test_utilization_is_cut_to_0_to_100(found, expected):
    """What is outside is rounding of the monitor."""
    record = minute_of(two_cores(runtime(counters([found, 50]))))
    assert (expected, 50.0) == record.utilization_percent


def test_a_core_that_exists_but_nobody_lists_is_0():
    """A runtime that sees one device lists its cores only; the others are known and idle."""
    record = minute_of(report(runtime(counters({0: 50}), memory({0: 1}))))
    assert (50.0, 0.0, 0.0, 0.0) == record.utilization_percent
    assert "buuu" == record.core_state


@pytest.mark.parametrize("entry", [None, {"neuroncore_utilization": None}])
def test_a_core_listed_without_a_percentage_is_unknown(entry):
    """Absent is absent: null is not 0, and hides no other core."""
    group = counters([0, 50])
    group["neuroncores_in_use"]["0"] = entry
    record = minute_of(two_cores(runtime(group)))
    assert ("?b", (None, 50.0)) == (record.core_state, record.utilization_percent)


def test_a_share_below_0_is_no_use():
    """Who uses a core holds it; rounding of the monitor is no use."""
    record = minute_of(two_cores(runtime(counters([-0.5, 50]), memory(cores=2))))
    assert "ub" == record.core_state


def test_another_runtime_speaks_for_a_core_listed_without_a_percentage():
    """Above 0 it is known to work; a 0 beside it says nothing about the silent one."""
    entries = runtime(counters([None, None])), runtime(counters([30, 0]), pid=2)
    assert (30.0, None) == minute_of(two_cores(*entries)).utilization_percent


def test_a_minute_has_the_cores_it_saw_and_no_more():
    """An instance of unknown size is as wide as the widest report about it, or has no core."""
    unknown = {"neuron_hardware_info": None, "instance_info": None}
    narrow, wide = (report(runtime(counters([50] * cores)), **unknown) for cores in (2, 3))
    assert (50.0,) * 3 == minute_of(narrow, wide).utilization_percent
    assert "" == minute_of(report(runtime(counters({}), memory(cores=0)), **unknown)).core_state


def test_core_keys_sort_as_integers():
    """As texts, 10 would stand before 2."""
    group = counters({str(core): core for core in (10, 11, 2, 0, 1, 3, 9, 8, 7, 6, 5, 4)})
    record = minute_of(report(runtime(group), neuron_hardware_info=hardware(6, 2)))
    assert tuple(float(core) for core in range(12)) == record.utilization_percent


def test_counters_without_the_list_of_cores_are_no_counters():
    """null is not collected: zeros nobody measured would call the cores idle."""
    for group in ({**counters([]), "neuroncores_in_use": None}, {"period": 5.0, "error": ""}):
        record = minute_of(two_cores(runtime(group)))
        assert ("??", 0) == (record.core_state, record.covered_seconds)


def test_a_runtime_that_sees_no_core_lists_none():
    """An empty list of cores was collected: the instance's cores are known and not used by it."""
    record = minute_of(two_cores(runtime(counters({}), memory())))
    assert (0.0, 0.0) == record.utilization_percent


@pytest.mark.parametrize(
    ("period", "expected"), [(None, None), (0.070_980_417, None), (0.499, None), (0.5, 90.0)]
)
def test_a_sample_under_half_a_second_gives_no_utilization(period, expected):
    """
    The first sample of the monitor and of every runtime is noise: its percentages do not count.
    """
    record = minute_of(two_cores(runtime(counters([90, 90], period))))
    assert (expected, expected) == record.utilization_percent


def test_the_tallies_and_gauges_of_a_short_sample_count():
    """As captured on an idle inf1.xlarge: only what is a share of the period is noise."""
    held, ran = memory(models=[(0, 3)], period=0.070905372), executions(3, period=0.070935409)
    record = minute_of(report(runtime(counters([0, 0, 0, 0], 0.070980417), held, ran)))
    assert ("????", 0, 1) == (record.core_state, record.covered_seconds, record.reports)
    assert (3, 626_905_088) == (record.executions, record.runtime_host_memory_bytes)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.floats(0.5, 10), st.floats(0, 100)), min_size=1, max_size=12))
def test_a_core_in_a_minute_is_weighted_by_the_length_of_its_samples(reports):
    """The sum of W times u over that of W, which is what is covered, up to the minute."""
    record = minute_of(*[two_cores(runtime(counters([u, 0], w))) for w, u in reports])
    weight_s = sum(w for w, _ in reports)
    expected = sum(w * u for w, u in reports) / weight_s
    assert pytest.approx(expected, abs=0.006) == record.utilization_percent[0]
    assert pytest.approx(min(60.0, weight_s), abs=0.011) == record.covered_seconds


def test_a_report_weighs_as_long_as_its_longest_accepted_counters():
    """Counters too short to be accepted have no say."""
    first = two_cores(runtime(counters([90, 0], 4)), runtime(counters([0, 0], 6), pid=2))
    record = minute_of(first, two_cores(runtime(counters([0, 0], 6))))
    assert (45.0, 0.0) == record.utilization_percent
    assert 12 == record.covered_seconds


@pytest.mark.parametrize(
    ("period", "expected"), [(9.99, 9.99), (10.0, 10.0), (10.01, 10.0), (3600.0, 10.0)]
)
def test_a_report_weighs_at_most_two_nominal_periods(period, expected):
    """After a suspended machine a single sample must not speak for a whole minute."""
    record = minute_of(two_cores(runtime(counters([50, 50], period))), period_s=5.0)
    assert expected == record.covered_seconds


def test_a_core_that_is_listed_exists_although_nothing_is_known_of_it():
    """An index beyond the count widens the instance, also when a failing runtime may use it."""
    failing = runtime(counters([0, 0, 0, 0], error="x"))
    assert "??????" == minute_of(report(failing, runtime(counters({5: 0}), pid=2))).core_state
