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
)
from tests.local.report_shape import ECC, ENDINGS

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
