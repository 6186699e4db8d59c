"""
What would be sent: the whole program on saved reports, without AWS or a clock.

Deterministic: report n, from 0, is received at start + n x interval, the boot
is made of the start and a hash of the inputs, and what differs from run to run
or from machine to machine (the emitter's own CPU, memory and spool, the machine
id) is absent.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import os
import stat
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

from emitter.errors import SettingsError
from emitter.fold import Fold, FoldSettings, RuntimeOwner, Stamp
from emitter.health import reading_members
from emitter.lines import LineIdentity, LineWriter, line_settings, parse_choice
from emitter.owners.lookup import saved_owners
from emitter.owners.reservations import saved_given
from emitter.report_lines import RawReports, ReportQueue
from emitter.reports.framing import Framer
from emitter.reports.source import no_reports
from emitter.settings import ReplaySettings, require_cluster
from neuron_wire.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from emitter.reports.report import Report
    from emitter.spool.records import NewRecord

READ_BYTES: Final = 1 << 16  # a larger read would take fresh pages of memory each time

_log = logging.getLogger(__name__)


def replay(
    files: Sequence[Path],
    settings: ReplaySettings,
    advance: Callable[[float, float], object] = lambda _done, _total: None,
) -> Iterator[str]:
    """
    The lines of all minutes that the reports in *files* make.

    *advance* gets the bytes read so far and the bytes of all files.

    Raises:
        SettingsError: If a setting is missing or a file cannot be read.
        SourceError: If no file holds a single report.
    """
    cluster = require_cluster(settings.cluster)
    if settings.interval is None:
        msg = "No interval between reports is set. Use --interval SECONDS."
        raise SettingsError(msg)
    start_s = parse_time_s(settings.start)
    minutes = _Minutes(settings, cluster, start_s, _hash(files, settings))
    for number, report in enumerate(_reports(files, minutes.framer, advance)):
        if lines := minutes.fold_report(report, start_s + number * settings.interval):
            yield from lines
    if not minutes.fold.reports_read:
        raise no_reports(", ".join(map(str, files)), minutes.framer.last_problem)
    if minutes.framer.malformed:
        _log.warning(
            "Dropped %s of input, no neuron-monitor report: %s. The rest was read.",
            counted(minutes.framer.malformed, "piece"),
            minutes.framer.last_problem,
        )
    yield from minutes.close_minute(bye=True)


class _Minutes:
    """The running emitter's loop, with the times of the reports for a clock."""

    def __init__(self, settings: ReplaySettings, cluster: str, start_s: float, inputs: str) -> None:
        self.framer = Framer()
        self.fold = Fold(
            FoldSettings(
                idle_below_percent=settings.idle_below_percent,
                runtime_lines=settings.runtime_lines,
                every_report=settings.high_resolution_metrics,
                chosen=parse_choice(settings.metric).names,
            ),
            owner_of=self._owner,
            given=lambda: self._given,
        )
        self._given = saved_given(settings.saved_proc)
        self._at_s = start_s
        self._owner_of = saved_owners(settings.saved_proc, lambda: self._at_s)
        self._raw = RawReports(self.framer, settings.raw_reports)
        self._writer = LineWriter(line_settings(settings))
        self._cluster = cluster
        self._given_id = settings.instance_id
        self._fallback_id = settings.instance_id or f"host-{inputs[8:24]}"
        # As the running emitter's: a later start is a greater text.
        self._boot = f"{int(start_s * 1000):012x}{inputs[:8]}"
        self._seq = 1
        self._reports = ReportQueue()

    def _owner(self, pid: int) -> RuntimeOwner | None:
        owner = self._owner_of(pid)
        if owner is None:
            return None
        return RuntimeOwner(owner.name, owner.team, owner.gone, owner.is_placed)

    def fold_report(self, report: Report, at_s: float) -> list[str]:
        """Take a report received at *at_s*: its lines, after those of the minutes that ended."""
        self._at_s = at_s
        lines = self._reports_due(at_s)
        while self.fold.clock.is_due(at_s):
            # The running emitter closes each minute on time, with or without reports.
            ends_at_s = self.fold.clock.ends_at_s()
            lines += self.close_minute(bye=False)
            self.fold.clock.open_minute(at_s if ends_at_s is None else ends_at_s)
        self.fold.fold_report(report, at_s)
        self._raw.note_newest(at_s)
        if (sample := self.fold.sample) is not None:
            self._reports.add_sample(sample)
        lines += self._reports_due(at_s)
        lines += self._events()
        return lines

    def close_minute(self, *, bye: bool) -> list[str]:
        """The lines of the open minute."""
        lines = self._reports_due(0.0, is_end=True) if bye else []
        lines += self._events()
        stamp = Stamp(
            cluster=self._cluster,
            boot=self._boot,
            seq=self._seq,
            instance_id=self._fallback_id,
            identity_guessed=self._given_id is None,
            bye=bye,
            health={
                **reading_members(self.fold, self.framer),
                **self._raw.health_members(),
                **self._reports.health_members(),
            },
        )
        record = self.fold.close_minute(stamp)
        minute = self._writer.minute_records(
            record, self.fold.due_runtimes, self.fold.instance.ami_id
        )
        lines += self._numbered(minute)
        lines += self._events()  # those that only a whole minute shows
        raw = self._raw.due_record(record.minute_ms, self._writer, self._identity(), seq=self._seq)
        return lines + (self._numbered([raw]) if raw else [])

    def _reports_due(self, now_s: float, *, is_end: bool = False) -> list[str]:
        due = self._reports.due(self._writer, self._identity, now_s, is_end=is_end)
        return [line for write in due for line in self._numbered(write(self._seq))]

    def _events(self) -> list[str]:
        if events := self.fold.events.take_events():
            return self._numbered(self._writer.event_records(events, self._identity(), self._seq))
        return []

    def _identity(self) -> LineIdentity:
        instance = self.fold.instance
        return LineIdentity(
            cluster=self._cluster,
            instance_id=instance.instance_id or self._fallback_id,
            identity_guessed=instance.instance_id is None and self._given_id is None,
            boot=self._boot,
            instance_type=instance.instance_type,
            ami_id=instance.ami_id,
        )

    def _numbered(self, records: list[NewRecord]) -> list[str]:
        self._seq += len(records)
        return [record.line for record in records]


