"""
Records on disk until the destination has answered for them.

One writer, crash-safe: records, counters and the fold's state change in one
transaction, so that *produced = delivered + spooled + dropped* holds at every
moment and after any crash. Bounded in bytes and age; what does not fit is
dropped oldest first and counted with its reason. While the disk refuses, it
goes on in memory within a bound of its own, and says so.

It does not know what a line says, where it goes, or when it is sent.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Final, final

from neuron_emitter.errors import EXIT_SOURCE_FAILED, EmitterError
from neuron_emitter.spool.backlog import Backlog
from neuron_emitter.spool.directory import quarantine_records
from neuron_emitter.spool.spool_file import Notices, SpoolFile
from neuron_emitter.spool.spool_records import SpoolHealth, cost_bytes, new_boot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from neuron_emitter.logs import Clock, OnEvent
    from neuron_emitter.spool.spool_records import DropReason, NewRecord, SpooledRecord

DEFAULT_SPOOL_BYTES: Final = 256 << 20
MAX_AGE_S: Final = 13 * 86_400.0
MEMORY_BYTES: Final = 16 << 20  # while the disk refuses: days of minute lines


class SpoolFailedError(EmitterError):
    """The spool was closed. Nothing of the call has happened."""

    exit_code = EXIT_SOURCE_FAILED


_log = logging.getLogger(__name__)


@final
class Spool:
    """
    Every method may be called from any thread.

    The only error of a method is SpoolFailedError, after `close`: a disk that
    fails costs no call.

    Attributes:
        boot: This emitter start: 12 hexadecimal digits of milliseconds since
            the epoch, 8 random ones. Greater than those of earlier starts.

        directory: Where the file is; None in memory.
    """

    def __init__(
        self,
        directory: Path | None,
        *,
        max_bytes: int = DEFAULT_SPOOL_BYTES,
        max_age_s: float = MAX_AGE_S,
        memory_bytes: int = MEMORY_BYTES,
        clock: Clock = time.time,
        monotonic: Clock = time.monotonic,
        on_event: OnEvent | None = None,
    ) -> None:
        """
        Open the spool in *directory*, made if need be; None is one in memory.

        *max_bytes* is room in the file, *memory_bytes* room for what the disk refuses. A record
        older than *max_age_s* is dropped when something is appended.

        A directory that cannot be written is logged and tried again later; a file that is
        damaged or of a newer version is set aside. *on_event* gets an event of each, from
        whichever thread finds out and holds the spool: it must only note it down.

        Raises:
            SpoolHeldError:
                If another emitter works in *directory*.
        """
        self.directory = directory
        self._max_bytes, self._max_age_s = max_bytes, max_age_s
        self._memory_bytes = min(memory_bytes, max_bytes)
        self._clock = clock
        self._notices = Notices(directory, self._memory_bytes, clock, monotonic, on_event)
        self._mutex = RLock()
        self._is_closed = False
        self._backlog = Backlog()
        self._file: SpoolFile | None = None
        if directory is not None:
            self._file = SpoolFile(
                directory, self._backlog, self._notices, clock=clock, monotonic=monotonic
            )
        self.boot = new_boot(clock(), max(self._backlog.counters, default=None))
        self._backlog.enter_boot(self.boot)
        with self._use():
            self._write()  # the next start must be greater, also if we keep nothing

    def close(self) -> None:
        """Try the disk once more, close it and let the next emitter in. May be called twice."""
        with self._mutex:
            if self._is_closed:
                return
            self._is_closed = True
            if self._file is not None:
                self._write(at_once=True)
                if lost := len(self._backlog.pending.added):
                    _log.error("records lost", extra={"count": lost, "stage": "spooling"})
                self._file.close()

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def next_seq(self) -> int:
        """The number the next appended record will have."""
        with self._use() as backlog:
            return backlog.own.produced + 1

    @property
    def state(self) -> bytes | None:
        """What was last given to `append` as *state*, by this boot or an earlier one."""
        with self._use() as backlog:
            return backlog.pending.state

    def append(self, records: Sequence[NewRecord], state: bytes | None = None) -> int:
        """
        Keep *records* with the next numbers, and *state* unless it is None.

        Both or neither are on the disk. What the bounds leave no room for is
        dropped with them, oldest first.

        Returns:
            The number of the first record, as `next_seq` said it.
        """
        earliest_ms = round((self._clock() - self._max_age_s) * 1000)
        with self._use() as backlog:
            dropped: Counter[DropReason] = Counter({"too_old": backlog.drop_older(earliest_ms)})
            own = backlog.own
            first_seq = own.produced + 1
            own.produced += len(records)
            own.changed = backlog.changed = True
            for seq, record in enumerate(records, first_seq):
                if (reason := self._unkeepable(record, earliest_ms)) is None:
                    backlog.add_record(seq, record.timestamp_ms, record.line)
                else:
                    own.dropped[reason] += 1
                    dropped[reason] += 1
            if state is not None:
                backlog.keep_state(state)
            dropped["spool_full"] += backlog.drop_beyond(self._limit_bytes(backlog.cost_bytes))
            self._write()
            if self._file is not None and self._file.refused:
                dropped["spool_full"] += backlog.drop_beyond(self._memory_bytes, in_memory=True)
            self._notices.say_dropped(dropped)
        return first_seq

    def oldest(self, limit_events: int, limit_bytes: int) -> list[SpooledRecord]:
        """
        The first records in order of arrival, of all boots.

        As many as fit both limits, *limit_bytes* in UTF-8, but never none
        while there is one.
        """
        with self._use() as backlog:
            return backlog.oldest(limit_events, limit_bytes)

    def still_held(self, ids: Iterable[int]) -> list[SpooledRecord]:
        """Those of *ids* that are still in the spool, in the order given."""
        with self._use() as backlog:
            return backlog.find(ids)

    def settle_records(
        self,
        delivered: Iterable[int] = (),
        dropped: Mapping[DropReason, Iterable[int]] | None = None,
    ) -> int:
        """
        What became of records, in one transaction: *dropped* are lost on purpose, by reason.

        Ids that are gone already are left out.

        Returns:
            How many left the spool.
        """
        with self._use() as backlog:
            gone = backlog.deliver(delivered)
            for reason, ids in (dropped or {}).items():
                gone += backlog.drop(ids, reason)
            self._write()
        return gone

    def quarantine(self, records: Iterable[SpooledRecord], why: str) -> int:
        """
        Drop *records* as invalid; in a directory, write them down there with *why*.

        Written at least once: a crash in between finds them still in the spool.

        Returns:
            How many left the spool.
        """
        refused = list(records)
        if self.directory is not None:
            try:
                quarantine_records(self.directory, refused, why, self._clock())
            except OSError as error:
                extra = {"count": len(refused), "why": error.strerror or str(error)}
                _log.warning("records not quarantined", extra=extra)
        return self.settle_records(dropped={"invalid": [record.id for record in refused]})

    def health(self) -> SpoolHealth:
        """The counters of this boot, and what the spool holds."""
        with self._use() as backlog:
            own, boots = backlog.own, backlog.counters.values()
            return SpoolHealth(
                records=own.records,
                bytes=sum(boot.bytes for boot in boots),
                produced=own.produced,
                delivered=own.delivered,
                dropped={reason: count for reason, count in own.dropped.items() if count},
                older_records=sum(boot.records for boot in boots) - own.records,
                older_dropped=backlog.older_dropped,
                in_memory=0 if self._file is None else len(backlog.pending.added),
                set_aside=0 if self._file is None else self._file.set_aside_files,
            )

    def _limit_bytes(self, cost_bytes: int) -> int:
        """Return the room beside the spool of a newer version, the first to go if it is short."""
        newer_bytes = 0 if self._file is None else self._file.newer.size_bytes
        if self._file is not None and newer_bytes and cost_bytes + newer_bytes > self._max_bytes:
            self._file.drop_newer("the records need its room")
            return self._max_bytes
        return self._max_bytes - newer_bytes

    def _unkeepable(self, record: NewRecord, earliest_ms: int) -> DropReason | None:
        """Why *record* is not kept, None when it is."""
        if record.timestamp_ms < earliest_ms:
            return "too_old"
        try:
            line_bytes = len(record.line.encode())
        except UnicodeEncodeError:
            return "invalid"  # half a surrogate pair: nothing could be sent it
        # What is larger than the spool would push out everything, then itself.
        return "too_large" if cost_bytes(line_bytes) > self._max_bytes else None

    def _write(self, *, at_once: bool = False) -> None:
        if self._file is not None:
            self._file.write_changes(at_once=at_once)

    @contextmanager
    def _use(self) -> Iterator[Backlog]:
        with self._mutex:
            if self._is_closed:
                msg = f"the spool in {self.directory or 'memory'} is closed"
                raise SpoolFailedError(msg)
            yield self._backlog
