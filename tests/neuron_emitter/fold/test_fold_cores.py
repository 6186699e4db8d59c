"""Utilization and FLOP/s of a core over a minute, and cores that no report measured."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_emitter.fold import FoldSettings
from neuron_emitter.fold.minute_cores import ReportSample
from tests.neuron_emitter.neuron_reports import (
    REPORTS_START_S,
    add,
    closed,
    counters,
    executions,
    memory,
    minute_of,
    new_fold,
    no_runtimes,
    report,
    runtime,
    two_cores,
)


@settings(max_examples=50)
@given(st.lists(st.tuples(*[st.floats(0, 100)] * 4), min_size=1, max_size=5))
def test_a_core_is_the_maximum_over_runtimes_never_their_mean(percents):
    """A core's utilization is the maximum over runtimes, which list 0 for cores they do not use."""
    entries = [runtime(counters(percent), pid=pid) for pid, percent in enumerate(percents, start=1)]
    expected = [round(max(shares), 2) for shares in zip(*percents, strict=True)]
    assert expected == list(minute_of(report(*entries)).utilization_percent)


@pytest.mark.parametrize(
    ("reported", "expected"),
    [(-0.01, None), (0, 0.0), (0.01, 0.01), (99.99, 99.99), (100, 100.0), (100.01, 100.0)],
)
def test_utilization_is_at_most_100_and_below_0_unknown(reported, expected):
    """A percentage above 100 is a rounding error and counts as 100. Below 0 it is unknown."""
    record = minute_of(two_cores(runtime(counters([reported, 50]))))
    assert (expected, 50.0) == record.utilization_percent


@pytest.mark.parametrize(
    ("period", "expected"), [(None, None), (0.070_980_417, None), (0.499, None), (0.5, 90.0)]
)
def test_a_sample_under_half_a_second_gives_no_utilization(period, expected):
    """A sample under 0.5 s gives no utilization: the first sample of neuron-monitor is noise."""
    record = minute_of(two_cores(runtime(counters([90, 90], period))))
    assert (expected, expected) == record.utilization_percent


def test_the_tallies_and_gauges_of_a_short_sample_count():
    """A sample that is too short for utilization still counts executions and memory."""
    held = memory(models=[(0, 3)], period=0.070905372)
    ran = executions(3, period=0.070935409)
    record = minute_of(report(runtime(counters([0, 0, 0, 0], 0.070980417), held, ran)))
    assert "????" == record.core_state
    assert 0 == record.covered_seconds
    assert 1 == record.reports
    assert 3 == record.executions
    assert 626_905_088 == record.number("RuntimeHostMemory")


@settings(max_examples=50)
@given(st.lists(st.tuples(st.floats(0.5, 10), st.floats(0, 100)), min_size=1, max_size=12))
def test_a_core_in_a_minute_is_weighted_by_the_length_of_its_samples(reports):
    """Utilization is weighted by sample length. The lengths, up to 60 s, are the coverage."""
    record = minute_of(*[two_cores(runtime(counters([u, 0], w))) for w, u in reports])
    weight_s = sum(w for w, _ in reports)
    expected = sum(w * u for w, u in reports) / weight_s
    assert pytest.approx(expected, abs=0.006) == record.utilization_percent[0]
    assert pytest.approx(min(60.0, weight_s), abs=0.011) == record.covered_seconds


@pytest.mark.parametrize(
    ("period", "expected"), [(9.99, 9.99), (10.0, 10.0), (10.01, 10.0), (3600.0, 10.0)]
)
def test_a_report_weighs_at_most_two_nominal_periods(period, expected):
    """One sample after a suspended machine does not cover more than two nominal periods."""
    record = minute_of(two_cores(runtime(counters([50, 50], period))), period_s=5.0)
    assert expected == record.covered_seconds


HEALTHY = runtime(counters([40, 0, 0, 0]), memory({0: 1}))
FAILED_COUNTER_GROUPS = {
    "missing": None,
    "in error": counters([0, 0, 0, 0], error="cannot read counters"),
    "too short": counters([99, 99, 99, 99], 0.07),
}


