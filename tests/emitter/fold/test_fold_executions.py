"""Executions are tallies and add up; percentiles do not merge."""

from __future__ import annotations

import pytest
from neuron_reports import executions, minute_of, report, runtime, written

from emitter.fold.executions import ExecutionFold
from emitter.reports.report import decode

TOTAL = {"p0": 0.0091, "p1": 0.0092, "p50": 0.0245, "p99": 0.0530, "p100": 0.0653}
DEVICE = {"p0": 0.0076, "p1": 0.0077, "p50": 0.0216, "p99": 0.0337, "p100": 0.0356}


def one(*stats, **members):
    """A report with one runtime per group."""
    entries = [runtime(None, None, each, pid=pid) for pid, each in enumerate(stats, start=1)]
    return report(*entries, **members)


def folded(*groups):
    """What one runtime did in these reports."""
    fold = ExecutionFold()
    for group in groups:
        fold.add(decode(written(one(group))).neuron_runtime_data[0].report.execution_stats)
    return fold


def latencies(seconds):
    """Every latency of a runtime whose every percentile is this long."""
    found = folded(executions(1, total=dict.fromkeys(TOTAL, seconds)))
    return (found.total.p50_mean_s(), found.total.p99_max_s, found.min_s, found.max_s)


@pytest.mark.parametrize("seconds", [0.0, 1.0, 86_400.0])
def test_a_latency_is_from_0_to_a_day(seconds):
    """Both inclusive."""
    assert (seconds,) * 4 == latencies(seconds)


@pytest.mark.parametrize("seconds", [-0.001, 86_400.001])
def test_what_is_no_latency_is_missing(seconds):
    """Below 0 or more than a day: a fault of the monitor is no number."""
    assert (None,) * 4 == latencies(seconds)


def test_the_shortest_and_the_longest_of_the_reports_stay():
    """Whichever comes first."""
    spans = [{"p0": 2.0, "p100": 5.0}, {"p0": 1.0, "p100": 4.0}, {"p0": 3.0, "p100": 6.0}]
    found = folded(*[executions(1, total=span) for span in spans])
    assert (1.0, 6.0) == (found.min_s, found.max_s)


def test_per_period_tallies_add_up_over_reports_and_runtimes():
    """300 in a period of 5 s are 300, twelve times a minute, for each runtime."""
    record = minute_of(*[one(executions(300), executions(20))] * 12)
    assert 3840 == record.executions
    assert 0 == record.execution_errors


@pytest.mark.parametrize(
    ("name", "executions_", "errors"),
    [
        ("completed", 7, 0),
        ("completed_with_err", 7, 7),
        ("completed_with_num_err", 7, 7),
        ("timed_out", 0, 7),
        ("incorrect_input", 0, 7),
        ("failed_to_queue", 0, 7),
    ],
)
def test_which_member_counts_where(name, executions_, errors):
    """Executions ended, with or without error; errors are all that went wrong."""
    record = minute_of(one(executions(**{"completed": 0, name: 7})))
    assert (executions_, errors) == (record.executions, record.execution_errors)


def test_error_types_are_details_only_above_0():
    """A member per type, never a zero."""
    record = minute_of(one(executions(300, timed_out=2)), one(executions(300, timed_out=1)))
    assert {"ExecutionsTimedOut": 3} == record.details
    assert {} == minute_of(one(executions(300))).details


def test_causes_overlap_and_are_never_added():
    """error_summary counts some failures again by cause."""
    causes = {"numerical": 2, "transient": 0, "model": 1, "runtime": 0, "hardware": 4}
    record = minute_of(one(executions(10, completed_with_num_err=2, causes=causes)))
    assert 2 == record.execution_errors
    assert 12 == record.executions
    assert 2 == record.details["ErrorsNumerical"]
    assert 1 == record.details["ErrorsModel"]
    assert 4 == record.details["ErrorsHardware"]
    assert "ErrorsTransient" not in record.details


def test_generic_is_a_property_and_no_error():
    """As met in 2023: 23,650 in a period of 1 s without one failed execution."""
    record = minute_of(one(executions(300, causes={"generic": 23_650}, period=1.0)))
    assert 0 == record.execution_errors
    assert {"ErrorsGeneric": 23_650} == record.details


def test_a_summary_without_generic_is_whole():
    """Tools of 2026 do not have it."""
    group = executions(34_408, total=TOTAL)
    del group["error_summary"]["generic"]
    assert 34_408 == minute_of(one(group)).executions


def test_absent_is_absent():
    """No group, null, error or an empty summary: no total, never 0."""
    empty = executions()
    empty["execution_summary"] = {}
    null = executions()
    null["execution_summary"] = None
    nulls = executions()
    nulls["execution_summary"] = dict.fromkeys(nulls["execution_summary"])
    for group in (None, executions(5, error="no stats"), empty, null, nulls):
        record = minute_of(one(group))
        assert record.executions is None
        assert record.execution_errors is None


def test_a_total_that_was_read_as_0_is_0():
    """Totals are present when they were read."""
    record = minute_of(one(executions(0)))
    assert (0, 0) == (record.executions, record.execution_errors)


def test_a_group_in_error_counts_nothing():
    """A zero beside an error is no zero, and a number beside it is no number."""
    record = minute_of(one(executions(5, error="x", causes={"model": 3}, total=TOTAL)))
    assert {} == record.details
    assert record.latency_p50_mean_s is None


