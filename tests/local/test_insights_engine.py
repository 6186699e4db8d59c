"""The Logs Insights engine beyond the stack's own queries: what a page and a double need of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.insights.engine import run, shown_by
from local.insights.fields import discovered
from local.insights.parser import parse
from local.insights.tree import QueryError

AT_MS = 1_800_000_000_000
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab.0", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("AB", max_size=2), inner),
    max_leaves=9,
)
STEPS = st.sampled_from(
    [
        "filter A = 1 or not ispresent(B)", "filter A < B and A in [1, 2]",
        "filter @message like /a/", "fields A + B as C, A / B as D",
        "fields jsonParse(@message) as line", "fields concat(A, B) as E, strlen(A) as L",
        "fields coalesce(A, B, 0) as F, abs(A) as G", "unnest line.A into each",
        "stats max(A) as M, avg(B) as N, count(*) as O by bin(1m) as T, A", "stats sum(M) as S",
        "sort A desc, B", "dedup A", "display A", "limit 2",
    ]
)  # fmt: skip


def lines(*documents):
    """Lines a second apart, the first one first."""
    return [(AT_MS + 1000 * n, json.dumps(one)) for n, one in enumerate(documents)]


@given(st.lists(DOCUMENTS, max_size=5), st.lists(STEPS, min_size=1, max_size=5).map(" | ".join))
def test_a_query_is_answered_or_refused(documents, query):
    """
    Whatever the lines are: rows of the columns that it names, or a sentence, never another error.
    """
    try:
        found = run(query, lines(*documents))
    except QueryError:
        return
    assert all(row.keys() <= set(shown_by(parse(query))) for row in found)


@pytest.mark.parametrize("text", ["", "{", "[1]", '"x"', "[" * 3000, "\ud800", "START RequestId"])
def test_what_is_no_object_has_no_fields(text):
    """Lines of other programs in a log group are rows all the same."""
    assert {} == discovered(text)
    assert [{"@message": text}] == run("fields @message", [(AT_MS, text)])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("filter A = 1", []),
        ("fields A, B | filter A = 1 | fields A + B as C", ["A", "B", "C"]),
        ("fields A, B | display B, A | limit 1", ["B", "A"]),
        ("display A | display B", ["B"]),
        ("fields A | stats max(A) as M by B, bin(5m)", ["B", "bin(5m)", "M"]),
        ("stats max(A) as M by B | stats max(M) as N", ["N"]),
        ("fields A, A", ["A"]),
    ],
)
def test_columns_are_named_before_there_is_a_row(query, expected):
    """From left to right, those of `by` first; the last `display` alone counts."""
    assert expected == shown_by(parse(query))


def test_a_value_for_a_placeholder_is_asked_for():
    """By its name, as soon as a row needs it."""
    query = "filter A = {{Wanted}} | fields A"
    assert [{"A": 1}] == run(query, lines({"A": 1}, {"A": 2}), Wanted=1)
    with pytest.raises(QueryError, match=r"a value for \{\{Wanted\}\} was expected"):
        run(query, lines({"A": 1}))


def test_what_does_not_fit_is_refused_with_the_command():
    """A text is not added up."""
    with pytest.raises(
        QueryError, match="it is not documented what stats does with values of these types"
    ):
        run("stats sum(A) as S", lines({"A": "x"}))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("coalesce(B, A)", 4), ("coalesce(B, C)", None), ("abs(0 - A)", 4), ("ceil(A / 3)", 2),
        ("floor(A / 3)", 1), ("A / 0", None), ("A % 0", None), ("substr(T, 1, 2)", "ex"),
        ("substr(T, 9, 2)", None), ('replace(T, "e", "E")', "tExt"), ("strlen(B)", None),
    ],
)  # fmt: skip
def test_a_function_gives_what_the_documentation_says(expression, expected):
    """Nothing where there is nothing."""
    (found,) = run(f"fields {expression} as R", lines({"A": 4, "T": "text"}))
    assert expected == found.get("R")


def test_a_function_that_nobody_taught_it_is_refused():
    """The parser knows more than the engine, and it is said rather than guessed."""
    with pytest.raises(QueryError, match="the engine does not know"):
        run("fields greatest(A, 1) as R", lines({"A": 1}))
