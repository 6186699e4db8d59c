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
from emitter.fold import Fold, FoldSettings, Stamp
from emitter.health import reading_members
from emitter.lines.emf import lines
from emitter.reports.framing import Framer
from emitter.reports.source import no_reports
from emitter.settings import ReplaySettings, require_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from emitter.reports.report import Report

READ_BYTES: Final = 1 << 20

_log = logging.getLogger(__name__)


def replay(files: Sequence[Path], settings: ReplaySettings) -> Iterator[str]:
    """
    The lines of all minutes that the reports in *files* make.

    Raises:
        SettingsError: If a setting is missing or a file cannot be read.
        SourceError: If no file holds a single report.
    """
    cluster = require_cluster(settings.cluster)
    if settings.interval is None:
        msg = "the seconds between two reports were expected and not given: use --interval SECONDS"
        raise SettingsError(msg)
    start_s = parse_time_s(settings.start)
    framer = Framer()
    fold = Fold(FoldSettings(settings.idle_below_percent, settings.interval))
    inputs = _hash(files, settings)
    # As the running emitter's: a later start is a greater text.
    boot = f"{int(start_s * 1000):012x}{inputs[:8]}"
    seq = 1

    def close(*, bye: bool) -> list[str]:
        nonlocal seq
        stamp = Stamp(
            cluster=cluster,
            boot=boot,
            seq=seq,
            instance_id=settings.instance_id or f"host-{inputs[8:24]}",
            identity_guessed=settings.instance_id is None,
            bye=bye,
            health=reading_members(fold, framer),
        )
        closed = lines(fold.close(stamp), settings.metrics)
        seq += len(closed)
        return closed

    for number, report in enumerate(_reports(files, framer)):
        at_s = start_s + number * settings.interval
        fold.open(at_s)
        while fold.is_due(at_s):
            # The running emitter closes each minute on time, with or without reports.
            ends_at_s = fold.ends_at_s()
            yield from close(bye=False)
            fold.open(at_s if ends_at_s is None else ends_at_s)
        fold.add(report, at_s)
    if not fold.reports_read:
        raise no_reports(", ".join(str(one) for one in files), framer.last_problem)
    if framer.malformed:
        _log.warning(
            "%d piece(s) of input were dropped: expected neuron-monitor reports, found that %s; "
            "the rest was read",
            framer.malformed,
            framer.last_problem,
        )
    yield from close(bye=True)


def parse_time_s(text: str | None) -> float:
    """
    Seconds since the epoch of an ISO 8601 time, UTC unless it says otherwise.

    Raises:
        SettingsError: If *text* is missing or is no such time.
    """
    if text is None:
        msg = (
            "the time of the first report was expected and not given: "
            "use --start, such as --start 2026-01-01T00:00:00Z"
        )
        raise SettingsError(msg)
    try:
        # Python 3.10 does not read the Z.
        found = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
    except ValueError as error:
        msg = (
            f"--start was expected to be an ISO time and is {text[:40]!r}: "
            "write it as 2026-01-01T00:00:00Z"
        )
        raise SettingsError(msg) from error
    seconds = (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()
    if seconds < 0:
        msg = f"--start was expected to be after 1970 and is {text[:40]!r}: choose a later time"
        raise SettingsError(msg)
    return seconds


def _reports(files: Sequence[Path], framer: Framer) -> Iterator[Report]:
    for path in files:
        for chunk in _chunks(path):
            yield from framer.feed(chunk)
        yield from framer.end()


def _hash(files: Sequence[Path], settings: ReplaySettings) -> str:
    # Only what differs from its default, so that a setting of a later release
    # changes nothing for those who do not use it.
    given = {
        one.name: value
        for one in dataclasses.fields(settings)
        if (value := getattr(settings, one.name)) != one.default
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
                    f"{path} was expected to be a regular file, because replay reads it twice, "
                    "and is none: save the reports to a file first"
                )
                raise SettingsError(msg)
            while chunk := file.read(READ_BYTES):
                yield chunk
    except OSError as error:
        msg = f"{path} was expected to be a file of reports: {error.strerror}; check the name"
        raise SettingsError(msg) from error
