"""Idle minutes: whole minutes in a row a core has not been busy, by minute label."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from neuron_reports import (
    START_S,
    add,
    closed,
    counters,
    memory,
    minute_of,
    new_fold,
    runtime,
    two_cores,
)

from emitter.fold.state import IdleMinutes


def play(fold, minute, percent, covered_s=60.0):
    """One minute of an instance with two cores: each of *percent* for *covered_s* in all."""
    at_s = START_S + 60 * minute
    left = covered_s
    while left > 0.4:
        period = min(5.0, left)
        left -= period
        add(fold, two_cores(runtime(counters(percent, period), memory({0: 1}))), at_s)
    fold.clock.open_minute(at_s)
    return closed(fold).idle_minutes


def again(fold):
    """A new emitter with the state the old one stored."""
    return new_fold(fold.encode_state())


@pytest.mark.parametrize(("covered_s", "expected"), [(44.9, 1), (44.98, 1), (45.0, 2), (60.0, 2)])
def test_a_whole_minute_has_45_covered_seconds(covered_s, expected):
    """A partial minute that was not busy neither adds nor resets."""
    fold = new_fold()
    play(fold, 0, [0, 0])
    assert (expected, expected) == play(fold, 1, [0, 0], covered_s)


def test_nine_reports_of_five_seconds_are_a_whole_minute():
    """Measured periods are a little off 5 s: what rounds to 45.00 s is 45 s, as the line says."""
    record = minute_of(*[two_cores(runtime(counters([0, 0], 4.9997), memory()))] * 9)
    assert (45, (1, 1)) == (record.covered_seconds, record.idle_minutes)


def test_busy_in_a_partial_minute_resets():
    """Busy is busy, however short it was watched."""
    fold = new_fold()
    play(fold, 0, [0, 0])
    assert (0, 1) == play(fold, 1, [50, 0], 5)


def test_an_unknown_minute_neither_adds_nor_resets():
    """Unknown is never counted as idle, and never as busy."""
    fold = new_fold()
    play(fold, 0, [0, 0])
    play(fold, 1, [0, 0], 0)
    assert (2, 2) == play(fold, 2, [0, 0])
    assert (2, 3) == play(fold, 3, [None, 0])
    assert (3, 4) == play(fold, 4, [0, 0])


def test_a_core_is_counted_by_its_own_seconds():
    """A core hidden for most of the minute by a failed runtime was not watched for it."""
    idle = runtime(counters([0, 0]), memory())
    hidden = two_cores(idle, runtime(None, memory({0: 1}), pid=2))
    assert (0, 1) == minute_of(*[two_cores(idle)] * 8, *[hidden] * 4).idle_minutes


def test_a_minute_counts_once_however_often_the_emitter_starts():
    """Keyed by label: the second part of a counted minute adds nothing."""
    fold = new_fold()
    assert (1, 1) == play(fold, 0, [0, 0], 45)
    second = again(fold)
    assert (1, 1) == play(second, 0, [0, 0], 45)
    assert (2, 2) == play(second, 1, [0, 0])


@pytest.mark.parametrize(("first_s", "second_s", "expected"), [(25, 30, 0), (10, 50, 1)])
def test_the_parts_of_a_minute_count_each_for_itself(first_s, second_s, expected):
    """What lay between them nobody watched: a partial one neither adds nor resets."""
    fold = new_fold()
    assert (0, 0) == play(fold, 0, [0, 0], first_s)
    assert (expected,) * 2 == play(again(fold), 0, [0, 0], second_s)


@pytest.mark.parametrize(
    ("parts", "expected"), [([(90, 10), (0, 50)], [0, 0]), ([(0, 45), (90, 10)], [2, 0])]
)
def test_busy_in_any_part_of_a_minute_resets(parts, expected):
    """First or second part: the minute was not idle."""
    fold = new_fold()
    play(fold, 0, [0, 0])
    for (percent, covered_s), minutes in zip(parts, expected, strict=True):
        assert minutes == play(fold, 1, [percent, 0], covered_s)[0]
        fold = again(fold)


def test_partial_minutes_keep_the_count_alive():
    """They were watched, if not wholly: neither added nor reset nor forgotten."""
    fold = new_fold()
    play(fold, 0, [0, 0])
    for minute in range(1, 15):
        assert (1, 1) == play(fold, minute, [0, 0], 40)
    assert (2, 2) == play(fold, 15, [0, 0])


def test_a_count_from_the_future_does_not_stop_the_clock():
    """After a clock that was days ahead is set right, minutes count again."""
    fold = new_fold()
    play(fold, 10_000, [0, 0])
    second = again(fold)
    assert [(1, 1), (2, 2)] == [play(second, minute, [0, 0]) for minute in (0, 1)]


def test_a_minute_before_the_stored_one_adds_nothing():
    """The clock went back by minutes over a restart: those minutes were counted."""
    fold = new_fold()
    play(fold, 5, [0, 0])
    second = again(fold)
    assert (1, 1) == play(second, 3, [0, 0])
    assert (0, 1) == play(second, 4, [50, 0])


def test_a_minute_without_any_core_keeps_the_counts():
    """Nobody told a core in it. A core that is gone is forgotten, and begins at nothing."""
    idle = IdleMinutes(100, [3, 4], 100)
    whole = [("", ()), ("uu", (4, 5)), ("u", (5,)), ("uu", (6, 1))]
    for label, (states, minutes) in enumerate(whole, start=101):
        assert minutes == idle.count_minute(label, states, [60.0] * len(states))


def test_the_configured_threshold_is_the_one_that_counts():
    """idle_below_percent: at it a core is busy, below it is not."""
    fold = new_fold(idle_below_percent=10.0)
    assert (1, 0) == play(fold, 0, [9.99, 10.0])


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0, 0.5, 50]), st.sampled_from([0, 10, 44, 45, 60]), st.booleans()
        ),
        max_size=8,
    )
)
def test_restarts_between_minutes_change_nothing(minutes):
    """A fold that is stored and restored after any minute counts as one that never stopped."""
    steady, restarted = new_fold(), new_fold()
    for minute, (percent, covered_s, is_restart) in enumerate(minutes):
        expected = play(steady, minute, [percent, 0], covered_s)
        assert expected == play(restarted, minute, [percent, 0], covered_s)
        if is_restart:
            restarted = again(restarted)


def test_stored_counts_are_forgotten_ten_minutes_after_somebody_last_watched():
    """Not after the last count; a state that does not say when was watched when it counted last."""
    assert (6,) == IdleMinutes(100, [5], 108).count_minute(115, "u", [60.0])
    assert (1,) == IdleMinutes(100, [5], 104).count_minute(115, "u", [60.0])
    assert (6,) == IdleMinutes(100, [5]).count_minute(110, "u", [60.0])
    assert (1,) == IdleMinutes(100, [5]).count_minute(111, "u", [60.0])
