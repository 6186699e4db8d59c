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
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from emitter.spool import quarantine
from emitter.spool.disk import Disk
from emitter.spool.ledger import cost_bytes
from emitter.spool.notices import Notices
from emitter.spool.record_queue import RecordQueue
from emitter.spool.records import SpoolHealth, new_boot
from emitter.spool.transactions import SpoolFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from emitter.events import Event
    from emitter.spool.records import DropReason, NewRecord, SpooledRecord

MAX_BYTES: Final = 256 << 20
MAX_AGE_S: Final = 13 * 86_400.0
MEMORY_BYTES: Final = 16 << 20  # while the disk refuses: days of minute lines


@dataclass(frozen=True, slots=True)
class Bounds:
    """
    How much a spool keeps, and for how long.

    Attributes:
        max_bytes: Room in the file.

        max_age_s: Of a record, when something is appended. None is no limit.

        memory_bytes: Room for what the disk refuses.
    """

    max_bytes: int = MAX_BYTES
    max_age_s: float | None = MAX_AGE_S
    memory_bytes: int = MEMORY_BYTES

    def earliest_ms(self, now_s: float) -> int | None:
        """The oldest timestamp that is kept; None for any."""
        return None if self.max_age_s is None else round((now_s - self.max_age_s) * 1000)

    def unkeepable(self, record: NewRecord, earliest_ms: int | None) -> DropReason | None:
        """Why *record* is not kept, None when it is."""
        if earliest_ms is not None and record.timestamp_ms < earliest_ms:
            return "too_old"
        try:
            line_bytes = len(record.line.encode())
        except UnicodeEncodeError:
            return "invalid"  # half a surrogate pair: nothing could be sent it
        if cost_bytes(line_bytes) > self.max_bytes:
            return "too_large"  # would push out everything, then itself
        return None


_log = logging.getLogger(__name__)


@final
class Spool:
    """
    Made by `Spool.open`; every method may be called from any thread.

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
        bounds: Bounds,
        clock: Callable[[], float],
        monotonic: Callable[[], float],
        on_event: Callable[[Event], None] | None,
    ) -> None:
        self.directory = directory
        self._bounds = bounds
        self._clock = clock
        self._notices = Notices(directory, bounds.memory_bytes, clock, monotonic, on_event)
        self._mutex = threading.RLock()
        self._is_closed = False
        disk = None if directory is None else Disk(directory)
        self._queue = RecordQueue(disk, self._notices, clock=clock, monotonic=monotonic)
        self.boot = new_boot(clock(), max(self._queue.counters, default=None))
        self._queue.enter(self.boot)
        with self._use():
            self._queue.write()  # the next start must be greater, also if we keep nothing

    @classmethod
    def open(
        cls,
        directory: Path | None,
        *,
        max_bytes: int = MAX_BYTES,
        max_age_s: float | None = MAX_AGE_S,
        memory_bytes: int = MEMORY_BYTES,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        on_event: Callable[[Event], None] | None = None,
    ) -> Spool:
        """
        Open the spool in *directory*, made if need be; None is one in memory.

        A directory that cannot be written is said aloud and tried again later; a
        damaged file is set aside. *on_event* is told of both, by whichever thread
        finds out; it must only note it down.

        Raises:
            SpoolHeldError:
                If another emitter works in *directory*.

            SpoolUnusableError:
                If its file was written by a newer version; it is left as it is.
        """
        return cls(
            directory,
            bounds=Bounds(max_bytes, max_age_s, min(memory_bytes, max_bytes)),
            clock=clock,
            monotonic=monotonic,
            on_event=on_event,
        )

    def close(self) -> None:
        """Try the disk once more, close it and let the next emitter in. May be called twice."""
        with self._mutex:
            if self._is_closed:
                return
            self._queue.write(at_once=True)
            self._notices.lost(self._queue.in_memory)
            self._is_closed = True
            self._queue.close()

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def next_seq(self) -> int:
        """The number the next appended record will have."""
        with self._use() as queue:
            return queue.own.produced + 1

    @property
    def state(self) -> bytes | None:
        """What was last given to `append` as *state*, by whichever boot."""
        with self._use() as queue:
            return queue.state

    def append(self, records: Sequence[NewRecord], state: bytes | None = None) -> int:
        """
        Keep *records* with the next numbers, and *state* unless it is None.

        Both or neither are on the disk. What the bounds leave no room for is
        dropped with them, oldest first.

        Returns:
            The number of the first record, as `next_seq` said it.
        """
        dropped: Counter[DropReason] = Counter()
        earliest_ms = self._bounds.earliest_ms(self._clock())
        with self._use() as queue:
            if earliest_ms is not None:
                dropped["too_old"] += queue.drop_older(earliest_ms)
            first_seq = queue.produce(len(records))
            for seq, record in enumerate(records, first_seq):
                reason = self._bounds.unkeepable(record, earliest_ms)
                if reason is not None:
                    queue.lose(reason)
                    dropped[reason] += 1
                    continue
                line_bytes = len(record.line.encode())
                queue.add(seq, record.timestamp_ms, record.line, line_bytes)
            if state is not None:
                queue.keep_state(state)
            dropped["spool_full"] += queue.drop_beyond(self._bounds.max_bytes)
            queue.write()
            dropped["spool_full"] += queue.drop_beyond_in_memory(self._bounds.memory_bytes)
            self._notices.dropped(dropped)
        return first_seq

    def oldest(self, limit_events: int, limit_bytes: int) -> list[SpooledRecord]:
        """
        The first records in order of arrival, of all boots.

        As many as fit both limits, *limit_bytes* in UTF-8, but never none
        while there is one.
        """
        with self._use() as queue:
            return queue.oldest(limit_events, limit_bytes)

    def still_held(self, ids: Iterable[int]) -> list[SpooledRecord]:
        """Those of *ids* that are still in the spool, in the order given."""
        with self._use() as queue:
            return queue.find(ids)

    def settle(
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
        with self._use() as queue:
            gone = queue.deliver(delivered)
            for reason, ids in (dropped or {}).items():
                gone += queue.drop(ids, reason)
            queue.write()
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
                quarantine.keep(self.directory, refused, why, self._clock())
            except OSError as error:
                extra = {"count": len(refused), "why": error.strerror or str(error)}
                _log.warning("records not quarantined", extra=extra)
        return self.settle(dropped={"invalid": [record.id for record in refused]})

    def health(self) -> SpoolHealth:
        """The counters of this boot, and what the spool holds."""
        with self._use() as queue:
            own = queue.own
            return SpoolHealth(
                records=own.records,
                bytes=sum(counters.bytes for counters in queue.counters.values()),
                produced=own.produced,
                delivered=own.delivered,
                dropped={reason: count for reason, count in own.dropped.items() if count},
                older_records=sum(counters.records for counters in queue.counters.values())
                - own.records,
                older_dropped=queue.older_dropped,
                in_memory=queue.in_memory,
                set_aside=queue.set_aside,
            )

    @contextmanager
    def _use(self) -> Iterator[RecordQueue]:
        with self._mutex:
            if self._is_closed:
                msg = f"the spool in {self.directory or 'memory'} is closed"
                raise SpoolFailedError(msg)
            yield self._queue
        self._notices.say()
