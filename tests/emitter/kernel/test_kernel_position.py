"""How far the kernel log was read, and what is kept of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.fold.state import FoldState, read_state, with_kernel
from emitter.kernel.position import LogState, Position
from tests.emitter.kernel.kernel_logs import BOOT, EARLIER_BOOT, fault, message

KNOWN = {"instance_id": "i-0a1b2c3d4e5f60718", "cores": 32}
# What the first releases kept: the ring's number, or of the journal the stamp alone.
OF_THE_RING = {
    "boot_id": BOOT,
    "since_boot_us": 9_000_000,
    "at_s": 1_760_000_009.0,
    "seq": 7,
    "near": ["9000000:0a1b2c3d"],
}
OF_THE_JOURNAL = {**OF_THE_RING, "seq": None}


def test_what_has_a_number_up_to_the_last_was_seen():
    """Two faults with one stamp and one text are two."""
    position = Position.of(fault(5, seq=7))
    assert [True, True, False] == [position.covers(fault(5, seq=seq)) for seq in (6, 7, 8)]


def test_nothing_was_seen_before_the_first_message_of_a_boot():
    """Also none with the number 0."""
    assert not Position(BOOT).covers(fault(0, seq=0))


def test_the_ring_of_another_boot_is_news():
    """Its numbers begin again."""
    assert not Position.of(fault(10**12, seq=900, boot=EARLIER_BOOT)).covers(fault(1, seq=0))


def test_what_was_overwritten_is_counted_by_number():
    """Only within a boot, and only from a number on."""
    position = Position.of(message(1, seq=10))
    assert 0 == position.missed(message(2, seq=10))
    assert 0 == position.missed(message(2, seq=11))
    assert 4 == position.missed(message(2, seq=15))
    assert 0 == position.missed(message(2, seq=15, boot=EARLIER_BOOT))
    assert 0 == Position(BOOT).missed(message(2, seq=15))


@pytest.mark.parametrize(
    ("kept", "seen", "news"),
    [
        (OF_THE_RING, fault(9_000_001, seq=7), fault(8_999_999, seq=8)),
        (OF_THE_JOURNAL, fault(9_000_000, seq=8), fault(9_000_001, seq=7)),
    ],
)
def test_a_position_of_the_first_releases_is_read(kept, seen, news):
    """It goes on there after an upgrade, and the fold's part is what it was."""
    state = read_state(json.dumps({**KNOWN, "kernel": {"counted": kept, "told": None}}).encode())
    assert FoldState(**KNOWN, kernel=state.kernel) == state
    assert state.kernel.counted.covers(seen)
    assert not state.kernel.counted.covers(news)


NUMBERS = st.none() | st.integers(0, (1 << 63) - 1)
POSITIONS = st.builds(Position, st.sampled_from([BOOT, EARLIER_BOOT]), NUMBERS, NUMBERS)
STATES = st.builds(LogState, st.none() | POSITIONS, st.none() | POSITIONS)


@given(STATES, STATES)
def test_what_is_kept_is_read_again_beside_what_the_fold_knows(first, second):
    """The position changes with each event, the fold's part with a minute."""
    fold = FoldState(**KNOWN, kernel=first)
    assert fold == read_state(fold.encoded())
    assert FoldState(**KNOWN, kernel=second) == read_state(with_kernel(fold.encoded(), second))
    assert len(with_kernel(None, second)) < 1000


@pytest.mark.parametrize(
    "kernel",
    [
        b"null", b"7", b'{"counted":{"boot_id":""}}',
        b'{"counted":{"boot_id":"' + b"a" * 33 + b'"}}', b'{"counted":{"boot_id":"a","seq":-1}}',
        b'{"counted":{"boot_id":"a","seq":9223372036854775808}}',
    ],
)  # fmt: skip
def test_a_position_that_cannot_be_read_begins_again(kernel):
    """And costs the fold nothing: it is written anew with the next minute."""
    assert FoldState(cores=32) == read_state(b'{"kernel":' + kernel + b',"cores":32}')
