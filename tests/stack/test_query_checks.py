"""The checks of queries find what they are for: each sort of mistake, planted."""

from __future__ import annotations

import pytest

from local.insights import engine
from local.insights.parser import parse
from local.insights.tree import Constant, Field, FunctionCall, Operation, QueryError
from tests.stack.insights.lines import START_MS, emitted, minute_line, rollup
from tests.stack.insights.reading import kinds, problems

ROLLUPS = 'filter Kind = "rollup" | '
MINUTES = 'filter Kind = "minute" | '

# --- the language ---


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


def test_operators_of_one_rank_are_read_from_the_left():
    """9 - 3 - 2 is 4."""
    (command,) = parse("stats max(A) - 3 - 2 as B")
    left = Operation("-", (FunctionCall("max", (Field("A"),)), Constant(3)))
    assert Operation("-", (left, Constant(2))) == command.expressions[0].expression


# --- order, names and numbers ---


PARSED = "fields jsonParse(@message) as l | "
TWICE = "a line that came twice would count twice"
MISTAKES = {
    # order and limits
    "fields @timestamp": "it reads lines of every Kind; filter Kind first",
    ROLLUPS + "limit 5 | stats max(IdleCores) as A": "limit stands before stats",
    ROLLUPS + "dedup Minute | sort Minute": "something else than limit follows dedup",
    ROLLUPS + " | ".join(["stats max(IdleCores) as IdleCores"] * 3): "it has more than 2 stats",
    ROLLUPS + "stats max(IdleCores) as A by bin(300s)": "bin(300s) is cut to 60s",
    ROLLUPS + "stats max(IdleCores) as A by Minute | stats max(A) as B by bin(5m)": "bin needs @t",
    ROLLUPS + "fields bin(5m) as A": "bin stands in fields",
    ROLLUPS + "filter max(IdleCores) > 3": "max stands in filter",
    ROLLUPS + "stats IdleCores as A": "a measure of stats aggregates nothing",
    ROLLUPS + "stats max(min(IdleCores)) as A": "an aggregate stands in an aggregate",
    ROLLUPS + "stats max(IdleCores) / NeuronCores as A": "NeuronCores is neither aggregated nor",
    ROLLUPS + "stats max(IdleCores) as A by Minute as A": "two columns are called A",
    # names
    ROLLUPS + "filter InstanceId = 1": "InstanceId is not in lines of Kind rollup",
    ROLLUPS + "stats max(IdleCores) as A | filter ClusterName = 1": "ClusterName is not in what",
    ROLLUPS + PARSED + "unnest l.TopIdleInstances into i | filter i.Instance = 1": "i.Instance is",
    ROLLUPS + PARSED + "unnest l.IdleInstances into i": "l.IdleInstances is not in lines of Kind",
    ROLLUPS + "fields strlen(Minute) as IdleCores": "the name IdleCores hides a member",
    # what jsonParse makes
    ROLLUPS + "unnest TopIdleInstances into i": "TopIdleInstances is no list of jsonParse",
    ROLLUPS + PARSED + "unnest l.IdleCores into i": "l.IdleCores is no list of jsonParse",
    ROLLUPS + PARSED + "sort l": "l in sort is a map or list",
    ROLLUPS + PARSED + "unnest l.TopIdleInstances into i | stats latest(i) as n": "i in stats is",
    # families
    ROLLUPS + "stats latest(IdleCores) as A by RollupId | stats sum(A) as B": "sum of IdleCores: a",
    ROLLUPS + "stats sum(IdleCost) as A by RollupId": f"sum of IdleCost: {TWICE}",
    ROLLUPS + "stats latest(IdleCost) as A by Minute | stats sum(A) as B": "sum of IdleCost: a",
    MINUTES + "stats max(Executions) as A by InstanceId, Seq | stats sum(A) as B": "sum of Exec",
    ROLLUPS + "stats avg(LatencyP99Max) as A": "avg of LatencyP99Max: it is read with Max",
    ROLLUPS + "stats avg(ClusterName) as A": "avg of ClusterName: it is read with no stat",
    ROLLUPS + "stats max(ClusterName) as A": "max of ClusterName: it is no number",
    ROLLUPS + "stats count_distinct(IdleCores) as A": "count_distinct of IdleCores",
    ROLLUPS + "stats count(*) as A": "count counts a line that came twice twice",
    MINUTES + "stats max(RecordsDropped) as A by InstanceId, Boot": "max of RecordsDropped: only",
    MINUTES + "stats max(RecordsDropped) - min(RecordsDropped) as A by InstanceId": "a difference",
    MINUTES + "stats max(RecordsDropped) - min(MonitorRestarts) as A by Boot": "max of Records",
}  # fmt: skip


