"""A record is written as a line that CloudWatch extracts, and is read back or refused."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neuron_wire import VERSION, MinuteRecord, OtherRecord, WireFormatError, encode, parse
from neuron_wire.extraction import violations
from neuron_wire.line import MAX_LINE_CHARS, emf_line, sendable_line
from neuron_wire.names import MAX_CORES
from tests.neuron_wire.emf_documents import ANY_JSON, FINITE, directive, document
from tests.neuron_wire.wire_records import WIRE_MINUTE_MS, line_of, records

SMALL_RECORD = MinuteRecord(
    cluster="blue",
    instance_id="i-0123456789abcdef0",
    boot="01a1fd4e75ef2470b16e",
    seq=1,
    minute_ms=WIRE_MINUTE_MS,
    covered_seconds=60.0,
    reports=12,
)


def plain(record):
    """Return the line of a record without metrics."""
    return encode({"Timestamp": record.minute_ms, **record.members()})


@given(records(max_cores=MAX_CORES))
@example(SMALL_RECORD)
def test_a_record_is_read_back_as_it_was_written(record):
    """Each field is read back as written, for 0 to 1,024 cores and with any field absent."""
    assert record == parse(plain(record))


@pytest.mark.parametrize("value", [-1, -0.5, math.nan, math.inf, 1 << 63, 10**300, 1e300])
@pytest.mark.parametrize("field", ["executions", "tera_flops", "details", "health"])
def test_an_impossible_number_has_no_member(field, value):
    """An impossible number is not written; the other members of the minute are read."""
    changed: Any = {"Strange": value} if field in ("details", "health") else value
    members: dict[str, Any] = {field: changed}
    record = dataclasses.replace(SMALL_RECORD, **members)
    assert SMALL_RECORD == parse(plain(record))


@given(st.dictionaries(st.text(max_size=12).map("New{}".format), FINITE, max_size=4))
def test_members_of_a_later_release_are_ignored(added):
    """Unknown members are ignored, so last month's function reads today's emitter."""
    assert parse(json.dumps(line_of())) == parse(json.dumps({**added, **line_of(), **added}))


@given(st.dictionaries(st.text(max_size=5), FINITE, max_size=6))
def test_scalars_precede_arrays(members):
    """`_aws` is first, then scalars, then arrays: Logs Insights finds only the first 200 fields."""
    written = json.loads(encode({**members, "_aws": {"Timestamp": 1}}))
    assert "_aws" == next(iter(written))
    places = [isinstance(value, (list, dict)) for name, value in written.items() if name != "_aws"]
    assert sorted(places) == places


@pytest.mark.parametrize(
    ("value", "expected"),
    [(2.0, "2"), (-0.0, "0"), (0.25, "0.25"), (2.0**53, "9007199254740992.0"), (True, "true")],
)
def test_a_whole_number_is_written_without_its_point(value, expected):
    """
    A whole number is written without a decimal point, because AWS bills by the byte.

    Above 2^53 a float stays a float.
    """
    assert f'{{"member":{expected}}}' == encode({"member": value})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [1, x], lambda x: {"inner": x}])
def test_a_number_that_is_not_finite_is_not_written(value, wrap):
    """NaN and infinity are refused: with NaN in a line, CloudWatch drops all its metrics."""
    with pytest.raises(WireFormatError) as caught:
        encode({"member": wrap(value)})
    assert "not_extractable" == caught.value.reason


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_unprintable_characters_are_escaped(text):
    """A line has only printable characters, and decodes to the original text."""
    line = encode({text: text})
    assert line.isprintable()
    assert {text: text} == json.loads(line)


SECRET = "hunter2 \u00e9"
DEEP = "[" * 100_000
UNREAD_MEMBERS = {
    "NeuronCores",
    "Kind",
}  # CoreState decides NeuronCores, and Kind may be any text


def reason(line):
    """Return the reason for which a line is refused. A document is encoded as JSON first."""
    with pytest.raises(WireFormatError) as caught:
        parse(line if isinstance(line, str) else json.dumps(line))
    return caught.value.reason


@pytest.mark.parametrize(
    "line",
    [
        "",
        " ",
        "hello",
        "{",
        '{"Schema":1',
        "{}{}",
        "NaN",
        '{"Schema":NaN}',
        '{"a":Infinity}',
        DEEP,
        json.dumps(line_of())[:-1],
        json.dumps(line_of()) + "x",
        f'{{"Schema":{"9" * 5000}}}',
    ],
    ids=repr,
)
def test_what_is_not_json_is_refused(line):
    """Partial lines, trailing text, NaN, deep nesting and huge numbers are refused as not JSON."""
    assert "not_json" == reason(line)


def test_a_line_longer_than_a_log_event_is_not_read():
    """The limit is inclusive: 1,048,576 characters are read, one more is refused."""
    line = json.dumps(line_of())
    parse(line + " " * (MAX_LINE_CHARS - len(line)))
    assert "too_long" == reason(line + " " * (MAX_LINE_CHARS - len(line) + 1))


@pytest.mark.parametrize(
    "changes",
    [
        {"Schema": None},
        {"Kind": None},
        {"Schema": True},
        {"Schema": "1"},
        {"Schema": 1.5},
        {"Kind": 1},
        {"Kind": ["minute"]},
    ],
    ids=str,
)
def test_lines_of_other_programs_have_a_reason_of_their_own(changes):
    """A line of another program is refused as `not_ours`, not as a broken record."""
    assert "not_ours" == reason(line_of(**changes))
    assert "not_ours" == reason({})


@pytest.mark.parametrize("kind", ["minute", "more", "whatever"])
def test_a_higher_schema_is_refused_for_any_kind(kind):
    """A line of a higher schema is refused, because even the meaning of its kind is unknown."""
    assert "schema_newer" == reason({"Schema": VERSION + 1, "Kind": kind})
    assert OtherRecord("more") == parse(json.dumps({"Schema": VERSION, "Kind": "more"}))


@pytest.mark.parametrize(
    "member", ["Boot", "Seq", "ClusterName", "InstanceId", "CoveredSeconds", "Reports", "_aws"]
)
def test_what_identifies_a_record_must_be_there(member):
    """A record without identity, minute or coverage is refused: it cannot be merged."""
    assert "missing_member" == reason(line_of(**{member: None}))
    if member != "_aws":
        null = {**line_of(), member: None}
        assert "missing_member" == reason(null)


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, -(10**400)], ids=str)
def test_a_utilization_that_is_not_finite_is_refused(value, place):
    """A utilization that is not finite is refused in a table record, which was not parsed."""
    percent = [1.5, 2, 3.25]
    percent[place] = value
    with pytest.raises(WireFormatError) as refused:
        MinuteRecord.from_members(line_of(NeuronCoreUtilization=percent), WIRE_MINUTE_MS)
    assert "bad_member" == refused.value.reason


@pytest.mark.parametrize(
    ("member", "accepted", "refused"),
    [
        ("ClusterName", "c" * 255, "c" * 256), ("InstanceId", "i" * 128, "i" * 129),
        ("Boot", "b" * 64, "b" * 65), ("Boot", "0.9-A_z", "0/9"), ("Region", "r" * 128, "r" * 129),
        ("Seq", 1, 0), ("Seq", (1 << 63) - 1, 1 << 63), ("Reports", 0, -1),
        ("CoveredSeconds", 0, -0.001), ("CoveredSeconds", 60, 60.001),
        ("_aws", {"Timestamp": 0}, {"Timestamp": -60_000}),
        ("_aws", {"Timestamp": WIRE_MINUTE_MS}, {"Timestamp": WIRE_MINUTE_MS - 1}),
        ("NeuronCoreUtilization", [100, 0, 0], [100.001, 0, 0]),
        ("NeuronCoreUtilization", [0, 0, 0], [-0.001, 0, 0]),
        ("NeuronCoreUtilization", [1, 2, 3], [1, 2]),
        ("NeuronCoreUtilization", [1, 2, 3], [1, 2, 3, 4]),
        ("NeuronCoreUtilization", [1, 2, 3], [1, 2, True]),
        ("NeuronCoreUtilization", [1, 2, 3], [1, 2, None]),
        ("NeuronCoreUtilization", [1, 2, 3], [1, 2, "3"]), ("NeuronCoreUtilizationMore", [], [5]),
        ("CoreIdleMinutes", [0, 0, 0, (1 << 31) - 1], [0, 0, 0, 1 << 31]),
        ("CoreIdleMinutes", [1, 2, 3, 4], [1, 2, 3]),
        ("CoreIdleMinutes", [1, 2, 3, 4], [1, 2, 3, 4.5]),
        ("CoreIdleMinutes", [1, 2, 3, 4], [1, 2, 3, True]),
        ("CoreIdleMinutes", [1, 2, 3, 4], [1, 2, 3, -1]),
    ],
    ids=lambda value: repr(value)[:24],
)  # fmt: skip
def test_each_member_is_refused_beyond_its_boundary(member, accepted, refused):
    """The last value within a member's limit is read; the first value beyond it is refused."""
    parse(json.dumps(line_of(**{member: accepted})))
    assert "bad_member" == reason(line_of(**{member: refused}))


