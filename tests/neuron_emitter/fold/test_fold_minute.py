"""A report belongs to the minute of its receipt, and a closed minute stays closed."""

from __future__ import annotations

import json

import pytest

from neuron_emitter.fold import LineIdentity
from neuron_emitter.fold.minute import MinuteClock
from neuron_emitter.lines import LineWriter
from neuron_emitter.settings import MinuteSettings
from neuron_wire.catalogue import CHOOSABLE
from tests.neuron_emitter.neuron_reports import (
    REPORTS_START_S,
    add,
    closed,
    counters,
    executions,
    hardware,
    hardware_counters,
    minute_of,
    new_fold,
    report,
    runtime,
    two_cores,
    vcpu,
)

FOLDED_MINUTE_MS = int(REPORTS_START_S) * 1000


def busy(percent=50.0):
    """Return a report of two cores, one of them at *percent*."""
    return two_cores(runtime(counters([percent, 0]), None, executions(10)))


@pytest.mark.parametrize(
    ("at_s", "expected"), [(0.0, 0), (59.999, 0), (60.0, 60_000), (119.999, 60_000)]
)
def test_the_minute_is_that_of_receipt(at_s, expected):
    """A record's timestamp is the start of the minute in which its reports arrived."""
    fold = new_fold()
    add(fold, busy(), REPORTS_START_S + at_s)
    record = closed(fold)
    assert FOLDED_MINUTE_MS + expected == record.minute_ms
    assert 5 == record.covered_seconds


def test_after_a_backward_step_reports_go_to_the_open_minute():
    """After a clock was set back, reports go to the open minute until the clock passes its end."""
    fold = new_fold()
    add(fold, busy(100), REPORTS_START_S + 30)
    for at_s in (-3600, -60, -1):
        assert not fold.clock.is_due(REPORTS_START_S + at_s)
        add(fold, busy(0), REPORTS_START_S + at_s)
    record = closed(fold)
    assert FOLDED_MINUTE_MS == record.minute_ms
    assert 4 == record.reports
    assert 25 == record.utilization_percent[0]


@pytest.mark.parametrize(
    ("percent", "expected"),
    [(0, "u"), (0.001, "a"), (0.99, "a"), (0.996, "b"), (1, "b"), (100, "b")],
)
def test_busy_starts_at_the_threshold(percent, expected):
    """
    A core is busy from 1 % by default, because live services run at 2 to 3 %.

    A value that is written as 1.0 is busy, so that the letter agrees with the number.
    """
    entry = runtime(counters([percent]), {"error": ""})
    record = minute_of(report(entry, neuron_hardware_info=hardware(1, 1)))
    assert expected == record.core_state
    assert (expected == "b") == (record.utilization_percent[0] >= 1)


@pytest.mark.parametrize(
    ("back_minutes", "opened_minutes"), [(0, 1), (1, 1), (119, 1), (120, -120), (121, -121)]
)
def test_a_closed_minute_never_opens_again_unless_the_clock_was_wrong_by_two_hours(
    back_minutes, opened_minutes
):
    """
    A minute does not open twice, unless the clock was over two hours ahead.

    CloudWatch rejects timestamps that far ahead, so the emitter does not wait for that minute.
    """
    clock = MinuteClock()
    clock.open_minute(REPORTS_START_S)
    clock.close_minute()
    clock.open_minute(REPORTS_START_S - 60 * back_minutes)
    assert REPORTS_START_S // 60 + opened_minutes == clock.epoch_minute


@pytest.mark.parametrize(
    ("minutes", "due"), [(1, True), (0, False), (-1, False), (-120, False), (-121, True)]
)
def test_a_minute_ends_if_the_clock_leaves_it(minutes, due):
    """A minute ends when the clock moves past it, or back by more than two hours."""
    clock = MinuteClock()
    assert not clock.is_due(REPORTS_START_S + 60 * minutes)
    clock.open_minute(REPORTS_START_S)
    assert due == clock.is_due(REPORTS_START_S + 60 * minutes)
    assert REPORTS_START_S + 60 == clock.ends_at_s()


def report_of(period):
    """Return a report of two busy cores whose counters have *period*."""
    return two_cores(runtime(counters([50, 50], period)))


def covered_s(*periods, **settings):
    """Return the covered seconds of reports with these periods."""
    return minute_of(*(report_of(period) for period in periods), **settings).covered_seconds


