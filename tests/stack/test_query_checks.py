"""The language of Logs Insights as the rehearsal reads it."""

from __future__ import annotations

import pytest

from local.insights import engine
from local.insights.parser import parse
from local.insights.tree import Constant, Field, Operation, QueryError
from tests.stack.insights.lines import minute_line


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", "expected a command"),
        ("filter", "expected a field, a number, a text or a function, found its end"),
        ("frobnicate x", "found frobnicate"),
        ("fields A |", "expected a command, found its end"),
        ("fields A B", "expected | and a command"),
        ("filter A == 1", "found ="),
        ('filter A = "x', 'found "'),
        ("filter (A > 1", "expected )"),
        ("filter A like B", "a text or a /regular expression/"),
        ("filter A like /(/", "no regular expression"),
        ("filter A in B", "expected ["),
        ("stats sum(A) by B", "as and a name"),
        ("stats total(A) as B", "a function that we know, not total"),
        ("stats pct(A) as B", "pct takes 2 to 2 arguments, found 1"),
        ("fields strlen(A, B) as C", "strlen takes 1 to 1 arguments, found 2"),
        ("sort A down", "expected | and a command"),
        ("limit many", "a number of rows"),
        ("unnest A as B", "expected into"),
        ("dedup sum(A)", "expected | and a command"),
        ("fields 5m as A", "found 5m"),
        ("fields A & B", "found &"),
        ("parse @message '*' as A", "found parse"),
        ("fields " + "A, " * 4_000 + "A", "at most 10,000 characters"),
    ],
)
def test_what_is_not_of_the_language_is_refused(query, expected):
    """In a sentence that says what was expected, and where."""
    with pytest.raises(QueryError) as refusal:
        parse(query)
    assert expected in str(refusal.value)


def test_a_query_is_read_with_the_usual_precedence():
    """
    `and` binds before `or`, `*` before `+`, a comparison before both; comments are none of it.
    """
    (command,) = parse("filter A > 1 or B + 2 * C = 3 and not D # | limit 1")
    product = Operation("*", (Constant(2), Field("C")))
    equal = Operation("=", (Operation("+", (Field("B"), product)), Constant(3)))
    expected = Operation(
        "or",
        (
            Operation(">", (Field("A"), Constant(1))),
            Operation("and", (equal, Operation("not", (Field("D"),)))),
        ),
    )
    assert expected == command.expressions[0]


def test_only_the_first_200_fields_of_a_line_are_discovered():
    """What stands behind a long array is found by jsonParse alone."""
    line = minute_line(0, 1, CoreIdleMinutes=[0] * 200, Holders=[{"Cores": "0", "Name": "ml/a"}])
    for field, expected in (("Holders.0.Name", [{}]), ("l.Holders[0].Name", [{"Name": "ml/a"}])):
        query = f"fields jsonParse(@message) as l | stats latest({field}) as Name"
        assert expected == engine.run(query, [line])
