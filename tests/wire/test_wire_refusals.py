"""What is no record is refused, with one of few reasons and without its content."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_records import MINUTE_MS, line_of

from neuron_wire import VERSION, MinuteRecord, OtherRecord, WireFormatError, parse
from neuron_wire.line import MAX_LINE_CHARS
from neuron_wire.line_members import REASONS
from tests.wire.emf_documents import ANYTHING

SECRET = "hunter2 \u00e9"
DEEP = "[" * 100_000
UNREAD = {"NeuronCores", "Kind"}  # what the letters say; what may be any text


def reason(line):
    """Why a line is refused; a document is written as JSON first."""
    with pytest.raises(WireFormatError) as caught:
        parse(line if isinstance(line, str) else json.dumps(line))
    return caught.value.reason


@pytest.mark.parametrize(
    "line",
    [
        "", " ", "hello", "{", '{"Schema":1', "{}{}", "NaN", '{"Schema":NaN}', '{"a":Infinity}',
        DEEP, json.dumps(line_of())[:-1], json.dumps(line_of()) + "x", f'{{"Schema":{"9" * 5000}}}',
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_not_json_is_refused(line):
    """Half a line, a line and more, NaN, a depth or a number no parser takes."""
    assert "not_json" == reason(line)


def test_a_line_longer_than_a_log_event_is_not_read():
    """The limit is inclusive: 1,048,576 characters are, one more is not."""
    line = json.dumps(line_of())
    parse(line + " " * (MAX_LINE_CHARS - len(line)))
    assert "too_long" == reason(line + " " * (MAX_LINE_CHARS - len(line) + 1))


@pytest.mark.parametrize("line", ["1", "null", "[]", '"text"', "true"])
def test_what_is_no_object_is_refused(line):
    """JSON that is no object is nobody's record."""
    assert "not_an_object" == reason(line)


@pytest.mark.parametrize(
    "changes",
    [
        {"Schema": None}, {"Kind": None}, {"Schema": True}, {"Schema": "1"}, {"Schema": 1.5},
        {"Kind": 1}, {"Kind": ["minute"]},
    ],
    ids=str,
)  # fmt: skip
def test_lines_of_others_are_told_apart(changes):
    """A log group may hold what other programs wrote; that is no broken record."""
    assert "not_ours" == reason(line_of(**changes))
    assert "not_ours" == reason({})


@pytest.mark.parametrize("kind", ["minute", "more", "whatever"])
def test_a_higher_schema_is_refused_whatever_the_kind(kind):
    """What a later schema means cannot be known, not even that it is no minute."""
    assert "schema_newer" == reason({"Schema": VERSION + 1, "Kind": kind})
    assert OtherRecord("more") == parse(json.dumps({"Schema": VERSION, "Kind": "more"}))


@pytest.mark.parametrize("schema", [0, -1, 10_000, 10**300])
def test_what_is_no_schema_is_refused(schema):
    """Schemas count from 1; what is beyond counting is no newer release."""
    assert "bad_member" == reason(line_of(Schema=schema))


@pytest.mark.parametrize(
    "member", ["Boot", "Seq", "ClusterName", "InstanceId", "CoveredSeconds", "Reports", "_aws"]
)
def test_what_identifies_a_record_must_be_there(member):
    """Without identity, minute or coverage a record cannot be merged with another."""
    assert "missing_member" == reason(line_of(**{member: None}))
    if member != "_aws":
        null = {**line_of(), member: None}
        assert "missing_member" == reason(null)


@pytest.mark.parametrize("metadata", [{}, {"CloudWatchMetrics": []}, {"Timestamp": None}])
def test_a_line_without_its_time_is_refused(metadata):
    """The minute of a record is nothing to guess."""
    assert "missing_member" == reason(line_of(_aws=metadata))


NO_COUNTS = [True, False, -1, 1.5, 1.0, "1", [], {}, 1 << 63, 10**300]
NO_AMOUNTS = [True, False, -0.01, "1", [], {}, 1e300, 10**300]
NO_TEXTS = [1, True, "", " ", "caf\u00e9", "tab\t", "line\nend", "\x7f", ["a"], {}, "\ud800"]


