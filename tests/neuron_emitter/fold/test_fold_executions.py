"""
Executions and errors are added. Percentiles do not merge: p50 is weighted, p99 a maximum.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.neuron_emitter.neuron_reports import (
    REPORTS_START_S,
    add,
    closed,
    executions,
    minute_of,
    new_fold,
    no_runtimes,
    report,
    runtime,
)

TOTAL = {"p0": 0.0091, "p1": 0.0092, "p50": 0.0245, "p99": 0.0530, "p100": 0.0653}
FAILURE_MEMBERS = {
    "completed_with_err": "ExecutionsCompletedWithErr",
    "completed_with_num_err": "ExecutionsCompletedWithNumErr",
    "timed_out": "ExecutionsTimedOut",
    "incorrect_input": "ExecutionsIncorrectInput",
    "failed_to_queue": "ExecutionsFailedToQueue",
}
ERROR_CAUSES = ("generic", "numerical", "transient", "model", "runtime", "hardware")
DEVICE = {"p0": 0.0076, "p1": 0.0077, "p50": 0.0216, "p99": 0.0337, "p100": 0.0356}


def report_of(*stats, **members):
    """Return a report with one runtime per group."""
    entries = [runtime(None, None, group, pid=pid) for pid, group in enumerate(stats, start=1)]
    return report(*entries, **members)


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.fixed_dictionaries(
                dict.fromkeys(("completed", *FAILURE_MEMBERS), st.integers(0, 10**9))
            ),
            st.fixed_dictionaries(dict.fromkeys(ERROR_CAUSES, st.integers(0, 9))),
        ),
        min_size=1,
        max_size=4,
    )
)
@example([({"completed": 10, **dict.fromkeys(FAILURE_MEMBERS, 1)}, dict.fromkeys(ERROR_CAUSES, 0))])
def test_executions_and_errors_are_summed(groups):
    """
    Executions count every end, with or without error. Errors count all failures.

    Causes overlap with errors and are not added to them. Each type above zero has a member, and all
    reports and runtimes are summed.
    """
    stats = [executions(**counts, causes=causes) for counts, causes in groups]
    sums = {name: sum(counts[name] for counts, _ in groups) for name in groups[0][0]}
    causes = {name: sum(causes[name] for _, causes in groups) for name in groups[0][1]}
    details = {
        **{member: sums[name] for name, member in FAILURE_MEMBERS.items()},
        **{f"Errors{name.title()}": count for name, count in causes.items()},
    }
    for record in (minute_of(report_of(*stats)), minute_of(*map(report_of, stats))):
        assert record.executions == sum(
            sums[name] for name in ("completed", "completed_with_err", "completed_with_num_err")
        )
        assert record.execution_errors == sum(sums[name] for name in FAILURE_MEMBERS)
        assert {name: count for name, count in details.items() if count} == record.details


@pytest.mark.parametrize(
    ("first", "settings", "expected"),
    [
        (None, {"executions_asked": True}, 0),
        (report_of(executions(5)), {}, 0),
        (None, {}, None),
        (report_of(None), {}, None),
        (None, {"executions_asked": True, "only_matched": True}, None),
        (no_runtimes(neuron_runtime_data=None), {"executions_asked": True}, None),
    ],
)
def test_no_runtime_executes_nothing(first, settings, expected):
    """Without a runtime, executions are 0 if their group is expected and no tag filter is set."""
    fold = new_fold(every_report=True, **settings)
    last = no_runtimes() if first is None or first["neuron_runtime_data"] else first
    for minute, document in enumerate((first or no_runtimes(), last)):
        add(fold, document, REPORTS_START_S + 60 * minute)
        sample = fold.sample
        record = closed(fold)
    assert expected == record.executions
    assert expected == record.execution_errors
    assert expected == (sample and sample.executions)


@pytest.mark.parametrize("completed", [None, -1])
def test_executions_without_a_count_of_the_completed_are_not_read(completed):
    """Executions are unknown without the completed count: failures alone would look idle."""
    assert minute_of(report_of(executions(completed))).executions is None


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(st.integers(1, 10**6), st.integers(0, 3), st.floats(1e-6, 100)),
        min_size=1,
        max_size=5,
    )
)
def test_medians_are_weighted_by_completed_executions(groups):
    """
    LatencyP50Mean is the mean of p50, weighted by completed executions. P99 is a maximum.

    Failures have no weight. Reports and runtimes are merged alike.
    """
    stats = [
        executions(count, timed_out=late, total={"p50": seconds, "p99": seconds})
        for count, late, seconds in groups
    ]
    mean_s = sum(count * s for count, _, s in groups) / sum(count for count, _, _ in groups)
    for record in (minute_of(report_of(*stats)), minute_of(*map(report_of, stats))):
        assert pytest.approx(mean_s, rel=1e-6, abs=1e-9) == record.latency_p50_mean_s
        assert max(s for _, _, s in groups) == record.latency_p99_max_s


@pytest.mark.parametrize(
    ("medians", "gap_s"),
    [
        ({"total": {"p50": 0.75}, "device": {"p50": 0.25}}, 0.5),
        ({"total": {"p50": 1.0 + 2**-29}, "device": {"p50": 1.0}}, 2**-29),
        ({"total": {"p50": 2**-10 + 2**-35}, "device": {"p50": 2**-10}}, 2**-35),
        ({"total": {"p50": 6.29e-05}, "device": {"p50": 6.29e-05}}, 0.0),
        ({"total": {"p50": 6.2e-05}, "device": {"p50": 6.3e-05}}, 0.0),
        ({"total": TOTAL}, None),
        ({"device": DEVICE}, None),
    ],
)
def test_the_gap_is_never_below_0(medians, gap_s):
    """The gap is at least 0, although noise can reverse equal medians. It needs both medians."""
    assert gap_s == minute_of(report_of(executions(10, **medians))).number("LatencyGapP50")
