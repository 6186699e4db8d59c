"""
The lines of the log groups, as far back as the page looks.

Written by whoever reads the log groups, read by the threads of the server. What
a line says is found out once, when somebody first asks.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from local.insights.fields import ResultRow, row_of
from neuron_wire import MinuteRecord, WireFormatError, parse

if TYPE_CHECKING:
    from collections.abc import Iterable


class CollectedLine:
    """
    One log event.

    Attributes:
        timestamp_ms: As its writer gave it, milliseconds since the epoch.

        text: The line.
    """

    def __init__(self, timestamp_ms: int, text: str) -> None:
        self.timestamp_ms = timestamp_ms
        self.text = text

    @cached_property
    def row(self) -> ResultRow:
        """What Logs Insights finds in it."""
        return row_of(self.timestamp_ms, self.text)

    @cached_property
    def minute(self) -> MinuteRecord | None:
        """The minute of an instance that it is about, None when it is no minute line."""
        try:
            record = parse(self.text)
        except WireFormatError:
            return None
        return record if isinstance(record, MinuteRecord) else None


class LogLines:
    """The newest lines of some log groups."""

    def __init__(self, range_s: int) -> None:
        """Keep those of the last *range_s* before the newest one."""
        self._range_ms = range_s * 1000
        self._lines: dict[str, list[CollectedLine]] = defaultdict(list)
        self._newest_ms = 0
        self._lock = threading.Lock()

    def add(self, group: str, events: Iterable[tuple[int, str]]) -> None:
        """Take in new *events* of *group*, pairs of milliseconds and text."""
        new = [CollectedLine(timestamp_ms, text) for timestamp_ms, text in events]
        if not new:
            return
        with self._lock:
            self._newest_ms = max(self._newest_ms, *(one.timestamp_ms for one in new))
            oldest_ms = self._newest_ms - self._range_ms
            kept = [*self._lines[group], *new]
            self._lines[group] = [one for one in kept if one.timestamp_ms >= oldest_ms]

    def of(self, group: str) -> list[CollectedLine]:
        """The lines of *group*, in the order in which they were taken in."""
        with self._lock:
            return list(self._lines.get(group, ()))
