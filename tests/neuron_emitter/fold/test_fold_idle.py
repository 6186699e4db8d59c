"""Idle minutes: consecutive whole minutes in which a core was not busy."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.fold.state import FoldState, read_state
from tests.neuron_emitter.neuron_reports import (
    REPORTS_START_S,
    add,
    closed,
    counters,
    memory,
    minute_of,
    new_fold,
    report,
    runtime,
    two_cores,
)


def play(fold, minute, percent, covered_s=60.0):
    """Fold a minute of two cores at *percent* for *covered_s* seconds; return idle minutes."""
    at_s = REPORTS_START_S + 60 * minute
    left = covered_s
    while left > 0.4:
        period = min(5.0, left)
        left -= period
        add(fold, two_cores(runtime(counters(percent, period), memory({0: 1}))), at_s)
    fold.clock.open_minute(at_s)
    return closed(fold).idle_minutes


def restored(fold):
    """Return a new fold with the stored state of *fold*."""
    return new_fold(fold.encode_state())


@pytest.mark.parametrize(("covered_s", "expected"), [(44.9, 1), (44.98, 1), (45.0, 2), (60.0, 2)])
def test_a_whole_minute_has_45_covered_seconds(covered_s, expected):
    """A whole minute has at least 45 covered seconds. A shorter idle minute changes no count."""
    fold = new_fold()
    play(fold, 0, [0, 0])
    assert (expected, expected) == play(fold, 1, [0, 0], covered_s)


def test_a_core_needs_its_own_covered_seconds():
    """A core needs 45 covered seconds of its own: a failed runtime can hide it for the rest."""
    idle = runtime(counters([0, 0]), memory())
    hidden = two_cores(idle, runtime(None, memory({0: 1}), pid=2))
    assert (0, 1) == minute_of(*[two_cores(idle)] * 8, *[hidden] * 4).idle_minutes


@pytest.mark.parametrize(
    ("parts", "expected"), [([(90, 10), (0, 50)], [0, 0]), ([(0, 45), (90, 10)], [2, 0])]
)
def test_busy_in_any_part_of_a_minute_resets(parts, expected):
    """A minute that was busy in its first or second part is not idle."""
    fold = new_fold()
    play(fold, 0, [0, 0])
    for (percent, covered_s), minutes in zip(parts, expected, strict=True):
        assert minutes == play(fold, 1, [percent, 0], covered_s)[0]
        fold = restored(fold)


def test_counting_resumes_after_a_clock_was_ahead():
    """Counting resumes after a clock that was days ahead is corrected."""
    fold = new_fold()
    play(fold, 10_000, [0, 0])
    second = restored(fold)
    assert [(1, 1), (2, 2)] == [play(second, minute, [0, 0]) for minute in (0, 1)]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0, 0.5, 50]), st.sampled_from([0, 10, 44, 45, 60]), st.booleans()
        ),
        max_size=8,
    )
)
def test_restarts_between_minutes_change_nothing(minutes):
    """A fold that is stored and restored between minutes counts as one that never stopped."""
    steady = new_fold()
    restarted = new_fold()
    for minute, (percent, covered_s, is_restart) in enumerate(minutes):
        expected = play(steady, minute, [percent, 0], covered_s)
        assert expected == play(restarted, minute, [percent, 0], covered_s)
        if is_restart:
            restarted = restored(restarted)


@pytest.mark.parametrize(
    ("watched", "label", "expected"), [(108, 115, 6), (104, 115, 1), (100, 110, 6), (100, 111, 1)]
)
def test_stored_counts_expire_ten_minutes_after_the_last_known_core(watched, label, expected):
    """Stored counts expire ten minutes after the last known core, not after the last count."""
    state = FoldState(idle_counted_minute=100, idle_minutes=[5], idle_watched=watched)
    assert (expected,) == state.count_idle_minutes(label, "u", [60.0])


def stored():
    """Return the state after one minute of four idle cores."""
    fold = new_fold()
    for second in range(0, 60, 5):
        add(fold, report(runtime(counters([0, 0, 0, 0]))), REPORTS_START_S + second)
    closed(fold)
    return json.loads(fold.encode_state())


def test_an_unknown_state_member_is_dropped():
    """The emitter drops state members that a newer version added."""
    whole = stored()
    known = read_state(json.dumps({**whole, "new_in_the_next_release": {"a": 1}}).encode())
    assert whole == json.loads(known.encoded())


@given(st.binary() | st.text().map(str.encode))
def test_no_state_stops_the_emitter(encoded):
    """The emitter starts with any bytes as saved state."""
    fold = new_fold(encoded)
    add(fold, report(runtime(counters([0, 0, 0, 0]))), REPORTS_START_S)
    assert "aaaa" == closed(fold).core_state
