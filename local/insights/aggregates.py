"""What `stats` makes of many rows."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Final

from local.insights.tree import (
    AGGREGATES,
    Constant,
    Expression,
    FunctionCall,
    Operation,
    QueryError,
)
from local.insights.values import operation, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from local.insights.fields import ResultRow, Value

_FUNCTIONS: Final[Mapping[str, Callable[[Sequence[tuple[int, Value]]], Value]]] = {
    "avg": lambda pairs: sum(value for _, value in pairs) / len(pairs),
    "earliest": lambda pairs: min(pairs, key=operator.itemgetter(0))[1],
    "latest": lambda pairs: max(pairs, key=operator.itemgetter(0))[1],
    "max": lambda pairs: max(value for _, value in pairs),
    "min": lambda pairs: min(value for _, value in pairs),
    "sortsFirst": lambda pairs: min(value for _, value in pairs),
    "sortsLast": lambda pairs: max(value for _, value in pairs),
    "sum": lambda pairs: sum(value for _, value in pairs),
}


def measure(
    expression: Expression, rows: Sequence[ResultRow], values: Mapping[str, Value]
) -> Value:
    """
    What a measure of `stats` is on *rows*, None when none of them has a value.

    Raises:
        QueryError: If it aggregates nothing, or by a function that nothing here knows.
    """
    if isinstance(expression, FunctionCall) and expression.function in AGGREGATES:
        if not expression.arguments:
            return len(rows)
        operands = [
            (row.field("@timestamp"), value_of(expression.arguments[0], row, values))
            for row in rows
        ]
        return _aggregate(expression.function, [pair for pair in operands if pair[1] is not None])
    if isinstance(expression, Constant):
        return expression.value
    if not isinstance(expression, Operation):
        msg = f"stats was expected to aggregate and found {expression}: name an aggregate"
        raise QueryError(msg)
    return operation(
        expression.operator, [measure(one, rows, values) for one in expression.operands]
    )


def _aggregate(name: str, pairs: Sequence[tuple[int, Value]]) -> Value:
    if name == "count":
        return len(pairs)
    if name == "count_distinct":
        return len({value for _, value in pairs})
    if not pairs:
        return None
    if name not in _FUNCTIONS:
        msg = f"the engine does not know {name}; teach it what the documentation says"
        raise QueryError(msg)
    return _FUNCTIONS[name](pairs)
