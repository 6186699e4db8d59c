"""A line as the one JSON object that it must be, or why it is none."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

from neuron_wire.extraction.limits import MAX_LINE_BYTES
from neuron_wire.extraction.violation import Violation, at_root

_HALF_CHARACTER: Final = re.compile("[\ud800-\udfff]")
_MAX_DIGITS: Final = 4300  # Python refuses to read a longer number; JSON has no such bound


def document_of(line: str) -> tuple[dict[str, Any] | None, list[Violation]]:
    """The object that *line* is, or None and why it is none."""
    if violations := text_violations(line):
        return None, violations
    try:
        document = _read(line)
    except _RepeatedMemberError as error:
        name = str(error)
        sentence = f"the member {name} stands twice in one object"
        return None, [Violation("repeated", sentence, at_root(name))]
    except json.JSONDecodeError as error:
        where = f"{error.msg} at character {error.pos + 1}"
        return None, [Violation("json", f"the line is not one JSON value: {where}")]
    except (ValueError, RecursionError):
        return None, [Violation("json", "the line is not one JSON value")]
    if not isinstance(document, dict):
        return None, [Violation("object", "the line is JSON but not an object")]
    return document, []


def text_violations(line: str) -> list[Violation]:
    """What is wrong with the characters of *line*, whatever they say."""
    size = len(line) if line.isascii() else len(line.encode("utf-8", "replace"))
    if size > MAX_LINE_BYTES:
        return [Violation("size", f"the line has more than {MAX_LINE_BYTES} bytes")]
    if not line.isascii() and (half := _HALF_CHARACTER.search(line)):
        sentence = f"the line is not UTF-8 at character {half.start() + 1}: half a character"
        return [Violation("json", sentence)]
    return []


class _RepeatedMemberError(ValueError):
    pass


def _read(line: str) -> Any:  # noqa: ANN401 - any JSON value
    return json.loads(
        line, object_pairs_hook=_members, parse_constant=_refuse_constant, parse_int=_whole
    )


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
