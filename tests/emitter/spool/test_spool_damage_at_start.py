"""A file that cannot be read when the emitter starts is set aside and replaced."""

from __future__ import annotations

import shutil
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spool_parts import (
    NOW_MS,
    Clock,
    balance,
    crash,
    damaged_files,
    everything,
    full_disk,
    held,
    lines,
)

from emitter.spool import Spool
from emitter.spool.layout import FILE_NAME
from emitter.spool.spool_file import KEPT, set_aside


def test_what_is_no_database_is_set_aside(tmp_path, clock, caplog):
    """Whole, under a dated name; the spool begins anew and says so."""
    junk = b"not a database at all" * 100
    (tmp_path / FILE_NAME).write_bytes(junk)
    events = []
    with Spool.open(tmp_path, clock=clock, on_event=events.append) as spool:
        assert 1 == spool.health().set_aside
        assert 1 == spool.append(lines("a"))
        assert 0 == spool.health().in_memory
    (kept,) = damaged_files(tmp_path)
    assert junk == kept.read_bytes()
    assert f"damaged-20261118T110640.000Z-{FILE_NAME}" == kept.name
    (event,) = events
    assert ("SpoolSetAside", kept.name, clock.now_s) == (
        event.name,
        event.details["File"],
        event.at_s,
    )
    assert kept.name in caplog.records[-1].getMessage()
    with Spool.open(tmp_path, clock=clock) as spool:
        assert ["a"] == held(spool)
        assert 0 == spool.health().set_aside


def test_only_the_newest_damaged_files_are_kept(tmp_path, clock):
    """With their logs: a disk that damages file after file is not filled with them."""
    path = tmp_path / FILE_NAME
    for number in range(KEPT + 2):
        path.write_bytes(b"%d" % number)
        path.with_name(f"{FILE_NAME}-wal").write_bytes(b"log of %d" % number)
        set_aside(path, clock.now_s + number)
    kept = damaged_files(tmp_path)
    assert [b"2", b"3"] == [each.read_bytes() for each in kept]
    logs = [each.with_name(f"{each.name}-wal") for each in kept]
    assert [b"log of 2", b"log of 3"] == [each.read_bytes() for each in logs]
    assert {*kept, *logs} == set(tmp_path.iterdir())


def test_a_page_that_is_damaged_is_found_at_start(tmp_path, clock):
    """A file that opens is not therefore whole: every page is looked at, once."""
    with Spool.open(tmp_path, clock=clock) as spool:
        spool.append(lines(*("x" * 2000 for _ in range(50))))
    path = tmp_path / FILE_NAME
    content = bytearray(path.read_bytes())
    content[20 * 1024 : 24 * 1024] = b"\xff" * 4096
    path.write_bytes(content)
    with Spool.open(tmp_path, clock=clock) as spool:
        assert 1 == spool.health().set_aside
        assert [] == held(spool)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE boots SET boot = 'zzz'", "UPDATE boots SET produced = 'x'",
        "UPDATE fold SET state = 1", "DROP TABLE drops", "DROP TABLE fold",
    ],
)  # fmt: skip
def test_a_table_that_makes_no_sense_is_found_at_start(tmp_path, clock, statement):
    """The file is set aside rather than half believed."""
    with Spool.open(tmp_path, clock=clock) as spool:
        spool.append(lines("a"), b"state")
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        database.execute(statement)
    database.close()
    with Spool.open(tmp_path, clock=clock) as spool:
        assert 1 == spool.health().set_aside
        assert [] == held(spool)


def test_a_kill_between_the_two_renames_leaves_no_ghost(tmp_path, clock):
    """The log of a file that is set aside already is not read into the new one."""
    with Spool.open(tmp_path / "spool", clock=clock) as spool:
        spool.append(lines("a"))
        left = crash(spool, tmp_path / "left")
    (left / FILE_NAME).unlink()
    assert (left / f"{FILE_NAME}-wal").stat().st_size > 0
    with Spool.open(left, clock=clock) as spool:
        spool.append(lines("b"))
        assert ["b"] == held(spool)
    with Spool.open(left, clock=clock) as spool:
        assert ["b"] == held(spool)


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 1 << 30), st.integers(0, 255)), min_size=1, max_size=6),
    st.booleans(),
)
def test_no_damage_ends_the_emitter(tmp_path_factory, places, in_log):
    """
    Whatever bytes of the file or its log are changed between two runs: it opens, keeps
    what is appended, and its counters agree.
    """
    directory = tmp_path_factory.mktemp("spool")
    clock = Clock()
    with Spool.open(directory, clock=clock) as spool:
        spool.append(lines(*("x" * 700 for _ in range(12))), b"state")
        spool.settle(everything(spool)[:3])
        crashed = shutil.copytree(directory, directory / "crashed")
    victim = crashed if in_log else directory
    path = victim / (f"{FILE_NAME}-wal" if in_log else FILE_NAME)
    content = bytearray(path.read_bytes())
    for place, value in places:
        content[place % len(content)] = value
    # A layout from the future is refused, not damaged: it has a test of its own.
    content[60:64] = content[60:64] if in_log else b"\x00\x00\x00\x01"
    path.write_bytes(content)
    with Spool.open(victim, clock=clock) as spool:
        everything(spool)
        first = spool.append(lines("a", at_ms=NOW_MS))
        assert 1 == first
        spool.settle(everything(spool)[:2])
        assert 0 == balance(spool)
        with full_disk():
            spool.append(lines("b"))
        assert 0 == balance(spool)
        assert 3 == spool.next_seq
