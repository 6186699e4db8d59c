"""
The rules of CloudWatch Logs for the emitter's calls: limits, refusals and storage.

`proof.account` answers readers from the same events. The rules are those of
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html and of
CreateLogStream; lengths and patterns are those of the service's model, and a refusal has the
service's words, with every broken constraint in one answer. No network, and no code of the emitter:
a limit that is wrong in both would look right.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neuron_wire.names import HOUR_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Document = dict[str, Any]
    """The members of a request or an answer."""


MAX_BATCH_EVENTS_OF_SERVICE = 10_000
MAX_NAME_CHARACTERS = 512
GROUP_PATTERN = r"[\.\-_/#A-Za-z0-9]+"
STREAM_PATTERN = r"[^:*]*"

_TERM = re.compile(r'\s*([?-]?)(?:"([^"\\]*)"|(\w+))')

INVALID_PARAMETER = "InvalidParameterException"
NOT_PLAYED = "NotPlayed"  # AWS would answer it, this service does not; HTTP 501


class ServiceError(Exception):
    """An error answer: its name, the service's message, the HTTP status."""

    def __init__(self, code: str, words: str, status: int = 400) -> None:
        super().__init__(code, words, status)
        self.code = code
        self.words = words
        self.status = status


def checked(document: Document) -> tuple[str, str, list[tuple[int, str]]]:
    """
    Return group, stream and events of a request that writes: timestamps (ms) and messages.

    Raises:
        ServiceError: With every constraint that the request breaks.
    """
    group = document["logGroupName"]
    stream = document["logStreamName"]
    events = [(event["timestamp"], event["message"]) for event in document.get("logEvents", ())]
    broken = [
        *_broken_name("logGroupName", group, GROUP_PATTERN),
        *_broken_name("logStreamName", stream, STREAM_PATTERN),
        *(_broken_events(events) if "logEvents" in document else ()),
    ]
    if broken:
        errors = "error" if len(broken) == 1 else "errors"
        words = f"{len(broken)} validation {errors} detected: {'; '.join(broken)}"
        raise ServiceError(INVALID_PARAMETER, words)
    return group, stream, events


def matcher(pattern: str) -> Callable[[str], bool]:
    """
    Return a function that matches messages with a *pattern* of terms, as in `tests/recorded`.

    A message must have all plain terms, in any order, and no term with a minus. One of the terms
    with a question mark is required only if every term has one.

    Raises:
        ServiceError: If the pattern is invalid, or of a kind that is not supported here.
    """
    if pattern.lstrip().startswith(("{", "[", "%")):
        raise ServiceError(NOT_PLAYED, f"only terms are supported here, found {pattern}", 501)
    terms: dict[str, list[str]] = {"": [], "?": [], "-": []}
    place = 0
    while pattern[place:].strip():
        found = _TERM.match(pattern, place)
        if found is None:
            rest = pattern[place:].split(maxsplit=1)[0]
            raise ServiceError(INVALID_PARAMETER, f"Invalid character(s) in term '{rest}'")
        terms[found[1]].append(found[2] or found[3] or "")
        place = found.end()
    optional = [] if terms[""] or terms["-"] else terms["?"]

    def matches(message: str) -> bool:
        has_optional = not optional or any(term in message for term in optional)
        has_all = all(term in message for term in terms[""])
        return has_optional and has_all and not any(term in message for term in terms["-"])

    return matches


def _broken_events(events: list[tuple[int, str]]) -> Iterator[str]:
    if not 1 <= len(events) <= MAX_BATCH_EVENTS_OF_SERVICE:
        bound = (
            f"less than or equal to {MAX_BATCH_EVENTS_OF_SERVICE}"
            if events
            else "greater than or equal to 1"
        )
        yield (
            f"Value at 'logEvents' failed to satisfy constraint: Member must have length {bound}"
        )
    for number, (timestamp_ms, message) in enumerate(events, 1):
        at = f"at 'logEvents.{number}.member"
        if timestamp_ms < 0:
            yield (
                f"Value '{timestamp_ms}' {at}.timestamp' failed to satisfy constraint:"
                " Member must have value greater than or equal to 0"
            )
        if not message:
            yield (
                f"Value '' {at}.message' failed to satisfy constraint: Member must have length"
                " greater than or equal to 1"
            )


def _broken_name(member: str, found: str, pattern: str) -> Iterator[str]:
    start = f"Value '{found}' at '{member}' failed to satisfy constraint: Member must"
    if not found:
        yield f"{start} have length greater than or equal to 1"
    elif len(found) > MAX_NAME_CHARACTERS:
        yield f"{start} have length less than or equal to {MAX_NAME_CHARACTERS}"
    elif not re.fullmatch(pattern, found):
        yield f"{start} satisfy regular expression pattern: {pattern}"


RECORDS_GROUP = "/neuron-emf/records"
MAX_BATCH_BYTES_OF_SERVICE = 1_048_576  # of a call, and of one event: each with its overhead
OVERHEAD_BYTES = 26
MAX_SPAN_MS = 24 * HOUR_MS
MAX_AGE_MS = 14 * 24 * HOUR_MS
MAX_FUTURE_MS = 2 * HOUR_MS

