"""
The new events of one log group, each exactly once.

A subscription would tell; this one asks, through DescribeLogStreams and
FilterLogEvents. It reads a stream again as a whole when the stream has been
written to, because events may arrive with timestamps of an hour ago. That it has
been, `lastIngestionTime` tells on the embedded AWS alone: on AWS it was recorded to
stand still for more than 100 s of writing.

What identifies an event is its `eventId`. The embedded AWS gives none to the
lines that a function prints; there the n-th of n equal lines of one stream and
millisecond is the n-th occurrence, so that two lines that happen to be equal
are two events, and the same line read twice is one.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from dataclasses import dataclass, field
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

        ingested_ms: When the log group took it.
    """

    stream: str
    timestamp_ms: int
    ingested_ms: int
    message: str


@dataclass(slots=True)
class _Stream:
    read_ms: int = 0
    event_ids: set[str] = field(default_factory=set)
    occurrences: Counter[bytes] = field(default_factory=Counter)


class LogTail:
    """One log group, read from *since_ms* on."""

    def __init__(
        self,
        logs: Any,  # noqa: ANN401  # a boto3 client
        group: str,
        since_ms: int,
        page_limit: int = MAX_EVENTS_PER_PAGE,
    ) -> None:
        self._logs = logs
        self._since_ms = since_ms
        self._page_limit = page_limit
        self._streams: dict[str, _Stream] = {}
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
            for name in names:
                self._streams.setdefault(name, _Stream()).read_ms = asked_ms
        return events

    def _changed_streams(self) -> Iterator[str]:
        pages = self._logs.get_paginator("describe_log_streams").paginate(logGroupName=self.group)
        for page in pages:
            for row in page["logStreams"]:
                written_ms = row.get("lastIngestionTime")
                if written_ms is None:
                    continue  # made, and still empty
                known = self._streams.get(row["logStreamName"])
                if known is None or written_ms >= known.read_ms - _OVERLAP_MS:
                    yield row["logStreamName"]

    def _read(self, streams: Sequence[str]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        start_ms = self._since_ms
        while True:
            page, full = self._page(streams, start_ms)
            # A page that was cut off ends somewhere within its last millisecond.
            if not full:
                return rows + page
            last_ms = page[-1]["timestamp"]
            if last_ms == start_ms:
                msg = (
                    f"log group {self.group} has more events at {last_ms} than one call returns: "
                    "cannot page through them"
                )
                raise RuntimeError(msg)
            rows.extend(row for row in page if row["timestamp"] < last_ms)
            start_ms = last_ms

    def _page(self, streams: Sequence[str], start_ms: int) -> tuple[list[dict[str, Any]], bool]:
        """
        All events from *start_ms* on, and whether the answer was silently cut off.

        AWS continues with a nextToken. The embedded AWS gives none and stops at
        the limit, which a full last page gives away.
        """
        rows: list[dict[str, Any]] = []
        request: dict[str, Any] = {
            "logGroupName": self.group,
            "logStreamNames": list(streams),
            "startTime": start_ms,
            "limit": self._page_limit,
        }
        while True:
            answer = self._logs.filter_log_events(**request)
            rows.extend(answer["events"])
            if "nextToken" not in answer:
                return rows, len(answer["events"]) >= self._page_limit
            request["nextToken"] = answer["nextToken"]

    def _unseen(self, rows: Sequence[dict[str, Any]]) -> Iterator[LogEvent]:
        in_this_read: Counter[tuple[str, bytes]] = Counter()
        for row in rows:
            stream = self._streams.setdefault(row["logStreamName"], _Stream())
            event_id = row.get("eventId")
            if event_id is not None:
                if event_id in stream.event_ids:
                    continue
                stream.event_ids.add(event_id)
            else:
                key = _key(row)
                in_this_read[row["logStreamName"], key] += 1
                if in_this_read[row["logStreamName"], key] <= stream.occurrences[key]:
                    continue
                stream.occurrences[key] += 1
            yield LogEvent(
                stream=row["logStreamName"],
                timestamp_ms=row["timestamp"],
                ingested_ms=row.get("ingestionTime", row["timestamp"]),
                message=row["message"],
            )


def _key(row: dict[str, Any]) -> bytes:
    text = f"{row['timestamp']}\0{row.get('ingestionTime')}\0{row['message']}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
