"""The nominal period, and how long a sample may be believed."""

from __future__ import annotations

import pytest
from neuron_reports import (
    START_S,
    add,
    closed,
    counters,
    memory,
    minute_of,
    new_fold,
    nobody,
    runtime,
    two_cores,
    vcpu,
)


def one(period):
    """A report of two busy cores whose counters have this period."""
    return two_cores(runtime(counters([50, 50], period)))


def covered_s(*periods, **settings):
    """What reports with these periods cover."""
    return minute_of(*(one(period) for period in periods), **settings).covered_seconds


@pytest.mark.parametrize(
    ("periods", "covered"),
    [
        # Nothing else to compare the first sample with; those too short are no measure.
        ([5], 5), ([0.07, 0.07, 0.07, 5], 5),
        # The median of the last five counts twice at most, and follows a changed period.
        ([1, 1, 1, 1, 30], 6),
        ([1, 1, 3, 10], 1 + 1 + 2 + 2 * (1 + 3) / 2),  # the mean of the middle two
        ([1] * 5 + [10, 10, 10], 5 * 1 + 2 + 2 + 10), ([1] * 5 + [10, 10, 20], 5 * 1 + 2 + 2 + 20),
    ],
)  # fmt: skip
def test_without_a_configured_period_the_median_of_the_last_five_counts(periods, covered):
    """1, 1, 1, 1 and then 30: the median is 1, so 30 counts for 2."""
    assert covered == covered_s(*periods, period_s=None)


def test_the_nominal_period_outlives_the_minute():
    """A new minute does not start to guess again."""
    fold = new_fold(period_s=None)
    for place in range(5):
        add(fold, one(1), START_S + place)
    closed(fold)
    add(fold, one(30), START_S + 60)
    assert 2 == closed(fold).covered_seconds


@pytest.mark.parametrize(
    ("system", "pause_s", "covered"), [({"vcpu_usage": vcpu(5)}, 50, 15), (None, 59, 30)]
)
def test_without_runtimes_the_system_groups_are_the_measure(system, pause_s, covered):
    """
    All there is on an empty instance: a pause counts for two of their periods, or of the 15 s that
    can be asked for at most. A suspended host was not watched for an hour.
    """
    document = two_cores(system_data=system)
    record = minute_of(document, document, every_s=pause_s, period_s=None)
    assert covered == record.covered_seconds


@pytest.mark.parametrize("absurd", [86_400.5, 1e9, 1e300, -1.0, 0.0])
def test_a_period_that_cannot_be_gives_no_sample(absurd):
    """More than a day or not above 0 is no period."""
    assert 0 == covered_s(absurd, period_s=None)
    assert 60 == covered_s(86_400.0, period_s=None)


def test_while_no_period_is_known_runtimes_may_be_due_again():
    """
    A first sample of milliseconds, then a line without runtimes: that says nothing yet, whatever
    the period of the system groups is.
    """
    first = two_cores(runtime(counters([0, 0], 0.07), memory(cores=2)), system_data=None)
    for later in (two_cores(system_data=None), nobody(1.0)):
        record = minute_of(first, later, every_s=10, period_s=None)
        assert "??" == record.core_state
