"""
The few lines of metric math that the template's alarms use.

Pure. Knows numbers, ids, `+ - /`, `>`, `==`, `AND`, `FILL`, `IF`, `MAX` of an array,
`SUM` and `RUNNING_SUM` of one time series. A point is missing where one operand's is;
FILL covers the whole window and MAX of an array passes over gaps, as recordings of
CloudWatch show. Grammar:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
"""

from __future__ import annotations

import ast
import operator
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Points = list[float | None]
"""One time series, newest first, None where missing."""

_OPERATORS: Final[Mapping[type, Callable[[float, float], float]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Div: operator.truediv,
    ast.Gt: operator.gt, ast.Eq: operator.eq, ast.And: lambda a, b: bool(a) and bool(b),
}  # fmt: skip


def parse_expression(text: str) -> ast.expr:
    """Read *text*."""
    return ast.parse(text.replace(" AND ", " and "), mode="eval").body


def calculate(node: ast.expr, series: Mapping[str, Points]) -> Points:
    """The time series that *node* makes of *series*, by id, all of one length."""
    length = len(next(iter(series.values())))
    if isinstance(node, ast.Constant):
        return [float(node.value)] * length  # type: ignore[arg-type]  # a number
    if isinstance(node, ast.Name):
        return series[node.id]
    if isinstance(node, ast.Call):
        given = node.args[0].elts if isinstance(node.args[0], ast.List) else node.args
        return _called(ast.unparse(node.func), [calculate(one, series) for one in given])
    operands, operation = _operation(node)
    left, right = (calculate(one, series) for one in operands)
    return [
        None if a is None or b is None else float(operation(a, b))
        for a, b in zip(left, right, strict=True)
    ]


def _operation(node: Any) -> tuple[list[ast.expr], Callable[[float, float], float]]:  # noqa: ANN401  # three kinds
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators], _OPERATORS[type(node.ops[0])]
    operands = node.values if isinstance(node, ast.BoolOp) else [node.left, node.right]
    return operands, _OPERATORS[type(node.op)]


def _called(name: str, arguments: list[Points]) -> Points:
    rows = [*zip(*arguments, strict=True)]
    points = arguments[0]
    if name == "FILL":
        return [fill if value is None else value for value, fill in rows]
    if name == "IF":
        return [None if test is None else then if test else other for test, then, other in rows]
    if name == "MAX":
        return [max((one for one in row if one is not None), default=None) for row in rows]
    if name == "SUM":
        return [sum(one or 0.0 for one in points)] * len(points)
    totals = [*accumulate(one or 0.0 for one in reversed(points))][::-1]  # RUNNING_SUM
    return [None if one is None else total for one, total in zip(points, totals, strict=True)]
