"""Records that the destination refuses whatever they are sent with are kept for people."""

from __future__ import annotations

import json
import logging
import stat

from spool_parts import NOW_MS, balance, full_disk, held, lines

from emitter.spool import Spool
from emitter.spool.directory import MAX_QUARANTINE_BYTES, OLD_QUARANTINE_NAME, QUARANTINE_NAME

WHY = "InvalidParameterException: the event is not acceptable"


def entries(path):
    """What was written down, in order."""
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def test_a_poison_record_is_dropped_and_written_down(spool):
    """With the time, who it was, the reason in the destination's words, and the whole line."""
    spool.append(lines("good", 'bad "é😀\n\x00'))
    poison = spool.oldest(10, 1000)[1:]
    assert 1 == spool.quarantine(poison, WHY)
    path = spool.directory / QUARANTINE_NAME
    assert [
        {
            "Time": "2026-11-18T11:06:40Z",
            "Boot": spool.boot,
            "Seq": 2,
            "Timestamp": NOW_MS,
            "Why": WHY,
            "Line": 'bad "é😀\n\x00',
        }
    ] == entries(path)
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert ["good"] == held(spool)
    assert {"invalid": 1} == spool.health().dropped
    assert 0 == spool.quarantine(poison, WHY)  # at least once is written, once is counted
    assert 2 == len(entries(path))
    assert 0 == balance(spool)


def test_the_quarantine_is_bounded(spool):
    """1 MiB and one old file; a line is never cut."""
    for letter in "abcdefg":
        spool.append(lines(letter * 400_000))
        spool.quarantine(spool.oldest(1, 1), WHY)
    path, old = spool.directory / QUARANTINE_NAME, spool.directory / OLD_QUARANTINE_NAME
    assert ["g"] == [entry["Line"][0] for entry in entries(path)]
    assert ["e", "f"] == [entry["Line"][0] for entry in entries(old)]
    assert old.stat().st_size <= MAX_QUARANTINE_BYTES
    spool.append(lines("x" * (MAX_QUARANTINE_BYTES + 1)))
    spool.quarantine(spool.oldest(1, 1), WHY)
    assert [MAX_QUARANTINE_BYTES + 1] == [len(entry["Line"]) for entry in entries(path)]


def test_a_full_disk_does_not_keep_the_poison_in_the_spool(spool, caplog):
    """It is dropped and counted all the same; that it was not written down is said."""
    spool.append(lines("a"))
    with full_disk(), caplog.at_level(logging.WARNING):
        assert 1 == spool.quarantine(spool.oldest(1, 1), WHY)
    assert {"invalid": 1} == spool.health().dropped
    assert "records not quarantined" in [record.getMessage() for record in caplog.records]


def test_a_spool_in_memory_has_no_quarantine():
    """Without a directory the record is dropped and counted."""
    with Spool.open(None, max_age_s=None) as spool:
        spool.append(lines("a"))
        assert 1 == spool.quarantine(spool.oldest(1, 1), WHY)
        assert {"invalid": 1} == spool.health().dropped
