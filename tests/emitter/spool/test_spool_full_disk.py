"""A disk that refuses: the spool goes on in memory, says so, and catches up."""

from __future__ import annotations

import logging

import pytest
from spool_parts import (
    Clock,
    Ticks,
    balance,
    crash,
    everything,
    full_disk,
    held,
    lines,
    names,
)

from emitter.spool import Spool
from emitter.spool.records import cost_bytes


@pytest.fixture
def watched(tmp_path, clock, events):
    """A spool on disk whose events are kept, and whose retries need no waiting."""
    with Spool.open(
        tmp_path / "spool", clock=clock, monotonic=Ticks(), on_event=events.append
    ) as opened:
        yield opened


def test_a_full_disk_costs_no_record_and_no_number(watched, events, caplog):
    """They wait in memory, are offered after those on disk, and are on disk when it has room."""
    watched.append(lines("a"), b"one")
    with full_disk(), caplog.at_level(logging.INFO, "emitter"):
        assert 2 == watched.next_seq == watched.append(lines("b", "c"), b"two")
        assert 4 == watched.next_seq == watched.append(lines("d"))
        assert ["a", "b", "c", "d"] == held(watched)
        assert (3, 4, 0) == (watched.health().in_memory, watched.health().records, balance(watched))
        assert b"two" == watched.state
    assert ["SpoolInMemory"] == names(events)
    (said,) = caplog.records
    assert str(watched.directory) in said.getMessage()
    assert "--spool-dir" in said.getMessage()
    assert 5 == watched.append(lines("e"))
    assert 0 == watched.health().in_memory
    assert ["SpoolInMemory", "SpoolOnDiskAgain"] == names(events)
    boot = watched.boot
    watched.close()
    with Spool.open(watched.directory, max_age_s=None) as spool:
        assert [(boot, seq) for seq in range(1, 6)] == [
            (record.boot, record.seq) for record in spool.oldest(10, 100)
        ]
        assert b"two" == spool.state


def test_what_is_on_a_full_disk_is_delivered_and_not_offered_again(watched, tmp_path):
    """Settlements wait in memory and reach the disk later; a crash before that may repeat them."""
    watched.append(lines("a", "b", "c", "d"))
    ids = everything(watched)
    with full_disk():
        watched.append(lines("e"))
        assert 2 == watched.settle([ids[0]], {"expired": [ids[1]]})
        assert 0 == watched.settle(ids[:2])
        assert ["c", "d", "e"] == held(watched)
        assert ["d"] == [record.line for record in watched.still_held([ids[0], ids[3], ids[1]])]
        assert 1 == watched.settle([ids[3]])  # not the next in order
        assert ["c", "e"] == held(watched)
        assert 0 == balance(watched)
    before = crash(watched, tmp_path / "before")
    watched.append([])
    assert ["c", "e"] == held(watched)
    after = crash(watched, tmp_path / "after")
    for directory, waiting in ((before, ["a", "b", "c", "d"]), (after, ["c", "e"])):
        with Spool.open(directory, max_age_s=None) as spool:
            assert waiting == held(spool)
            assert 0 == balance(spool, watched.boot)


def test_memory_is_bounded_while_the_disk_refuses(tmp_path, clock):
    """The oldest in memory go, counted as spool_full; what is on the disk stays."""
    with Spool.open(
        tmp_path, memory_bytes=2 * cost_bytes(1), clock=clock, monotonic=Ticks()
    ) as spool:
        spool.append(lines("a", "b", "c"))
        with full_disk():
            spool.append(lines("d", "e"))
            assert {} == spool.health().dropped
            spool.append(lines("f"))
            assert ["a", "b", "c", "e", "f"] == held(spool)
            assert {"spool_full": 1} == spool.health().dropped
            assert 2 == spool.health().in_memory
            assert 0 == balance(spool)
        assert 7 == spool.append(lines(*"ghi"))
        assert ["a", "b", "c", "e", "f", "g", "h", "i"] == held(spool)


def test_a_disk_that_refuses_is_not_asked_all_the_time(tmp_path, clock):
    """Once a second at most, and once more at the end."""
    monotonic = Clock(0.0)
    with Spool.open(tmp_path, clock=clock, monotonic=monotonic) as spool:
        with full_disk():
            spool.append(lines("a"))
        monotonic.now_s = 0.999
        spool.append(lines("b"))
        assert 2 == spool.health().in_memory
        monotonic.now_s = 1.0
        spool.append(lines("c"))
        assert 0 == spool.health().in_memory
        with full_disk():
            spool.append(lines("d"))
    with Spool.open(tmp_path, clock=clock) as spool:
        assert ["a", "b", "c", "d"] == held(spool)


def test_what_the_disk_never_took_is_said_at_the_end(tmp_path, clock, caplog):
    """It is lost with the process, and the log has the number."""
    spool = Spool.open(tmp_path, clock=clock)
    with full_disk():
        spool.append(lines("a", "b"))
        spool.close()
    assert ("records lost", 2) == (caplog.records[-1].getMessage(), caplog.records[-1].count)


def test_an_event_may_be_kept_in_the_spool_that_tells_it(tmp_path, clock):
    """The spool is free again when it hands an event over."""

    def keep(event):
        spool.append(lines(event.name))

    with Spool.open(tmp_path, clock=clock, monotonic=Ticks(), on_event=keep) as spool:
        with full_disk():
            spool.append(lines("a"))
        assert ["a", "SpoolInMemory"] == held(spool)
        spool.append(lines("b"))
        assert ["a", "SpoolInMemory", "b", "SpoolOnDiskAgain"] == held(spool)


def test_a_disk_that_changes_its_mind_does_not_fill_the_log(tmp_path, clock, events, caplog):
    """Each notice at most once in ten minutes; the state itself is in every minute line."""
    monotonic = Clock(0.0)
    with (
        Spool.open(tmp_path, clock=clock, monotonic=monotonic, on_event=events.append) as spool,
        caplog.at_level(logging.INFO, "emitter"),
    ):
        for second in range(0, 599, 2):
            monotonic.now_s = float(second)
            with full_disk():
                spool.append([], b"%d" % second)
            monotonic.now_s += 1
            spool.append([])
        assert ["SpoolInMemory", "SpoolOnDiskAgain"] == names(events)
        assert 2 == len(caplog.records)
        monotonic.now_s = 600.0
        with full_disk():
            spool.append(lines("a"))
        assert ["SpoolInMemory", "SpoolOnDiskAgain", "SpoolInMemory"] == names(events)
