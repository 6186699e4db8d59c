"""
The form that CloudWatch Logs asks of a request, before it looks at what is in it.

Lengths and patterns are those of the service's model; the words of a refusal are
the service's, with every broken constraint in one answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_EVENTS = 10_000
MAX_NAME_CHARACTERS = 512
GROUP_PATTERN = r"[\.\-_/#A-Za-z0-9]+"
STREAM_PATTERN = r"[^:*]*"

INVALID = "InvalidParameterException"
NOT_READ = "SerializationException"
NOT_PLAYED = "NotPlayed"  # AWS would answer it, the service of the tests does not; HTTP 501


class ServiceError(Exception):
    """An answer that is an error: its name, the service's words, the HTTP status."""

    def __init__(self, code: str, words: str, status: int = 400) -> None:
        super().__init__(code, words, status)
        self.code = code
        self.words = words
        self.status = status


@dataclass(frozen=True)
class StreamAddress:
    """The log stream that a request names."""

    group: str
    stream: str


def place_of(document: dict[str, Any]) -> StreamAddress:
    """
    Where a request leads to.

    Raises:
        ServiceError: If a name is none.
    """
    group = _text(document, "logGroupName")
    stream = _text(document, "logStreamName")
    broken = [
        *_name("logGroupName", group, GROUP_PATTERN),
        *_name("logStreamName", stream, STREAM_PATTERN),
    ]
    refuse_if(broken)
    return StreamAddress(group or "", stream or "")


def events_of(document: dict[str, Any]) -> list[tuple[int, str]]:
    """
    Timestamps, ms since the epoch, and messages.

    Raises:
        ServiceError: If there are too few or too many, or one of them is no event.
    """
    given = document.get("logEvents")
    if given is None:
        refuse_if(["Value null at 'logEvents' failed to satisfy constraint: must not be null"])
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise ServiceError(NOT_READ, "logEvents: expected a list of structures")
    events = [(_number(one, "timestamp"), _text(one, "message")) for one in given]
    refuse_if([*_count(len(events)), *_parts(events)])
    return [(timestamp or 0, message or "") for timestamp, message in events]


def utf8_bytes(message: str) -> int:
    """
    Size of a message.

    Raises:
        ServiceError: If it has half of a character: then it is no text.
    """
    try:
        return len(message.encode())
    except UnicodeEncodeError:
        raise ServiceError(NOT_READ, "message: expected UTF-8") from None


def refuse_if(broken: list[str]) -> None:
    """
    Refuse a request that breaks these constraints, all of them in one answer.

    Raises:
        ServiceError: If there are any.
    """
    if broken:
        errors = "error" if len(broken) == 1 else "errors"
        words = f"{len(broken)} validation {errors} detected: {'; '.join(broken)}"
        raise ServiceError(INVALID, words)


def _text(document: dict[str, Any], member: str) -> str | None:
    found = document.get(member)
    if found is None or isinstance(found, str):
        return found
    raise ServiceError(NOT_READ, f"{member}: expected a string")


def _number(document: dict[str, Any], member: str) -> int | None:
    found = document.get(member)
    if found is None or (isinstance(found, int) and not isinstance(found, bool)):
        return found
    raise ServiceError(NOT_READ, f"{member}: expected a number")


def _name(member: str, found: str | None, pattern: str) -> Iterator[str]:
    start = f"Value '{found}' at '{member}' failed to satisfy constraint: Member must"
    if found is None:
        yield f"Value null at '{member}' failed to satisfy constraint: Member must not be null"
    elif not found:
        yield f"{start} have length greater than or equal to 1"
    elif len(found) > MAX_NAME_CHARACTERS:
        yield f"{start} have length less than or equal to {MAX_NAME_CHARACTERS}"
    elif not re.fullmatch(pattern, found):
        yield f"{start} satisfy regular expression pattern: {pattern}"


def _count(events: int) -> Iterator[str]:
    start = "Value at 'logEvents' failed to satisfy constraint: Member must have length"
    if not events:
        yield f"{start} greater than or equal to 1"
    if events > MAX_EVENTS:
        yield f"{start} less than or equal to {MAX_EVENTS}"


def _parts(events: list[tuple[int | None, str | None]]) -> Iterator[str]:
    for number, (timestamp, message) in enumerate(events, 1):
        at = f"at 'logEvents.{number}.member"
        if timestamp is None or message is None:
            member = "timestamp" if timestamp is None else "message"
            yield f"Value null {at}.{member}' failed to satisfy constraint: Member must not be null"
            continue
        if timestamp < 0:
            yield (
                f"Value '{timestamp}' {at}.timestamp' failed to satisfy constraint: Member must"
                " have value greater than or equal to 0"
            )
        if not message:
            yield (
                f"Value '' {at}.message' failed to satisfy constraint: Member must have length"
                " greater than or equal to 1"
            )
