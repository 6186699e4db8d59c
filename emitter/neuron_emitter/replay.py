"""
Print what would be sent: the conductor of `run` on saved reports, without AWS, on a recorded clock.

Deterministic: report n, from 0, is received at start + n x interval, and the boot is made from the
start and a hash of the inputs. Values that differ between runs or machines (the emitter's own CPU,
memory and spool, the machine ID) are absent.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import logging
import os
import zlib
from dataclasses import dataclass, field
from datetime import datetime, timezone
from hashlib import sha256
from stat import S_ISREG
from typing import TYPE_CHECKING, Final, NoReturn

from neuron_emitter.errors import SettingsError
from neuron_emitter.owners.lookup import saved_owners
from neuron_emitter.owners.reservations import saved_reservations
from neuron_emitter.reports.source import no_reports
from neuron_emitter.run.conductor import Conductor, fold_settings_of
from neuron_emitter.run.identification import LocalSources
from neuron_emitter.settings.minute_settings import require_cluster
from neuron_wire.names import MINUTE_S, WHOLE_MINUTE_S
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from neuron_emitter.reports.framing import Framer
    from neuron_emitter.reports.report import Report
    from neuron_emitter.settings import ReplaySettings
    from neuron_emitter.spool.spool_records import NewRecord
    from neuron_wire import MinuteRecord, WireFormatError

_GZIP_MARK: Final = b"\x1f\x8b"  # JSON never begins with these bytes
READ_BYTES: Final = 1 << 16  # a larger read would allocate fresh pages of memory each time

_log = logging.getLogger(__name__)


def replay(
    files: Sequence[Path],
    settings: ReplaySettings,
    advance: Callable[[float, float], object] = lambda _done, _total: None,
) -> Iterator[str]:
    """
    Yield the lines of all minutes in the reports of *files*.

    *advance* gets the bytes read so far and the bytes of all files.

    Raises:
        SettingsError: If a setting is missing or a file cannot be read.
        SourceError: If no file holds a single report.
    """
    require_cluster(settings.cluster)
    if settings.interval is None:
        msg = "No interval between reports is set. Use --interval SECONDS."
        raise SettingsError(msg)
    start_s = parse_time_s(settings.start)
    at_s = start_s

    def clock() -> float:
        """Return the receipt of the newest report, seconds since the epoch."""
        return at_s

    inputs = _hash(files, settings)
    # Like the running emitter's boots: a later start is a greater text.
    printed = _PrintedRecords(boot=f"{int(start_s * 1000):012x}{inputs[:8]}")
    local = LocalSources(
        owners=saved_owners(settings.saved_proc, clock),
        reservations=saved_reservations(settings.saved_proc),
        guessed_id=lambda: f"host-{inputs[8:24]}",
    )
    conductor = Conductor(
        settings, fold_settings_of(settings), printed, local, clock=clock, on_drop=_refuse
    )
    framer = conductor.framer
    most_covered_s = 0.0
    conductor.pass_time(start_s)
    for number, report in enumerate(_reports(files, framer, advance)):
        at_s = start_s + number * settings.interval
        conductor.write_reports(at_s)
        # Each minute closes on time, with or without reports.
        while (ends_at_s := conductor.fold.clock.ends_at_s() or at_s) <= at_s:
            conductor.pass_time(ends_at_s)
            most_covered_s = max(most_covered_s, _covered_s(conductor.closed, settings.interval))
            conductor.write_events()
        conductor.fold_report(report, at_s)
        conductor.write_reports(at_s)
        conductor.write_events()
        yield from printed.take_lines()
    if not conductor.fold.reports_read:
        raise no_reports(", ".join(map(str, files)), framer.last_problem)
    if framer.malformed:
        _log.warning(
            "Dropped %s of input that is not a neuron-monitor report: %s. The rest was read.",
            counted(framer.malformed, "piece"),
            framer.last_problem,
        )
    conductor.write_reports(0.0, is_end=True)
    conductor.close_minute(is_clean_shutdown=True)
    most_covered_s = max(most_covered_s, _covered_s(conductor.closed, settings.interval))
    conductor.write_events()
    yield from printed.take_lines()
    if 0 < most_covered_s < WHOLE_MINUTE_S:
        _log.warning(
            "The reports cover %.0f s of a minute, too little for idle time. "
            "Use the seconds between them as --interval.",
            most_covered_s,
        )


@dataclass
class _PrintedRecords:
    """
    Records to print, numbered from 1.

    Attributes:
        boot: The ID of the replay.

        next_seq: The number of the next record.

        state: None: a replay saves no state.
    """

    boot: str
    next_seq: int = 1
    state: bytes | None = None
    _lines: list[str] = field(default_factory=list)

    def append(self, records: Sequence[NewRecord], _state: bytes | None = None) -> None:
        """Number *records* and append their lines."""
        self.next_seq += len(records)
        self._lines += [record.line for record in records]

    def take_lines(self) -> list[str]:
        """Return the lines appended since the last call."""
        lines = self._lines
        self._lines = []
        return lines


def _refuse(_what: str, error: WireFormatError) -> NoReturn:
    raise error


def _covered_s(record: MinuteRecord | None, interval_s: float) -> float:
    """Return the seconds that *record* covers; 0 unless its minute is full of reports."""
    if record is None or record.reports * interval_s < MINUTE_S:
        return 0.0
    return record.covered_seconds


def parse_time_s(text: str | None) -> float:
    """
    Return the seconds since the epoch of an ISO 8601 time, in UTC if it has no offset.

    >>> parse_time_s("2026-11-20T08:00:00Z")
    1795161600.0

    Raises:
        SettingsError: If *text* is missing or is not such a time.
    """
    if text is None:
        msg = "No start time is set. Use --start, such as --start 2026-01-01T00:00:00Z."
        raise SettingsError(msg)
    try:
        # Python 3.10 does not parse the Z.
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
    read_bytes = 0
    all_bytes = sum(path.stat().st_size for path in files)
    for path in files:
        for chunk in _chunks(path):
            yield from framer.frame_chunk(chunk)
            read_bytes = min(read_bytes + len(chunk), all_bytes)  # gzip unpacks to more bytes
            advance(read_bytes, all_bytes)
        yield from framer.end_input()


def _hash(files: Sequence[Path], settings: ReplaySettings) -> str:
    # Only settings that differ from their default, so that a setting of a later release changes no
    # boot if it is not used; and no folder names.
    changed = {
        field.name: value
        for field in dataclasses.fields(settings)
        if (value := getattr(settings, field.name)) != field.default
        and not isinstance(value, os.PathLike)
    }
    digest = sha256(json.dumps(changed, sort_keys=True).encode())
    for path in files:
        for chunk in _chunks(path):
            digest.update(chunk)
        digest.update(b"\0")
    return digest.hexdigest()


def _chunks(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            if not S_ISREG(os.fstat(file.fileno()).st_mode):
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
