"""The spool returns its records within its limits, and counts each record once."""

from __future__ import annotations

import json
import logging
import os
import random
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.spool import Spool
from neuron_emitter.spool.directory import (
    MAX_QUARANTINE_BYTES,
    OLD_QUARANTINE_NAME,
    QUARANTINE_NAME,
    SpoolHeldError,
)
from neuron_emitter.spool.layout import FILE_NAME
from neuron_emitter.spool.spool_records import cost_bytes
from tests.neuron_emitter.spool_parts import (
    SPOOL_NOW_MS,
    SPOOL_NOW_S,
    balance,
    full_disk,
    held,
    lines,
)


@given(st.lists(st.text(), max_size=5))
def test_any_line_is_returned(texts):
    """Any line is returned byte for byte. A lone surrogate, which is not text, is invalid."""
    with Spool(None, max_age_s=1e12) as spool:
        spool.append(lines(*texts, "\ud800"))
        assert texts == held(spool)
        assert sum(len(text.encode()) for text in texts) == spool.health().bytes
        assert {"invalid": 1} == spool.health().dropped
        assert 0 == balance(spool)


def test_every_open_is_a_new_boot(tmp_path, clock):
    """Each start has a greater boot, even if the clock was set back, and numbers from 1."""
    boots = []
    for now_s in (SPOOL_NOW_S, SPOOL_NOW_S, SPOOL_NOW_S - 86_400, SPOOL_NOW_S + 1):
        clock.now_s = now_s
        with Spool(tmp_path, clock=clock) as spool:
            assert 1 == spool.append(lines("x"))
            boots.append(spool.boot)
    assert sorted(set(boots)) == boots


def test_full_drops_the_oldest_first(clock, caplog):
    """A full spool drops its oldest records and counts them."""
    with Spool(None, max_bytes=3 * cost_bytes(1), clock=clock) as spool:
        spool.append(lines("a", "b", "c"))
        assert {} == spool.health().dropped
        with caplog.at_level(logging.WARNING):
            spool.append(lines("d", "e"))
        assert ["c", "d", "e"] == held(spool)
        assert {"spool_full": 2} == spool.health().dropped
        assert 0 == balance(spool)
    (said,) = caplog.records
    assert "records dropped" == said.getMessage()
    assert 2 == said.count
    assert "spool_full" == said.reason


@pytest.mark.parametrize(("more", "kept", "dropped"), [(0, 1, {}), (1, 0, {"too_large": 1})])
def test_a_record_larger_than_the_spool_is_dropped(clock, more, kept, dropped):
    """A record larger than the spool is dropped; one that fits exactly is kept."""
    with Spool(None, max_bytes=cost_bytes(1600), clock=clock) as spool:
        spool.append(lines("x" * (1600 + more)))
        assert kept == spool.health().records
        assert dropped == spool.health().dropped
        assert 0 == balance(spool)


def test_old_age_is_counted(clock):
    """A record of exactly 13 days is kept. A millisecond later it is dropped and counted."""
    with Spool(None, clock=clock) as spool:
        spool.append(lines("old", at_ms=SPOOL_NOW_MS) + lines("young", at_ms=SPOOL_NOW_MS + 1))
        clock.now_s = SPOOL_NOW_S + 13 * 86_400
        spool.append([])
        assert ["old", "young"] == held(spool)
        clock.now_s += 0.001
        spool.append(lines("late", at_ms=SPOOL_NOW_MS))
        assert ["young"] == held(spool)
        assert {"too_old": 2} == spool.health().dropped
        assert 0 == balance(spool)


def test_the_file_stays_within_the_bound(tmp_path):
    """The file on disk never grows beyond the limit."""
    rng = random.Random(1)
    max_bytes = 1 << 20
    with Spool(tmp_path, max_bytes=max_bytes, max_age_s=1e12) as spool:
        for size in (300, 520, 989, 2400, 3600, 8300, 20_000, 200_000):
            for _ in range(12):
                count = min(200, max(1, 300_000 // size))
                spool.append(lines(*("x" * rng.randint(size // 2, size) for _ in range(count))))
        assert 0 == balance(spool)
    assert (tmp_path / FILE_NAME).stat().st_size <= max_bytes


def test_one_emitter_per_directory(spool):
    """A second emitter is refused with the directory and the other process, and exit code 3."""
    with pytest.raises(SpoolHeldError) as caught:
        Spool(spool.directory)
    assert str(spool.directory) in str(caught.value)
    assert f"process {os.getpid()}." in str(caught.value)
    assert 3 == caught.value.exit_code
    spool.close()
    (spool.directory / "lock").write_text("12345678901234567890\n")  # of a dead process
    with Spool(spool.directory):
        assert f"{os.getpid()}\n" == (spool.directory / "lock").read_text()


def test_files_are_private(tmp_path):
    """The directory has mode 0700 and each file 0600, because lines name instances."""
    directory = tmp_path / "state" / "spool"
    with Spool(directory) as spool:
        spool.append(lines("x"))
        assert 0o700 == stat.S_IMODE(directory.stat().st_mode)
        files = list(directory.iterdir())
        assert {FILE_NAME, f"{FILE_NAME}-wal", "lock"} <= {path.name for path in files}
        assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in files}


WHY = "InvalidParameterException: the event is not acceptable"


def entries(path):
    """Return the entries of the quarantine, in order."""
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def test_a_poison_record_is_dropped_and_written_down(spool):
    """
    A poison record is dropped and written to the quarantine.

    The entry has time, identity, the destination's words and the whole line.
    """
    spool.append(lines("good", 'bad "é😀\n\x00'))
    poison = spool.oldest(10, 1000)[1:]
    assert 1 == spool.quarantine(poison, WHY)
    path = spool.directory / QUARANTINE_NAME
    assert [
        {
            "Time": "2026-11-18T11:06:40Z",
            "Boot": spool.boot,
            "Seq": 2,
            "Timestamp": SPOOL_NOW_MS,
            "Why": WHY,
            "Line": 'bad "é😀\n\x00',
        }
    ] == entries(path)
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert ["good"] == held(spool)
    assert {"invalid": 1} == spool.health().dropped
    assert 0 == spool.quarantine(poison, WHY)  # written at least once, counted once
    assert 2 == len(entries(path))
    assert 0 == balance(spool)


def test_the_quarantine_is_bounded(spool):
    """The quarantine has at most 1 MiB and one old file, and no line is cut."""
    for letter in "abcdefg":
        spool.append(lines(letter * 400_000))
        spool.quarantine(spool.oldest(1, 1), WHY)
    path = spool.directory / QUARANTINE_NAME
    old = spool.directory / OLD_QUARANTINE_NAME
    assert ["g"] == [entry["Line"][0] for entry in entries(path)]
    assert ["e", "f"] == [entry["Line"][0] for entry in entries(old)]
    assert old.stat().st_size <= MAX_QUARANTINE_BYTES
    spool.append(lines("x" * (MAX_QUARANTINE_BYTES + 1)))
    spool.quarantine(spool.oldest(1, 1), WHY)
    assert [MAX_QUARANTINE_BYTES + 1] == [len(entry["Line"]) for entry in entries(path)]


def test_poison_is_dropped_on_a_full_disk(spool, caplog):
    """A poison record on a full disk is dropped and counted, with a log line."""
    spool.append(lines("a"))
    with full_disk(), caplog.at_level(logging.WARNING):
        assert 1 == spool.quarantine(spool.oldest(1, 1), WHY)
    assert {"invalid": 1} == spool.health().dropped
    assert "records not quarantined" in [record.getMessage() for record in caplog.records]
