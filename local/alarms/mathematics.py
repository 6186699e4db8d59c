"""
The metric math that the template's alarms use, over metrics and other expressions.

Pure. Knows numbers, ids, `+ - * /`, comparisons, `AND`, `OR`, `FILL`, `IF`, `MAX` of an
array, `SUM` and `RUNNING_SUM` of one time series, and refuses the rest. A point is
missing where one operand's is; FILL covers the whole window and MAX of an array passes
over gaps, as recordings of CloudWatch show. Grammar:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
"""

from __future__ import annotations

import ast
import operator
import re
from typing import TYPE_CHECKING, Final, cast

from local.alarms.template import AlarmDefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Points = list[float | None]
"""One time series, newest first, None where missing."""

_OPERATORS: Final[Mapping[type, Callable[[float, float], float]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.And: lambda a, b: bool(a) and bool(b), ast.Or: lambda a, b: bool(a) or bool(b),
}  # fmt: skip
_ARGUMENTS: Final = {"FILL": 2, "IF": 3, "MAX": 1, "RUNNING_SUM": 1, "SUM": 1}
_LOGICAL: Final = re.compile(r"\b(AND|OR)\b")


def parse_expression(text: str) -> ast.expr:
    """
    Read *text*.

    Raises:
        AlarmDefinitionError: If it uses what this module does not know.
    """
    try:
        tree = ast.parse(_LOGICAL.sub(lambda word: word[0].lower(), text), mode="eval").body
    except SyntaxError as error:
        msg = f"the expression {text!r} cannot be read: {error.msg}"
        raise AlarmDefinitionError(msg) from error
    strangers = [node for node in ast.walk(tree) if not _is_known(node)]
    if strangers:
        msg = f"the expression {text!r} has what the evaluator does not know"
        raise AlarmDefinitionError(msg)
    return tree


def ids(tree: ast.expr) -> set[str]:
    """The ids of metrics and expressions that *tree* refers to."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names - _ARGUMENTS.keys()


def calculate(tree: ast.expr, series: Mapping[str, Points]) -> Points:
    """The time series that *tree* makes of *series*, by id, all of one length."""
    length = len(next(iter(series.values())))
    return _value(tree, series, length)


def _value(node: ast.expr, series: Mapping[str, Points], length: int) -> Points:
    if isinstance(node, ast.Constant):
        return [float(cast("float", node.value))] * length
    if isinstance(node, ast.Name):
        return series[node.id]
    if isinstance(node, ast.BinOp):
        parts, found = [node.left, node.right], _OPERATORS[type(node.op)]
    elif isinstance(node, ast.BoolOp):
        parts, found = node.values, _OPERATORS[type(node.op)]
    elif isinstance(node, ast.Compare):
        parts, found = [node.left, *node.comparators], _OPERATORS[type(node.ops[0])]
    else:
        return _called(cast("ast.Call", node), series, length)
    first, *others = (_value(part, series, length) for part in parts)
    for other in others:
        first = [
            None if a is None or b is None else float(found(a, b))
            for a, b in zip(first, other, strict=True)
        ]
    return first


def _called(node: ast.Call, series: Mapping[str, Points], length: int) -> Points:
    name = ast.unparse(node.func)
    if name == "MAX":
        array = cast("ast.List", node.args[0])
        rows = zip(*(_value(one, series, length) for one in array.elts), strict=True)
        return [max((one for one in row if one is not None), default=None) for row in rows]
    arguments = [_value(one, series, length) for one in node.args]
    points = arguments[0]
    if name == "FILL":
        return [fill if one is None else one for one, fill in zip(*arguments, strict=True)]
    if name == "IF":
        return [
            None if test is None else then if test else otherwise
            for test, then, otherwise in zip(*arguments, strict=True)
        ]
    if name == "SUM":
        return [sum(one for one in points if one is not None)] * length
    return _running(points)


def _running(points: Sequence[float | None]) -> Points:
    total, found = 0.0, Points()
    for one in reversed(points):
        total += one or 0.0
        found.append(None if one is None else total)
    return found[::-1]


def _is_known(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return len(node.args) == _ARGUMENTS.get(ast.unparse(node.func))
    if isinstance(node, ast.Constant):
        return type(node.value) in {int, float}
    shapes = (ast.BinOp, ast.BoolOp, ast.Compare, ast.List, ast.Name, ast.expr_context)
    return isinstance(node, shapes) or type(node) in _OPERATORS
