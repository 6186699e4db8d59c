"""
Runs a query on lines, as the documentation says that Logs Insights does.

It refuses what the documentation leaves open, such as taking apart a list that
is not there: no query of ours may depend on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from local.insights.aggregates import measure
from local.insights.fields import ResultRow, Value, row_of
from local.insights.parser import parse
from local.insights.tree import Field, QueryError
from local.insights.values import value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from local.insights.tree import Command, Named

    Rows = list[ResultRow]
    Values = Mapping[str, Value]


def run(query: str, lines: Iterable[tuple[int, str]], **values: Value) -> list[dict[str, Value]]:
    """
    Give the rows that *query* gives for *lines*, pairs of milliseconds and text.

    *values* are those of its placeholders. Columns that a row has no value for
    are left out, as Logs Insights leaves them out.

    Raises:
        QueryError: If the query cannot be read, or needs what the documentation leaves open.
    """
    commands = parse(query)
    rows = [row_of(at, text) for at, text in lines]
    return told(applied(commands, rows, values), shown_by(commands))


def applied(commands: Sequence[Command], rows: Sequence[ResultRow], values: Values) -> Rows:
    """
    What *commands* make of *rows*, one after the other.

    Raises:
        QueryError: If they need what the documentation leaves open.
    """
    found = [*rows]
    for command in commands:
        found = _applied(command, found, values)
    return found


def _applied(command: Command, rows: Rows, values: Values) -> Rows:
    try:
        return _COMMANDS[command.name](command, rows, values)
    except (AttributeError, TypeError) as error:
        msg = f"it is not documented what {command.name} does with values of these types: {error}"
        raise QueryError(msg) from error


def told(rows: Sequence[ResultRow], names: Sequence[str]) -> list[dict[str, Value]]:
    """These columns of *rows*, each where there is a value."""
    found = [{name: row.field(name) for name in names} for row in rows]
    return [{name: one for name, one in row.items() if one is not None} for row in found]


def shown_by(commands: Sequence[Command]) -> list[str]:
    """What the columns of a query are called; none where it names none."""
    shown: list[str] = []
    for command in commands:
        if command.name == "fields":
            shown += [one.name for one in command.expressions]
        elif command.name == "display":  # the last one alone counts
            shown = [one.name for one in command.expressions]
        elif command.name == "stats":
            shown = [one.name for one in (*command.groups, *command.expressions)]
    return [*dict.fromkeys(shown)]


# --- commands ---


def _source(_command: Command, rows: Rows, _values: Values) -> Rows:
    return rows


def _filter(command: Command, rows: Rows, values: Values) -> Rows:
    (condition,) = command.expressions
    return [row for row in rows if value_of(condition, row, values) is True]


def _fields(command: Command, rows: Rows, values: Values) -> Rows:
    for one in command.expressions:
        rows = [row.with_(**{one.name: value_of(one.expression, row, values)}) for row in rows]
    return rows


def _unnest(command: Command, rows: Rows, values: Values) -> Rows:
    (named,) = command.expressions
    taken_apart = []
    for row in rows:
        value = value_of(named.expression, row, values)
        if not isinstance(value, list):
            msg = f"it is not documented what unnest does where {_path(named)} is no list"
            raise QueryError(msg)
        taken_apart += [row.with_(**{named.name: each}) for each in value]
    return taken_apart


def _stats(command: Command, rows: Rows, values: Values) -> Rows:
    grouped: dict[tuple[Value, ...], list[ResultRow]] = {}
    for row in rows:
        key = tuple(value_of(one.expression, row, values) for one in command.groups)
        grouped.setdefault(key, []).append(row)
    if not command.groups:
        grouped.setdefault((), [])
    result = []
    for key, members in grouped.items():
        given = dict(zip((one.name for one in command.groups), key, strict=True))
        for one in command.expressions:
            given[one.name] = measure(one.expression, members, values)
        result.append(ResultRow(given, {}))
    return result


def _sort(command: Command, rows: Rows, _values: Values) -> Rows:
    for named, is_descending in reversed(
        [*zip(command.expressions, command.descending, strict=True)]
    ):
        present = [row for row in rows if row.field(named.name) is not None]
        absent = [row for row in rows if row.field(named.name) is None]
        present.sort(key=_by(named.name), reverse=is_descending)
        rows = present + absent
    return rows


def _by(name: str) -> Callable[[ResultRow], tuple[bool, Value]]:
    def rank(row: ResultRow) -> tuple[bool, Value]:
        found = row.field(name)
        return isinstance(found, str), found  # texts and numbers do not compare

    return rank


def _dedup(command: Command, rows: Rows, _values: Values) -> Rows:
    kept: dict[tuple[Value, ...], ResultRow] = {}
    for number, row in enumerate(rows):
        key = tuple(row.field(one.name) for one in command.expressions)
        kept.setdefault(key if None not in key else (number, *key), row)
    return list(kept.values())


def _limit(command: Command, rows: Rows, _values: Values) -> Rows:
    return rows[: command.expressions[0].value]


def _path(one: Named) -> str:
    return one.expression.path if isinstance(one.expression, Field) else one.name


_COMMANDS: Final[
    Mapping[str, Callable[[Command, Rows, Values], Rows]]
] = {
    "SOURCE": _source, "dedup": _dedup, "display": _fields, "fields": _fields, "filter": _filter,
    "limit": _limit, "sort": _sort, "stats": _stats, "unnest": _unnest,
}  # fmt: skip
