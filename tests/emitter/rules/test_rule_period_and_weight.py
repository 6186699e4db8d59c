"""Rules: nominal period, weight of a report. A report that came late once covered four periods."""

from __future__ import annotations

import json

import pytest

from emitter.reports.monitor_config import GROUPS, monitor_config
from proof.emitter_process import neuron_emf
from proof.factories.groups import core_counters
from proof.factories.reports import Reading, inf1_busy, line, minute_of, sidecar

START = "2026-01-01T00:00:00Z"


def busy(period, percent=50.0):
    """The inf1 report with counters of this period."""
    return inf1_busy(neuroncore_counters=core_counters([percent, 0, 0, 0], period=period))


def test_the_configured_one():
    """The nominal period is the configured one: of 60 s in one report, two periods are believed."""
    assert 30.0 == minute_of(busy(60.0), period_s=15.0).covered_seconds


def test_else_the_median_of_the_last_5_accepted():
    """
    Else the median of the last 5 accepted: one late report in a pipe is cut at two usual ones.
    """
    reading = Reading(period_s=None)
    usual, late = [busy(5.0)] * 5, busy(40.0)
    assert 25.0 + 10.0 == reading.minute(*usual, late).covered_seconds
    assert 4 * 10.0 == Reading(period_s=None).minute(*[busy(10.0)] * 4).covered_seconds


@pytest.mark.timeout(30)
@pytest.mark.parametrize(("period", "is_accepted"), [(0, 0), (1, 1), (15, 1), (16, 0), (2.5, 0)])
def test_the_period_is_whole_seconds_from_1_to_15(period, is_accepted, tmp_path):
    """`--period` is whole seconds, 1 to 15."""
    (tmp_path / "reports").write_bytes(b"")
    ended = neuron_emf(
        "run", "--cluster", "blue", "--output", "stdout", "--input", tmp_path / "reports",
        "--period", period, home=tmp_path,
    )  # fmt: skip
    assert bool(is_accepted) == (2 != ended.returncode), ended.stderr


def test_one_period_for_all_groups():
    """One period for all groups in the generated configuration."""
    text = monitor_config(7)
    assert 1 + len(GROUPS) == text.count('"period": "7s"') == text.count('"period"')


def test_the_weight_is_the_largest_accepted_counters_period():
    """
    W = the largest accepted counters period in it: runtimes measure theirs one after the other.
    """
    document = sidecar(10, 20, 30, 40)
    for place, period in enumerate((4.9, 5.1, 0.06, 5.0)):
        runtime = document["neuron_runtime_data"][place]
        runtime["report"]["neuroncore_counters"]["period"] = period
    assert 5.1 == minute_of(document).covered_seconds


@pytest.mark.parametrize(("period", "covered_s"), [(9.9, 9.9), (10.0, 10.0), (37.0, 10.0)])
def test_at_most_two_nominal_periods(period, covered_s):
    """At most 2 nominal periods: a monitor that was stopped for a while knows nothing of it."""
    assert covered_s == minute_of(busy(period)).covered_seconds


def test_periods_of_other_groups_do_not_weigh():
    """A report without counters adds no weight, whatever its other groups cover."""
    document = inf1_busy()
    del document["neuron_runtime_data"][0]["report"]["neuroncore_counters"]
    assert 0 == minute_of(document).covered_seconds


@pytest.mark.timeout(30)
def test_else_the_interval(tmp_path):
    """
    Else `--interval`: a recorded file has no clock, and of 60 s in one report 2 x 10 are believed.
    """
    (tmp_path / "reports").write_bytes(line(busy(60.0)))
    ended = neuron_emf(
        "replay", "--cluster", "blue", "--start", START, "--interval", "10",
        tmp_path / "reports", home=tmp_path,
    )  # fmt: skip
    assert 0 == ended.returncode, ended.stderr
    lines = [json.loads(found) for found in ended.stdout.splitlines()]
    assert [20.0] == [found["CoveredSeconds"] for found in lines if found["Kind"] == "minute"]