def test_tallies_of_a_first_short_sample_count():
    """Only shares of the period are noise in it."""
    record = minute_of(one(executions(4, period=0.0079)))
    assert 4 == record.executions


def test_a_count_below_0_is_no_count():
    """Never -1."""
    record = minute_of(one(executions(-1, timed_out=-5, causes={"model": -2})))
    assert record.executions in (None, 0)
    assert record.execution_errors in (None, 0)
    assert {} == record.details


def test_latency_is_null_when_nothing_ran():
    """No latency member, never 0 s."""
    record = minute_of(one(executions(0)))
    assert record.latency_p50_mean_s is None
    assert record.latency_p99_max_s is None
    assert record.device_latency_p50_mean_s is None
    assert record.device_latency_p99_max_s is None
    assert record.latency_gap_s is None


def test_latencies_of_one_report():
    """As captured on an inf1.xlarge: seconds, total and device apart, and the gap between them."""
    record = minute_of(one(executions(300, total=TOTAL, device=DEVICE)))
    assert 0.0245 == record.latency_p50_mean_s
    assert 0.0530 == record.latency_p99_max_s
    assert 0.0216 == record.device_latency_p50_mean_s
    assert 0.0337 == record.device_latency_p99_max_s
    assert 0.0029 == record.latency_gap_s


def test_medians_are_weighted_by_completed_executions():
    """100 executions at 1 s and 300 at 2 s are 1.75 s, whichever report or runtime they are in."""
    slow = executions(300, total={"p50": 2.0, "p99": 3.0})
    fast = executions(100, total={"p50": 1.0, "p99": 1.5})
    for documents in ([one(slow, fast)], [one(slow), one(fast)]):
        record = minute_of(*documents)
        assert 1.75 == record.latency_p50_mean_s
        assert 3.0 == record.latency_p99_max_s


def test_a_median_without_a_completed_execution_weighs_one():
    """Failed executions have latencies too."""
    failed = executions(0, timed_out=4, total={"p50": 5.0, "p99": 9.0})
    record = minute_of(one(failed, executions(3, total={"p50": 1.0, "p99": 1.0})))
    assert 2.0 == record.latency_p50_mean_s
    unknown = executions(None, total={"p50": 5.0, "p99": 9.0})
    record = minute_of(one(unknown, executions(3, total={"p50": 1.0, "p99": 1.0})))
    assert 2.0 == record.latency_p50_mean_s


def test_a_median_weighs_by_what_completed_also_beside_failures():
    """3 executions at 1 s beside a failed one, and 1 at 5 s, are 2 s."""
    some_failed = executions(3, timed_out=1, total={"p50": 1.0})
    record = minute_of(one(some_failed, executions(1, total={"p50": 5.0})))
    assert 2.0 == record.latency_p50_mean_s


def test_a_median_without_any_count_weighs_one():
    """The counts were not due, the latencies were."""
    uncounted = {**executions(total={"p50": 5.0}), "execution_summary": None}
    record = minute_of(one(uncounted, executions(3, total={"p50": 1.0})))
    assert 2.0 == record.latency_p50_mean_s


FAILURES = (
    "completed_with_err",
    "completed_with_num_err",
    "timed_out",
    "incorrect_input",
    "failed_to_queue",
)


@pytest.mark.parametrize(("count", "expected"), [(1, (12, 5)), (0, (10, 0)), (-1, (10, None))])
def test_failures_of_every_kind_at_once_are_counted(count, expected):
    """Two kinds ended; what is below 0 was not read, and not read is not 0."""
    record = minute_of(one(executions(10, **dict.fromkeys(FAILURES, count))))
    assert expected == (record.executions, record.execution_errors)


def test_total_and_device_latencies_do_not_mix():
    """Each has a weight of its own where only one is reported."""
    both = executions(10, total={"p50": 3.0, "p99": 4.0}, device={"p50": 1.0, "p99": 2.0})
    total_only = executions(30, total={"p50": 5.0, "p99": 6.0})
    record = minute_of(one(both, total_only))
    assert 4.5 == record.latency_p50_mean_s
    assert 1.0 == record.device_latency_p50_mean_s
    assert 3.5 == record.latency_gap_s


def test_the_gap_is_never_below_0():
    """As on inf2: the two medians are the same number, and noise may turn them around."""
    equal = executions(10, total={"p50": 6.29e-05, "p99": 7e-05}, device={"p50": 6.29e-05})
    assert 0 == minute_of(one(equal)).latency_gap_s
    turned = executions(10, total={"p50": 6.2e-05, "p99": 7e-05}, device={"p50": 6.3e-05})
    assert 0 == minute_of(one(turned)).latency_gap_s


def test_the_gap_needs_both():
    """A difference to something unknown is unknown."""
    assert minute_of(one(executions(10, total=TOTAL))).latency_gap_s is None
    assert minute_of(one(executions(10, device=DEVICE))).latency_gap_s is None


def test_a_percentile_that_is_missing_takes_no_part():
    """p99 without p50, and null inside of an object."""
    record = minute_of(one(executions(10, total={"p50": None, "p99": 4.0})))
    assert record.latency_p50_mean_s is None
    assert 4.0 == record.latency_p99_max_s
