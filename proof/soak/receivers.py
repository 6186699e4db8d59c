"""
What takes the lines of an emitter under soak: the log service, or a file.

Each is asked what the emitter must be told to send there and what has come, and
to fail in the ways it can.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import TYPE_CHECKING, final

from proof.emitter_process import wait_until
from proof.logs.service import (
    ANSWER_LOST,
    DENIED,
    INTERNAL,
    LATE,
    RESET,
    THROTTLED,
    UNAVAILABLE,
    LogsService,
)
from proof.soak.manual_monitor import PATIENCE_S
from proof.soak.timetable import DEATH, FAULT, MOVED, RECONNECT, RELOAD, RESTART

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from proof.wall_clock import WallClock

FAULTS = (THROTTLED, UNAVAILABLE, INTERNAL, RESET, ANSWER_LOST, LATE)  # in turn
FAULTS_AT_ONCE = 2
ROTATE_MIB = 1
ROTATE_KEEP = 3
FILES = "files"


class Receiver:
    """
    What all have in common; by itself it is always there and refuses nobody.

    Attributes:
        name: Such as "logs".

        settings: Of the emitter, as its file has them.

        variables: Of its environment.

        resident_limit_mib: How much memory an emitter may take that sends here.

        troubles: Those of a timetable that can happen here.

        happened: What did go wrong, and how often.

        is_there: Whether lines can come now.
    """

    name: str
    settings: Mapping[str, str | int]
    variables: Mapping[str, str] = {}
    resident_limit_mib = 45
    troubles: frozenset[str]
    faults: tuple[str, ...] = ()
    is_there = True

    def __init__(self) -> None:
        self.happened: Counter[str] = Counter()
        self._events: list[tuple[int, str]] = []
        self._seen: set[str] = set()
        self._minutes = 0

    def look(self) -> None:
        """Take what has come since the last look."""

    def take(self, line: str, timestamp_ms: int) -> None:
        """Remember one line, copies too."""
        self._events.append((timestamp_ms, line))
        if line not in self._seen:
            self._seen.add(line)
            self._minutes += '"Kind":"minute"' in line

    def minutes(self) -> int:
        """Different minute lines that have come so far."""
        self.look()
        return self._minutes

    def events(self) -> list[tuple[int, str]]:
        """All that came: timestamp, ms since the epoch, and line."""
        self.look()
        return self._events

    def bytes_on_disk(self) -> int:
        """Of files that the emitter has written here."""
        return 0

    def go(self) -> None:
        """Be gone, if this can be."""

    def come_back(self) -> None:
        """Be there again."""

    def happen(self, trouble: str) -> None:
        """Do what that trouble means here."""

    def was_refused(self) -> None:
        """Wait until the emitter has been told that it may not write."""

    def __enter__(self) -> Receiver:  # noqa: PYI034 - Self is not in Python 3.10
        return self

    def __exit__(self, *_error: object) -> None:
        """Nothing was opened."""


@final
class LogsReceiver(Receiver):
    """The double of CloudWatch Logs, with faults."""

    name = "logs"
    resident_limit_mib = 60
    troubles = frozenset({RECONNECT, FAULT, RESTART, DEATH, RELOAD})
    faults = (*FAULTS, DENIED)

    def __init__(self, clock: WallClock) -> None:
        super().__init__()
        self._service = LogsService(clock)
        self._faults = itertools.cycle(FAULTS)
        self._refused = 0
        self.settings = {"output": "logs", "spread-seconds": 0}
        self.variables = self._service.variables
        self.happened = self._service.happened

    @property
    def is_there(self) -> bool:
        return self._service.is_there

    def look(self) -> None:
        for one in self._service.rules.applied[len(self._events) :]:
            self.take(one.message, one.timestamp_ms)

    def go(self) -> None:
        self._service.vanish()

    def come_back(self) -> None:
        self._service.come_back()

    def happen(self, trouble: str) -> None:
        if not self._service.is_there:
            return
        if trouble == RECONNECT:
            self.go()
            self.come_back()
        elif trouble == FAULT:
            self._service.next_faults += itertools.islice(self._faults, FAULTS_AT_ONCE)
        elif trouble == RELOAD:
            self._refused = self.happened[DENIED] + 1
            self._service.next_faults.append(DENIED)

    def was_refused(self) -> None:
        wait_until(lambda: self.happened[DENIED] >= self._refused, PATIENCE_S)

    def __enter__(self) -> LogsReceiver:
        self._service.__enter__()
        return self

    def __exit__(self, *_error: object) -> None:
        self._service.__exit__(None, None, None)


@final
class FileReceiver(Receiver):
    """A file that the emitter rotates, and that somebody else moves away once a day."""

    name = "file"
    troubles = frozenset({DEATH, RELOAD, MOVED})
    faults = (FILES,)

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._path = folder / "lines.json"
        self._moved = folder / "moved.json"
        self._read: dict[bytes, int] = {}  # bytes taken, by a file's first line
        self.settings = {
            "output": f"file:{self._path}",
            "rotate-mib": ROTATE_MIB,
            "rotate-keep": ROTATE_KEEP,
            "runtime-lines": "all",  # a file is full after five hours
        }

    def bytes_on_disk(self) -> int:
        return sum(path.stat().st_size for path in self._paths())

    def look(self) -> None:
        for path in (self._moved, *self._paths()):
            if path.exists():
                self._take_from(path)

    def happen(self, trouble: str) -> None:
        if trouble == MOVED and self._path.exists():
            self.look()
            self._path.replace(self._moved)

    def _paths(self) -> list[Path]:
        return sorted(self._path.parent.glob(f"{self._path.name}*"), reverse=True)

    def _take_from(self, path: Path) -> None:
        with path.open("rb") as file:
            first = file.readline()
            start = self._read.get(first, 0)
            self.happened[FILES] += bool(first) and not start
            file.seek(start)
            *whole, _rest = file.read().split(b"\n")
        for line in whole:
            metadata = json.loads(line).get("_aws", {})  # a line without a metric has none
            self.take(line.decode(), metadata.get("Timestamp", 0))
        self._read[first] = start + sum(len(line) + 1 for line in whole)