@pytest.mark.parametrize(
    "member",
    sorted(
        {*line_of(), "CleanShutdown", "Region", "Executions", "LatencyP50Mean"} - UNREAD_MEMBERS
    ),
)
def test_a_refusal_never_quotes_the_line(member):
    """An error message never quotes the line: customers' names must not reach a metric or a log."""
    for value in (SECRET, [SECRET], {SECRET: SECRET}):
        with pytest.raises(WireFormatError) as caught:
            parse(json.dumps(line_of(**{member: value})))
        assert SECRET not in str(caught.value)
        assert len(str(caught.value)) < 200


def built(**changes):
    """Return the line that `emf_line` builds from valid arguments with *changes*."""
    arguments = {
        "dimension_sets": [["ClusterName"], []],
        "metrics": {"BusyCores": 3, "NeuronCoreUtilization": [97.5, 0.0]},
        "units": {"BusyCores": "Count", "NeuronCoreUtilization": "Percent"},
        "properties": {"Names": ["a"], "ClusterName": "blue", "Total": 4.0},
        "timestamp_ms": WIRE_MINUTE_MS,
        **changes,
    }
    return emf_line(arguments.pop("namespace", "Neuron/Cluster"), **arguments)


def test_a_built_line_is_extracted():
    """A built line is compact: `_aws`, scalars, then arrays. Every metric has its unit."""
    expected = (
        '{"_aws":{"Timestamp":1800000000000,"CloudWatchMetrics":[{"Namespace":"Neuron/Cluster",'
        '"Dimensions":[["ClusterName"],[]],"Metrics":[{"Name":"BusyCores","Unit":"Count"},'
        '{"Name":"NeuronCoreUtilization","Unit":"Percent"}]}]},"ClusterName":"blue","Total":4,'
        '"BusyCores":3,"Names":["a"],"NeuronCoreUtilization":[97.5,0]}'
    )
    assert expected == built()
    assert [] == violations(expected)