EXISTS = "ResourceAlreadyExistsException"
NOT_FOUND = "ResourceNotFoundException"
UNKNOWN_OPERATION = "UnknownOperationException"
POISONED = "Log event message is not valid"


@dataclass(frozen=True)
class Applied:
    """
    One stored event; an event that was stored twice is here twice.

    Attributes:
        ingested_ms: When it was stored, by the service's clock.
    """

    stream: str
    timestamp_ms: int
    message: str
    group: str = field(default=RECORDS_GROUP, compare=False)
    ingested_ms: int = field(default=0, compare=False)


@dataclass
class LogRules:
    """
    Log groups with their streams, and all events ever stored.

    Attributes:
        clock: The service's time of day, seconds since the epoch.

        groups: Streams by group; a missing stream must be created.

        retention_ms: Retention of every group; None keeps events forever.

        poison: A text that makes any call with it invalid.

        applied: The stored events, copies included, in order.

        operations: The functions that answer operations, by name; readers add more.
    """

    clock: Callable[[], float]
    groups: dict[str, set[str]] = field(default_factory=lambda: {RECORDS_GROUP: set()})
    retention_ms: int | None = None
    poison: str | None = None
    applied: list[Applied] = field(default_factory=list)
    operations: dict[str, Callable[[Document], Document]] = field(init=False)
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.operations = {
            "PutLogEvents": self._put_log_events,
            "CreateLogStream": self._create_log_stream,
        }

    def call(self, operation: str, document: Document) -> Document:
        """
        Do *operation* and return its answer.

        Raises:
            ServiceError: If it was against the rules; then nothing was done.
        """
        if operation not in self.operations:
            raise ServiceError(UNKNOWN_OPERATION, operation)
        with self._one_at_a_time:
            return self.operations[operation](document)

    def _create_log_stream(self, document: Document) -> Document:
        group, stream, _ = checked(document)
        streams = self._streams(group)
        if stream in streams:
            raise ServiceError(EXISTS, "The specified log stream already exists")
        streams.add(stream)
        return {}

    def _put_log_events(self, document: Document) -> Document:
        group, stream, events = checked(document)
        _check_sizes([len(message.encode()) for _, message in events])
        if stream not in self._streams(group):
            raise ServiceError(NOT_FOUND, "The specified log stream does not exist.")
        times_ms = [timestamp_ms for timestamp_ms, _ in events]
        if times_ms != sorted(times_ms):
            _refuse("Log events in a single PutLogEvents request must be in chronological order.")
        rejected, valid = self._by_age(times_ms)
        taken = events[valid.start : valid.stop]
        if taken and taken[-1][0] - taken[0][0] > MAX_SPAN_MS:
            _refuse(
                "The batch of log events in a single PutLogEvents request cannot span more than "
                "24 hours."
            )
        if self.poison is not None and any(self.poison in message for _, message in events):
            _refuse(POISONED)
        now_ms = round(self.clock() * 1000)
        self.applied += [Applied(stream, *event, group, now_ms) for event in taken]
        answer: Document = {"nextSequenceToken": f"{len(self.applied):056d}"}
        return {**answer, "rejectedLogEventsInfo": rejected} if rejected else answer

    def _by_age(self, times_ms: list[int]) -> tuple[dict[str, int], range]:
        """Return the rejected places, in the form of the answer, and the accepted ones."""
        now_ms = round(self.clock() * 1000)
        old_end = _first(times_ms, now_ms - MAX_AGE_MS)
        expired_end = 0
        if self.retention_ms is not None:
            expired_end = _first(times_ms, now_ms - self.retention_ms)
        new_start = _first(times_ms, now_ms + MAX_FUTURE_MS + 1)
        rejected = {}
        if old_end:
            rejected["tooOldLogEventEndIndex"] = old_end
        if expired_end > old_end:
            rejected["expiredLogEventEndIndex"] = expired_end
        if new_start < len(times_ms):
            rejected["tooNewLogEventStartIndex"] = new_start
        return rejected, range(max(old_end, expired_end), new_start)

    def _streams(self, group: str) -> set[str]:
        if group not in self.groups:
            raise ServiceError(NOT_FOUND, "The specified log group does not exist.")
        return self.groups[group]


def _check_sizes(sizes: list[int]) -> None:
    for what, size in (
        ("Log event", max(sizes) + OVERHEAD_BYTES),
        ("Upload", sum(sizes) + OVERHEAD_BYTES * len(sizes)),
    ):
        if size > MAX_BATCH_BYTES_OF_SERVICE:
            _refuse(f"{what} too large: {size} bytes exceeds limit of {MAX_BATCH_BYTES_OF_SERVICE}")


def _first(times_ms: list[int], from_ms: int) -> int:
    """Return the place of the first of these sorted times that is not before *from_ms*."""
    return next((place for place, ms in enumerate(times_ms) if ms >= from_ms), len(times_ms))


def _refuse(words: str) -> None:
    raise ServiceError(INVALID_PARAMETER, words)