NO_VALUES = {
    **dict.fromkeys(
        ("Seq", "Reports", "Executions", "EccCorrected", "DeviceMemoryUsed"), NO_COUNTS
    ),
    **dict.fromkeys(
        ("CoveredSeconds", "LatencyP50Mean", "TeraFlops", "HostCpuPercent"), NO_AMOUNTS
    ),
    **dict.fromkeys(("ClusterName", "InstanceId", "Boot", "Region", "UltraServerId"), NO_TEXTS),
    **dict.fromkeys(("Bye", "IdentityGuessed"), (1, 0, "true", [], {})),
    "CoreState": (1, True, "x", "B", "ba u", "b" * 1025, ["b"]),
    "_aws": [
        *("x", 7, []),
        *({"Timestamp": at} for at in (True, "1", 1.5, -60_000, MINUTE_MS + 1, 60_000 << 60, [])),
    ],
}


@pytest.mark.parametrize("member", NO_VALUES)
def test_a_member_of_a_wrong_type_or_range_is_refused(member):
    """True is no count, a text of digits no number, and nothing is ever negative."""
    for value in NO_VALUES[member]:
        assert "bad_member" == reason(line_of(**{member: value})), repr(value)[:24]


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, -(10**400)], ids=str)
def test_a_utilization_that_no_line_can_say_is_refused_wherever_it_stands(value, place):
    """A reader of the table parses what a line's parser has already refused."""
    percent = [1.5, 2, 3.25]
    percent[place] = value
    with pytest.raises(WireFormatError) as refused:
        MinuteRecord.from_members(line_of(NeuronCoreUtilization=percent), MINUTE_MS)
    assert "bad_member" == refused.value.reason


@pytest.mark.parametrize(
    ("member", "accepted", "refused"),
    [
        ("ClusterName", "c" * 255, "c" * 256), ("InstanceId", "i" * 128, "i" * 129),
        ("Boot", "b" * 64, "b" * 65), ("Boot", "0.9-A_z", "0/9"), ("Region", "r" * 128, "r" * 129),
        ("Seq", 1, 0), ("Seq", (1 << 63) - 1, 1 << 63), ("Reports", 0, -1),
        ("CoveredSeconds", 0, -0.001), ("CoveredSeconds", 60, 60.001),
        ("_aws", {"Timestamp": 0}, {"Timestamp": -60_000}),
        ("_aws", {"Timestamp": MINUTE_MS}, {"Timestamp": MINUTE_MS - 1}),
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
def test_the_boundary_is_where_it_is_said_to_be(member, accepted, refused):
    """The last value inside is read, the first one outside is refused."""
    parse(json.dumps(line_of(**{member: accepted})))
    assert "bad_member" == reason(line_of(**{member: refused}))


def test_values_of_cores_that_are_unknown_are_refused():
    """Utilization stands for the known cores only: one value too many shifts all the others."""
    changes = {"CoreState": "????", "NeuronCoreUtilization": [1.0]}
    assert "bad_member" == reason(line_of(**changes))
    assert "bad_member" == reason(line_of(CoreState=None))


@pytest.mark.parametrize(
    "member", sorted({*line_of(), "Bye", "Region", "Executions", "LatencyP50Mean"} - UNREAD)
)
def test_a_refusal_never_quotes_the_line(member):
    """Lines hold names of customers; a reason in a metric or a log must not."""
    for value in (SECRET, [SECRET], {SECRET: SECRET}):
        with pytest.raises(WireFormatError) as caught:
            parse(json.dumps(line_of(**{member: value})))
        assert SECRET not in str(caught.value)
        assert len(str(caught.value)) < 200


MEMBERS = [*line_of(), "Bye", "Timestamp", "Region", "Executions", "NeuronCoreUtilizationMore"]


@given(st.dictionaries(st.sampled_from(MEMBERS), ANYTHING))
def test_whatever_a_line_holds_it_is_read_or_refused_with_a_reason(changes):
    """No line can raise anything but a WireFormatError with a bounded reason."""
    refused = None
    try:
        parse(json.dumps({**line_of(), **changes}))
    except WireFormatError as error:
        refused = error.reason
    assert refused in {None, *REASONS}


@given(st.text())
def test_any_text_is_read_or_refused_with_a_reason(text):
    """Also what never was JSON."""
    assert reason(text) in REASONS