def by_text(whole):
    """Return the first violation found in the encoded line."""
    try:
        line_violations = violations(encode(whole))
    except WireFormatError as error:
        return str(error)
    # Without `_aws` a line defines no metric: CloudWatch stores it and extracts nothing.
    return next(
        (
            violation.sentence
            for violation in line_violations
            if "_aws" in whole or violation.rule != "metadata"
        ),
        None,
    )


def by_document(whole):
    """Return the first violation found before the line is encoded."""
    try:
        assert encode(whole) == sendable_line(whole)
    except WireFormatError as error:
        return str(error)
    return None


@given(
    ANY_JSON,
    st.dictionaries(st.sampled_from(["Namespace", "Dimensions", "Metrics"]), ANY_JSON),
    st.dictionaries(st.text(max_size=3), ANY_JSON, max_size=3),
)
@example(None, {}, {"filler": "x" * 1_048_576})
@example("\ud800", {}, {"filler": "x" * 1_048_576})
@example(None, {"Dimensions": [["\u20ac"]]}, {"Share": math.nan})
def test_a_document_is_refused_exactly_as_its_line_would_be(value, changes, others):
    """
    `sendable_line` refuses a document with the sentence that its encoded line would get.

    A document that passes is encoded as usual.
    """
    for whole in (
        {**directive(**changes), **others},
        document(BusyCores=value, ClusterName=value, **others),
        document(_aws=None, Other=value),
    ):
        assert by_text(whole) == by_document(whole)
