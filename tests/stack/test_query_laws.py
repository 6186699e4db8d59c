"""Laws of the reader of queries: what is written is read again, and nothing makes it stumble."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from local.insights.parser import parse
from local.insights.tree import (
    Command,
    Constant,
    Field,
    FunctionCall,
    Named,
    Operation,
    Placeholder,
    QueryError,
)
from tests.stack.insights.reading import problems

NAMES = st.sampled_from(["A", "B.c", "B.0.d", "@timestamp", "IdleCores"])
LEAVES = st.one_of(
    st.builds(Field, NAMES),
    st.builds(Placeholder, st.sampled_from(["InstanceId", "x1"])),
    st.builds(Constant, st.integers(0, 10**6).map(float)),
    st.builds(Constant, st.text("ab |#'(/", max_size=5)),
)


def operations(inner):
    """Operators and functions over *inner*."""
    pairs = st.tuples(inner, inner)
    return st.one_of(
        st.builds(Operation, st.sampled_from(["+", "-", "*", "/", "%", "=", "<=", "!="]), pairs),
        st.builds(
            Operation,
            st.sampled_from(["and", "or"]),
            st.lists(inner, min_size=2, max_size=3).map(tuple),
        ),
        st.builds(Operation, st.just("not"), st.tuples(inner)),
        st.builds(Operation, st.just("in"), st.tuples(inner, LEAVES, LEAVES)),
        st.builds(FunctionCall, st.just("coalesce"), pairs),
        st.builds(FunctionCall, st.just("max"), st.tuples(inner)),
        st.just(FunctionCall("count")),
    )


EXPRESSIONS = st.recursive(LEAVES, operations, max_leaves=8)


def written(expression):
    """An expression as text, every operation in brackets."""
    if isinstance(expression, Operation):
        return f"({operation(expression.operator, [*map(written, expression.operands)])})"
    if isinstance(expression, FunctionCall):
        return f"{expression.function}({', '.join(map(written, expression.arguments)) or '*'})"
    if isinstance(expression, Constant):
        value = expression.value
        return f'"{value}"' if isinstance(value, str) else f"{value:.0f}"
    return expression.path if isinstance(expression, Field) else "{{" + expression.name + "}}"


def operation(operator, operands):
    """An operation on what is written already."""
    if operator == "not":
        return f"not {operands[0]}"
    if operator == "in":
        return f"{operands[0]} in [{', '.join(operands[1:])}]"
    return f" {operator} ".join(operands)


@given(EXPRESSIONS, EXPRESSIONS, st.sampled_from([" ", "\n  ", " # | stats\n"]))
def test_what_is_written_is_read_again(condition, measure, space):
    """Any expression, whatever stands between the commands."""
    text = f"filter{space}{written(condition)}{space}| stats {written(measure)} as M by A"
    assert parse(text) == (
        Command("filter", (condition,)),
        Command("stats", (Named(measure, "M"),), (Named(Field("A"), "A"),)),
    )


WORDS = """
filter fields stats sort dedup limit unnest display SOURCE | , ( ) [ ] = != > + - * / % and or not
in like by as asc desc into Kind "rollup" "minute" IdleCores IdleCost RollupId Minute line @message
@timestamp 3 5m {{x}} max sum avg count count_distinct latest bin jsonParse substr strlen ispresent
concat /a/ line.Holders[0].Name x y #
"""


@given(st.lists(st.sampled_from([*WORDS.split(), "\n"]), max_size=25))
def test_any_text_is_read_or_refused(tokens):
    """Never half understood, and never another error than the one that says why."""
    try:
        found = problems(" ".join(tokens))
    except QueryError as refusal:
        found = [str(refusal)]
    assert all(found)
