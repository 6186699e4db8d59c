"""The spool is bounded in bytes and age, exactly, and says what it dropped."""

from __future__ import annotations

import logging
import random

import pytest
from spool_parts import NOW_MS, NOW_S, balance, held, lines

from emitter.spool import Spool
from emitter.spool.layout import FILE_NAME
from emitter.spool.records import cost_bytes


def test_full_drops_the_oldest_first(clock, caplog):
    """A spool of room for three keeps the newest three and counts the rest."""
    with Spool.open(None, max_bytes=3 * cost_bytes(1), clock=clock) as spool:
        spool.append(lines("a", "b", "c"))
        assert {} == spool.health().dropped
        with caplog.at_level(logging.WARNING):
            spool.append(lines("d", "e"))
        assert ["c", "d", "e"] == held(spool)
        assert {"spool_full": 2} == spool.health().dropped
        assert 0 == balance(spool)
    (said,) = caplog.records
    assert ("records dropped", 2, "spool_full") == (said.getMessage(), said.count, said.reason)


@pytest.mark.parametrize(("more", "kept", "dropped"), [(0, 1, {}), (1, 0, {"too_large": 1})])
def test_a_record_larger_than_the_spool_is_dropped(clock, more, kept, dropped):
    """It would push out everything else and then itself; what fits exactly is kept."""
    with Spool.open(None, max_bytes=cost_bytes(1600), clock=clock) as spool:
        spool.append(lines("x" * (1600 + more)))
        assert kept == spool.health().records
        assert dropped == spool.health().dropped
        assert 0 == balance(spool)


def test_old_age_is_counted(clock):
    """Exactly 13 days is kept; a millisecond more is dropped, on disk or just appended."""
    with Spool.open(None, clock=clock) as spool:
        spool.append(lines("old", at_ms=NOW_MS) + lines("young", at_ms=NOW_MS + 1))
        clock.now_s = NOW_S + 13 * 86_400
        spool.append([])
        assert ["old", "young"] == held(spool)
        clock.now_s += 0.001
        spool.append(lines("late", at_ms=NOW_MS))
        assert ["young"] == held(spool)
        assert {"too_old": 2} == spool.health().dropped
        assert 0 == balance(spool)


def test_no_age_bound_when_none_is_asked_for(clock):
    """A replay of last year's file is not dropped for its age."""
    with Spool.open(None, max_age_s=None, clock=clock) as spool:
        spool.append(lines("x", at_ms=0))
        assert ["x"] == held(spool)


def test_the_file_stays_within_the_bound(tmp_path):
    """The bound is of the disk, not of the lines: the file never grows beyond it."""
    rng = random.Random(1)
    max_bytes = 1 << 20
    with Spool.open(tmp_path, max_bytes=max_bytes, max_age_s=None) as spool:
        for size in (300, 520, 989, 2400, 3600, 8300, 20_000, 200_000):
            for _ in range(12):
                count = min(200, max(1, 300_000 // size))
                spool.append(lines(*("x" * rng.randint(size // 2, size) for _ in range(count))))
        assert 0 == balance(spool)
    assert (tmp_path / FILE_NAME).stat().st_size <= max_bytes
