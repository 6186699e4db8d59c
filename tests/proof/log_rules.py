"""
CloudWatch Logs as far as the emitter asks it anything: what it takes, refuses and keeps.

The rules are those of
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
and CreateLogStream beside it, with the words the service uses. No network, and
no code of the emitter's: a limit that both had wrong would be right.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_EVENTS = 10_000
MAX_BYTES = 1_048_576
OVERHEAD_BYTES = 26
HOUR_MS = 3_600_000
MAX_SPAN_MS = 24 * HOUR_MS
MAX_AGE_MS = 14 * 24 * HOUR_MS
MAX_FUTURE_MS = 2 * HOUR_MS

EXISTS = "ResourceAlreadyExistsException"
INVALID = "InvalidParameterException"
NOT_FOUND = "ResourceNotFoundException"
UNKNOWN = "UnknownOperationException"


class ServiceError(Exception):
    """
    An answer that is an error: its name, the service's words, the HTTP status.
    """

    def __init__(self, code: str, words: str, status: int = 400) -> None:
        super().__init__(code, words, status)
        self.code = code
        self.words = words
        self.status = status


@dataclass(frozen=True)
class Applied:
    """
    One event that the service has taken, once for each time it did.
    """

    stream: str
    timestamp_ms: int
    message: str


@dataclass
class LogRules:
    """
    Log groups with their streams, and everything that was ever put into them.

    Attributes:
        clock: The service's own time of day, seconds since the epoch.

        groups: Streams by group; a stream that is not here must be created.

        retention_ms: Of every group; None keeps events for ever.

        poison: Messages with this text in them make their call invalid.

        applied: What was taken, copies included, in order.

        rejected: Calls that were taken in part, by the class of events the answer named.
    """

    clock: Callable[[], float]
    groups: dict[str, set[str]] = field(default_factory=lambda: {"/neuron-emf/records": set()})
    retention_ms: int | None = None
    poison: str | None = None
    applied: list[Applied] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def call(self, operation: str, document: dict[str, Any]) -> dict[str, Any]:
        """
        Do *operation*.

        Raises:
            ServiceError: If it was against the rules; then nothing was done.
        """
        known = {"PutLogEvents": self._put_log_events, "CreateLogStream": self._create_log_stream}
        if operation not in known:
            raise ServiceError(UNKNOWN, operation)
        with self._one_at_a_time:
            return known[operation](document)

    def _create_log_stream(self, document: dict[str, Any]) -> dict[str, Any]:
        streams = self._streams(document)
        name = document["logStreamName"]
        if name in streams:
            words = "The specified log stream already exists"
            raise ServiceError(EXISTS, words)
        if not 1 <= len(name) <= 512 or ":" in name or "*" in name:
            _refuse(f"Value '{name}' at 'logStreamName' failed to satisfy constraint")
        streams.add(name)
        return {}

    def _put_log_events(self, document: dict[str, Any]) -> dict[str, Any]:
        stream = document["logStreamName"]
        events = document["logEvents"]
        _check_form(events)
        if stream not in self._streams(document):
            words = "The specified log stream does not exist."
            raise ServiceError(NOT_FOUND, words)
        now_ms = round(self.clock() * 1000)
        times_ms = [one["timestamp"] for one in events]
        if times_ms != sorted(times_ms):
            _refuse("Log events in a single PutLogEvents request must be in chronological order.")
        old_end = _first(times_ms, now_ms - MAX_AGE_MS)
        expired_end = 0
        if self.retention_ms is not None:
            expired_end = _first(times_ms, now_ms - self.retention_ms)
        new_start = _first(times_ms, now_ms + MAX_FUTURE_MS + 1)
        taken = events[max(old_end, expired_end) : new_start]
        if taken and taken[-1]["timestamp"] - taken[0]["timestamp"] > MAX_SPAN_MS:
            _refuse(
                "The batch of log events in a single PutLogEvents request cannot span more than "
                "24 hours."
            )
        if self.poison is not None and any(self.poison in one["message"] for one in events):
            _refuse("Log event message is not valid")
        self.applied += [Applied(stream, one["timestamp"], one["message"]) for one in taken]
        ends = {
            "tooOldLogEventEndIndex": old_end or None,
            "expiredLogEventEndIndex": expired_end if expired_end > old_end else None,
            "tooNewLogEventStartIndex": new_start if new_start < len(events) else None,
        }
        told = {name: place for name, place in ends.items() if place is not None}
        self.rejected.update(told.keys())
        answer: dict[str, Any] = {"nextSequenceToken": f"{len(self.applied):056d}"}
        return {**answer, "rejectedLogEventsInfo": told} if told else answer

    def _streams(self, document: dict[str, Any]) -> set[str]:
        try:
            return self.groups[document["logGroupName"]]
        except KeyError:
            words = "The specified log group does not exist."
            raise ServiceError(NOT_FOUND, words) from None


def _check_form(events: list[dict[str, Any]]) -> None:
    if not 1 <= len(events) <= MAX_EVENTS:
        _refuse(
            "1 validation error detected: Value at 'logEvents' failed to satisfy constraint: "
            f"Member must have length less than or equal to {MAX_EVENTS}"
        )
    sizes = [len(one["message"].encode()) for one in events]
    if not all(sizes):
        _refuse("Value '' at 'logEvents.1.member.message' failed to satisfy constraint")
    size = sum(sizes) + OVERHEAD_BYTES * len(events)
    if size > MAX_BYTES:
        _refuse(f"Upload too large: {size} bytes exceeds limit of {MAX_BYTES}")
    if any(one["timestamp"] < 0 for one in events):
        _refuse("Value at 'logEvents.1.member.timestamp' failed to satisfy constraint")


def _first(times_ms: list[int], from_ms: int) -> int:
    """
    Place of the first of these sorted moments that is not before *from_ms*.
    """
    return next((place for place, ms in enumerate(times_ms) if ms >= from_ms), len(times_ms))


def _refuse(words: str) -> None:
    raise ServiceError(INVALID, words)
