"""
The spool's copy on the disk: one locked directory, and the file in it.

A disk that refuses is tried again, a file that is damaged is replaced.
`neuron_emitter.spool.backlog` decides the effect on records.
"""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final, final

from neuron_emitter.errors import EmitterError
from neuron_emitter.logs import Event, Repeats
from neuron_emitter.spool.database import Contents, SpoolDatabase
from neuron_emitter.spool.directory import STATE_NAME, StateFile, hold_directory, holder_of
from neuron_emitter.spool.layout import (
    FILE_NAME,
    DiskDamagedError,
    DiskRefusedError,
    NewerLayoutError,
    database_files,
    open_database,
    open_read_only,
)
from neuron_emitter.spool.newer_spool import NewerSpool
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from io import FileIO
    from pathlib import Path

    from neuron_emitter.logs import Clock, OnEvent
    from neuron_emitter.spool.backlog import Backlog
    from neuron_emitter.spool.spool_records import DropReason

RETRY_INTERVAL_S: Final = 1.0  # the shortest time between two tries of a disk that refuses
MAX_DAMAGED_FILES: Final = (
    2  # damaged files that are kept for people: a faulty disk must not fill up with them
)

_DAMAGED_PREFIX: Final = "damaged-"
DROPS_LOG_INTERVAL_S: Final = 10.0
DISK_NOTICE_INTERVAL_S: Final = 600.0

_log = logging.getLogger(__name__)


class Notices:
    """Log lines and events about one spool. Callers hold its lock."""

    def __init__(
        self,
        place: Path | None,
        memory_bytes: int,
        clock: Clock,
        monotonic: Clock,
        on_event: OnEvent | None,
    ) -> None:
        self._place = place
        self._memory_bytes = memory_bytes
        self._clock = clock
        self._on_event = on_event
        self._drops = Repeats(DROPS_LOG_INTERVAL_S, monotonic)
        self._disk = Repeats(DISK_NOTICE_INTERVAL_S, monotonic)
        self._has_said_memory = False

    def say_in_memory(self, why: str) -> None:
        """Log that the disk refuses."""
        self._has_said_memory = bool(self._disk.due("SpoolInMemory"))
        if self._has_said_memory:
            message = (
                f"Cannot write the spool directory {self._place} ({why}): up to "
                f"{self._memory_bytes >> 20} MiB of records are kept in memory and lost "
                "if this process ends. Make it writable or free space (no restart "
                "needed), or use another --spool-dir."
            )
            _log.error(message)
            self._note_event("SpoolInMemory", message)

    def say_on_disk_again(self, records: int) -> None:
        """Log that the disk accepted the waiting records."""
        if self._has_said_memory:
            self._has_said_memory = False
            message = (
                f"The spool directory {self._place} is writable again. All records are on disk."
            )
            _log.info(message, extra={"records": records})
            self._note_event("SpoolOnDiskAgain", message, Records=records)

    def say_set_aside(self, name: str | None, why: str, lost: int | None) -> None:
        """Log that a damaged file was replaced. *lost* is None if the file was never read."""
        if self._disk.due("SpoolSetAside"):
            what = "is gone" if name is None else f"was damaged ({why}) and moved to {name}"
            records = "its records" if lost is None else counted(lost, "waiting record")
            message = (
                f"The spool file in {self._place} {what}: {records} lost. A new file was created."
            )
            _log.error(message)
            self._note_event("SpoolSetAside", message, File=name, RecordsLost=lost)

    def say_newer_set_aside(self, name: str, why: str) -> None:
        """Log that the spool of a newer version was replaced by an empty one."""
        message = (
            f"{why}: it was set aside as {name} and an empty spool was created. No record is "
            "lost if you install the newer neuron-emf again within 13 days."
        )
        _log.warning(message)
        self._note_event("NewerSpoolSetAside", message, File=name)

    def say_newer_dropped(self, size_mib: int, why: str) -> None:
        """Log that the spool of a newer version was removed with its records."""
        message = (
            f"The spool of a newer version in {self._place} ({size_mib} MiB) was removed: {why}."
        )
        _log.error(message)
        self._note_event("NewerSpoolDropped", message)

    def say_dropped(self, dropped: Mapping[DropReason, int]) -> None:
        """Log records that were dropped here, not by the destination."""
        for reason, records in dropped.items():
            if records and (count := self._drops.due(reason, records)):
                _log.warning(
                    "records dropped", extra={"count": count, "reason": reason, "stage": "spooling"}
                )

    def _note_event(self, name: str, message: str, **details: str | int | None) -> None:
        if self._on_event is not None:
            known = {key: value for key, value in details.items() if value is not None}
            self._on_event(Event(name, self._clock(), message, known))


