"""
Runs a query on lines, as the documentation says that Logs Insights does.

It refuses what the documentation leaves open, such as taking apart a list that
is not there: no query of ours may depend on it.
"""

from __future__ import annotations

import json
import operator
import re
from itertools import islice

from tests.stack.insights.parser import parse
from tests.stack.insights.tree import AGGREGATES, Call, Constant, Field, Placeholder, QueryError

MAX_DISCOVERED = 200

_PERIODS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda left, right: left / right if right else None,
    "%": lambda left, right: left % right if right else None,
}
_LOGIC = {
    "and": lambda *terms: all(one is True for one in terms),
    "or": lambda *terms: any(one is True for one in terms),
    "not": lambda term: term is False,
}
_COMPARISONS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda one, *choices: one in choices,
    "like": lambda text, pattern: bool(re.search(pattern, text)),
}


def run(query, lines, **values):
    """
    The rows that *query* gives for *lines*, pairs of milliseconds and text.

    *values* are those of its placeholders. Columns that a row has no value for
    are left out, as Logs Insights leaves them out.
    """
    rows = [Row({"@timestamp": at, "@message": text}, discovered(text)) for at, text in lines]
    shown = []
    for command in parse(query):
        if command.name in {"fields", "display"}:
            shown += [one.name for one in command.expressions]
        elif command.name == "stats":
            shown = [one.name for one in (*command.groups, *command.expressions)]
        rows = _COMMANDS[command.name](command, rows, values)
    return [
        {name: row.field(name) for name in shown if row.field(name) is not None} for row in rows
    ]


def discovered(text):
    """
    The fields that Logs Insights finds in a line by itself: the first 200, arrays flattened.
    """
    document = _json(text)
    return dict(islice(_leaves("", document), MAX_DISCOVERED)) if isinstance(document, dict) else {}


def _leaves(path, value):
    if isinstance(value, (dict, list)):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, one in pairs:
            yield from _leaves(f"{path}.{name}" if path else str(name), one)
    else:
        yield path, value


class Row:
    """
    One row: the fields of the line it comes from, and what commands have called by a name.
    """

    def __init__(self, given, line):
        self.given = given
        self.line = line

    def field(self, path):
        """
        The value of a field, None when there is none.
        """
        if path in self.given:
            return self.given[path]
        first, _, rest = path.partition(".")
        if isinstance(self.given.get(first), (dict, list)):
            return _inside(self.given[first], rest)
        return self.line.get(path)

    def with_(self, **given):
        """
        The same row with further names.
        """
        return Row({**self.given, **given}, self.line)


def _inside(value, path):
    for part in path.split("."):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            return None
    return value


# --- commands ---


def _filter(command, rows, values):
    return [row for row in rows if _value(command.expressions[0], row, values) is True]


def _fields(command, rows, values):
    for one in command.expressions:
        rows = [row.with_(**{one.name: _value(one.expression, row, values)}) for row in rows]
    return rows


def _unnest(command, rows, values):
    (one,) = command.expressions
    taken_apart = []
    for row in rows:
        found = _value(one.expression, row, values)
        if not isinstance(found, list):
            msg = f"nobody says what unnest does where {one.expression.path} is no list"
            raise QueryError(msg)
        taken_apart += [row.with_(**{one.name: each}) for each in found]
    return taken_apart


def _stats(command, rows, values):
    grouped = {}
    for row in rows:
        key = tuple(_value(one.expression, row, values) for one in command.groups)
        grouped.setdefault(key, []).append(row)
    if not command.groups:
        grouped.setdefault((), [])
    result = []
    for key, members in grouped.items():
        given = dict(zip((one.name for one in command.groups), key, strict=True))
        for one in command.expressions:
            given[one.name] = _measure(one.expression, members, values)
        result.append(Row(given, {}))
    return result


def _sort(command, rows, _values):
    for one, is_descending in reversed(
        [*zip(command.expressions, command.descending, strict=True)]
    ):
        present = [row for row in rows if row.field(one.name) is not None]
        absent = [row for row in rows if row.field(one.name) is None]
        present.sort(key=lambda row, name=one.name: row.field(name), reverse=is_descending)
        rows = present + absent
    return rows


def _dedup(command, rows, _values):
    kept = {}
    for number, row in enumerate(rows):
        key = tuple(row.field(one.name) for one in command.expressions)
        kept.setdefault(key if None not in key else (number, *key), row)
    return list(kept.values())


def _limit(command, rows, _values):
    return rows[: command.expressions[0].value]


_COMMANDS = {
    "SOURCE": lambda _command, rows, _values: rows,
    "dedup": _dedup,
    "display": _fields,
    "fields": _fields,
    "filter": _filter,
    "limit": _limit,
    "sort": _sort,
    "stats": _stats,
    "unnest": _unnest,
}

# --- expressions ---


def _value(expression, row, values):
    if isinstance(expression, Field):
        return row.field(expression.path)
    if isinstance(expression, Constant):
        return expression.value
    if isinstance(expression, Placeholder):
        return values[expression.name]
    if isinstance(expression, Call):
        given = [_value(one, row, values) for one in expression.arguments]
        return _function(expression.function, given, row)
    given = [_value(one, row, values) for one in expression.operands]
    return _operation(expression.operator, given)


def _operation(sign, given):
    if sign in _LOGIC:
        return _LOGIC[sign](*given)
    if None in given:
        return None if sign in _ARITHMETIC else False
    if sign in _ARITHMETIC:
        return _ARITHMETIC[sign](*given)
    if sign not in {"in", "like"} and len({isinstance(one, str) for one in given}) > 1:
        return sign == "!="  # a text is never a number
    return _COMPARISONS[sign](*given)


def _function(name, given, row):
    if name == "ispresent":
        return given[0] is not None
    if name == "bin":
        number = given[0].rstrip("mshd")
        period_ms = int(number) * _PERIODS_MS[given[0][len(number) :]]
        return row.field("@timestamp") // period_ms * period_ms
    if None in given:
        return None
    functions = {
        "concat": lambda *texts: "".join(texts),
        "jsonParse": _json,
        "replace": lambda text, old, new: text.replace(old, new),
        "strlen": len,
        "substr": lambda text, start, length: text[int(start) : int(start + length)] or None,
    }
    if name not in functions:
        msg = f"the engine does not know {name}; teach it what the documentation says"
        raise QueryError(msg)
    return functions[name](*given)


def _json(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def _measure(expression, rows, values):
    if isinstance(expression, Call) and expression.function in AGGREGATES:
        if not expression.arguments:
            return len(rows)
        found = [
            (row.field("@timestamp"), _value(expression.arguments[0], row, values)) for row in rows
        ]
        return _aggregate(expression.function, [pair for pair in found if pair[1] is not None])
    if isinstance(expression, Constant):
        return expression.value
    given = [_measure(one, rows, values) for one in expression.operands]
    return _operation(expression.operator, given)


def _aggregate(name, pairs):
    found = [value for _, value in pairs]
    if name in {"count", "count_distinct"}:
        return len(found if name == "count" else set(found))
    if not found:
        return None
    functions = {
        "avg": lambda: sum(found) / len(found),
        "earliest": lambda: min(pairs, key=operator.itemgetter(0))[1],
        "latest": lambda: max(pairs, key=operator.itemgetter(0))[1],
        "max": lambda: max(found),
        "min": lambda: min(found),
        "sortsFirst": lambda: min(found),
        "sortsLast": lambda: max(found),
        "sum": lambda: sum(found),
    }
    return functions[name]()
