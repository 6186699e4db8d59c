"""A line as the one JSON object that it must be, or why it is none."""

from __future__ import annotations

import json
import math
from typing import Any, Final, NoReturn

from neuron_wire.extraction.limits import MAX_LINE_BYTES
from neuron_wire.extraction.violation import Violation, at_root

_MAX_DIGITS: Final = 4300  # Python refuses to read a longer number; JSON has no such bound


def document_of(line: str) -> tuple[dict[str, Any] | None, list[Violation]]:
    """
    The object that *line* is, and what is wrong with the line as a whole.

    There is no object where one of the violations says why.
    """
    violations = text_violations(line)
    if any(one.rule == "json" for one in violations):
        return None, violations
    try:
        document = _read(line)
    except _RepeatedMemberError as error:
        name = str(error)
        sentence = f"the member {name} stands twice in one object"
        return None, [*violations, Violation("repeated", name, sentence, at_root(name))]
    except (ValueError, RecursionError):
        return None, [*violations, Violation("json", "", "the line is not one JSON value")]
    if not isinstance(document, dict):
        return None, [*violations, Violation("object", "", "the line is JSON but not an object")]
    return document, violations


def text_violations(line: str) -> list[Violation]:
    """What is wrong with the characters of *line*, whatever they say."""
    try:
        size = len(line) if line.isascii() else len(line.encode())
    except UnicodeEncodeError:
        sentence = "the line holds half a character and cannot be sent as UTF-8"
        return [Violation("json", "", sentence)]
    if size > MAX_LINE_BYTES:
        sentence = f"the line has {size} bytes, at most {MAX_LINE_BYTES} are accepted"
        return [Violation("size", "", sentence)]
    return []


class _RepeatedMemberError(ValueError):
    pass


def _read(line: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return json.loads(line, object_pairs_hook=_members, parse_constant=_refuse_constant)
    except _RepeatedMemberError:
        raise
    except ValueError:
        if not _has_long_number(line):
            raise
    return json.loads(
        line, object_pairs_hook=_members, parse_constant=_refuse_constant, parse_int=_whole
    )


def _has_long_number(line: str) -> bool:
    if len(line) <= _MAX_DIGITS:
        return False
    digits = 0
    for letter in line:
        digits = digits + 1 if letter.isdigit() else 0
        if digits > _MAX_DIGITS:
            return True
    return False


def _whole(digits: str) -> int | float:
    # Beyond every value that CloudWatch takes, and how far does not matter.
    return int(digits) if len(digits) <= _MAX_DIGITS else math.inf


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        repeated = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise _RepeatedMemberError(repeated)
    return members


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is not JSON"
    raise ValueError(msg)
