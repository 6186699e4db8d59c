"""A disk that refuses when the emitter starts: it starts in memory and moves in later."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from spool_parts import (
    Ticks,
    balance,
    counters_of,
    everything,
    held,
    lines,
    names,
    older_boots,
)

from emitter.spool import Spool, SpoolHeldError
from emitter.spool.layout import FILE_NAME

STATE = b"state"


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_directory_that_cannot_be_made_is_waited_for(tmp_path, clock, events, caplog, below):
    """The emitter starts in memory, says what to do, and moves in when it can."""
    blocker = tmp_path / "file"
    blocker.write_text("")
    directory = blocker / below
    with Spool.open(directory, clock=clock, monotonic=Ticks(), on_event=events.append) as spool:
        assert str(directory) in caplog.records[-1].getMessage()
        assert "--spool-dir" in caplog.records[-1].getMessage()
        assert ["SpoolInMemory"] == names(events)
        assert 1 == spool.append(lines("a"), STATE)
        assert 1 == spool.health().in_memory
        blocker.unlink()
        assert 2 == spool.append(lines("b"))
        assert 0 == spool.health().in_memory
        assert ["a", "b"] == held(spool)
    with Spool.open(directory, clock=clock) as spool:
        assert ["a", "b"] == held(spool)
        assert STATE == spool.state


def test_what_an_unreachable_directory_held_comes_first_when_it_is_found(tmp_path, clock):
    """Older records join with their counters; ids given out before stay those of their records."""
    directory = tmp_path / "spool"
    with Spool.open(directory, clock=clock) as spool:
        older = spool.boot
        spool.append(lines("a", "b", "c"), STATE)
        spool.settle(everything(spool)[:1])
    directory.rename(tmp_path / "away")
    directory.write_text("")
    clock.now_s += 1
    with Spool.open(directory, clock=clock, monotonic=Ticks()) as spool:
        spool.append(lines("d", "e"))
        assert spool.state is None
        first, second = everything(spool)
        directory.unlink()
        (tmp_path / "away").rename(directory)
        assert 1 == spool.settle([first])
        assert ["b", "c", "e"] == held(spool)
        assert [second] == everything(spool)[2:]
        assert (older,) == older_boots(spool)
        assert (3, 1, 2) == (
            counters_of(spool, older).produced,
            counters_of(spool, older).delivered,
            spool.health().older_records,
        )
        assert STATE == spool.state
        assert 0 == balance(spool) == balance(spool, older)
    with Spool.open(directory, clock=clock) as spool:
        assert ["b", "c", "e"] == held(spool)


def test_a_directory_that_was_taken_meanwhile_is_left_to_its_owner(tmp_path, clock):
    """Only at start does another emitter end us; later it keeps us in memory."""
    directory = tmp_path / "spool"
    directory.write_text("")
    with Spool.open(directory, clock=clock, monotonic=Ticks()) as late:
        late.append(lines("a"))
        directory.unlink()
        with Spool.open(directory, clock=clock) as owner:
            late.append(lines("b"))
            assert 2 == late.health().in_memory
            assert [] == held(owner)
            with pytest.raises(SpoolHeldError):
                Spool.open(directory)
        late.append([])
        assert 0 == late.health().in_memory


def test_somebody_who_looks_into_the_file_only_delays_us(tmp_path, clock):
    """Who opened it first keeps us in memory until he is gone; after us nobody gets in."""
    Spool.open(tmp_path, clock=clock).close()
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as other:
        other.execute("SELECT count(*) FROM records").fetchall()
        spool = Spool.open(tmp_path, clock=clock, monotonic=Ticks())
        spool.append(lines("a"))
        assert 1 == spool.health().in_memory
    spool.append(lines("b"))
    assert 0 == spool.health().in_memory
    with (
        closing(sqlite3.connect(tmp_path / FILE_NAME, timeout=0.0)) as other,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        other.execute("SELECT count(*) FROM records").fetchall()
    spool.close()
