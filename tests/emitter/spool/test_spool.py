"""The spool: what goes in comes out, and every record is counted once."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spool_parts import (
    NOW_MS,
    NOW_S,
    balance,
    crash,
    everything,
    held,
    lines,
    older_boots,
    open_database,
)

from emitter.spool import Spool, SpoolFailedError


@given(st.lists(st.text(), max_size=5))
def test_any_line_comes_back(texts):
    """Byte for byte; half a surrogate pair, which is no text, is dropped as invalid."""
    with Spool.open(None, max_age_s=None) as spool:
        spool.append(lines(*texts, "\ud800"))
        assert texts == held(spool)
        assert sum(len(text.encode()) for text in texts) == spool.health().bytes
        assert {"invalid": 1} == spool.health().dropped
        assert 0 == balance(spool)


def test_a_boot_is_its_start_time_and_a_random_part(spool):
    """12 hexadecimal digits of epoch milliseconds, then 8 that differ."""
    assert f"{NOW_MS:012x}" == spool.boot[:12]
    assert 20 == len(spool.boot)


def test_every_open_is_a_new_boot(tmp_path, clock):
    """Greater than the one before, even when the clock was set back; numbers start again."""
    boots = []
    for now_s in (NOW_S, NOW_S, NOW_S - 86_400, NOW_S + 1):
        clock.now_s = now_s
        with Spool.open(tmp_path, clock=clock) as spool:
            assert 1 == spool.append(lines("x"))
            boots.append(spool.boot)
    assert sorted(set(boots)) == boots


def test_a_start_that_kept_nothing_is_remembered(tmp_path, clock):
    """A kill before the first minute, and a clock set back, give no name twice or smaller."""
    first = Spool.open(tmp_path / "first", clock=clock)
    left = crash(first, tmp_path / "second")
    first.close()
    clock.now_s -= 86_400
    with Spool.open(left, clock=clock) as spool:
        assert first.boot < spool.boot


def test_oldest_stops_at_either_limit(spool):
    """Events or UTF-8 bytes, both inclusive; one record comes even if it is larger."""
    spool.append(lines("aa", "é", "bbb", "c"))
    assert ["aa", "é"] == [record.line for record in spool.oldest(2, 100)]
    assert ["aa", "é"] == [record.line for record in spool.oldest(9, 4)]
    assert ["aa"] == [record.line for record in spool.oldest(9, 3)]
    assert ["aa"] == [record.line for record in spool.oldest(9, 1)]


def test_an_older_boot_with_nothing_left_is_forgotten(tmp_path, clock):
    """Its drops too, or the table would grow with every start."""
    with Spool.open(tmp_path, clock=clock) as spool:
        spool.append(lines("a", "b"))
    with Spool.open(tmp_path, clock=clock) as spool:
        for each in everything(spool):
            spool.settle(dropped={"invalid": [each]})
        assert () == older_boots(spool)
        assert (0,) == open_database(spool).execute("SELECT count(*) FROM drops").fetchone()


def test_two_threads_keep_the_identity(spool):
    """One appends while the other delivers and drops: nothing is counted twice or not at all."""
    rounds = 60
    done = threading.Event()
    failures: list[BaseException] = []

    def deliver():
        try:
            while not done.is_set() or spool.health().records:
                ids = [record.id for record in spool.oldest(3, 1000)]
                spool.settle(ids[1:], {"invalid": ids[:1]})
                assert 0 == balance(spool)
        except BaseException as error:  # noqa: BLE001 shown by the test below
            failures.append(error)

    sender = threading.Thread(target=deliver)
    sender.start()
    for number in range(rounds):
        assert 2 * number + 1 == spool.append(lines("x", "y"), b"%d" % number)
    done.set()
    sender.join()
    health = spool.health()
    assert [] == failures
    assert 2 * rounds == health.produced == health.delivered + health.dropped["invalid"]


def test_closed_is_closed(spool):
    """A sender that is still in a call when the spool is closed gets an error, not a crash."""
    spool.close()
    spool.close()
    with pytest.raises(SpoolFailedError, match="closed"):
        spool.settle([1])