def parse_time_s(text: str | None) -> float:
    """
    Seconds since the epoch of an ISO 8601 time, UTC unless it says otherwise.

    Raises:
        SettingsError: If *text* is missing or is no such time.
    """
    if text is None:
        msg = "No start time is set. Use --start, such as --start 2026-01-01T00:00:00Z."
        raise SettingsError(msg)
    try:
        # Python 3.10 does not read the Z.
        time = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
    except ValueError as error:
        msg = f"Invalid --start {text[:40]!r}. Use an ISO 8601 time, such as 2026-01-01T00:00:00Z."
        raise SettingsError(msg) from error
    seconds = (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).timestamp()
    if seconds < 0:
        msg = f"--start {text[:40]!r} is before 1970. Use a later time."
        raise SettingsError(msg)
    return seconds


def _reports(
    files: Sequence[Path], framer: Framer, advance: Callable[[float, float], object]
) -> Iterator[Report]:
    read_bytes, all_bytes = 0, sum(path.stat().st_size for path in files)
    for path in files:
        for chunk in _chunks(path):
            yield from framer.feed(chunk)
            read_bytes += len(chunk)
            advance(read_bytes, all_bytes)
        yield from framer.end()


def _hash(files: Sequence[Path], settings: ReplaySettings) -> str:
    # Only what differs from its default, so that a setting of a later release
    # changes no boot where it is not used; and no name of a folder.
    given = {
        field.name: value
        for field in dataclasses.fields(settings)
        if (value := getattr(settings, field.name)) != field.default
        and not isinstance(value, os.PathLike)
    }
    digest = hashlib.sha256(json.dumps(given, sort_keys=True).encode())
    for path in files:
        for chunk in _chunks(path):
            digest.update(chunk)
        digest.update(b"\0")
    return digest.hexdigest()


def _chunks(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                msg = (
                    f"{path} is not a regular file, and replay reads it twice. Save the "
                    "reports to a file first."
                )
                raise SettingsError(msg)
            while chunk := file.read(READ_BYTES):
                yield chunk
    except OSError as error:
        msg = f"Cannot read {path}: {error.strerror}."
        raise SettingsError(msg) from error
