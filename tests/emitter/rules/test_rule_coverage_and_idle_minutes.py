"""
Rules: coverage, idle minutes. An emitter that was restarted every ten minutes never saw an hour.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.factories.groups import core_counters, instance_info
from proof.factories.reports import START_S, Reading, inf1_busy, minute_of, trn1_nobody

WHOLE = [trn1_nobody()] * 12
PARTIAL = [trn1_nobody()] * 6
BUSY = [{**trn1_nobody(), "neuron_runtime_data": inf1_busy(
    neuroncore_counters=core_counters([50.0, 0], 5.0))["neuron_runtime_data"]}]  # fmt: skip
UNKNOWN = [{**trn1_nobody(), "neuron_runtime_data": None}]


@given(st.lists(st.floats(0.5, 10), max_size=12))
def test_coverage(periods):
    """CoveredSeconds = min(60, the sum of W) of core utilization."""
    reports = [inf1_busy(neuroncore_counters=core_counters([1, 1, 1, 1], w)) for w in periods]
    expected = min(60.0, sum(periods))
    assert pytest.approx(expected, abs=0.011) == minute_of(*reports).covered_seconds


def test_one_more_for_each_whole_minute():
    """+1 only for a whole minute later than the stored one."""
    reading = Reading()
    assert [(1, 1), (2, 2), (3, 3)] == [
        reading.minute(*WHOLE, number=number).idle_minutes for number in range(3)
    ]


@pytest.mark.parametrize(("reports", "is_whole"), [(8, False), (9, True)])
def test_a_whole_minute_has_at_least_45_covered_seconds(reports, is_whole):
    """A whole minute is one with at least 45 covered seconds."""
    assert (is_whole, is_whole) == minute_of(*[trn1_nobody()] * reports).idle_minutes


def test_busy_in_any_part_resets():
    """Busy in any part resets: also in a minute of which 5 s are known."""
    reading = Reading()
    reading.minute(*WHOLE)
    assert (1, 1) == reading.minute(*PARTIAL, number=1).idle_minutes
    assert (0, 1) == reading.minute(*BUSY, number=2).idle_minutes


@pytest.mark.parametrize("middle", [PARTIAL, UNKNOWN, []], ids=["partial", "unknown", "nothing"])
def test_a_partial_or_unknown_minute_neither_adds_nor_resets(middle):
    """A partial not-busy or unknown minute neither adds nor resets."""
    reading = Reading()
    reading.minute(*WHOLE)
    reading.minute(*middle, number=1)
    assert (2, 2) == reading.minute(*WHOLE, number=2).idle_minutes


def test_attached_cores_count_too():
    """Idle minutes are those a core has not been busy, held or not."""
    idle = inf1_busy([0, 0, 0, 0])
    record = minute_of(*[idle] * 12)
    assert ("aauu", (1, 1, 1, 1)) == (record.core_state, record.idle_minutes)


def test_restarts_keep_them():
    """Stored with label and instance id, so restarts keep them."""
    reading = Reading()
    reading.minute(*WHOLE)
    reading = Reading(reading.fold.state())
    assert (2, 2) == reading.minute(*WHOLE, number=1).idle_minutes


def test_keyed_by_minute_label():
    """
    Keyed by minute label: the second half of a minute whose first half was counted adds nothing.
    """
    reading = Reading()
    reading.minute(*[trn1_nobody()] * 10)
    reading = Reading(reading.fold.state())
    assert (1, 1) == reading.minute(*[trn1_nobody()] * 10).idle_minutes


def test_another_instance_starts_anew():
    """With instance id: an image of a disk that starts elsewhere brings no idle minutes along."""
    reading = Reading()
    reading.minute(*WHOLE)
    other = trn1_nobody(instance_info=instance_info("trn1.2xlarge", instance_id="i-0other"))
    reading = Reading(reading.fold.state())
    assert (1, 1) == reading.minute(*[other] * 12, number=1).idle_minutes


@pytest.mark.parametrize(("later", "idle"), [(10, 2), (11, 1)])
def test_older_than_10_minutes_is_forgotten(later, idle):
    """Older than 10 minutes is forgotten: nobody knows what was in between."""
    reading = Reading()
    reading.minute(*WHOLE)
    reading = Reading(reading.fold.state())
    assert (idle, idle) == reading.minute(*WHOLE, number=later).idle_minutes


def test_a_clock_that_was_set_back_counts_no_minute_twice():
    """Later than the stored one: minutes never reopen."""
    reading = Reading()
    reading.minute(*WHOLE)
    for at_s in range(0, 60, 5):
        reading.take(trn1_nobody(), START_S + at_s)
    assert (2, 2) == reading.close().idle_minutes
    assert START_S + 120 == reading.fold.ends_at_s() or reading.fold.ends_at_s() is None