@pytest.mark.parametrize("failed", FAILED_COUNTER_GROUPS.values(), ids=FAILED_COUNTER_GROUPS)
def test_a_failed_runtime_hides_the_cores_it_holds(failed):
    """
    A runtime with failed counters hides the cores that it holds, unless another uses them.

    The other cores stay known.
    """
    entries = [HEALTHY, runtime(failed, memory({0: 1, 1: 1}, [(0, 2)]), pid=2)]
    for document in (report(*entries), report(*reversed(entries))):
        record = minute_of(document)
        assert (40.0, None, None, 0.0) == record.utilization_percent
        assert "b??u" == record.core_state
        assert 5 == record.covered_seconds


@pytest.mark.parametrize(
    "group", [None, memory(error="cannot read memory")], ids=["missing", "in error"]
)
@pytest.mark.parametrize("failed", FAILED_COUNTER_GROUPS.values(), ids=FAILED_COUNTER_GROUPS)
def test_a_failed_runtime_without_memory_hides_every_core(failed, group):
    """A runtime without counters and memory hides every core, except cores that another uses."""
    record = minute_of(report(HEALTHY, runtime(failed, group, pid=2)))
    assert (40.0, None, None, None) == record.utilization_percent


def test_a_runtime_whose_process_is_gone_is_left_out():
    """
    A runtime without a process is counted and left out: it hides no core.

    A list of only such runtimes counts as an empty list.
    """
    gone = runtime(pid=2, error="no such process")
    gone["report"] = None
    healthy = runtime(counters([40, 0]), memory({0: 1}))
    assert (40.0, 0.0) == minute_of(two_cores(healthy, gone)).utilization_percent
    fold = new_fold()
    for second in (0, 5):
        add(fold, two_cores(gone, gone), REPORTS_START_S + second)
    assert 4 == fold.runtimes.gone
    assert (0.0, 0.0) == closed(fold).utilization_percent
    add(fold, two_cores(healthy, gone), REPORTS_START_S + 60)
    assert 5 == fold.runtimes.gone


def test_an_empty_list_leaves_cores_unknown_with_a_later_tag_filter():
    """After a tag filter is set, an empty list leaves cores unknown: hidden runtimes may run."""
    fold = new_fold()
    add(fold, no_runtimes(), REPORTS_START_S)
    assert "uu" == closed(fold).core_state
    fold.configure(FoldSettings(period_s=5.0, only_matched=True))
    add(fold, no_runtimes(), REPORTS_START_S + 60)
    record = closed(fold)
    assert "??" == record.core_state
    assert 0 == record.covered_seconds


@pytest.mark.parametrize("members", [{}, {"neuron_hardware_info": None, "instance_info": None}])
def test_no_runtime_gives_0_to_cores_reported_and_to_cores_listed_in_the_minute(members):
    """
    Without a runtime, cores that the hardware reports or a runtime listed in this minute are 0.

    Here a runtime lists cores 0, 1 and 5 of two. Cores 2 to 4 are unknown, never idle. The next
    minute has only the reported cores.
    """
    fold = new_fold()
    listed = two_cores(runtime(counters({0: 60, 1: 0, 5: 0}), memory({0: 1})), **members)
    for place in range(12):
        add(fold, no_runtimes(**members) if place else listed, REPORTS_START_S + 5 * place)
    record = closed(fold)
    assert "bu???u" == record.core_state
    assert (0, 1, 0, 0, 0, 1) == record.idle_minutes
    assert (5.0, 0.0, None, None, None, 0.0) == record.utilization_percent
    for place in range(12):
        add(fold, no_runtimes(**members), REPORTS_START_S + 60 + 5 * place)
    assert ("" if members else "uu") == closed(fold).core_state


@pytest.mark.parametrize(("gap_s", "expected"), [(4.0, 9.0), (10.0, 15.0), (10.5, 15.0)])
def test_a_report_without_a_runtime_weighs_the_time_since_the_last_sample(gap_s, expected):
    """
    A report without a runtime weighs the time since the last sample.

    The maximum is two nominal periods, because the emitter watched no longer.
    """
    assert expected == minute_of(no_runtimes(), no_runtimes(), every_s=gap_s).covered_seconds