@pytest.mark.parametrize(
    ("periods", "covered"),
    [
        # The first sample has no other to compare with, and shorter samples do not count.
        ([5], 5), ([0.07, 0.07, 0.07, 5], 5),
        # A sample weighs at most twice the median of the last five, which follows a changed period.
        ([1, 1, 1, 1, 30], 6),
        ([1, 1, 3, 10], 1 + 1 + 2 + 2 * (1 + 3) / 2),  # the mean of the middle two
        ([1] * 5 + [10, 10, 10], 5 * 1 + 2 + 2 + 10), ([1] * 5 + [10, 10, 20], 5 * 1 + 2 + 2 + 20),
    ],
)  # fmt: skip
def test_without_a_configured_period_the_median_of_the_last_five_counts(periods, covered):
    """Without a configured period, a sample weighs at most twice the median of the last five."""
    assert covered == covered_s(*periods, period_s=None)


@pytest.mark.parametrize(
    ("system", "pause_s", "covered"), [({"vcpu_usage": vcpu(5)}, 50, 15), (None, 59, 30)]
)
def test_without_runtimes_the_system_groups_are_the_measure(system, pause_s, covered):
    """
    Without runtimes, a pause weighs at most two periods of the system groups.

    Without these groups it weighs at most two periods of 15 s, the longest that can be set.
    Otherwise a suspended host would seem watched.
    """
    document = two_cores(system_data=system)
    record = minute_of(document, document, every_s=pause_s, period_s=None)
    assert covered == record.covered_seconds


ECC_READING = "EccUncorrectedReported"
RARE_READINGS = frozenset(
    reading.name for reading in CHOOSABLE.values() if reading.is_rare and reading.family == "tally"
)
FAILURE_READINGS = RARE_READINGS - {ECC_READING}


def test_a_chosen_failure_that_did_not_occur_is_0():
    """A chosen failure that did not occur is 0. Without a choice it has no member."""
    stats = executions(5, timed_out=2)
    details = minute_of(report(runtime(execution_stats=stats)), chosen=RARE_READINGS).details
    assert {**dict.fromkeys(FAILURE_READINGS, 0), "ExecutionsTimedOut": 2} == details
    assert {"ExecutionsTimedOut": 2} == minute_of(report(runtime(execution_stats=stats))).details


@pytest.mark.parametrize(
    ("stats", "reported"),
    [
        (None, set()),
        (executions(5), FAILURE_READINGS),
        ({**executions(5), "error_summary": None}, "Exec"),
    ],
)
def test_failures_that_were_not_read_are_absent(stats, reported):
    """Failures are absent without their group, and causes are absent without errors by cause."""
    record = minute_of(
        report(runtime(counters([1.0]), execution_stats=stats)), chosen=RARE_READINGS
    )
    expected = (
        {name for name in RARE_READINGS if name.startswith(reported)}
        if reported == "Exec"
        else set(reported)
    )
    assert expected == record.details.keys()


def test_no_runtime_and_no_memory_error_are_0_if_reported():
    """No runtime means no failures, and readable counters without a rise are 0."""
    system = {"neuron_hw_counters": hardware_counters({"mem_ecc_uncorrected": 0})}
    record = minute_of(report(system_data=system), chosen=RARE_READINGS, executions_asked=True)
    assert dict.fromkeys(RARE_READINGS, 0) == record.details


FOLD_SENDER = LineIdentity("blue", "i-1", identity_guessed=False, boot="1")


@pytest.mark.parametrize("scale", [1e-13, 40e6 / 1.23456789e12, 1.0])
def test_an_amount_has_six_digits_of_its_own(scale):
    """
    An amount is rounded once, to six significant digits, so that small values are not 0.

    Lines of the minute, the runtime and the report have the same amounts.
    """
    rate = 1.23456789e12 * scale
    seconds = 1.23456789 * scale
    fold = new_fold(runtime_lines="all", every_report=True)
    groups = counters([50, 0, 0, 0], flops={0: rate}), None, executions(1, total={"p50": seconds})
    add(fold, report(runtime(*groups)), REPORTS_START_S)
    sample = fold.sample
    record = closed(fold)
    lines = LineWriter(MinuteSettings(metrics="none"))
    written = [
        *[line_record.line for line_record in lines.minute_records(record, fold.due_runtimes)],
        *[record.line for record in lines.report_records(sample, FOLD_SENDER, 3)],
    ]
    flops, *latencies = [float(f"{value:.6g}") for value in (rate / 1e12, seconds, seconds)]
    assert [flops] * 3 == [json.loads(line)["TeraFlops"] for line in written]
    assert latencies == [json.loads(line)["LatencyP50Mean"] for line in written[:2]]