@pytest.mark.parametrize("query", MISTAKES)
def test_a_planted_mistake_is_found(query):
    """Each sort of mistake, by a sentence that names it."""
    found = problems(query)
    assert any(one.startswith(MISTAKES[query]) for one in found), found


@pytest.mark.parametrize(
    "query",
    [
        ROLLUPS + "stats avg(IdleCores) as A, max(IdleCores) as B by ClusterName, bin(1h) as Hour",
        ROLLUPS + "stats latest(IdleCost) as A by RollupId | stats sum(A) as B",
        MINUTES + "stats max(Executions) as A by InstanceId, Boot, Seq | stats sum(A) * 2 as B",
        MINUTES + "stats max(RecordsDropped) - min(RecordsDropped) as A by InstanceId, Boot"
        " | stats sum(A) as B by InstanceId",
        MINUTES + "fields jsonParse(@message) as l | unnest l.Holders into h | fields h.Tag as Tag"
        " | stats count_distinct(Tag) as Tags",
        ROLLUPS + "sort Minute desc | dedup ClusterName | limit 3",
        MINUTES + "fields jsonParse(@message) as l | stats latest(l.Holders[0].Name) as Name",
    ],
)
def test_what_is_allowed_is_not_found(query):
    """A check that finds everything would be as useless as one that finds nothing."""
    assert [] == problems(query)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ('Kind = "minute"', {"minute"}),
        ('Kind in ["minute", "more"]', {"minute", "more"}),
        ('(Kind = "minute" and BusyCores > 1) or Kind = "event"', {"minute", "event"}),
        ('Kind = "minute" or BusyCores > 1', set()),
        ('Kind in ["minute", "more"] and Kind != "more" and Kind = "minute"', {"minute"}),
    ],
)
def test_the_kinds_that_a_query_reads_are_known(condition, expected):
    """A field is looked for in the lines of these kinds."""
    assert expected == kinds(f"filter {condition}")


# --- the engine ---


def test_what_the_documentation_leaves_open_is_refused():
    """Nobody says what becomes of a line whose list is missing, so no query may meet one."""
    query = ROLLUPS + "fields jsonParse(@message) as l | unnest l.TopIdleInstances into i"
    with pytest.raises(QueryError, match="what unnest does where"):
        engine.run(query, [rollup(0)])


def test_only_the_first_200_fields_of_a_line_are_discovered():
    """What stands behind a long array is found by jsonParse alone."""
    line = minute_line(0, 1, CoreIdleMinutes=[0] * 200, Holders=[{"Cores": "0", "Name": "ml/a"}])
    for field, expected in (("Holders.0.Name", [{}]), ("l.Holders[0].Name", [{"Name": "ml/a"}])):
        query = f"fields jsonParse(@message) as l | stats latest({field}) as Name"
        assert expected == engine.run(query, [line])


def test_a_missing_field_is_neither_equal_nor_different():
    """And it is in no average, sum or comparison."""
    lines = [minute_line(0, 1, BusyCores=4), minute_line(1, 2)]
    assert 1 == len(engine.run("filter BusyCores != 3 | fields @timestamp", lines))
    assert [{"A": 4, "N": 2}] == engine.run("stats avg(BusyCores) as A, count(*) as N", lines)


def test_rows_without_a_value_are_no_copies_of_each_other():
    """dedup keeps the first of each value, and all that have none."""
    lines = [emitted("event", at, at, Event=name) for at, name in enumerate("aab")]
    lines += [minute_line(0, 7), minute_line(0, 8)]
    found = engine.run("fields Event, Seq | sort Seq desc | dedup Event", lines)
    assert [8, 7, 2, 1] == [row["Seq"] for row in found]


def test_a_sort_is_by_the_first_key_first():
    """And puts what has no value last, whichever way it goes."""
    lines = [minute_line(1, 1, BusyCores=2), minute_line(0, 2, BusyCores=2), minute_line(0, 3)]
    found = engine.run("fields Seq | sort BusyCores asc, @timestamp asc", lines)
    assert [2, 1, 3] == [row["Seq"] for row in found]
    found = engine.run("fields Seq | sort BusyCores desc, @timestamp desc", lines)
    assert [1, 2, 3] == [row["Seq"] for row in found]


def test_bins_begin_at_whole_periods():
    """Five minutes at a time, from the epoch."""
    lines = [minute_line(minute, minute, BusyCores=minute) for minute in (0, 4, 5)]
    found = engine.run("stats max(BusyCores) as A by bin(5m) as T | sort T", lines)
    assert [{"T": START_MS, "A": 4}, {"T": START_MS + 300_000, "A": 5}] == found
