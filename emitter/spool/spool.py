"""
Records on disk until the destination has answered for them.

One writer, crash-safe: records, counters and the fold's state change in one
transaction, so that *produced = delivered + spooled + dropped* holds at every
moment and after any crash. Bounded in bytes and age; what does not fit is
dropped oldest first and counted with its reason.

It does not know what a line says, where it goes, or when it is sent.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from emitter.repeats import Repeats
from emitter.spool.layout import open_database
from emitter.spool.ledger import cost_bytes
from emitter.spool.opening import (
    BOOT_FORM,
    SpoolHeldError,
    SpoolUnusableError,
    lock_directory,
    new_boot,
    open_in,
)
from emitter.spool.records import NewRecord, SpooledRecord
from emitter.spool.transactions import SpoolFailedError, Transactions

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from emitter.spool.directory_lock import DirectoryLock
    from emitter.spool.records import DropReason

__all__ = [
    "NewRecord",
    "Spool",
    "SpoolFailedError",
    "SpoolHealth",
    "SpoolHeldError",
    "SpoolUnusableError",
    "SpooledRecord",
]

MAX_BYTES: Final = 256 << 20
MAX_AGE_S: Final = 13 * 86_400.0
DROPS_LOG_INTERVAL_S: Final = 10.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SpoolHealth:
    """
    What became of one boot's records, and what the spool holds.

    Attributes:
        records: Of this boot, waiting. Always produced - delivered - dropped.

        bytes: UTF-8 bytes of all waiting lines, those of other boots included.

        produced: Records appended, the dropped ones included.

        delivered: Records the destination took.

        dropped: Records lost on purpose, by reason; only reasons above 0.

        older_records: Waiting records that earlier boots left behind.
    """

    records: int
    bytes: int
    produced: int
    delivered: int
    dropped: Mapping[DropReason, int]
    older_records: int


@final
class Spool:
    """
    Made by `Spool.open`; every method may be called from any thread.

    Attributes:
        boot: This emitter start: 12 hexadecimal digits of milliseconds since
            the epoch, 8 random ones. Greater than those of earlier starts.

        directory: Where the file is; None in memory.
    """

    def __init__(
        self,
        database: sqlite3.Connection,
        lock: DirectoryLock | None,
        *,
        directory: Path | None,
        boot: str | None,
        max_bytes: int,
        max_age_s: float | None,
        clock: Callable[[], float],
    ) -> None:
        self.directory = directory
        self._transactions = Transactions(database, str(directory or "memory"))
        self._directory_lock = lock
        self._max_bytes = max_bytes
        self._max_age_s = max_age_s
        self._clock = clock
        self._drop_log = Repeats(DROPS_LOG_INTERVAL_S)
        with self._transactions.begin() as ledger:
            self.boot = boot or new_boot(clock(), max(ledger.boots(), default=None))
            self._boot_id = ledger.enter_boot(self.boot)
            ledger.forget_finished(self._boot_id)

    @classmethod
    def open(
        cls,
        directory: Path | None,
        *,
        max_bytes: int = MAX_BYTES,
        max_age_s: float | None = MAX_AGE_S,
        clock: Callable[[], float] = time.time,
        boot: str | None = None,
    ) -> Spool:
        """
        Open the spool in *directory*, made if need be; None is one in memory.

        Raises:
            SpoolHeldError:
                If another emitter works in *directory*.

            SpoolUnusableError:
                If *directory* cannot be written, or its file is damaged or
                was written by a newer version.
        """
        if boot is not None and not BOOT_FORM.fullmatch(boot):
            msg = f"boot must be 20 lower-case hexadecimal digits, not {boot!r}"
            raise ValueError(msg)
        lock = None if directory is None else lock_directory(directory)
        database = None
        try:
            database = open_database(None) if directory is None else open_in(directory)
            return cls(
                database,
                lock,
                directory=directory,
                boot=boot,
                max_bytes=max_bytes,
                max_age_s=max_age_s,
                clock=clock,
            )
        except BaseException:
            if database is not None:
                database.close()
            if lock is not None:
                lock.release()
            raise

    def close(self) -> None:
        """
        Close the file and let the next emitter in. May be called twice.
        """
        self._transactions.close()
        if self._directory_lock is not None:
            self._directory_lock.release()
            self._directory_lock = None

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
        """
        The number the next appended record will have.
        """
        with self._transactions.begin() as ledger:
            return ledger.counters(self._boot_id).produced + 1

    @property
    def state(self) -> bytes | None:
        """
        What was last given to `append` as *state*, by whichever boot.
        """
        with self._transactions.begin() as ledger:
            return ledger.state()

    def append(self, records: Sequence[NewRecord], state: bytes | None = None) -> int:
        """
        Keep *records* with the next numbers, and *state* unless it is None.

        Both or neither. What the bounds leave no room for is dropped in the
        same transaction, oldest first.

        Returns:
            The number of the first record, as `next_seq` said it.

        Raises:
            SpoolFailedError:
                If it could not be written; then no number was used.
        """
        dropped: Counter[DropReason] = Counter()
        earliest_ms = None
        if self._max_age_s is not None:
            earliest_ms = round((self._clock() - self._max_age_s) * 1000)
        with self._transactions.begin() as ledger:
            if earliest_ms is not None:
                dropped["too_old"] += ledger.drop(ledger.older_than(earliest_ms), "too_old")
            first_seq = ledger.produce(self._boot_id, len(records))
            free_bytes = self._max_bytes - ledger.held_cost_bytes()
            for seq, record in enumerate(records, first_seq):
                reason = self._unkeepable(record, earliest_ms)
                if reason is not None:
                    ledger.count_dropped(self._boot_id, 1, reason)
                    dropped[reason] += 1
                    continue
                line_bytes = len(record.line.encode())
                free_bytes -= cost_bytes(line_bytes)
                if free_bytes < 0:  # room first, so that the file never grows beyond the bound
                    ids, freed_bytes = ledger.first_until(-free_bytes)
                    free_bytes += freed_bytes
                    dropped["spool_full"] += ledger.drop(ids, "spool_full")
                ledger.insert(self._boot_id, seq, record, line_bytes)
            if state is not None:
                ledger.keep_state(state)
            ledger.forget_finished(self._boot_id)
        self._log_drops(dropped)
        return first_seq

    def oldest(self, limit_events: int, limit_bytes: int) -> list[SpooledRecord]:
        """
        The first records in order of arrival, of all boots.

        As many as fit both limits, *limit_bytes* in UTF-8, but never none
        while there is one.
        """
        taken: list[SpooledRecord] = []
        taken_bytes = 0
        with self._transactions.begin() as ledger:
            for record, line_bytes in ledger.oldest(limit_events):
                taken_bytes += line_bytes
                if taken and taken_bytes > limit_bytes:
                    break
                taken.append(record)
        return taken

    def still_held(self, ids: Iterable[int]) -> list[SpooledRecord]:
        """
        Those of *ids* that are still in the spool, in the order given.
        """
        with self._transactions.begin() as ledger:
            return [record for i in ids if (record := ledger.find(i)) is not None]

    def delivered(self, ids: Iterable[int]) -> int:
        """
        The destination took these. Ids that are gone already are left out.

        Returns:
            How many left the spool.
        """
        return self.settle(delivered=ids)

    def dropped(self, ids: Iterable[int], reason: DropReason) -> int:
        """
        These are lost on purpose. Ids that are gone already are left out.

        Returns:
            How many left the spool.
        """
        return self.settle(dropped={reason: ids})

    def settle(
        self,
        delivered: Iterable[int] = (),
        dropped: Mapping[DropReason, Iterable[int]] | None = None,
    ) -> int:
        """
        Both of the above in one transaction: what one answer said of one batch.

        Returns:
            How many left the spool.
        """
        with self._transactions.begin() as ledger:
            gone = ledger.deliver(delivered)
            for reason, ids in (dropped or {}).items():
                gone += ledger.drop(ids, reason)
            ledger.forget_finished(self._boot_id)
        return gone

    def health(self, boot: str | None = None) -> SpoolHealth:
        """
        The counters of this boot, or of one of `older_boots`.

        Raises:
            KeyError:
                If *boot* is not in the spool.
        """
        with self._transactions.begin() as ledger:
            boot_id = self._boot_id if boot is None else ledger.boots()[boot]
            counters = ledger.counters(boot_id)
            held = ledger.held()
        return SpoolHealth(
            records=held.get(boot_id, (0, 0))[0],
            bytes=sum(line_bytes for _, line_bytes in held.values()),
            produced=counters.produced,
            delivered=counters.delivered,
            dropped=counters.dropped,
            older_records=sum(n for held_id, (n, _) in held.items() if held_id != self._boot_id),
        )

    @property
    def older_boots(self) -> tuple[str, ...]:
        """
        Other boots that have records left, the oldest first.
        """
        with self._transactions.begin() as ledger:
            return tuple(boot for boot in ledger.boots() if boot != self.boot)

    def _unkeepable(self, record: NewRecord, earliest_ms: int | None) -> DropReason | None:
        if earliest_ms is not None and record.timestamp_ms < earliest_ms:
            return "too_old"
        try:
            line_bytes = len(record.line.encode())
        except UnicodeEncodeError:
            return "invalid"  # half a surrogate pair: nothing could be sent it
        if cost_bytes(line_bytes) > self._max_bytes:
            return "too_large"  # would push out everything, then itself
        return None

    def _log_drops(self, dropped: Mapping[DropReason, int]) -> None:
        for reason, records in dropped.items():
            if records and (count := self._drop_log.due(reason, records)):
                _log.warning(
                    "records dropped",
                    extra={"count": count, "reason": reason, "stage": "spooling"},
                )
