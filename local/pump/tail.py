"""
The new events of one log group of the embedded AWS, each exactly once.

A subscription would tell; this one asks, through DescribeLogStreams and
FilterLogEvents. It reads a stream again as a whole when the stream has been
written to, because events may arrive with timestamps of an hour ago. That it has
been, `lastIngestionTime` tells on the embedded AWS alone: on AWS it was recorded to
stand still for more than 100 s of writing.

The n-th of n equal lines of one stream and moment is the n-th occurrence, so
that two lines that happen to be equal are two events, and the same line read
twice is one: the lines that a function prints have no `eventId` here.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_EVENTS_PER_PAGE: Final = 10_000  # the most FilterLogEvents returns
_STREAMS_PER_CALL: Final = 100  # FilterLogEvents takes no more names
_OVERLAP_MS: Final = 2_000
"""A stream written to within this time before it was read is read again."""


@dataclass(frozen=True, slots=True)
class LogEvent:
    """
    One log event.

    Attributes:
        timestamp_ms: As its writer gave it, milliseconds since the epoch.
    """

    stream: str
    timestamp_ms: int
    message: str


class LogTail:
    """One log group, read from *since_ms* on."""

    def __init__(self, logs: Any, group: str, since_ms: int) -> None:  # noqa: ANN401  # a client
        self._logs = logs
        self._since_ms = since_ms
        self._read_ms: dict[str, int] = {}
        self._seen: Counter[bytes] = Counter()
        self.group = group

    def new_events(self) -> list[LogEvent]:
        """Events that no earlier call returned, in time order within a call."""
        events: list[LogEvent] = []
        asked_ms = time.time_ns() // 1_000_000
        # Once each: a stream made while we page through them moves the rest along.
        changed = list(dict.fromkeys(self._changed_streams()))
        for start in range(0, len(changed), _STREAMS_PER_CALL):
            names = changed[start : start + _STREAMS_PER_CALL]
            events.extend(self._unseen(self._read(names)))
            self._read_ms |= dict.fromkeys(names, asked_ms)
        return events

    def _changed_streams(self) -> Iterator[str]:
        pages = self._logs.get_paginator("describe_log_streams").paginate(logGroupName=self.group)
        for page in pages:
            for row in page["logStreams"]:
                name, written_ms = row["logStreamName"], row.get("lastIngestionTime")
                if written_ms is None:
                    continue  # made, and still empty
                if written_ms >= self._read_ms.get(name, 0) - _OVERLAP_MS:
                    yield name

    def _read(self, streams: Sequence[str]) -> list[dict[str, Any]]:
        """
        All events of *streams*.

        AWS continues a long answer with a nextToken. The embedded AWS gives
        none and stops at the limit, somewhere within the last millisecond.
        """
        rows: list[dict[str, Any]] = []
        start_ms = self._since_ms
        while True:
            page: list[dict[str, Any]] = self._logs.filter_log_events(
                logGroupName=self.group,
                logStreamNames=list(streams),
                startTime=start_ms,
                limit=MAX_EVENTS_PER_PAGE,
            )["events"]
            if len(page) < MAX_EVENTS_PER_PAGE:
                return rows + page
            last_ms = page[-1]["timestamp"]
            if last_ms == start_ms:
                msg = f"log group {self.group} has more events at {last_ms} than one call returns"
                raise RuntimeError(msg)
            rows.extend(row for row in page if row["timestamp"] < last_ms)
            start_ms = last_ms

    def _unseen(self, rows: Sequence[dict[str, Any]]) -> Iterator[LogEvent]:
        in_this_read: Counter[bytes] = Counter()
        for row in rows:
            key = _key(row)
            in_this_read[key] += 1
            if in_this_read[key] > self._seen[key]:
                self._seen[key] += 1
                yield LogEvent(row["logStreamName"], row["timestamp"], row["message"])


def _key(row: dict[str, Any]) -> bytes:
    members = [row["logStreamName"], row["timestamp"], row.get("ingestionTime"), row["message"]]
    return hashlib.blake2b(repr(members).encode(), digest_size=16).digest()
