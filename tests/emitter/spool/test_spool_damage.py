"""A file that is damaged under a running emitter is set aside, counted and replaced."""

from __future__ import annotations

import logging
import random
import shutil

import pytest
from spool_parts import (
    balance,
    counters_of,
    damaged_files,
    everything,
    held,
    lines,
    open_database,
)

from emitter.spool import Spool, spool_file
from emitter.spool.layout import FILE_NAME, DiskDamagedError
from emitter.spool.records import cost_bytes
from emitter.spool.spool_file import KEPT

HEADER_BYTES = 1024  # the first page, with the tables' definitions


def hurt(spool, *, keep_bytes=HEADER_BYTES):
    """Overwrite the file under an open spool, so that its next read finds nonsense."""
    database = open_database(spool)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    path = spool.directory / FILE_NAME
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(keep_bytes)
        file.write(random.Random(1).randbytes(size - keep_bytes))
    database.execute("PRAGMA shrink_memory").fetchall()  # or it would read its cache


def test_damage_under_a_running_emitter_costs_what_was_in_the_file(tmp_path, clock, caplog):
    """Counted as damaged, older boots included; boot, numbers, state and the rest go on."""
    events = []
    with Spool.open(tmp_path, clock=clock) as spool:
        spool.append(lines("x" * 2000, "x" * 2000))
    with Spool.open(tmp_path, clock=clock, on_event=events.append) as spool:
        boot = spool.boot
        spool.append(lines(*("x" * 2000 for _ in range(30))), b"state")
        spool.settle(everything(spool)[:7])
        hurt(spool)
        with caplog.at_level(logging.ERROR, "emitter"):
            assert [] == everything(spool)
        assert 31 == spool.next_seq == spool.append(lines("a", "b"))
        health = spool.health()
        assert (32, 5, {"damaged": 25}, 2, 0, 0, 1) == (
            health.produced,
            health.delivered,
            health.dropped,
            health.records,
            health.older_records,
            health.in_memory,
            health.set_aside,
        )
        assert 0 == balance(spool)
        assert ["SpoolSetAside"] == [event.name for event in events]
        assert 25 == events[0].details["RecordsLost"]
        assert 1 == len(damaged_files(tmp_path))
        assert ["a", "b"] == held(spool)
    with Spool.open(tmp_path, clock=clock) as spool:
        assert b"state" == spool.state
        assert (31, 32) == tuple(record.seq for record in spool.oldest(10, 100))
        assert {"damaged": 25} == counters_of(spool, boot).dropped
        assert 0 == balance(spool, boot)


def test_damage_found_while_writing_costs_nothing_that_is_written(tmp_path, clock):
    """The append that finds it is kept in the new file."""
    with Spool.open(tmp_path, clock=clock) as spool:
        spool.append(lines(*("x" * 2000 for _ in range(30))))
        hurt(spool, keep_bytes=0)
        assert 31 == spool.append(lines("a"), b"state")
        assert ["a"] == held(spool)
        assert (0, 1) == (spool.health().in_memory, spool.health().set_aside)
        assert {"damaged": 30} == spool.health().dropped
    with Spool.open(tmp_path, clock=clock) as spool:
        assert ["a"] == held(spool)
        assert b"state" == spool.state


def test_what_damage_cost_takes_no_room_any_more(tmp_path):
    """Its place is free for as many new records, and not for one more."""
    with Spool.open(tmp_path, max_age_s=None, max_bytes=31 * cost_bytes(2000)) as spool:
        spool.append(lines(*("x" * 2000 for _ in range(31))))
        hurt(spool)
        spool.append(lines(*("x" * 2000 for _ in range(31))))
        assert {"damaged": 31} == spool.health().dropped
        spool.append(lines("x" * 2000))
        assert {"damaged": 31, "spool_full": 1} == spool.health().dropped


