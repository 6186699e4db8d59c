"""
Records on disk until the destination has answered for them.

One writer, crash-safe: records, counters and the fold's state change in one transaction, so that
*produced = delivered + spooled + dropped* holds at every moment and after any crash. Bytes and age
are limited; records that do not fit are dropped oldest first and counted with their reason. While
the disk refuses, the spool continues in memory within a separate limit, and logs it.

It does not know the content of a line, its destination, or when it is sent.
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
MEMORY_BYTES: Final = 16 << 20  # while the disk refuses: enough for days of minute lines


class SpoolFailedError(EmitterError):
    """The spool was closed. The call had no effect."""

    exit_code = EXIT_SOURCE_FAILED


_log = logging.getLogger(__name__)


@final
class Spool:
    """
    The spool. Every method may be called from any thread.

    The only error of a method is SpoolFailedError, after `close`: a failed disk never makes a call
    fail.

    Attributes:
        boot: This emitter start: 12 hexadecimal digits of milliseconds since the epoch, 8 random
            digits. Greater than those of earlier starts.

        directory: The directory of the file; None in memory.
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
        Open the spool in *directory*, which is created if missing; None means in memory.

        *max_bytes* is the limit of the file, *memory_bytes* the limit of records that the disk
        refuses. A record older than *max_age_s* is dropped when another is appended.

        If the directory cannot be written, this is logged and tried again later; a file that is
        damaged or of a newer version is set aside. *on_event* gets an event for each, from the
        thread that finds it while it holds the spool's lock: it must only queue the event.

        Raises:
            SpoolHeldError:
                If another emitter works in *directory*.
        """
        self.directory = directory
        self._max_bytes = max_bytes
        self._max_age_s = max_age_s
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
            self._write()  # the next boot must be greater, even if this one stores nothing

    def close(self) -> None:
        """Try the disk once more, close it and release the directory. May be called twice."""
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
        """The number of the next appended record."""
        with self._use() as backlog:
            return backlog.own.produced + 1

    @property
    def state(self) -> bytes | None:
        """The *state* last passed to `append`, by this boot or an earlier one."""
        with self._use() as backlog:
            return backlog.pending.state

    def append(self, records: Sequence[NewRecord], state: bytes | None = None) -> int:
        """
        Store *records* with the next numbers, and *state* unless it is None.

        The disk has both or neither. Records that exceed the limits are dropped with them, oldest
        first.

        Returns:
            The number of the first record, which `next_seq` was before.
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
        Return the first records in order of arrival, of all boots.

        As many as fit both limits, *limit_bytes* in UTF-8, but at least one if there is any.
        """
        with self._use() as backlog:
            return backlog.oldest(limit_events, limit_bytes)

    def still_held(self, ids: Iterable[int]) -> list[SpooledRecord]:
        """Return those of *ids* that are still in the spool, in the same order."""
        with self._use() as backlog:
            return backlog.find(ids)

    def settle_records(
        self,
        delivered: Iterable[int] = (),
        dropped: Mapping[DropReason, Iterable[int]] | None = None,
    ) -> int:
        """
        Remove delivered and dropped records in one transaction; *dropped* has IDs by reason.

        IDs that have left the spool are ignored.

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
        Drop *records* as invalid; in a directory, write them to the quarantine with *why*.

        They are written at least once: after a crash in between, the spool still has them.

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
        """Return the counters of this boot, and the content of the spool."""
        with self._use() as backlog:
            own = backlog.own
            boots = backlog.counters.values()
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
        """Return the room next to a newer version's spool, which is removed if room is short."""
        newer_bytes = 0 if self._file is None else self._file.newer.size_bytes
        if self._file is not None and newer_bytes and cost_bytes + newer_bytes > self._max_bytes:
            self._file.drop_newer("the records need its room")
            return self._max_bytes
        return self._max_bytes - newer_bytes

    def _unkeepable(self, record: NewRecord, earliest_ms: int) -> DropReason | None:
        """Return why *record* is dropped, None if it is kept."""
        if record.timestamp_ms < earliest_ms:
            return "too_old"
        try:
            line_bytes = len(record.line.encode())
        except UnicodeEncodeError:
            return "invalid"  # half a surrogate pair: no destination could receive it
        # A record larger than the spool would evict every record, including itself.
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