@final
class SpoolFile:
    """
    The file of one backlog. Not thread-safe.

    Attributes:
        refused: Why the disk accepts nothing now; None while it does.

        set_aside_files: Damaged files that were replaced.

        newer: The spool of a newer version, if one is set aside.
    """

    def __init__(
        self,
        directory: Path,
        backlog: Backlog,
        notices: Notices,
        *,
        clock: Clock,
        monotonic: Clock,
    ) -> None:
        """
        Open the file, creating it if missing, or find out why that is impossible.

        Raises:
            SpoolHeldError:
                If another emitter holds the directory.
        """
        self.refused: str | None = None
        self.set_aside_files = 0
        self._directory = directory
        self._path = directory / FILE_NAME
        self._backlog = backlog
        self._notices = notices
        self._clock = clock
        self._monotonic = monotonic
        self.newer = NewerSpool(directory)
        self._state_file = StateFile(self._path.with_name(STATE_NAME))
        self._lock: FileIO | None = None
        self._database: SpoolDatabase | None = None
        self._ask_again_s = 0.0  # on the monotonic clock, while the disk refuses
        if not self._try(self._attach, is_start=True):
            self._backlog.pending.state = self._read_state_only()

    def write_changes(self, *, at_once: bool = False) -> None:
        """
        Write pending changes to the disk, if there are any and the disk accepts them.

        Not tried if the disk refused a moment ago, unless *at_once*.
        """
        backlog = self._backlog
        backlog.forget_empty_boots()
        if not (backlog.changed or self.refused):
            return
        is_due = self.refused is None or at_once or self._monotonic() >= self._ask_again_s
        records = len(backlog.pending.added)
        if is_due and self._try(self._write):
            backlog.mark_written()
            self._state_file.reserve()
            if self.refused is not None:
                self.refused = None
                self._notices.say_on_disk_again(records)
        elif backlog.pending.delivered is not None:
            self._state_file.write_state(backlog.pending.delivered)
            backlog.pending.delivered = None

    def close(self) -> None:
        """Close the file and release the directory. May be called twice."""
        self._detach()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _write(self) -> None:
        database = self._attach()
        # Not by its inode: some network file systems change it under an open file.
        try:
            self._path.stat()
        except FileNotFoundError:
            msg = "it was removed"  # data written to it would disappear with this process
            raise DiskDamagedError(msg) from None
        database.write_changes(self._backlog.pending, self._backlog.counters)

    def _attach(self) -> SpoolDatabase:
        if self._backlog.spoiled is not None:
            self._detach()
            name = set_aside(self._path, self._clock())
            if name is None:
                self.close()  # perhaps the whole directory was removed: lock its successor
            self._notices.say_set_aside(name, *self._backlog.spoiled)
            self.set_aside_files += 1
            self._backlog.spoiled = None
        if self._lock is None:
            self._lock = hold_directory(self._directory)
        if self._database is None:
            self.newer.complete_move()
            self._database = SpoolDatabase(self._open())
            try:
                self._pick_newer_up(self._database)
                contents = _with_newest_state(self._database.load_contents(), self._state_file)
                self._backlog.take_in(self._database, contents)
            except BaseException:
                self._detach()
                raise
        return self._database

    def _open(self) -> sqlite3.Connection:
        try:
            return open_database(self._path)
        except NewerLayoutError as error:
            if self.newer.path.exists():
                self.drop_newer("a spool takes its place")
            self.newer.move_here()
            self._notices.say_newer_set_aside(self.newer.path.name, str(error))
            return open_database(self._path)

    def _pick_newer_up(self, database: SpoolDatabase) -> None:
        """Copy the spool that is set aside if this version can read it, and only then remove it."""
        path = self.newer.path
        if not path.exists():
            return
        try:
            with closing(open_database(path)) as connection:
                contents = SpoolDatabase(connection).load_contents()
        except NewerLayoutError:
            return
        except DiskDamagedError as error:
            self._notices.say_set_aside(set_aside(path, self._clock()), str(error), None)
            self.set_aside_files += 1
            return
        newest = _with_newest_state(contents, StateFile(self.newer.state_path))
        database.copy_earlier(path, newest.state)
        self.newer.remove()
        records = sum(counters.records for counters in contents.counters.values())
        _log.info("spool set aside by an older version picked up", extra={"records": records})

    def drop_newer(self, why: str) -> None:
        """Remove the spool of a newer version because *why*, and report the loss."""
        size_mib = self.newer.size_bytes >> 20
        with suppress(OSError):
            self.newer.remove()
        self._notices.say_newer_dropped(size_mib, why)

    def _detach(self) -> None:
        """Close the file; the directory stays locked."""
        if self._database is not None:
            database = self._database
            self._database = None
            self._backlog.database = None
            with suppress(sqlite3.Error):
                database.connection.close()

    def _read_state_only(self) -> bytes | None:
        """
        Return an earlier start's state if the disk is read-only.

        None if it cannot be read, or another emitter works with it.
        """
        if self._lock is None and holder_of(self._directory):
            return None
        unreadable = (NewerLayoutError, DiskDamagedError, sqlite3.Error, OSError)
        with suppress(*unreadable), closing(open_read_only(self._path)) as connection:
            contents = SpoolDatabase(connection).load_contents()
            return _with_newest_state(contents, self._state_file).state
        return None

    def _try(self, step: Callable[[], object], *, is_start: bool = False) -> bool:
        # a new file if one is damaged; a disk that damages the new one too refuses
        for _ in range(2):
            try:
                step()
            except DiskDamagedError as error:  # noqa: PERF203 - once an hour, not once a record
                self._detach()
                self._backlog.give_up_file(str(error))
            except (DiskRefusedError, OSError, EmitterError) as error:
                if is_start and isinstance(error, EmitterError):
                    self.close()
                    raise
                why = error.strerror if isinstance(error, OSError) else None
                self._refuse(why or str(error))
                return False
            else:
                return True
        self._refuse("a new file was damaged at once")
        return False

    def _refuse(self, why: str) -> None:
        if self.refused is None:
            self._notices.say_in_memory(why)
        self.refused = why
        self._ask_again_s = self._monotonic() + RETRY_INTERVAL_S


