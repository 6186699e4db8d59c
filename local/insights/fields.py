"""What Logs Insights finds in a line by itself, and the row that it makes of it."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Value: TypeAlias = Any
"""A text, a number, a truth, what `jsonParse` makes, or None where there is nothing."""

MAX_DISCOVERED: Final = 200


class ResultRow:
    """One row: the fields of the line it comes from, and what commands have called by a name."""

    __slots__ = ("_line", "given")

    def __init__(self, given: Mapping[str, Value], line: Mapping[str, Value]) -> None:
        self.given = given
        self._line = line

    def field(self, path: str) -> Value:
        """The value of a field, None when there is none."""
        if path in self.given:
            return self.given[path]
        first, _, rest = path.partition(".")
        if isinstance(self.given.get(first), (dict, list)):
            return _inside(self.given[first], rest)
        return self._line.get(path)

    def with_(self, **given: Value) -> ResultRow:
        """The same row with further names."""
        return ResultRow({**self.given, **given}, self._line)


def row_of(timestamp_ms: int, text: str, **system_fields: Value) -> ResultRow:
    """
    The row of one log line, before any command.

    *system_fields* are further ones that CloudWatch Logs adds, such as `@logStream`.
    """
    given = {"@timestamp": timestamp_ms, "@message": text, **system_fields}
    return ResultRow(given, discovered(text))


def discovered(text: str) -> dict[str, Value]:
    """The fields that Logs Insights finds in a line by itself: the first 200, arrays flattened."""
    document = parsed(text)
    return dict(islice(_leaves("", document), MAX_DISCOVERED)) if isinstance(document, dict) else {}


def parsed(text: str) -> Value:
    """What `jsonParse` makes of a text: None of what is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _leaves(path: str, value: Value) -> Iterator[tuple[str, Value]]:
    if isinstance(value, (dict, list)):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, one in pairs:
            yield from _leaves(f"{path}.{name}" if path else str(name), one)
    else:
        yield path, value


def _inside(value: Value, path: str) -> Value:
    for part in path.split("."):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            return None
    return value
