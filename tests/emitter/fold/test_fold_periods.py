"""The nominal period, and how long a sample may be believed."""

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
    report,
    runtime,
    vcpu,
)

from emitter.fold import FoldSettings


def one(period):
    """A report of two busy cores whose counters have this period."""
    return report(runtime(counters([50, 50], period)), neuron_hardware_info=hardware(1, 2))


def covered_s(*periods, **settings):
    """What reports with these periods cover."""
    return minute_of(*(one(period) for period in periods), **settings).covered_seconds


def test_without_a_configured_period_the_first_sample_is_its_own_measure():
    """There is nothing else to compare it with."""
    assert 5 == covered_s(5, period_s=None)


def test_without_a_configured_period_the_median_of_the_last_five_counts():
    """1, 1, 1, 1 and then 30: the median is 1, so 30 counts for 2."""
    assert 6 == covered_s(1, 1, 1, 1, 30, period_s=None)


def test_the_median_follows_a_changed_period():
    """After three of five the new period is nominal."""
    assert 5 * 1 + 2 + 2 + 10 == covered_s(1, 1, 1, 1, 1, 10, 10, 10, period_s=None)
    assert 5 * 1 + 2 + 2 + 20 == covered_s(1, 1, 1, 1, 1, 10, 10, 20, period_s=None)


def test_short_first_samples_do_not_make_the_nominal_period():
    """Only accepted samples are measures."""
    assert 5 == covered_s(0.07, 0.07, 0.07, 5, period_s=None)


def test_the_nominal_period_outlives_the_minute():
    """A new minute does not start to guess again."""
    fold = new_fold(period_s=None)
    for place in range(5):
        add(fold, one(1), START_S + place)
    closed(fold)
    add(fold, one(30), START_S + 60)
    assert 2 == closed(fold).covered_seconds


def test_another_configured_period_holds_from_the_next_minute():
    """Settings that are read again: a sample counts for two of the new periods at most."""
    fold = new_fold()
    add(fold, one(5), START_S)
    assert 5 == closed(fold).covered_seconds
    fold.configure(FoldSettings(period_s=1.0))
    add(fold, one(5), START_S + 60)
    assert 2 == closed(fold).covered_seconds


def test_without_runtimes_the_system_groups_are_the_measure():
    """All there is on an empty instance: a pause of a minute counts for two of their periods."""
    document = report(system_data={"vcpu_usage": vcpu(5)}, neuron_hardware_info=hardware(1, 2))
    fold = new_fold(period_s=None)
    add(fold, document, START_S)
    add(fold, document, START_S + 50)
    assert 15 == closed(fold).covered_seconds


@pytest.mark.parametrize("absurd", [86_400.5, 1e9, 1e300, -1.0, 0.0])
def test_a_period_that_cannot_be_gives_no_sample(absurd):
    """More than a day or not above 0 is no period."""
    assert 0 == covered_s(absurd, period_s=None)
    assert 60 == covered_s(86_400.0, period_s=None)


def test_without_any_period_a_pause_counts_for_two_of_the_longest():
    """15 s is the longest that can be asked for: a suspended host was not watched for an hour."""
    document = report(system_data=None, neuron_hardware_info=hardware(1, 2))
    fold = new_fold(period_s=None)
    add(fold, document, START_S)
    add(fold, document, START_S + 59)
    assert 30 == closed(fold).covered_seconds


def test_while_no_period_is_known_runtimes_may_be_due_again():
    """A first sample of milliseconds, then a line without runtimes: that says nothing yet."""
    first = report(runtime(counters([0, 0], period=0.07), memory(cores=2)), system_data=None)
    fold = new_fold(period_s=None)
    add(fold, {**first, "neuron_hardware_info": hardware(1, 2)}, START_S)
    add(fold, report(system_data=None, neuron_hardware_info=hardware(1, 2)), START_S + 10)
    assert "??" == closed(fold).core_state
