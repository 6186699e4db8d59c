"""The effect of one minute on a finding, and the stored parts of a finding."""

from __future__ import annotations

import pytest

from aggregator.findings import steps
from neuron_accounts.findings import (
    CLOSED,
    WORSENED,
    FindingKey,
    finding_id,
)
from proof.factories.records import MINUTE

AFTER = 15
MINUTES_OF_DAY = 24 * 60


def idle(before, minutes, *, minute=MINUTE, worked=False):
    """Return the finding after a minute of an instance that was idle for *minutes*, or None."""
    return steps.step_idleness(before, minutes, minute, AFTER, worked=worked)


def opened(idle_minutes=AFTER):
    """Return a finding that has just opened."""
    return idle(None, idle_minutes).after


def test_it_worsens_whenever_the_idle_time_has_doubled_eight_times_then_daily():
    """An idle finding worsens each time its idle time has doubled, eight times, then daily."""
    finding = opened()
    worse = []
    for minutes in range(AFTER + 1, AFTER * 2**8 + 3 * MINUTES_OF_DAY + 1):
        step = idle(finding, minutes)
        if step is not None:
            assert WORSENED == step.change
            worse.append(minutes)
            finding = step.after
    doubled = [AFTER * 2**n for n in range(1, 9)]
    assert [*doubled, *(doubled[-1] + n * MINUTES_OF_DAY for n in (1, 2, 3))] == worse
    assert 1 + len(worse) == finding.step


def test_after_a_pause_several_doublings_are_one_step():
    """After a pause, several doublings are one step."""
    step = idle(opened(), 16 * AFTER)
    assert WORSENED == step.change
    assert 2 == step.after.step
    assert 4 == step.after.level
    assert idle(step.after, 17 * AFTER) is None


def test_three_minutes_with_work_close_it_and_idleness_between_restarts_the_count():
    """Three minutes with work close a finding; idle minutes between them restart the count."""
    finding = opened()
    for worked in (True, True):
        finding = idle(finding, None, worked=worked).after
    finding = idle(finding, AFTER).after
    assert 0 == finding.quiet
    changes = []
    for _ in range(3):
        step = idle(finding, None, worked=True)
        finding = step.after
        changes.append((step.change, step.reason))
    assert [(None, None), (None, None), (CLOSED, "work")] == changes


def test_a_fault_opens_each_further_one_worsens_and_a_day_without_closes():
    """
    Each further fault worsens a finding, which counts all faults; a day without one closes it.
    """

    def faults(before, count, minute):
        return steps.step_faults(before, count, minute, minute)

    finding = faults(None, 2, MINUTE).after
    step = faults(finding, 3, MINUTE + 10)
    assert WORSENED == step.change
    assert 5 == step.after.level
    assert faults(step.after, 0, MINUTE + 10 + MINUTES_OF_DAY - 1) is None
    last = faults(step.after, 0, MINUTE + 10 + MINUTES_OF_DAY)
    assert CLOSED == last.change
    assert "quiet" == last.reason
    assert 3 == last.after.step


@pytest.mark.parametrize(("is_known", "closes_after"), [(True, 3), (False, 61)])
def test_an_owner_that_no_line_names_is_gone(is_known, closes_after):
    """
    A finding about a missing owner closes after three minutes if all instances are known, else when
    the owner is forgotten.
    """
    finding = opened()
    count = 0
    while True:
        count += 1
        step = steps.step_absence(finding, MINUTE + count, 60, is_known=is_known)
        if step.change == CLOSED:
            break
        finding = step.after
    assert closes_after == count
    assert "gone" == step.reason


def test_the_id_of_a_finding_is_its_own_and_always_the_same():
    """
    The ID of a finding depends only on its subject and its opening, because readers of events rely
    on it.
    """
    key = FindingKey("training", "idle-instance", "i-1")
    assert "59ce" == finding_id(key, MINUTE)[:4]
    assert finding_id(key, MINUTE) != finding_id(key, MINUTE + 1)
    assert finding_id(key, MINUTE) != finding_id(key._replace(subject="i-2"), MINUTE)
