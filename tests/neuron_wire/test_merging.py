"""Merging records of one instance and minute: parts of a minute, or two emitters."""

from __future__ import annotations

from functools import reduce
from operator import add

import pytest

from neuron_wire.catalogue import READING_MEMBERS, Member
from neuron_wire.merging import merge_records
from proof.factories.records import LATER_BOOT, record


def part(covered_seconds, **changes):
    """Return a record of part of the minute, with one core."""
    one_core = {"core_state": "b", "utilization_percent": (50.0,), "idle_minutes": (0,)}
    return record(covered_seconds=covered_seconds, **{**one_core, **changes})


@pytest.mark.parametrize(("seconds", "two"), [(36.0, False), (36.1, True)])
def test_66_covered_seconds_are_a_restart_and_more_are_two_emitters(seconds, two):
    """Up to 66 covered seconds are a restart. Above 66 seconds are two emitters."""
    merged = merge_records([part(30.0), part(seconds, boot=LATER_BOOT)])
    assert two == merged.duplicate_emitters
    assert (seconds if two else 60.0) == merged.record.covered_seconds


def test_the_limit_of_a_restart_is_exact():
    """5.97, 59.1 and 0.93 seconds are exactly 66, although their sum as floats is greater."""
    parts = [part(5.97), part(59.1, seq=2), part(0.93, boot=LATER_BOOT)]
    # Not sum(): from Python 3.12 on, sum() compensates rounding errors.
    assert 66 < reduce(add, (part.covered_seconds for part in parts))
    assert not merge_records(parts).duplicate_emitters


@pytest.mark.parametrize(
    ("percents", "mean"), [((0.01, 0.02), 0.02), ((0.02, 0.03), 0.02), ((12.34, 12.35), 12.34)]
)
def test_a_mean_is_rounded_half_to_even(percents, mean):
    """A mean has two decimals, rounded half to even, on every machine."""
    parts = [part(30.0, seq=seq, utilization_percent=(at,)) for seq, at in enumerate(percents)]
    assert (mean,) == merge_records(parts).record.utilization_percent


def test_an_instance_that_came_back_is_not_gone():
    """The latest part's `CleanShutdown` decides: an instance that restarted is not gone."""
    back = [part(30.0, is_clean_shutdown=True), part(30.0, boot=LATER_BOOT)]
    left = [part(30.0), part(30.0, boot=LATER_BOOT, is_clean_shutdown=True)]
    thrice = [part(10.0), part(10.0, seq=2), part(30.0, boot=LATER_BOOT, is_clean_shutdown=True)]
    assert [False, True, True] == [merge_records(parts).gone for parts in (back, left, thrice)]


def test_an_instance_is_gone_when_both_its_emitters_shut_down():
    """An instance with two emitters is gone only after both have shut down."""
    one_stays = [part(60.0), part(60.0, boot=LATER_BOOT, is_clean_shutdown=True)]
    both = [part(60.0, is_clean_shutdown=True), part(60.0, boot=LATER_BOOT, is_clean_shutdown=True)]
    again = [
        part(30.0),
        part(30.0, seq=2, is_clean_shutdown=True),
        part(60.0, boot=LATER_BOOT, is_clean_shutdown=True),
    ]
    assert [False, True, True] == [merge_records(parts).gone for parts in (one_stays, both, again)]


def readings_of(*parts, merges, unit="Count"):
    """Return an invented reading after a merge; each part is (seconds, value or None)."""
    member = Member("Made", "a test", "any", "Made up.", unit, "gauge", merges=merges)
    records = [
        part(seconds, seq=seq, readings={} if value is None else {"Made": value})
        for seq, (seconds, value) in enumerate(parts, 1)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(READING_MEMBERS, "Made", member)
        return merge_records(records).record.readings.get("Made")


@pytest.mark.parametrize(("merges", "expected"), [("last", 4), ("sum", 17), ("mean", 5)])
def test_a_reading_merges_as_its_entry_says(merges, expected):
    """A reading is merged as its catalogue entry says; a mean is weighted by covered seconds."""
    parts = ((10.0, 6), (20.0, 7), (30.0, 4), (0.0, None))
    assert expected == readings_of(*parts, merges=merges)
