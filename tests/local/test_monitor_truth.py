"""What a minute must come to, compared with arithmetic by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.monitor.truth import (
    Interval,
    ReportTruth,
    expected_minutes,
    expected_rollups,
    parse_truth,
    read_truth,
)
from tests.local.report_shape import ECC, ENDINGS
from tests.local.simulated_reports import truth_line

MINUTE = 1_768_000_020_000  # a full minute, ms since 1970
NO_RISES = dict.fromkeys(ECC, 0)


def ended(**executions):
    """Executions by their ending, none of the others."""
    return {**dict.fromkeys(ENDINGS, 0), **executions}


def report(at_s, percents, *, period_s=5.0, instance="i-1", held=None, **members):
    """One line of a truth file, *at_s* seconds into the minute."""
    cores, at_ms = 2 if percents is None else len(percents), MINUTE + round(1000 * at_s)
    percents = None if percents is None else tuple(percents)
    found = ReportTruth(instance, cores, 5.0, 7, at_ms, period_s, 1, percents, held, None, None)
    return replace(found, **members)


def only(rows, **settings):
    """The one minute that *rows* make."""
    ((_, expected),) = expected_minutes(rows, **settings).items()
    return expected


def exactly(value):
    """An interval of one value."""
    return Interval(value, value)


def test_a_minute_by_hand():
    """
    Core 0: (5·80 + 6·40 + 5·60)/16 = 58.75. Core 1 is known to two reports: (5·0 + 6·0)/11 = 0
    and is held. Core 2: nobody has it. Utilization: (58.75 + 0 + 0)/3.
    """
    first, second, third, fourth = (
        report(at_s, percents, period_s=period_s, held=(True, True, False))
        for at_s, percents, period_s in (
            (4, [97, 3, 0], 0.07), (10, [80, 0, 0], 5.0), (16, [40, 0, 0], 6.0),
            (21, [60, None, 0], 5.0),
        )
    )  # fmt: skip
    rises = {**NO_RISES, "mem_ecc_corrected": 2, "sram_ecc_uncorrected": 1}
    more = {**NO_RISES, "sram_ecc_corrected": 1, "mem_ecc_uncorrected": 5}
    rows = [
        replace(first, executions=ended(completed=2, timed_out=1), ecc_rises=NO_RISES),
        replace(second, executions=ended(completed=100, completed_with_err=3), ecc_rises=rises),
        replace(
            third, executions=ended(completed_with_num_err=4, incorrect_input=1), ecc_rises=more
        ),
        replace(fourth, executions=ended(failed_to_queue=9)),
    ]
    found = only(rows)
    assert (1, 3) == (found.instances, found.neuron_cores)
    assert [exactly(1), exactly(1), exactly(1), exactly(0)] == [
        found.busy_cores,
        found.attached_idle_cores,
        found.unattached_cores,
        found.unknown_cores,
    ]
    assert found.utilization_percent.admits(58.75 / 3, 1e-9)
    assert exactly(2 + 103 + 4) == found.executions
    assert exactly(1 + 3 + 5 + 9) == found.execution_errors
    assert exactly(3) == found.ecc_corrected_rise
    assert exactly(6) == found.ecc_uncorrected_rise
    assert exactly(4) == found.reports


def test_a_first_report_alone_leaves_every_core_unknown():
    """Its percentages cover milliseconds; its tallies count."""
    found = only([report(4, [97, 3], period_s=0.07, executions=ended(completed=5))])
    assert exactly(2) == found.unknown_cores
    assert Interval(None, None) == found.utilization_percent
    assert exactly(5) == found.executions


@pytest.mark.parametrize(("period_s", "unknown"), [(0.499, 2), (0.5, 0), (None, 2)])
def test_half_a_second_is_long_enough(period_s, unknown):
    """The limit is inclusive."""
    assert exactly(unknown) == only([report(4, [50, 50], period_s=period_s)]).unknown_cores


def test_a_report_is_believed_for_two_periods():
    """60 s after a stall weigh 10 s: (10·90 + 5·30)/15 = 70."""
    rows = [report(10, [90], period_s=60.0), report(15, [30])]
    assert only(rows).utilization_percent.admits(70.0, 1e-9)


@pytest.mark.parametrize(("percent", "busy"), [(0.99, 0), (1.0, 1)])
def test_a_core_is_busy_from_one_percent(percent, busy):
    """The limit is inclusive, and below it a core that moved at all is held."""
    found = only([report(10, [percent], held=(False,))])
    assert exactly(busy) == found.busy_cores
    assert exactly(1 - busy) == found.attached_idle_cores


def test_who_is_held_is_read_from_the_last_report_that_tells():
    """A runtime that ended in the middle of the minute holds nothing at its end."""
    first, last = report(10, [0, 0], held=(True, True)), report(20, [0, 0], held=(False, True))
    found = only([first, last, report(30, [0, 0])])
    assert exactly(1) == found.attached_idle_cores
    assert exactly(1) == found.unattached_cores


def test_without_any_memory_group_a_listed_core_counts_as_held():
    """Nothing says otherwise."""
    assert exactly(2) == only([report(10, [0, 0])]).attached_idle_cores


def test_an_empty_list_makes_every_core_unattached():
    """It is a sample of 0, however long the time was; the very first one is none."""
    empty = {"runtimes": 0, "held": (False, False)}
    first = report(4, [0, 0], period_s=0.001, **empty)
    assert exactly(2) == only([first]).unknown_cores
    found = only([first, report(9, [0, 0], **empty)])
    assert exactly(2) == found.unattached_cores
    assert exactly(0.0) == found.utilization_percent
    assert Interval(0, 0, may_be_missing=True) == found.executions == found.execution_errors


def test_an_empty_list_after_a_restart_may_count_or_not():
    """It counts for a reader that was there before, and not for one that started as well."""
    empty = {"runtimes": 0, "held": (False, False)}
    rows = [report(-50, [0, 0], **empty), report(4, [0, 0], period_s=0.001, **empty)]
    found = expected_minutes(rows)["i-1", MINUTE]
    assert Interval(0, 2) == found.unattached_cores
    assert found.utilization_percent.admits(0.0)
    assert found.utilization_percent.admits(None)


def test_a_line_that_tells_nothing_about_cores_changes_nothing_about_them():
    """Only system groups were due."""
    rows = [report(10, [50, 0], held=(True, False)), report(12, None, period_s=None, runtimes=0)]
    found = only(rows)
    assert exactly(1) == found.busy_cores
    assert exactly(2) == found.reports


@pytest.mark.parametrize(
    ("at_s", "minutes"),
    [(-0.5, [-60_000]), (-0.499, [-60_000, 0]), (0.499, [-60_000, 0]), (0.5, [0])],
)
def test_the_margin_itself_is_clear(at_s, minutes):
    """On both sides of the full minute, which opens a minute that may stay empty."""
    found = expected_minutes([report(at_s, [50])], margin_ms=500)
    assert [("i-1", MINUTE + minute) for minute in minutes] == list(found)


def test_reports_at_a_boundary_never_overtake_each_other():
    """The later of two cannot be in the earlier minute without the other."""
    rows = [
        report(-0.2, [10], executions=ended(completed=1)),
        report(0.2, [90], executions=ended(completed=100)),
    ]
    found = expected_minutes(rows, margin_ms=500)["i-1", MINUTE - 60_000]
    assert Interval(1, 101, may_be_missing=True) == found.executions
    assert Interval(10, 50, may_be_missing=True) == found.utilization_percent


TIMES = st.lists(st.integers(-120_000, 120_000), min_size=1, max_size=12, unique=True)


@given(TIMES, st.integers(0, 900), st.integers(-899, 899))
def test_any_lateness_within_the_margin_is_admitted(times_ms, margin_ms, lateness_ms):
    """Whatever minute a report was received in, if it was less than the margin off."""
    lateness_ms = max(-margin_ms + 1, min(margin_ms - 1, lateness_ms)) if margin_ms else 0
    executions = ended(completed=1)
    rows = [report(at_ms / 1000, [at_ms % 90], executions=executions) for at_ms in times_ms]
    late = [replace(row, at_ms=row.at_ms + lateness_ms) for row in rows]
    expected = expected_minutes(rows, margin_ms=margin_ms)
    for key, received in expected_minutes(late).items():
        assert expected[key].reports.admits(received.reports.lo)
        assert expected[key].executions.admits(received.executions.lo)
        assert expected[key].utilization_percent.admits(received.utilization_percent.lo, 1e-9)
        assert expected[key].busy_cores.admits(received.busy_cores.lo)


def test_a_cluster_adds_cores_and_averages_over_known_ones():
    """4 known cores at 80 and 2 of 4 known at 20: (4·80 + 2·20)/6 = 60."""
    rows = [
        report(10, [80] * 4, executions=ended(completed=7)),
        report(11, [20, 20, None, None], instance="i-2"),
        report(12, [99], instance="i-3"),
    ]
    minutes = expected_minutes(rows)
    found = expected_rollups(minutes, {"i-1": "a", "i-2": "a", "i-3": "b"})
    assert {("a", MINUTE), ("b", MINUTE)} == set(found)
    cluster = found["a", MINUTE]
    assert (2, 8) == (cluster.instances, cluster.neuron_cores)
    assert exactly(6) == cluster.busy_cores
    assert exactly(2) == cluster.unknown_cores
    assert cluster.utilization_percent.admits(60.0, 1e-9)
    assert exactly(7) == cluster.executions
    assert Interval(None, None) == cluster.ecc_corrected_rise


def test_a_cluster_of_uncertain_minutes_is_uncertain():
    """Bounds add up; a tally that may be missing adds nothing at least."""
    rows = [
        report(10, [50], executions=ended(completed=5)),
        report(0.1, [90], instance="i-2", executions=ended(completed=3)),
    ]
    minutes = expected_minutes(rows, margin_ms=500)
    found = expected_rollups(minutes, {"i-1": "a", "i-2": "a"})["a", MINUTE]
    assert Interval(5, 8) == found.executions
    assert Interval(1, 2) == found.busy_cores
    assert found.utilization_percent.admits(50.0)
    assert found.utilization_percent.admits(70.0)


@pytest.mark.parametrize(
    ("interval", "value", "expected"),
    [
        (Interval(1, 2), 1, True),
        (Interval(1, 2), 2.01, False),
        (Interval(1, 2), 2.005, True),
        (Interval(1, 2), 0.98, False),
        (Interval(1, 2), None, False),
        (Interval(1, 2, may_be_missing=True), None, True),
        (Interval(None, None), None, True),
        (Interval(None, None), 0, False),
    ],
)
def test_missing_is_not_zero(interval, value, expected):
    """A number where there must be none is wrong, and the other way round."""
    assert expected is interval.admits(value, 0.006)


def test_truth_is_read_from_files_in_any_order(tmp_path):
    """A line that is still being written is left out."""
    line = truth_line(at_ms=MINUTE)
    members = {"percents": [50.5, None], "held": "10", "executions": ended(completed=3)}
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text(truth_line(report=1, at_ms=MINUTE + 5000, **members) + "\n")
    two.write_text(f"{line}\n{line[:40]}")
    found = read_truth([one, two])
    assert [1, 0] == [row.report for row in found]
    assert (50.5, None) == found[0].percents
    assert (True, False) == found[0].held
    assert 3 == found[0].executions["completed"]
    assert exactly(2) == only(found).reports


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({}, "version 1"),
        ({"version": 2}, "version 1"),
        ({"version": 1, "percents": None, "held": None}, "instance"),
    ],
)
def test_another_kind_of_line_is_refused(members, says):
    """A comparison with nothing would always succeed."""
    with pytest.raises(ValueError, match=says):
        parse_truth(members)
