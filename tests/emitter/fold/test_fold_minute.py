"""The minute is that of receipt, and minutes never reopen."""

from __future__ import annotations

import pytest
from neuron_reports import (
    START_S,
    add,
    closed,
    counters,
    executions,
    hardware,
    memory,
    minute_of,
    new_fold,
    report,
    runtime,
    two_cores,
)

from emitter.fold import FoldSettings
from emitter.fold.samples import MinuteClock

MINUTE_MS = int(START_S) * 1000


def busy(percent=50.0):
    """A report of two cores, one of them at *percent*."""
    return two_cores(runtime(counters([percent, 0]), None, executions(10)))


@pytest.mark.parametrize(
    ("at_s", "expected"), [(0.0, 0), (59.999, 0), (60.0, 60_000), (119.999, 60_000)]
)
def test_the_minute_is_that_of_receipt(at_s, expected):
    """
    A record's timestamp is the start of the minute in which its reports came; none is split.
    """
    fold = new_fold()
    add(fold, busy(), START_S + at_s)
    record = closed(fold)
    assert (MINUTE_MS + expected, 5) == (record.minute_ms, record.covered_seconds)


def test_after_a_backward_step_reports_go_to_the_open_minute():
    """Until the clock passes it."""
    fold = new_fold()
    add(fold, busy(100), START_S + 30)
    for at_s in (-3600, -60, -1):
        assert not fold.clock.is_due(START_S + at_s)
        add(fold, busy(0), START_S + at_s)
    record = closed(fold)
    assert (MINUTE_MS, 4) == (record.minute_ms, record.reports)
    assert 25 == record.utilization_percent[0]


def test_labels_only_rise():
    """Whatever the clock does by less than two hours."""
    fold = new_fold()
    labels = []
    for seq, at_s in enumerate((0, 60, 30, -600, 61, 7100, 200, 7200), start=1):
        add(fold, busy(), START_S + at_s)
        labels.append(closed(fold, seq).minute_ms)
    assert sorted(set(labels)) == labels


def test_minutes_share_nothing():
    """Tallies, samples and gauges of one minute are not in the next."""
    fold = new_fold()
    add(fold, busy(90), START_S)
    assert 10 == closed(fold).executions
    fold.clock.open_minute(START_S + 60)
    record = closed(fold, 2)
    assert (0, 0, None) == (record.reports, record.covered_seconds, record.executions)
    assert "??" == record.core_state
    add(fold, busy(30), START_S + 120)
    assert (30.0, 0.0) == closed(fold, 3).utilization_percent


def test_a_minute_closed_without_a_record_is_closed():
    """It does not reopen either."""
    fold = new_fold()
    add(fold, busy(), START_S)
    fold.discard_minute()
    add(fold, busy(), START_S)
    assert MINUTE_MS + 60_000 == closed(fold).minute_ms


@pytest.mark.parametrize(
    ("percent", "expected"),
    [(0, "u"), (0.001, "a"), (0.99, "a"), (0.996, "b"), (1, "b"), (100, "b")],
)
def test_busy_starts_at_the_threshold(percent, expected):
    """
    1 % unless told otherwise: live services run at 2 to 3 %. A value that is written as 1.0 is
    busy, so that the letter agrees with the number beside it.
    """
    entry = runtime(counters([percent]), {"error": ""})
    record = minute_of(report(entry, neuron_hardware_info=hardware(1, 1)))
    assert expected == record.core_state
    assert (expected == "b") == (record.utilization_percent[0] >= 1)


def test_other_settings_hold_from_the_next_minute():
    """
    A configuration that is read again changes what a minute means, and forgets nothing: idle
    minutes go on.
    """
    fold = new_fold()
    document = report(runtime(counters([5, 0, 0, 0]), memory({1: 1})))
    for second in range(0, 60, 5):
        add(fold, document, START_S + second)
    assert "bauu" == closed(fold).core_state
    fold.configure(
        FoldSettings(idle_below_percent=10, period_s=5, only_matched=True, every_report=True)
    )
    for second in range(60, 120, 5):
        add(fold, document, START_S + second)
    assert fold.sample is not None
    record = closed(fold)
    assert ("aa??", (1, 2)) == (record.core_state, record.idle_minutes[:2])


@pytest.mark.parametrize(
    ("back_minutes", "opened_minutes"), [(0, 1), (1, 1), (119, 1), (120, -120), (121, -121)]
)
def test_a_closed_minute_never_opens_again_unless_the_clock_was_wrong_by_two_hours(
    back_minutes, opened_minutes
):
    """CloudWatch takes nothing further ahead: what was closed then is not waited for."""
    label = MinuteClock()
    label.open_minute(START_S)
    label.close_minute()
    label.open_minute(START_S - 60 * back_minutes)
    assert START_S // 60 + opened_minutes == label.now


@pytest.mark.parametrize(
    ("minutes", "due"), [(1, True), (0, False), (-1, False), (-120, False), (-121, True)]
)
def test_a_minute_ends_when_the_clock_has_left_it_for_good(minutes, due):
    """Forward by one, or back by more than two hours."""
    label = MinuteClock()
    assert not label.is_due(START_S + 60 * minutes)
    label.open_minute(START_S)
    assert due == label.is_due(START_S + 60 * minutes)
    assert START_S + 60 == label.ends_at_s()