@pytest.mark.parametrize(
    ("gap_s", "expected"), [(0.1, "b?"), (5.0, "b?"), (7.5, "b?"), (7.51, "bu"), (60.0, "bu")]
)
def test_an_empty_list_soon_after_counters_changes_nothing(gap_s, expected):
    """
    An empty list within 1.5 periods of counters may mean that no runtime was due.

    The cores keep their values.
    """
    hidden = runtime(None, memory({1: 1}), pid=2)
    working = two_cores(runtime(counters([50, 0]), memory({0: 1})), hidden)
    assert expected == minute_of(working, no_runtimes(), every_s=gap_s).core_state


def test_with_a_tag_filter_cores_not_held_by_a_matched_runtime_are_unknown():
    """
    With a tag filter, only cores of matching runtimes are known: a hidden one may use others.

    An empty list does not mean that no runtime exists.
    """
    entry = runtime(counters([40, 0, 0, 0]), memory({0: 1, 1: 1}))
    record = minute_of(report(entry), only_matched=True)
    assert "ba??" == record.core_state
    assert (40.0, 0.0, None, None) == record.utilization_percent
    assert (
        "??" == minute_of(no_runtimes(), no_runtimes(), no_runtimes(), only_matched=True).core_state
    )


def flops_of(*documents, **settings):
    """Return the TeraFlops of a minute."""
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
        ({"flops": 1.0}, 1e-12),
        ({"flops": -0.5}, None),
        ({}, None),
    ],
)
def test_effective_flops_win_over_flops(rates, tera_flops):
    """
    effective_flops, even 0, wins over flops, the name in the documentation and older tools.

    A rate below 0 or above 10^18 per core is not reported.
    """
    named: dict[str, Any] = {name: {0: rate} for name, rate in rates.items()}
    group = counters([50, 50], **named)
    assert tera_flops == flops_of(two_cores(runtime(group)))


def test_flops_are_the_sum_over_the_runtimes_of_a_core():
    """FLOP/s of a core are added over its runtimes, unlike utilization."""
    group = counters([50, 0], effective_flops={0: 1e12, 1: 0})
    assert 2.0 == flops_of(two_cores(runtime(group, pid=1), runtime(group, pid=2)))


def test_flops_are_absent_when_no_report_had_them():
    """Without a reported rate, as on inf1, TeraFlops is absent, never 0."""
    null = counters([50, 50])
    null["neuroncores_in_use"]["0"] = None
    silent = two_cores(runtime(counters([50, 50])))
    minutes = (
        [silent],
        [no_runtimes(), no_runtimes()],
        [two_cores(runtime(null))],
        [silent, no_runtimes(), no_runtimes()],
    )
    assert [None] * 4 == [flops_of(*documents) for documents in minutes]


def sample_of(*documents):
    """Return the sample of the last of *documents*, which are 5 s apart."""
    fold = new_fold(every_report=True)
    for place, document in enumerate(documents):
        add(fold, document, REPORTS_START_S + 5 * place)
    return fold.sample


def test_a_sample_has_the_numbers_of_its_report_alone():
    """A sample has only the numbers of its own report."""
    before = runtime(counters([90] * 4, flops={0: 9e12}), memory(), executions(9, timed_out=1))
    entries = (
        runtime(counters([50, 0, 0, 0], flops={0: 1e12}), memory(), executions(3), pid=1),
        runtime(counters([25, 5, 0, 0], flops={1: 2e12}), memory(), executions(4), pid=2),
    )
    expected = ReportSample(REPORTS_START_S + 5, 5.0, (50, 5, 0, 0), 7, 0, 3.0)
    assert expected == sample_of(report(before), report(*entries))


def test_samples_do_not_change_the_minute():
    """The minute is equal with and without samples, and so is the count of malformed parts."""
    document = report(runtime(counters({0: 50, "x": 1}), memory({0: 1}, [(7, 9)])))
    minutes = []
    for every_report in (False, True):
        fold = new_fold(every_report=every_report, only_matched=True)
        for place in range(12):
            add(fold, document, REPORTS_START_S + 5 * place)
        minutes.append((closed(fold), fold.malformed))
    assert minutes[0] == minutes[1]
