"""What the tests of the spool share: a clock, lines, and what the identity leaves over."""

from __future__ import annotations

import resource
import shutil
from contextlib import contextmanager

from neuron_emitter.spool import NewRecord, Spool

SPOOL_NOW_S = 1_795_000_000.0
SPOOL_NOW_MS = 1_795_000_000_000


class SpoolClock:
    """A clock that moves only when a test sets it or waits."""

    def __init__(self, now_s: float = SPOOL_NOW_S) -> None:
        self.now_s = now_s
        self.waits: list[float] = []

    def __call__(self) -> float:
        """Seconds since the epoch."""
        return self.now_s

    def sleep(self, seconds: float) -> None:
        """Wait without waiting."""
        assert seconds >= 0
        self.waits.append(seconds)
        self.now_s += seconds


class Ticks(SpoolClock):
    """A clock on which every look is an hour later: what is tried again is tried at once."""

    def __call__(self) -> float:
        """Seconds, an hour more than the last time."""
        self.now_s += 3600.0
        return self.now_s


def lines(*texts: str, at_ms: int = SPOOL_NOW_MS) -> list[NewRecord]:
    """Records to append."""
    return [NewRecord(at_ms, text) for text in texts]


def held(spool: Spool) -> list[str]:
    """The lines in the spool, in order of arrival."""
    return [record.line for record in spool.oldest(1000, 1 << 30)]


def balance(spool: Spool, boot: str | None = None) -> int:
    """What the identity leaves over: 0, or a record was lost or invented."""
    counters = counters_of(spool, boot)
    gone = counters.delivered + sum(counters.dropped.values())
    return counters.produced - gone - counters.records


def counters_of(spool: Spool, boot: str | None = None):
    """The counters of *boot*, by default the spool's own."""
    return spool._backlog.counters[boot or spool.boot]


def older_boots(spool: Spool) -> tuple[str, ...]:
    """Other boots that have records left, the oldest first."""
    return tuple(sorted(boot for boot in spool._backlog.counters if boot != spool.boot))


def everything(spool: Spool) -> list[int]:
    """The ids of all that waits, in order of arrival."""
    return [record.id for record in spool.oldest(100_000, 1 << 30)]


def open_database(spool: Spool):
    """The connection under the spool, to look at rows or to hurt them."""
    return spool._file._database.connection


@contextmanager
def full_disk():
    """Within the block the kernel lets this process write to no file, new or old."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def crash(spool: Spool, directory):
    """Leave in *directory* what a kill -9 at this moment would leave of *spool*."""
    shutil.copytree(spool.directory, directory)
    return directory


def damaged_files(directory):
    """The damaged files kept for people, the oldest first."""
    return sorted(each for each in directory.glob("damaged-*") if each.suffix == ".sqlite")


def names(events):
    """What happened, in order."""
    return [event.name for event in events]
