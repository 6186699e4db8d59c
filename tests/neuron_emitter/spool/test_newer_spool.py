"""A newer version's spool: an older emitter sets it aside, and the newer one resumes it."""

from __future__ import annotations

import contextlib
import resource
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from neuron_emitter.spool import Spool, layout
from neuron_emitter.spool.layout import FILE_NAME
from neuron_emitter.spool.newer_spool import NewerSpool
from tests.neuron_emitter.spool_parts import (
    SpoolClock,
    Ticks,
    balance,
    crash,
    everything,
    full_disk,
    lines,
    names,
    older_boots,
)

OLD = 1
NEW = 2


@contextlib.contextmanager
def version(number):
    """Within the block, the emitter's version reads layouts up to *number*."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "LAYOUT_VERSION", number)
        yield


@contextlib.contextmanager
def snapshots(directory, into):
    """Within the block, copy *directory* before each rename and removal, as kill -9 leaves it."""
    taken = []

    def copying(change):
        def changed(path, *arguments, **options):
            if path.parent == directory:
                soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
                resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
                taken.append(Path(shutil.copytree(directory, into / f"{len(taken)}")))
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            return change(path, *arguments, **options)

        return changed

    with pytest.MonkeyPatch.context() as patch:
        for change in ("replace", "unlink"):
            patch.setattr(Path, change, copying(getattr(Path, change)))
        yield taken


def identities(records):
    """Return boot and number of each record, sorted."""
    return sorted((record.boot, record.seq) for record in records)


@dataclass(frozen=True)
class Start:
    """
    One start of an emitter.

    Attributes:
        version: The newest layout that the emitter reads.

        appended: Number of records that the emitter appends.

        delivered: Maximum number of records that the emitter delivers.

        kill_at: Index of the rename or removal before the kill, modulo their number; None if the
            start is not killed.

        is_killed: True if the emitter is killed at its end.

        is_disk_full: True if the disk refuses writes until the emitter has started.
    """

    version: int
    appended: int
    delivered: int
    kill_at: int | None
    is_killed: bool
    is_disk_full: bool


FIRST_START = Start(NEW, appended=3, delivered=1, kill_at=None, is_killed=True, is_disk_full=False)
STARTS = st.builds(
    Start,
    version=st.sampled_from((OLD, NEW)),
    appended=st.integers(0, 3),
    delivered=st.integers(0, 2),
    kill_at=st.none() | st.integers(0, 11),
    is_killed=st.booleans(),
    is_disk_full=st.booleans(),
)


@settings(max_examples=40)
@given(st.lists(STARTS, max_size=5))
@example([replace(FIRST_START, version=OLD, kill_at=at, is_disk_full=True) for at in (5, 6, 7)])
@example([replace(FIRST_START, version=OLD, kill_at=6, is_disk_full=True)])
def test_a_rollback_loses_and_doubles_no_record(tmp_path_factory, starts):
    """
    Two versions of the emitter that take turns, and are killed at any rename, lose no record.

    The newer version finds each undelivered record of each boot once, and the newest state.
    """
    folder = tmp_path_factory.mktemp("starts")
    directory = folder / "spool"
    clock = SpoolClock()
    waiting = set()
    state = None
    for number, start in enumerate([FIRST_START, *starts]):
        clock.now_s += 60.0
        copies = folder / f"{number}"
        with version(start.version), snapshots(directory, copies) as taken:
            with full_disk() if start.is_disk_full else contextlib.nullcontext():
                spool = Spool(directory, clock=clock, monotonic=Ticks())
            with spool:
                spool.append(lines(*"x" * start.appended), b"%d" % number)
                ids = everything(spool)[: start.delivered]
                gone = identities(spool.still_held(ids))
                spool.settle_records(ids)
                appended = {(spool.boot, seq + 1) for seq in range(start.appended)}
                at_its_end = crash(spool, copies / "end")
        if start.kill_at is not None and taken:
            directory = taken[start.kill_at % len(taken)]
            continue
        waiting = (waiting | appended).difference(gone)
        state = b"%d" % number
        if start.is_killed:
            directory = at_its_end
    clock.now_s += 60.0
    with version(NEW), Spool(directory, clock=clock) as spool:
        assert sorted(waiting) == identities(spool.oldest(1000, 1 << 30))
        assert state == spool.state
        assert {0} >= {balance(spool, boot) for boot in older_boots(spool)}
        assert not NewerSpool(directory).path.exists()


def test_a_spool_set_aside_is_reported_and_counts_within_the_limit(tmp_path, clock, events, caplog):
    """A spool set aside has an event and a log line, and is dropped first if space is needed."""
    with version(NEW), Spool(tmp_path, clock=clock) as spool:
        spool.append(lines("x" * 20_000))
    with Spool(tmp_path, clock=clock, max_bytes=100_000, on_event=events.append) as spool:
        newer = tmp_path / f"newer-{FILE_NAME}"
        assert ["NewerSpoolSetAside"] == names(events)
        assert {"File": newer.name} == events[0].details
        assert "has layout 2, newer than the 1 of this version: it was set aside" in caplog.text
        for _ in range(2):
            spool.append(lines("y" * 20_000))
        assert newer.exists()
        spool.append(lines("z" * 50_000))
        assert not newer.exists()
        assert ["NewerSpoolSetAside", "NewerSpoolDropped"] == names(events)
        assert 3 == spool.health().records
