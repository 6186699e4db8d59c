"""Readings: numbers of the system groups that need one entry and one rule."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from neuron_reports import (
    START_S,
    closed,
    host_memory,
    new_fold,
)

from emitter.fold import readings
from emitter.fold.readings import MAX_WAITING, Readings
from emitter.fold.samples import MAX_AMOUNT
from neuron_wire.catalogue import READINGS, Member

RULES = (readings.MEMORY, readings.VCPU)
VALUES = st.none() | st.integers(-3, 9) | st.just(MAX_AMOUNT + 1)
BOUNDS = [
    SimpleNamespace(value=value, period=5.0, error=None)
    for value in (-1, MAX_AMOUNT, 0, MAX_AMOUNT + 1)
]
PERIODS = st.sampled_from([None, 0.25, 0.5, 5.0])
GROUPS = st.none() | st.builds(
    lambda value, period, error: SimpleNamespace(value=value, period=period, error=error),
    VALUES,
    PERIODS,
    st.sampled_from([None, "", "", "", "no /proc"]),
)


def made(monkeypatch, merges, unit="Count"):
    """What a rule of a made-up member folds of each list of groups."""
    member = Member("Made", "a test", "as told", "Made up.", unit, "gauge", merges=merges)
    monkeypatch.setitem(READINGS, "Made", member)
    monkeypatch.setattr(readings, "MEMORY", {"Made": lambda group: group.value})

    def folded(groups):
        found = Readings()
        for group in groups:
            found.add_system(SimpleNamespace(memory_info=group, vcpu_usage=None))
        return found.by_member().get("Made")

    return folded


def told(groups):
    """The groups that tell a number which can be."""
    return [
        group
        for group in groups
        if group is not None
        and not group.error
        and group.value is not None
        and 0 <= group.value <= MAX_AMOUNT
    ]


EXPECTED = {
    "last": lambda groups: groups[-1].value,
    "sum": lambda groups: sum(group.value for group in groups),
}


@pytest.mark.parametrize("merges", EXPECTED)
def test_a_reading_is_of_all_reports_that_tell_it(monkeypatch, merges):
    """However many there are, and whatever stands between them: nothing told is no member."""
    folded = made(monkeypatch, merges)

    @given(st.lists(GROUPS, max_size=3 * MAX_WAITING))
    @example([SimpleNamespace(value=number, period=5.0, error=None) for number in range(100)])
    @example(BOUNDS)
    def holds(groups):
        telling = told(groups)
        expected = EXPECTED[merges](telling) if telling else None
        assert expected == folded(groups)

    holds()


def test_a_mean_is_weighted_by_the_period_of_the_group(monkeypatch):
    """Periods under half a second, and unknown ones, are no sample."""
    folded = made(monkeypatch, "mean", unit="None")

    @given(st.lists(GROUPS, max_size=3 * MAX_WAITING))
    @example(BOUNDS)
    def holds(groups):
        telling = [one for one in told(groups) if one.period is not None and one.period >= 0.5]
        weight = sum(Fraction(one.period) for one in telling)
        total = sum(Fraction(one.period) * one.value for one in telling)
        expected = pytest.approx(float(total / weight)) if weight else None
        assert expected == folded(groups)

    holds()


@pytest.mark.parametrize(
    ("unit", "expected"),
    [("Count", 2), ("Bytes", 2), ("Percent", 2.12), ("None", 2.12345678912)],
)
def test_a_reading_is_as_exact_as_its_unit(monkeypatch, unit, expected):
    """Counts and bytes are whole: a reader refuses others; the line rounds what is neither."""
    group = SimpleNamespace(value=2.12345678912, period=5.0, error=None)
    found = made(monkeypatch, "last", unit)([group])
    assert (expected, type(expected)) == (found, type(found))


def test_a_flood_of_reports_takes_no_memory():
    """Only a few wait to be looked at together."""
    found, group = Readings(), SimpleNamespace(**host_memory())
    for _ in range(10 * MAX_WAITING):
        found.add_system(SimpleNamespace(memory_info=group, vcpu_usage=None))
        assert len(found._memory) < MAX_WAITING


def test_each_reading_of_the_catalogue_has_one_rule():
    """And each rule its entry: a name that stands in one of the two only is a mistake."""
    names = [name for rules in RULES for name in rules]
    assert sorted([*names, *readings.BESIDE]) == sorted(READINGS)


def test_faults_of_a_minute_add_up_and_end_with_it():
    """
    Told bit by bit, and the next minute has its own. Missing is not zero: while nobody reads
    kernel messages there is no number, once somebody does, none is 0. Those of a minute without a
    record are not in the next.
    """
    fold = new_fold()
    told = []
    for minute, counts in enumerate(([1, 0, 2], [0], [], [2], [5])):
        fold.clock.open_minute(START_S + 60 * minute)
        for count in counts:
            fold.add_hardware_faults(count)
        if counts == [2]:
            fold.discard_minute()
        else:
            told.append(closed(fold).readings)
    assert [{"HardwareFaults": 3}, {"HardwareFaults": 0}, {}, {"HardwareFaults": 5}] == told
