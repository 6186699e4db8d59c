"""On a disk that refuses writes, the spool continues in memory and catches up later."""

from __future__ import annotations

import logging

import pytest

from neuron_emitter.spool import Spool
from neuron_emitter.spool.spool_records import cost_bytes
from tests.neuron_emitter.spool_parts import (
    Ticks,
    balance,
    counters_of,
    everything,
    full_disk,
    held,
    lines,
    names,
    older_boots,
)


@pytest.fixture
def watched(tmp_path, clock, events):
    """Return a spool on disk with its events, which retries without waiting."""
    with Spool(
        tmp_path / "spool", clock=clock, monotonic=Ticks(), on_event=events.append
    ) as opened:
        yield opened


def test_a_full_disk_loses_no_record_and_no_number(watched, events, caplog):
    """A full disk costs no record and no number: records wait in memory and are written later."""
    watched.append(lines("a"), b"one")
    with full_disk(), caplog.at_level(logging.INFO, "neuron_emitter"):
        assert 2 == watched.next_seq == watched.append(lines("b", "c"), b"two")
        assert 4 == watched.next_seq == watched.append(lines("d"))
        assert ["a", "b", "c", "d"] == held(watched)
        assert 3 == watched.health().in_memory
        assert 4 == watched.health().records
        assert 0 == balance(watched)
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
    with Spool(watched.directory, max_age_s=1e12) as spool:
        assert [(boot, seq) for seq in range(1, 6)] == [
            (record.boot, record.seq) for record in spool.oldest(10, 100)
        ]
        assert b"two" == spool.state


def test_memory_is_bounded_while_the_disk_refuses(tmp_path, clock):
    """Memory is bounded while the disk refuses: the oldest in memory are dropped as spool_full."""
    with Spool(tmp_path, memory_bytes=2 * cost_bytes(1), clock=clock, monotonic=Ticks()) as spool:
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


STORED_STATE = b"state"


def test_records_of_a_directory_that_becomes_reachable_come_first(tmp_path, clock):
    """
    Records of a directory that becomes reachable join with their counters and come first.

    IDs already in use keep their records.
    """
    directory = tmp_path / "spool"
    with Spool(directory, clock=clock) as spool:
        older = spool.boot
        spool.append(lines("a", "b", "c"), STORED_STATE)
        spool.settle_records(everything(spool)[:1])
    directory.rename(tmp_path / "away")
    directory.write_text("")
    clock.now_s += 1
    with Spool(directory, clock=clock, monotonic=Ticks()) as spool:
        spool.append(lines("d", "e"))
        assert spool.state is None
        first, second = everything(spool)
        directory.unlink()
        (tmp_path / "away").rename(directory)
        assert 1 == spool.settle_records([first])
        assert ["b", "c", "e"] == held(spool)
        assert [second] == everything(spool)[2:]
        assert (older,) == older_boots(spool)
        assert 3 == counters_of(spool, older).produced
        assert 1 == counters_of(spool, older).delivered
        assert 2 == spool.health().older_records
        assert STORED_STATE == spool.state
        assert 0 == balance(spool) == balance(spool, older)
    with Spool(directory, clock=clock) as spool:
        assert ["b", "c", "e"] == held(spool)
