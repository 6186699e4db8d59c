"""Lines for the CloudWatch agent: each says where it belongs, and says all else as before."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.delivery.agent_lines import (
    ADDRESS_BYTES,
    AGENT_LIMITS,
    MAX_LINE_BYTES,
    NotAnObjectError,
    addressed,
)
from emitter.delivery.batches import cut
from emitter.spool.records import SpooledRecord
from neuron_wire.line import parse

GROUP = "/neuron-emf/records"
STREAM = "training/i-0123456789abcdef0"
TIME_MS = 1_795_000_000_000

MEMBERS = st.dictionaries(
    st.text(max_size=5).filter(lambda name: name != "_aws"),
    st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    max_size=4,
)


def record(line):
    """A spooled record that says *line*."""
    return SpooledRecord(1, "019aa3c5d2f04f1e2d3c", 1, TIME_MS, line)


def compact(document):
    """As the emitter writes lines."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False)


@given(MEMBERS)
def test_a_line_with_metrics_gets_an_address(members):
    """Group and stream stand in `_aws`, which is where the agent looks; nothing else changes."""
    metadata = {"Timestamp": 1, "CloudWatchMetrics": [{"Namespace": "Neuron"}]}
    found = json.loads(
        addressed(record(compact({"_aws": metadata, **members})), group=GROUP, stream=STREAM)
    )
    address = {"LogGroupName": GROUP, "LogStreamName": STREAM}
    assert {"_aws": {**metadata, **address}, **members} == found


@given(MEMBERS)
def test_a_line_without_metrics_gets_metadata_without_metrics(members):
    """The agent drops a line without `_aws`: runtime lines, events, and all of --metrics none."""
    found = json.loads(addressed(record(compact(members)), group=GROUP, stream=STREAM))
    metadata = found.pop("_aws")
    assert members == found
    assert {
        "LogGroupName": GROUP,
        "LogStreamName": STREAM,
        "Timestamp": TIME_MS,
        "CloudWatchMetrics": [],
    } == metadata


def test_the_stack_reads_the_same_from_an_addressed_line(repository):
    """With metrics or without: an address is nothing to whoever rolls minutes up."""
    lines = [
        line
        for path in sorted((repository / "tests/data/wire/v1").glob("*.lines.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if '"Kind":"minute"' in line
    ]
    bare = [json.loads(line) for line in lines]
    for document in bare:
        document["Timestamp"] = document.pop("_aws", document)["Timestamp"]
    lines += [compact(document) for document in bare]
    assert lines
    for line in lines:
        plain = parse(line)
        spooled = SpooledRecord(1, plain.boot, plain.seq, plain.minute_ms, line)
        assert plain == parse(addressed(spooled, group=GROUP, stream=STREAM))


def test_numbers_stay_as_they_were_written():
    """A line is not parsed and written again: 0.10 stays 0.10."""
    line = '{"_aws":{"Timestamp":1},"Value":0.10}'
    assert addressed(record(line), group="g", stream="s").endswith('"Timestamp":1},"Value":0.10}')


@pytest.mark.parametrize("line", ["{}", '{"_aws":{}}', '{"_aws":{},"a":1}'])
def test_empty_objects_stay_json(line):
    """No comma too many."""
    assert (
        GROUP
        == json.loads(addressed(record(line), group=GROUP, stream="s"))["_aws"]["LogGroupName"]
    )


def test_names_are_escaped():
    """A stream's name may have quotes."""
    found = json.loads(addressed(record("{}"), group=GROUP, stream='a"\\b'))
    assert 'a"\\b' == found["_aws"]["LogStreamName"]


@pytest.mark.parametrize("line", ["text", "[]", " {}"])
def test_a_line_that_is_no_object_is_refused(line):
    """The agent would drop it unseen."""
    with pytest.raises(NotAnObjectError):
        addressed(record(line), group=GROUP, stream=STREAM)


def test_the_longest_line_stays_whole():
    """
    256 KiB less 26 bytes with the longest names of all; a longer line is dropped, with a reason.
    """
    longest = AGENT_LIMITS.max_event_bytes
    line = '{"a":"' + "x" * (longest - 8) + '"}'
    assert longest == len(line)
    sent = addressed(record(line), group="g" * 512, stream="\x01" * 512)
    assert MAX_LINE_BYTES - ADDRESS_BYTES < len(sent.encode())
    too_long = record(line[:-2] + 'x"}')
    pieces = cut([record(line), too_long], now_ms=TIME_MS, limits=AGENT_LIMITS)
    assert {"too_large": (too_long,)} == pieces.unsendable
    assert ((record(line),),) == pieces.batches
    assert len(sent.encode()) <= MAX_LINE_BYTES
