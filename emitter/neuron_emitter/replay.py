"""
What would be sent: the whole program on saved reports, without AWS or a clock.

Deterministic: report n, from 0, is received at start + n x interval, the boot
is made of the start and a hash of the inputs, and what differs from run to run
or from machine to machine (the emitter's own CPU, memory and spool, the machine
id) is absent.
"""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import logging
import os
import stat
import zlib
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

from neuron_emitter.errors import SettingsError
from neuron_emitter.fold import Fold, FoldSettings, LineIdentity
from neuron_emitter.health import reading_members
from neuron_emitter.instance.facts import InstanceFacts
from neuron_emitter.lines import LineWriter, parse_choice, require_lines
from neuron_emitter.owners.lookup import saved_owners
from neuron_emitter.owners.reservations import saved_assignments
from neuron_emitter.report_lines import RawReports, ReportQueue
from neuron_emitter.reports.framing import Framer
from neuron_emitter.reports.source import no_reports
from neuron_emitter.settings.minutes import require_cluster
from neuron_wire.names import MINUTE_S, WHOLE_MINUTE_S
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from neuron_emitter.logs import Event
    from neuron_emitter.reports.report import Report
    from neuron_emitter.settings import ReplaySettings
    from neuron_emitter.spool.records import NewRecord

_GZIP_MARK: Final = b"\x1f\x8b"  # no JSON begins so
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
    lines = _Lines(settings, cluster, start_s, _hash(files, settings))
    fold, framer = lines.fold, lines.framer
    fold.clock.open_minute(start_s)
    ends_at_s = fold.clock.ends_at_s() or start_s
    for number, report in enumerate(_reports(files, framer, advance)):
        lines.at_s = at_s = start_s + number * settings.interval
        if settings.high_resolution_metrics:
            yield from lines.write_reports(at_s)
        while at_s >= ends_at_s:  # each minute closes on time, with or without reports
            yield from lines.close_minute(is_clean_shutdown=False)
            fold.clock.open_minute(ends_at_s)
            ends_at_s += MINUTE_S
        fold.fold_report(report, at_s)
        lines.raw.newest = framer.newest, at_s
        if fold.sample is not None:
            lines.waiting.add_sample(fold.sample)
            yield from lines.write_reports(at_s)
        yield from lines.write_events()
    if not fold.reports_read:
        raise no_reports(", ".join(map(str, files)), framer.last_problem)
    if framer.malformed:
        _log.warning(
            "Dropped %s of input, no neuron-monitor report: %s. The rest was read.",
            counted(framer.malformed, "piece"),
            framer.last_problem,
        )
    yield from lines.write_reports(0.0, is_end=True)
    yield from lines.close_minute(is_clean_shutdown=True)
    if 0 < lines.most_covered_s < WHOLE_MINUTE_S:
        _log.warning(
            "The reports cover %.0f s of a minute, too little for idle time. "
            "Use the seconds between them as --interval.",
            lines.most_covered_s,
        )


class _Lines:
    """
    The lines in their order, numbered from 1.

    Attributes:
        at_s: Receipt of the newest report, seconds since the epoch.

        events: Those that have no line yet.

        most_covered_s: Of the minutes full of reports, the most that one of them covered.
    """

    def __init__(self, settings: ReplaySettings, cluster: str, start_s: float, inputs: str) -> None:
        self.at_s = start_s
        self.events: list[Event] = []
        self.most_covered_s = 0.0
        self._full = MINUTE_S / (settings.interval or MINUTE_S)  # reports in a minute
        assignments = saved_assignments(settings.saved_proc)
        self.fold = Fold(
            FoldSettings(
                idle_below_percent=settings.idle_below_percent,
                runtime_lines=settings.runtime_lines,
                every_report=settings.high_resolution_metrics,
                chosen=parse_choice(settings.metric).names,
            ),
            owner_of=saved_owners(settings.saved_proc, lambda: self.at_s),
            current_assignments=lambda: assignments,
            on_event=self.events.append,
        )
        self.fold.learn_facts(InstanceFacts(instance_type=settings.instance_type))
        self.framer = Framer()
        self.raw = RawReports()
        self.raw.every_minutes = settings.raw_reports
        self.waiting = ReportQueue()
        self._writer = LineWriter(require_lines(settings))
        self._who = LineIdentity(
            cluster=cluster,
            instance_id=settings.instance_id or f"host-{inputs[8:24]}",
            identity_guessed=settings.instance_id is None,
            # As the running emitter's: a later start is a greater text.
            boot=f"{int(start_s * 1000):012x}{inputs[:8]}",
        )
        self._seq = 1

    def write_reports(self, now_s: float, *, is_end: bool = False) -> Iterator[str]:
        """Write the reports that have waited for long enough, at the end all."""
        for write in self.waiting.due(self._writer, self._identity, now_s, is_end=is_end):
            yield from self._numbered(write(self._seq))

    def write_events(self) -> Iterator[str]:
        """Write the events that have no line yet."""
        if self.events:
            records = self._writer.event_records(self.events, self._identity(), self._seq)
            self.events.clear()
            yield from self._numbered(records)

    def close_minute(self, *, is_clean_shutdown: bool) -> Iterator[str]:
        """Write the open minute, between the events up to it and those that it shows."""
        yield from self.write_events()
        health = {
            **reading_members(self.fold, self.framer),
            **self.raw.health_members(),
            **self.waiting.health_members(),
        }
        record = self.fold.close_minute(
            self._who, self._seq, is_clean_shutdown=is_clean_shutdown, health=health
        )
        if record.reports >= self._full:
            self.most_covered_s = max(self.most_covered_s, record.covered_seconds)
        ami_id = self.fold.instance.ami_id
        yield from self._numbered(
            self._writer.minute_records(record, self.fold.due_runtimes, ami_id)
        )
        yield from self.write_events()
        if raw := self.raw.due_record(
            record.minute_ms, self._writer, self._identity(), seq=self._seq
        ):
            yield from self._numbered([raw])

    def _identity(self) -> LineIdentity:
        return self.fold.identify(self._who)

    def _numbered(self, records: list[NewRecord]) -> Iterator[str]:
        self._seq += len(records)
        return (record.line for record in records)


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
            yield from framer.frame_chunk(chunk)
            read_bytes = min(read_bytes + len(chunk), all_bytes)  # what gzip unpacks is more
            advance(read_bytes, all_bytes)
        yield from framer.end_input()


def _hash(files: Sequence[Path], settings: ReplaySettings) -> str:
    # Only what differs from its default, so that a setting of a later release
    # changes no boot where it is not used; and no name of a folder.
    changed = {
        field.name: value
        for field in dataclasses.fields(settings)
        if (value := getattr(settings, field.name)) != field.default
        and not isinstance(value, os.PathLike)
    }
    digest = hashlib.sha256(json.dumps(changed, sort_keys=True).encode())
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
            is_gzip = file.read(len(_GZIP_MARK)) == _GZIP_MARK
            file.seek(0)
            with gzip.open(file) if is_gzip else file as reports:
                while chunk := reports.read(READ_BYTES):
                    yield chunk
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        msg = f"Cannot read {path}: its gzip data ends early or is damaged. Save it again."
        raise SettingsError(msg) from error
    except OSError as error:
        msg = f"Cannot read {path}: {error.strerror}. Check the path."
        raise SettingsError(msg) from error
