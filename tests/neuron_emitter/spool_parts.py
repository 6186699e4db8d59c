"""Parts of spool tests: clocks, records, counters and damage."""

from __future__ import annotations

import resource
import shutil
from contextlib import contextmanager

from neuron_emitter.spool import NewRecord, Spool

SPOOL_NOW_S = 1_795_000_000.0
SPOOL_NOW_MS = 1_795_000_000_000


class SpoolClock:
    """A clock that moves only if a test sets it or waits."""

    def __init__(self, now_s: float = SPOOL_NOW_S) -> None:
        self.now_s = now_s
        self.waits: list[float] = []

    def __call__(self) -> float:
        """Return seconds since the epoch."""
        return self.now_s

    def sleep(self, seconds: float) -> None:
        """Move the clock instead of waiting."""
        assert seconds >= 0
        self.waits.append(seconds)
        self.now_s += seconds


class Ticks(SpoolClock):
    """A clock that gains an hour each time it is read, so that retries are due immediately."""

    def __call__(self) -> float:
        """Return seconds, an hour more than the last time."""
        self.now_s += 3600.0
        return self.now_s


def lines(*texts: str, at_ms: int = SPOOL_NOW_MS) -> list[NewRecord]:
    """Return records to append."""
    return [NewRecord(at_ms, text) for text in texts]


def held(spool: Spool) -> list[str]:
    """Return the lines in the spool, in order of arrival."""
    return [record.line for record in spool.oldest(1000, 1 << 30)]


def balance(spool: Spool, boot: str | None = None) -> int:
    """Return produced minus delivered, dropped and spooled records: 0 if no record was lost."""
    counters = counters_of(spool, boot)
    gone = counters.delivered + sum(counters.dropped.values())
    return counters.produced - gone - counters.records


def counters_of(spool: Spool, boot: str | None = None):
    """Return the counters of *boot*, by default those of the spool's boot."""
    return spool._backlog.counters[boot or spool.boot]


def older_boots(spool: Spool) -> tuple[str, ...]:
    """Return other boots with undelivered records, in order."""
    return tuple(sorted(boot for boot in spool._backlog.counters if boot != spool.boot))


def everything(spool: Spool) -> list[int]:
    """Return the IDs of all undelivered records, in order of arrival."""
    return [record.id for record in spool.oldest(100_000, 1 << 30)]


def open_database(spool: Spool):
    """Return the spool's database connection, to read or damage rows."""
    return spool._file._database.connection


@contextmanager
def full_disk():
    """Within the block, the kernel refuses every write of this process to a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def crash(spool: Spool, directory):
    """Copy to *directory* the files that kill -9 would leave now; return *directory*."""
    shutil.copytree(spool.directory, directory)
    return directory


def damaged_files(directory):
    """Return the damaged files that the spool set aside, the oldest first."""
    return sorted(path for path in directory.glob("damaged-*") if path.suffix == ".sqlite")


def names(events):
    """Return the names of the events, in order."""
    return [event.name for event in events]
