"""How far the kernel log was read, and what is kept of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.fold.state import FoldState, read_state
from emitter.kernel.position import (
    MAX_NEAR,
    NEAR_US,
    LogState,
    Position,
    beginning,
    read_log_state,
    with_log_state,
)
from proof.factories.kernel_logs import BOOT, BOOTED_S, EARLIER_BOOT, fault, message


def after(*messages):
    """The position when these were seen."""
    position = beginning(messages[0].boot_id, BOOTED_S)
    for one in messages:
        position = position.after(one)
    return position


def test_numbers_decide_where_both_have_one():
    """Two faults with one stamp and one text are two."""
    position = after(fault(5, seq=7))
    assert position.covers(fault(5, seq=7))
    assert position.covers(fault(900, seq=6))
    assert not position.covers(fault(5, seq=8))


def test_stamps_decide_between_the_ring_and_the_journal():
    """A fault that is a little older than the newest message is news unless it was seen."""
    seen, unseen = fault(10 * NEAR_US - 9), fault(10 * NEAR_US - 8)
    position = after(fault(10 * NEAR_US - 9, seq=3), message(10 * NEAR_US, seq=4))
    assert position.covers(seen)
    assert not position.covers(unseen)
    assert position.covers(fault(9 * NEAR_US - 1))  # too old for any disorder
    assert not position.covers(fault(10 * NEAR_US + 1))
    assert position.covers(message(10 * NEAR_US - 5))  # no fault: nobody asks


def test_two_faults_of_one_microsecond_are_told_apart_by_what_they_say():
    """Two processes of a job may well tell at once."""
    position = after(fault(5, seq=1, device=0))
    assert position.covers(fault(5, device=0))
    assert not position.covers(fault(5, device=1))


def test_the_ring_of_another_boot_is_news_whatever_the_clock_says():
    """A clock that was wrong in the last boot must not hide this one's faults."""
    position = after(fault(10**12, seq=900, boot=EARLIER_BOOT))
    assert not position.covers(fault(1, seq=0))
    assert position.covers(fault(1))  # out of the journal: an earlier boot, by its time
    assert not position.covers(fault(10**12 + 1))


def test_what_was_overwritten_is_counted_by_number():
    """Only within a boot, and only where there are numbers."""
    position = after(message(1, seq=10))
    assert 0 == position.missed(message(2, seq=11))
    assert 4 == position.missed(message(2, seq=15))
    assert 0 == position.missed(message(2))
    assert 0 == position.missed(message(2, seq=15, boot=EARLIER_BOOT))


@given(st.lists(st.integers(0, 3 * NEAR_US), min_size=1, max_size=400))
def test_what_is_remembered_is_bounded(stamps):
    """Also of a flood, and the newest are what is remembered."""
    position = after(*(fault(us, device=number) for number, us in enumerate(stamps)))
    assert len(position.near) <= MAX_NEAR
    assert max(stamps) == position.since_boot_us
    assert position.covers(fault(stamps[-1], device=len(stamps) - 1))
    assert len(with_log_state(None, LogState(position, position))) < 10_000


POSITIONS = st.builds(
    Position,
    boot_id=st.sampled_from([BOOT, EARLIER_BOOT]),
    since_boot_us=st.integers(0, 1 << 62),
    at_s=st.floats(0, 4e9),
    seq=st.none() | st.integers(0, 1 << 62),
    near=st.lists(st.integers(0, 9).map(lambda us: f"{us}:0a1b2c3d"), max_size=3).map(tuple),
)
STATES = st.builds(LogState, st.none() | POSITIONS, st.none() | POSITIONS)


@given(STATES)
def test_what_is_kept_is_read_again_and_the_fold_reads_its_own(state):
    """Each finds its part in the state of the spool and leaves the other's alone."""
    fold = FoldState(instance_id="i-0a1b2c3d4e5f60718", cores=32)
    kept = with_log_state(fold.encoded(), state)
    assert state == read_log_state(kept)
    assert fold == read_state(kept)
    assert state == read_log_state(with_log_state(kept, state))


@pytest.mark.parametrize(
    "kept",
    [
        None,
        b"",
        b"[]",
        b"\xff",
        b"{}",
        b'{"kernel":null}',
        b'{"kernel":7}',
        b'{"kernel":{"counted":{"boot_id":""}}}',
        b'{"kernel":{"counted":{"boot_id":"a","since_boot_us":-1,"at_s":0}}}',
        b'{"kernel":{"counted":{"boot_id":"a","since_boot_us":1,"at_s":0,"near":["x:y"]}}}',
        b'{"kernel":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_what_cannot_be_read_is_a_first_sight(kept):
    """And costs the fold nothing: it is written anew with the next minute."""
    assert LogState() == read_log_state(kept)


def test_a_state_that_nobody_can_read_is_replaced():
    """A later start has something to go on from."""
    position = after(message(1, seq=1))
    kept = with_log_state(b"\xff", LogState(position))
    assert {"kernel"} == json.loads(kept).keys()
    assert position == read_log_state(kept).counted
