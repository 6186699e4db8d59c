"""
What an expression of a query is worth on a row.

What is not there makes no number and no truth: arithmetic with it is nothing,
and a comparison with it is false.
"""

from __future__ import annotations

import math
import operator
import re
from typing import TYPE_CHECKING, Final

from local.insights.fields import ResultRow, Value, parsed
from local.insights.tree import Constant, Expression, Field, FunctionCall, Placeholder, QueryError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_PERIODS_MS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_ARITHMETIC: Final[Mapping[str, Callable[..., Value]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda left, right: left / right if right else None,
    "%": lambda left, right: left % right if right else None,
}
_LOGIC: Final[Mapping[str, Callable[..., bool]]] = {
    "and": lambda *terms: all(one is True for one in terms),
    "or": lambda *terms: any(one is True for one in terms),
    "not": lambda term: term is False,
}
_COMPARISONS: Final[Mapping[str, Callable[..., bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda one, *choices: one in choices,
    "like": lambda text, pattern: bool(re.search(pattern, text)),
}
_FUNCTIONS: Final[Mapping[str, Callable[..., Value]]] = {
    "abs": abs,
    "ceil": math.ceil,
    "concat": lambda *texts: "".join(texts),
    "floor": math.floor,
    "jsonParse": parsed,
    "replace": lambda text, old, new: text.replace(old, new),
    "strlen": len,
    "substr": lambda text, start, length: text[int(start) : int(start + length)] or None,
}


def value_of(expression: Expression, row: ResultRow, values: Mapping[str, Value]) -> Value:
    """
    What *expression* is worth on *row*; *values* are those of its placeholders.

    Raises:
        QueryError: If a value for a placeholder is missing, or nothing here knows a function.
    """
    if isinstance(expression, Field):
        return row.field(expression.path)
    if isinstance(expression, Constant):
        return expression.value
    if isinstance(expression, Placeholder):
        if expression.name not in values:
            msg = f"a value for {{{{{expression.name}}}}} was expected and there is none: give one"
            raise QueryError(msg)
        return values[expression.name]
    if isinstance(expression, FunctionCall):
        given = [value_of(one, row, values) for one in expression.arguments]
        return _function(expression.function, given, row)
    return operation(
        expression.operator, [value_of(one, row, values) for one in expression.operands]
    )


def operation(sign: str, given: Sequence[Value]) -> Value:
    """What an operator makes of values."""
    if sign in _LOGIC:
        return _LOGIC[sign](*given)
    if None in given:
        return None if sign in _ARITHMETIC else False
    if sign in _ARITHMETIC:
        return _ARITHMETIC[sign](*given)
    if sign not in {"in", "like"} and len({isinstance(one, str) for one in given}) > 1:
        return sign == "!="  # a text is never a number
    return _COMPARISONS[sign](*given)


def _function(name: str, given: Sequence[Value], row: ResultRow) -> Value:
    if name == "ispresent":
        return given[0] is not None
    if name == "coalesce":
        return next((one for one in given if one is not None), None)
    if name == "bin":
        number = given[0].rstrip("mshd")
        period_ms = int(number) * _PERIODS_MS[given[0][len(number) :]]
        return row.field("@timestamp") // period_ms * period_ms
    if None in given:
        return None
    if name not in _FUNCTIONS:
        msg = f"the engine does not know {name}; teach it what the documentation says"
        raise QueryError(msg)
    return _FUNCTIONS[name](*given)
