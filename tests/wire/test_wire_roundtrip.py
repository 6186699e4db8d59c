"""What is written is what is read: `MinuteRecord` to line and back."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from wire_records import MINUTE_MS, line_of, line_with_metrics, records

from neuron_wire import MinuteRecord, OtherRecord, WireFormatError, encode, parse
from neuron_wire.catalogue import EMITTED
from neuron_wire.extraction import violations

SMALL = MinuteRecord(
    cluster="blue", instance_id="i-0123456789abcdef0", boot="01a1fd4e75ef2470b16e", seq=1,
    minute_ms=MINUTE_MS, covered_seconds=60.0, reports=12,
)  # fmt: skip


def plain(record):
    """The line of a record without metrics."""
    return encode({"Timestamp": record.minute_ms, **record.members()})


@given(records())
@example(SMALL)
def test_a_record_survives_the_way_there_and_back(record):
    """Every field of a record is the same after it was a line, whatever is absent."""
    assert record == parse(plain(record))


@pytest.mark.parametrize("cores", [0, 1, 2, 99, 100, 101, 128, 200, 201, 1024])
@pytest.mark.parametrize("unknown", [0, 1])
def test_a_record_of_any_width_survives(cores, unknown):
    """
    None to 1,024 cores, more than the 100 values of one metric, with an unknown one among them.
    """
    states = ("bau" * cores)[: cores - unknown] + "?" * unknown if cores else ""
    record = dataclasses.replace(
        SMALL,
        core_state=states,
        utilization_percent=tuple(
            None if letter == "?" else index % 100 + 0.25 for index, letter in enumerate(states)
        ),
        idle_minutes=tuple(range(len(states))),
    )
    assert record == parse(plain(record))
    assert (len(states) or None) == record.neuron_cores


@settings(max_examples=30)
@given(records(min_cores=1))
def test_a_record_survives_as_an_emf_document(record):
    """The same line with a metric directive: CloudWatch extracts it and the stack reads it."""
    if record.core_state.count("?") == len(record.core_state):
        record = dataclasses.replace(record, execution_errors=0, details={})
    counts = (record.execution_errors, record.ecc_uncorrected_rise)
    line = line_with_metrics(record.members(), record.minute_ms, [["ClusterName"]])
    assert [] == violations(line)
    assert record == parse(line)
    assert counts == (parse(line).execution_errors, parse(line).ecc_uncorrected_rise)


@settings(max_examples=50)
@given(records())
def test_no_member_is_empty_negative_or_null(record):
    """Missing is missing: an absent value has no member, never 0 or -1 in its place."""
    members = record.members()
    assert None not in members.values()
    assert [] not in members.values()
    for name, field in (("Executions", "executions"), ("LatencyP50Mean", "latency_p50_mean_s")):
        assert (getattr(record, field) is None) == (name not in members)


@settings(max_examples=50)
@given(records())
def test_counts_of_cores_are_those_of_the_letters(record):
    """Busy, attached idle, unattached and unknown add up to the cores there are."""
    members = record.members()
    names = ("BusyCores", "AttachedIdleCores", "UnattachedCores", "UnknownCores")
    known = len(record.core_state) - record.core_state.count("?")
    if not record.core_state:
        assert not {*names, "NeuronCores", "NeuronCoreUtilization"} & members.keys()
    elif not known:
        assert record.neuron_cores == members["UnknownCores"]
        assert not {*names[:3], "NeuronCoreUtilization"} & members.keys()
    else:
        assert members["NeuronCores"] == sum(members[name] for name in names)
        values = members["NeuronCoreUtilization"] + members.get("NeuronCoreUtilizationMore", [])
        assert known == len(values)
        assert len(members["NeuronCoreUtilization"]) <= 100


def test_flags_are_there_only_when_set():
    """Bye and IdentityGuessed cost no byte in the lines of an ordinary minute."""
    assert not {"Bye", "IdentityGuessed"} & SMALL.members().keys()
    marked = dataclasses.replace(SMALL, bye=True, identity_guessed=True).members()
    assert (True, True) == (marked["Bye"], marked["IdentityGuessed"])


@pytest.mark.parametrize("value", [-1, -0.5, math.nan, math.inf, 1 << 63, 10**300, 1e300])
@pytest.mark.parametrize("field", ["executions", "tera_flops", "details", "health"])
def test_a_number_nobody_accepts_has_no_member(field, value):
    """One impossible number costs itself: the rest of the minute is still read."""
    changed = {"Strange": value} if field in ("details", "health") else value
    record = dataclasses.replace(SMALL, **{field: changed})
    assert SMALL == parse(plain(record))


def test_details_and_health_are_members_but_are_not_read_back():
    """They are for people and queries; the stack needs neither."""
    record = dataclasses.replace(SMALL, details={"ErrorsModel": 3}, health={"SpoolBytes": 0})
    members = record.members()
    assert (3, 0) == (members["ErrorsModel"], members["SpoolBytes"])
    assert SMALL == parse(plain(record))


def test_one_value_may_stand_without_its_brackets():
    """EMF libraries write an array of one as a number; it is still an array."""
    line = line_of(CoreState="b", NeuronCoreUtilization=12.5, CoreIdleMinutes=4)
    record = parse(json.dumps(line))
    assert ((12.5,), (4,)) == (record.utilization_percent, record.idle_minutes)


def test_idle_minutes_may_be_absent():
    """Without them no core is called idle; the cores are there all the same."""
    assert (0, 0, 0, 0) == parse(json.dumps(line_of(CoreIdleMinutes=None))).idle_minutes


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.text(max_size=12).map("New{}".format), JSON, max_size=4))
def test_members_of_a_later_release_are_ignored(added):
    """A function deployed last month reads an emitter installed today."""
    assert parse(json.dumps(line_of())) == parse(json.dumps({**added, **line_of(), **added}))


def test_the_timestamp_of_a_line_without_metrics_is_at_its_root():
    """Such a line is no EMF document; its time is found all the same."""
    line = line_of(_aws=None, Timestamp=MINUTE_MS)
    assert parse(json.dumps(line_of())) == parse(json.dumps(line))


@pytest.mark.parametrize(
    "kind", sorted({*EMITTED, "rollup", "a kind of a later release"} - {"minute"})
)
def test_other_kinds_are_ours_but_no_minute(kind):
    """A kind the reader does not know is not an error: a later emitter writes more of them."""
    assert OtherRecord(kind) == parse(json.dumps({"Schema": 1, "Kind": kind}))


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=6))
def test_scalars_stand_before_arrays(members):
    """`_aws` first, then scalars, then arrays: what stands late in an event cannot be queried."""
    written = json.loads(encode({**members, "_aws": {"Timestamp": 1}}))
    assert "_aws" == next(iter(written))
    places = [isinstance(value, (list, dict)) for name, value in written.items() if name != "_aws"]
    assert sorted(places) == places


@given(JSON)
def test_encoding_changes_no_value(value):
    """Written compactly, a document still says the same."""
    assert value == json.loads(encode({"member": value}))["member"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(2.0, "2"), (-0.0, "0"), (0.25, "0.25"), (2.0**53, "9007199254740992.0"), (True, "true")],
)
def test_a_whole_number_is_written_without_its_point(value, expected):
    """Bytes are the bill; beyond 2^53 a float is not a whole number any more."""
    assert f'{{"member":{expected}}}' == encode({"member": value})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [1, x], lambda x: {"inner": x}])
def test_a_number_that_is_not_finite_is_not_written(value, wrap):
    """NaN is not JSON: CloudWatch would drop every metric of the line."""
    with pytest.raises(WireFormatError) as caught:
        encode({"member": wrap(value)})
    assert "not_extractable" == caught.value.reason


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_what_does_not_print_is_escaped(text):
    """A line on a terminal is text, whatever is in it, and says the same to a program."""
    line = encode({text: text})
    assert line.isprintable()
    assert {text: text} == json.loads(line)


def test_half_a_character_is_not_made_to_pass_for_a_whole_one():
    """It stays where the rules of extraction find it."""
    assert ["json"] == [violation.rule for violation in violations(encode({"a": "\ud800\x1b"}))]
