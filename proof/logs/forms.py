"""
The form that CloudWatch Logs asks of a request, before it looks at what is in it.

And filter patterns, which are a form for messages. Lengths and patterns are those of the
service's model; the words of a refusal are the service's, with every broken constraint in one
answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_EVENTS = 10_000
MAX_NAME_CHARACTERS = 512
GROUP_PATTERN = r"[\.\-_/#A-Za-z0-9]+"
STREAM_PATTERN = r"[^:*]*"

_TERM = re.compile(r'\s*([?-]?)(?:"([^"\\]*)"|(\w+))')

INVALID = "InvalidParameterException"
NOT_PLAYED = "NotPlayed"  # AWS would answer it, the service of the tests does not; HTTP 501


class ServiceError(Exception):
    """An answer that is an error: its name, the service's words, the HTTP status."""

    def __init__(self, code: str, words: str, status: int = 400) -> None:
        super().__init__(code, words, status)
        self.code = code
        self.words = words
        self.status = status


def place_of(document: dict[str, Any]) -> tuple[str, str]:
    """
    The log group and the stream that a request leads to.

    Raises:
        ServiceError: If a name is none.
    """
    group, stream = document["logGroupName"], document["logStreamName"]
    refuse_if(
        [
            *_broken_name("logGroupName", group, GROUP_PATTERN),
            *_broken_name("logStreamName", stream, STREAM_PATTERN),
        ]
    )
    return group, stream


def events_of(given: list[dict[str, Any]]) -> list[tuple[int, str]]:
    """
    Timestamps, ms since the epoch, and messages.

    Raises:
        ServiceError: If there are too few or too many, or one of them is no event.
    """
    broken = []
    if not 1 <= len(given) <= MAX_EVENTS:
        bound = "less" if given else "greater"
        broken.append(
            f"Value at 'logEvents' failed to satisfy constraint: Member must have length {bound}"
            f" than or equal to {MAX_EVENTS if given else 1}"
        )
    for number, event in enumerate(given, 1):
        at = f"at 'logEvents.{number}.member"
        if event["timestamp"] < 0:
            broken.append(
                f"Value '{event['timestamp']}' {at}.timestamp' failed to satisfy constraint:"
                " Member must have value greater than or equal to 0"
            )
        if not event["message"]:
            broken.append(
                f"Value '' {at}.message' failed to satisfy constraint: Member must have length"
                " greater than or equal to 1"
            )
    refuse_if(broken)
    return [(event["timestamp"], event["message"]) for event in given]


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


def matcher(pattern: str) -> Callable[[str], bool]:
    """
    Whether a message matches a *pattern* of terms, as recorded (`tests/recorded`).

    It has all plain terms, in any order, and no term with a minus; one of those with a
    question mark is asked for only where every term has one.

    Raises:
        ServiceError: If it cannot be, or is of a sort that is not played here.
    """
    if pattern.lstrip().startswith(("{", "[", "%")):
        raise ServiceError(NOT_PLAYED, f"only terms are played here, found {pattern}", 501)
    terms: dict[str, list[str]] = {"": [], "?": [], "-": []}
    place = 0
    while pattern[place:].strip():
        found = _TERM.match(pattern, place)
        if found is None:
            rest = pattern[place:].split(maxsplit=1)[0]
            raise ServiceError(INVALID, f"Invalid character(s) in term '{rest}'")
        terms[found[1]].append(found[2] or found[3] or "")
        place = found.end()
    optional = [] if terms[""] or terms["-"] else terms["?"]

    def matches(message: str) -> bool:
        has_optional = not optional or any(term in message for term in optional)
        has_all = all(term in message for term in terms[""])
        return has_optional and has_all and not any(term in message for term in terms["-"])

    return matches


def _broken_name(member: str, found: str, pattern: str) -> Iterator[str]:
    start = f"Value '{found}' at '{member}' failed to satisfy constraint: Member must"
    if not found:
        yield f"{start} have length greater than or equal to 1"
    elif len(found) > MAX_NAME_CHARACTERS:
        yield f"{start} have length less than or equal to {MAX_NAME_CHARACTERS}"
    elif not re.fullmatch(pattern, found):
        yield f"{start} satisfy regular expression pattern: {pattern}"