def _with_newest_state(contents: Contents, state_file: StateFile) -> Contents:
    delivered = state_file.read_state()
    produced = {boot: counters.produced for boot, counters in contents.counters.items()}
    if delivered is None or not delivered.is_newer(produced):
        return contents
    return replace(contents, state=delivered.state, is_state_beside=True)


def set_aside(path: Path, now_s: float) -> str | None:
    """
    Rename *path*. Return its new name, or None if it does not exist.

    Raises:
        OSError:
            If it cannot be renamed.
    """
    at = datetime.fromtimestamp(now_s, timezone.utc)
    dated = f"{_DAMAGED_PREFIX}{at:%Y%m%dT%H%M%S}.{at.microsecond // 1000:03d}Z-{path.name}"
    name = dated if path.exists() else None
    for file, copy in zip(database_files(path), database_files(path.with_name(dated)), strict=True):
        if file.exists() and name is not None:
            file.replace(copy)
        else:  # a log without its database belongs to no later database
            file.unlink(missing_ok=True)
    # Names sort by date.
    for old in sorted(path.parent.glob(f"{_DAMAGED_PREFIX}*Z-{path.name}"))[:-MAX_DAMAGED_FILES]:
        for file in database_files(old):
            with suppress(OSError):  # already moved
                file.unlink(missing_ok=True)
    return name
