"""An empty list of runtimes: every core at 0, not due, or unknown."""

from __future__ import annotations

import pytest
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

from emitter.fold import FoldSettings


def test_without_a_runtime_every_core_is_0():
    """No runtime, no core entries: the zeros are made from the hardware information."""
    record = minute_of(*[nobody()] * 12)
    assert ("uu", (0.0, 0.0)) == (record.core_state, record.utilization_percent)
    assert 60 == record.covered_seconds


def test_with_a_tag_filter_that_is_set_later_an_empty_list_says_nothing():
    """What the filter hides may run: from the next minute on no core is known."""
    fold = new_fold()
    add(fold, nobody(), START_S)
    assert "uu" == closed(fold).core_state
    fold.configure(FoldSettings(period_s=5.0, only_matched=True))
    add(fold, nobody(), START_S + 60)
    record = closed(fold)
    assert ("??", 0) == (record.core_state, record.covered_seconds)


@pytest.mark.parametrize("members", [{}, {"neuron_hardware_info": None, "instance_info": None}])
def test_no_runtime_says_0_of_the_cores_told_and_of_those_listed_in_the_minute(members):
    """
    A runtime listed 0, 1 and 5 of two: the gap between is nobody's word, so it is unknown and
    never counts as idle; the next minute has two cores again, or none where nobody told.
    """
    fold = new_fold()
    listed = two_cores(runtime(counters({0: 60, 1: 0, 5: 0}), memory({0: 1})), **members)
    for place in range(12):
        add(fold, nobody(**members) if place else listed, START_S + 5 * place)
    record = closed(fold)
    assert ("bu???u", (0, 1, 0, 0, 0, 1)) == (record.core_state, record.idle_minutes)
    assert (5.0, 0.0, None, None, None, 0.0) == record.utilization_percent
    for place in range(12):
        add(fold, nobody(**members), START_S + 60 + 5 * place)
    assert ("" if members else "uu") == closed(fold).core_state


def test_a_clock_that_is_set_back_takes_nothing_and_adds_nothing():
    """An empty report before the last one weighs nothing; the next counts from it."""
    fold = new_fold()
    for second in (30, 20, 25):
        add(fold, nobody(), START_S + second)
    assert 10 == closed(fold).covered_seconds


def test_two_reports_of_one_moment_are_no_clock_that_was_set_back():
    """Counters that failed, then an empty list: the cores were last known a period before."""
    fold = new_fold()
    add(fold, two_cores(runtime(counters([0, 0]))), START_S)
    add(fold, two_cores(runtime(counters([0, 0], error="x"))), START_S + 5)
    add(fold, nobody(), START_S + 5)
    add(fold, nobody(), START_S + 13)
    assert 5 + 10 == closed(fold).covered_seconds


@pytest.mark.parametrize(
    ("period", "expected"), [(0.499, 0.0), (0.5, 0.5), (5.0, 5.0), (10.0, 10.0), (10.1, 10.0)]
)
def test_the_first_report_without_a_runtime_weighs_its_largest_system_period(period, expected):
    """Under half a second nothing, and at most two nominal periods."""
    assert expected == minute_of(nobody(period)).covered_seconds


@pytest.mark.parametrize(("gap_s", "expected"), [(4.0, 9.0), (10.0, 15.0), (10.5, 15.0)])
def test_a_report_without_a_runtime_weighs_the_time_since_the_last_sample(gap_s, expected):
    """At most two nominal periods: nobody watched longer than that."""
    assert expected == minute_of(nobody(), nobody(), every_s=gap_s).covered_seconds


@pytest.mark.parametrize(
    ("runtimes", "members"),
    [(None, {}), ([], {"neuron_hardware_info": hardware(1, 2, error="no devices found")})],
)
def test_null_is_not_collected(runtimes, members):
    """
    Nor is anything with the driver out of reach: it says nothing about the cores, which are
    unknown, never idle.
    """
    told = nobody(neuron_runtime_data=None)  # how many cores there are
    record = minute_of(told, *[nobody(neuron_runtime_data=runtimes, **members)] * 11)
    assert {"?"} >= set(record.core_state)
    assert 0 == record.covered_seconds


@pytest.mark.parametrize(
    ("gap_s", "expected"), [(0.1, "b?"), (5.0, "b?"), (7.5, "b?"), (7.51, "bu"), (60.0, "bu")]
)
def test_an_empty_list_soon_after_counters_says_not_due(gap_s, expected):
    """
    With different periods per group a line can come on which runtimes were not due:
    within 1.5 periods it is no news.
    """
    hidden = runtime(None, memory({1: 1}), pid=2)
    working = two_cores(runtime(counters([50, 0]), memory({0: 1})), hidden)
    assert expected == minute_of(working, nobody(), every_s=gap_s).core_state


@pytest.mark.parametrize("second", [1.0, -20.0])
def test_an_empty_list_that_was_not_due_leaves_holders_and_memory(second):
    """It is ignored, not half believed; also when the clock was set back between the two lines."""
    working = two_cores(runtime(counters([0, 0]), memory({0: 4096})))
    record = minute_of(working, nobody(), every_s=second)
    assert ("au", 5) == (record.core_state, record.covered_seconds)
    assert 4096 == record.device_memory_used_bytes


def test_an_empty_list_after_a_runtime_ended_counts_from_its_last_sample():
    """The list within 1.5 periods is ignored; the next one weighs the time since the counters."""
    record = minute_of(two_cores(runtime(counters([90, 90]))), nobody(), nobody())
    assert (15, (30.0, 30.0)) == (record.covered_seconds, record.utilization_percent)


def test_cores_without_a_runtime_are_known_again_soon_after_a_backward_clock_step():
    """An hour that the clock goes back is no hour without telemetry."""
    fold = new_fold()
    add(fold, two_cores(runtime(counters([0, 0]))), START_S + 30)
    for place in range(3):
        add(fold, nobody(), START_S - 3600 + 5 * place)
    assert 15 == closed(fold).covered_seconds


def test_with_a_tag_filter_cores_not_held_by_a_matched_runtime_are_unknown():
    """They may be busy for a runtime that the filter hides; no matched one is not no runtime."""
    entry = runtime(counters([40, 0, 0, 0]), memory({0: 1, 1: 1}))
    record = minute_of(report(entry), only_matched=True)
    assert ("ba??", (40.0, 0.0, None, None)) == (record.core_state, record.utilization_percent)
    assert "??" == minute_of(nobody(), nobody(), nobody(), only_matched=True).core_state