def test_damage_found_while_settling_counts_each_record_once(tmp_path, clock):
    """What was in the file is damaged, whatever the answer said of it."""
    with Spool.open(tmp_path, clock=clock) as spool:
        spool.append(lines(*("x" * 2000 for _ in range(30))))
        ids = everything(spool)
        hurt(spool)
        assert 0 == spool.settle(ids[:10])
        assert {"damaged": 30} == spool.health().dropped
        assert 0 == balance(spool)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET line = x'ff00'", "UPDATE records SET line = CAST(x'fffe' AS TEXT)",
        "UPDATE records SET seq = seq || 'x'", "UPDATE records SET bytes = 'many'",
        "UPDATE records SET boot_id = 99", "DROP TABLE records",
    ],
)  # fmt: skip
def test_a_row_that_makes_no_sense_is_damage(tmp_path, clock, caplog, statement):
    """A flipped bit is not always found by SQLite; what it says never shows a line."""
    with Spool.open(tmp_path, clock=clock) as spool:
        spool.append(lines("a", "b"))
        open_database(spool).execute(statement)
        everything(spool)
        spool.append(lines("c"))
        spool.settle([])
        assert ["c"] == held(spool)
        assert {"damaged": 2} == spool.health().dropped
    assert "with text" not in caplog.text


@pytest.mark.parametrize("whole", [False, True])
def test_a_file_that_is_removed_under_us_is_begun_again(tmp_path, clock, whole):
    """Alone or with its directory: what is written to it would be gone with this process."""
    directory = tmp_path / "spool"
    with Spool.open(directory, clock=clock) as spool:
        spool.append(lines("a", "b"), b"state")
        if whole:
            shutil.rmtree(directory)
        else:
            (directory / FILE_NAME).unlink()
        assert 3 == spool.append(lines("c"))
        assert ["c"] == held(spool)
        assert {"damaged": 2} == spool.health().dropped
        assert (0, 1) == (spool.health().in_memory, spool.health().set_aside)
    with Spool.open(directory, clock=clock) as spool:
        assert ["c"] == held(spool)
        assert b"state" == spool.state


def test_a_damaged_file_that_cannot_be_renamed_keeps_us_in_memory(tmp_path, clock, monkeypatch):
    """Nothing is written into it; when it can be renamed, the new file has everything."""
    events = []

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    with Spool.open(tmp_path, clock=clock, on_event=events.append) as spool:
        spool.append(lines(*("x" * 2000 for _ in range(30))))
        hurt(spool)
        with monkeypatch.context() as patch:
            patch.setattr("emitter.spool.spool_file.set_aside", refuse)
            spool.append(lines("a"))
            everything(spool)
            assert ["a"] == held(spool)
            assert (1, 0) == (spool.health().in_memory, spool.health().set_aside)
            assert {"damaged": 30} == spool.health().dropped
        spool._file._ask_again_s = 0.0
        spool.append(lines("b"))
        assert (0, 1) == (spool.health().in_memory, spool.health().set_aside)
        assert ["a", "b"] == held(spool)
        assert {"SpoolInMemory", "SpoolOnDiskAgain", "SpoolSetAside"} == {
            event.name for event in events
        }


def test_a_disk_that_damages_every_file_refuses(tmp_path, clock, monkeypatch):
    """One new file a call, no more: the records stay in memory and are tried again later."""

    def damaged(*_):
        raise DiskDamagedError

    with Spool.open(tmp_path, clock=clock) as spool:
        with monkeypatch.context() as patch:
            patch.setattr("emitter.spool.database.SpoolDatabase.write_changes", damaged)
            spool.append(lines("a"))
        assert 1 == spool.health().in_memory
        assert ["a"] == held(spool)
        spool._file._ask_again_s = 0.0
        spool.append(lines("b"))
        assert ["a", "b"] == held(spool)
        assert 0 == spool.health().in_memory
    assert len(damaged_files(tmp_path)) <= KEPT


def test_a_file_that_comes_back_gives_no_number_twice(tmp_path, clock, monkeypatch):
    """A network file system may say that it is gone: its numbers are used, so it is set aside."""
    with Spool.open(tmp_path, clock=clock) as spool:
        spool.append(lines("a", "b"))
        spool._backlog.give_up_file("it was removed")
        real, seen = spool_file.set_aside, []
        monkeypatch.setattr(
            spool_file, "set_aside", lambda *now: real(*now) if seen else seen.append(1)
        )
        assert 3 == spool.append(lines("c"))
        assert ["c"] == held(spool)
        assert {"damaged": 2} == spool.health().dropped
        assert 1 == len(damaged_files(tmp_path))
        assert 0 == balance(spool)
