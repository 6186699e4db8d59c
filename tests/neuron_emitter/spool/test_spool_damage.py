"""A damaged spool file is set aside and replaced, and its records are counted as dropped."""

from __future__ import annotations

import logging
import random
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_emitter.spool import Spool
from neuron_emitter.spool.layout import FILE_NAME
from neuron_emitter.spool.spool_file import MAX_DAMAGED_FILES, set_aside
from tests.neuron_emitter.spool_parts import (
    SPOOL_NOW_MS,
    SpoolClock,
    balance,
    counters_of,
    damaged_files,
    everything,
    full_disk,
    held,
    lines,
    open_database,
)

DAMAGED_HEADER_BYTES = 1024  # the first page, with the tables' definitions


def hurt(spool):
    """Overwrite the file of an open spool with noise, except for its header."""
    database = open_database(spool)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    path = spool.directory / FILE_NAME
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(DAMAGED_HEADER_BYTES)
        file.write(random.Random(1).randbytes(size - DAMAGED_HEADER_BYTES))
    # empties the cache, which would hide the damage
    database.execute("PRAGMA shrink_memory").fetchall()


def test_damage_costs_only_the_records_in_the_file(tmp_path, clock, caplog):
    """Damage costs the file's records, counted as damaged; boot, numbers and state continue."""
    events = []
    with Spool(tmp_path, clock=clock) as spool:
        spool.append(lines("x" * 2000, "x" * 2000))
    with Spool(tmp_path, clock=clock, on_event=events.append) as spool:
        boot = spool.boot
        spool.append(lines(*("x" * 2000 for _ in range(30))), b"state")
        spool.settle_records(everything(spool)[:7])
        hurt(spool)
        with caplog.at_level(logging.ERROR, "neuron_emitter"):
            assert [] == everything(spool)
        assert 31 == spool.next_seq == spool.append(lines("a", "b"))
        health = spool.health()
        assert 32 == health.produced
        assert 5 == health.delivered
        assert {"damaged": 25} == health.dropped
        assert 2 == health.records
        assert 0 == health.older_records
        assert 0 == health.in_memory
        assert 1 == health.set_aside
        assert 0 == balance(spool)
        assert ["SpoolSetAside"] == [event.name for event in events]
        assert 25 == events[0].details["RecordsLost"]
        assert 1 == len(damaged_files(tmp_path))
        assert ["a", "b"] == held(spool)
    with Spool(tmp_path, clock=clock) as spool:
        assert b"state" == spool.state
        assert [31, 32] == [record.seq for record in spool.oldest(10, 100)]
        assert {"damaged": 25} == counters_of(spool, boot).dropped
        assert 0 == balance(spool, boot)


@pytest.mark.parametrize("whole", [False, True])
def test_a_removed_file_is_created_again(tmp_path, clock, whole):
    """A removed file or directory is created again, so that records survive the process."""
    directory = tmp_path / "spool"
    with Spool(directory, clock=clock) as spool:
        spool.append(lines("a", "b"), b"state")
        if whole:
            shutil.rmtree(directory)
        else:
            (directory / FILE_NAME).unlink()
        assert 3 == spool.append(lines("c"))
        assert ["c"] == held(spool)
        assert {"damaged": 2} == spool.health().dropped
        assert 0 == spool.health().in_memory
        assert 1 == spool.health().set_aside
    with Spool(directory, clock=clock) as spool:
        assert ["c"] == held(spool)
        assert b"state" == spool.state


def test_a_file_that_is_not_a_database_is_set_aside(tmp_path, clock, caplog):
    """A file that is not a database is set aside whole under a dated name, with an event."""
    junk = b"not a database at all" * 100
    (tmp_path / FILE_NAME).write_bytes(junk)
    events = []
    with Spool(tmp_path, clock=clock, on_event=events.append) as spool:
        assert 1 == spool.health().set_aside
        assert 1 == spool.append(lines("a"))
        assert 0 == spool.health().in_memory
    (kept,) = damaged_files(tmp_path)
    assert junk == kept.read_bytes()
    assert f"damaged-20261118T110640.000Z-{FILE_NAME}" == kept.name
    (event,) = events
    assert "SpoolSetAside" == event.name
    assert kept.name == event.details["File"]
    assert clock.now_s == event.at_s
    assert kept.name in caplog.records[-1].getMessage()
    with Spool(tmp_path, clock=clock) as spool:
        assert ["a"] == held(spool)
        assert 0 == spool.health().set_aside


def test_only_the_newest_damaged_files_are_kept(tmp_path, clock):
    """Only the newest damaged files are kept, with their logs."""
    path = tmp_path / FILE_NAME
    for number in range(MAX_DAMAGED_FILES + 2):
        path.write_bytes(b"%d" % number)
        path.with_name(f"{FILE_NAME}-wal").write_bytes(b"log of %d" % number)
        set_aside(path, clock.now_s + number)
    kept = damaged_files(tmp_path)
    assert [b"2", b"3"] == [file.read_bytes() for file in kept]
    logs = [file.with_name(f"{file.name}-wal") for file in kept]
    assert [b"log of 2", b"log of 3"] == [log.read_bytes() for log in logs]
    assert {*kept, *logs} == set(tmp_path.iterdir())


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 1 << 30), st.integers(0, 255)), min_size=1, max_size=6),
    st.booleans(),
)
def test_no_damage_ends_the_emitter(tmp_path_factory, places, in_log):
    """
    The spool opens and keeps new records after any damage to the file or its log.

    Its counters agree.
    """
    directory = tmp_path_factory.mktemp("spool")
    clock = SpoolClock()
    with Spool(directory, clock=clock) as spool:
        spool.append(lines(*("x" * 700 for _ in range(12))), b"state")
        spool.settle_records(everything(spool)[:3])
        crashed = shutil.copytree(directory, directory / "crashed")
    victim = crashed if in_log else directory
    path = victim / (f"{FILE_NAME}-wal" if in_log else FILE_NAME)
    content = bytearray(path.read_bytes())
    for place, value in places:
        content[place % len(content)] = value
    path.write_bytes(content)
    with Spool(victim, clock=clock) as spool:
        everything(spool)
        first = spool.append(lines("a", at_ms=SPOOL_NOW_MS))
        assert 1 == first
        spool.settle_records(everything(spool)[:2])
        assert 0 == balance(spool)
        with full_disk():
            spool.append(lines("b"))
        assert 0 == balance(spool)
        assert 3 == spool.next_seq
