"""
A Logs Insights query as a tree: commands, expressions, and the functions that there are.

The functions are those of
https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax-operations-functions.html
that our queries may use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Name: fewest arguments, most arguments.
AGGREGATES: Final[Mapping[str, tuple[int, int]]] = {
    "avg": (1, 1), "count": (0, 1), "count_distinct": (1, 1), "earliest": (1, 1), "latest": (1, 1),
    "max": (1, 1), "min": (1, 1), "pct": (2, 2), "sortsFirst": (1, 1), "sortsLast": (1, 1),
    "sum": (1, 1),
}  # fmt: skip
FUNCTIONS: Final[Mapping[str, tuple[int, int]]] = {
    **AGGREGATES, "abs": (1, 1), "bin": (1, 1), "ceil": (1, 1), "coalesce": (1, 10),
    "concat": (2, 10), "floor": (1, 1), "greatest": (2, 10), "ispresent": (1, 1),
    "jsonParse": (1, 1), "least": (2, 10), "replace": (3, 3), "strcontains": (2, 3),
    "strlen": (1, 1), "substr": (2, 3),
}  # fmt: skip
LARGEST_PERIOD: Final = {
    "ms": 1000,
    "s": 60,
    "m": 60,
    "h": 24,
    "d": 31,
}  # more is cut without a word


class QueryError(ValueError):
    """The query is not one that Logs Insights would take, or not one that we can vouch for."""


@dataclass(frozen=True)
class Field:
    """A field of the line, or a name that an earlier command gave: `@timestamp`, `line.Holders`."""

    path: str


@dataclass(frozen=True)
class Constant:
    """A text, a number, a regular expression or, as a text, a period such as `5m`."""

    value: Any


@dataclass(frozen=True)
class Placeholder:
    """What the reader of a saved query gives: `{{InstanceId}}`."""

    name: str


@dataclass(frozen=True)
class FunctionCall:
    """A function and what it is given; `count(*)` is given nothing."""

    function: str
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class Operation:
    """An operator between expressions: arithmetic, comparison, `and`, `or`, `not`, `in`, `like`."""

    operator: str
    operands: tuple[Expression, ...]


Expression: TypeAlias = Field | Constant | Placeholder | FunctionCall | Operation


@dataclass(frozen=True)
class Named:
    """An expression and what it is called from here on; an own name is not needed for a field."""

    expression: Expression
    name: str


@dataclass(frozen=True)
class Command:
    """
    One command.

    Attributes:
        name: `fields`, `stats` and so on.

        expressions: What it computes, keeps or sorts by, as `Named`; for
            `source`, `limit` and `filter` one constant or condition.

        groups: What stands after `by` of `stats`.

        descending: For `sort`, whether each expression is; empty otherwise.
    """

    name: str
    expressions: tuple[Any, ...] = ()
    groups: tuple[Named, ...] = ()
    descending: tuple[bool, ...] = ()


def walk(expression: Expression | Named) -> Iterator[Expression | Named]:
    """An expression and all that it is made of."""
    yield expression
    inner: tuple[Expression, ...] = ()
    if isinstance(expression, FunctionCall):
        inner = expression.arguments
    elif isinstance(expression, Operation):
        inner = expression.operands
    elif isinstance(expression, Named):
        inner = (expression.expression,)
    for one in inner:
        yield from walk(one)
