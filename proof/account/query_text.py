"""What a query's text says to the service: its columns, and what they hold."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from local.insights.engine import shown_by
from local.insights.parser import parse
from local.insights.tree import Field, FunctionCall, Operation, Placeholder, QueryError, walk
from proof.logs.forms import NOT_PLAYED, ServiceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from local.insights.tree import Command

MALFORMED = "MalformedQueryException"
LEAST_WITH_EXPONENT = 10_000_000
COMPUTING = ("avg", "pct", "sum")
TIMES = ("@timestamp", "@ingestionTime")


def commands_of(text: str) -> Sequence[Command]:
    """
    Read a query that can be run as it is.

    Raises:
        ServiceError: If it cannot be read, or a placeholder has no value yet.
    """
    try:
        commands = parse(text)
    except QueryError as error:
        raise ServiceError(MALFORMED, str(error)) from None
    parts = [part for one in commands for each in one.expressions for part in walk(each)]
    unfilled = sorted({one.name for one in parts if isinstance(one, Placeholder)})
    if unfilled:
        words = f"unexpected symbol found {{ at {{{{{unfilled[0]}}}}}"
        raise ServiceError(MALFORMED, words)
    if any(one.name == "SOURCE" for one in commands):
        raise ServiceError(NOT_PLAYED, "SOURCE is not played here", 501)
    return commands


def before_stats(commands: Sequence[Command]) -> Sequence[Command]:
    """The commands that decide which lines match."""
    names = [one.name for one in commands]
    ends = [names.index(name) for name in ("stats", "limit", "dedup", "unnest") if name in names]
    return commands[: min(ends, default=len(commands))]


def columns_of(commands: Sequence[Command]) -> list[str]:
    """What a row has, from left to right; one that is still a line has a pointer to it."""
    shown = shown_by(commands) or [*TIMES[:1], "@message"]
    has_stats = any(one.name == "stats" for one in commands)
    return shown if has_stats else [*shown, "@ptr"]


def moments_of(commands: Sequence[Command]) -> set[str]:
    """The columns that are moments: a line's own, and those that `bin` made."""
    found = set(TIMES)
    for command in commands:
        for one in (*command.groups, *command.expressions):
            expression = getattr(one, "expression", None)
            if expression in {Field(name) for name in TIMES}:
                found.add(one.name)
            if isinstance(expression, FunctionCall) and expression.function == "bin":
                found.add(one.name)
    return found


def computed_by(commands: Sequence[Command]) -> set[str]:
    """The columns that the query computed: it did not pick them from a line."""
    found: set[str] = set()
    for command in commands:
        if command.name in {"fields", "display", "stats"}:
            for one in command.expressions:
                parts = [*walk(one.expression)]
                is_new = any(
                    isinstance(part, Operation)
                    or (isinstance(part, FunctionCall) and part.function in COMPUTING)
                    or (isinstance(part, Field) and part.path in found)
                    for part in parts
                )
                found |= {one.name} if is_new else set()
    return found


def moment(at_ms: int) -> str:
    """A time as an answer has it."""
    at = datetime.fromtimestamp(at_ms // 1000, timezone.utc)
    return f"{at:%Y-%m-%d %H:%M:%S}.{at_ms % 1000:03d}"


def text_of(value: Any, decimals: int | None) -> str:
    """A value as an answer has it; *decimals* None is as the line had it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (int, float)) and decimals is not None:
        return _double(round(float(value), decimals))
    return json.dumps(value)


def _double(value: float) -> str:
    """As Java writes one, which is what answers show: 15.0, and 6.7E7 from ten million on."""
    if abs(value) < LEAST_WITH_EXPONENT:
        return repr(value)
    decimal = Decimal(repr(value))
    mantissa = float(decimal.scaleb(-decimal.adjusted()))
    return f"{mantissa!r}E{decimal.adjusted()}"
