"""A report with faults in it: what is wrong costs its group, and nothing leaves but a refusal."""

from __future__ import annotations

import copy
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neuron_reports import new_fold, whole, written

from emitter.reports.report import Report, ReportError, decode

GONE = object()


def replace(document, place, value):
    """Put *value* where the dotted *place* is, or remove what is there; an entry becomes empty."""
    *steps, last = place.split(".")
    for step in steps:
        document = document[int(step) if isinstance(document, list) else step]
    if isinstance(document, list):
        document[int(last)] = {} if value is GONE else value
    elif value is GONE:
        del document[last]
    else:
        document[last] = value


@pytest.mark.parametrize(
    ("group", "below", "wrong"),
    [
        ("neuron_runtime_data", "", {}),
        ("neuron_runtime_data.0", "", None),
        ("neuron_runtime_data.0", "", "gone"),
        ("neuron_runtime_data.0.pid", "", "2499"),
        ("neuron_runtime_data.0.neuron_runtime_tag", "", 7),
        ("neuron_runtime_data.0.report", "", []),
        ("neuron_runtime_data.0.report.neuroncore_counters", ".period", "5s"),
        ("neuron_runtime_data.0.report.neuroncore_counters", ".neuroncores_in_use.0", 27.02),
        ("neuron_runtime_data.0.report.memory_used", ".loaded_models", {}),
        ("neuron_runtime_data.0.report.execution_stats", ".execution_summary", [1]),
        ("neuron_runtime_data.0.report.neuron_runtime_vcpu_usage", ".vcpu_usage", 27.86),
        ("system_data", "", 3),
        ("system_data.memory_info", ".memory_used_bytes", "7 GB"),
        ("system_data.vcpu_usage", ".average_usage", 12.5),
        ("system_data.neuron_hw_counters", ".neuron_devices", {}),
        ("neuron_k8s_info", ".neuroncores_k8s_info.0", "blue/pod-1"),
        ("instance_info", ".instance_id", 17),
        ("neuron_hardware_info", ".neuron_device_count", "one"),
    ],
)
def test_a_wrong_type_costs_its_group_only(group, below, wrong):
    """The failing group is dropped and counted; the report is as if it had not been due."""
    spoiled, without = whole(), whole()
    replace(spoiled, group + below, wrong)
    replace(without, group, GONE)
    found = decode(written(spoiled))
    name = group.removesuffix(".0").rpartition(".")[2]
    assert (name,) == found.dropped_groups
    assert decode(written(without)) == msgspec.structs.replace(found, dropped_groups=())
    fold = new_fold()
    fold.fold_report(found, 1_800_000_000.0)
    assert 1 == fold.groups_dropped


def test_two_faults_are_two_drops():
    """Groups fail one by one, each is counted."""
    document = whole()
    document["system_data"]["vcpu_usage"]["period"] = []
    document["neuron_runtime_data"][1]["report"]["memory_used"]["error"] = 5
    assert {"vcpu_usage", "memory_used"} == set(decode(written(document)).dropped_groups)


def test_a_runtime_of_a_wrong_type_still_exists():
    """
    A list with one unreadable entry must not say "no runtime": its cores would be called idle.
    """
    document = whole()
    document["neuron_runtime_data"] = ["gone"]
    assert 1 == len(decode(written(document)).neuron_runtime_data or ())


@pytest.mark.parametrize("number", ["5", "5.0", "5e0"])
def test_a_whole_number_may_be_written_with_a_point(number):
    """JSON has one kind of number: 5.0 bytes are 5 bytes."""
    line = b'{"system_data":{"memory_info":{"memory_used_bytes":%s}}}' % number.encode()
    found = decode(line)
    assert () == found.dropped_groups
    assert 5 == found.system_data.memory_info.memory_used_bytes


def test_broken_utf8_in_a_text_costs_its_group_only():
    """A tag is free text, and nothing makes it UTF-8."""
    line = written(whole()).replace(b'"neuron_runtime_tag":"b"', b'"neuron_runtime_tag":"\xff"')
    found = decode(line)
    assert ("neuron_runtime_tag",) == found.dropped_groups
    assert found.neuron_runtime_data[1].report.neuroncore_counters is not None


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=5),
        st.sampled_from([-1, 0, 2**63, 2**64, 10**400, 1e308, -1e308, "1", "", "no such process"]),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@st.composite
def mutated(draw) -> dict[str, object]:
    """A whole report with one to four values replaced, removed or renamed, at any depth."""
    document = copy.deepcopy(whole())
    for _ in range(draw(st.integers(min_value=1, max_value=4))):
        parent: object = document
        while steps := list(parent if isinstance(parent, dict) else range(len(parent))):
            step = draw(st.sampled_from(steps))
            below = parent[step]
            if isinstance(below, (dict, list)) and below and draw(st.integers(0, 4)):
                parent = below
                continue
            change = draw(st.sampled_from(["replace", "replace", "remove", "rename"]))
            if change == "replace":
                parent[step] = draw(VALUES)
                break
            value = parent.pop(step)
            if change == "rename" and isinstance(parent, dict):
                parent[draw(st.sampled_from(["1023", "1024", "-1", "01", "x", "99"]))] = value
            break
    return document


def read_or_refused(line):
    """Whether decode gives a report or raises ReportError; anything else ends the test."""
    with suppress(ReportError):
        assert isinstance(decode(line), Report)


@settings(max_examples=50)
@given(mutated())
def test_a_mutated_report_is_read_or_refused(document):
    """Whatever a value is replaced with, decode gives a report or raises ReportError."""
    read_or_refused(written(document))


BYTES = [b"\xff", b'"', b"{", b"}", b"[", b"\\u", b"\\ud800", b"1e999"]


@settings(max_examples=50)
@given(st.data())
def test_mutated_bytes_are_read_or_refused(data):
    """Whatever bytes are replaced, decode gives a report or raises ReportError."""
    line = bytearray(written(whole()))
    for _ in range(data.draw(st.integers(min_value=1, max_value=5))):
        start = data.draw(st.integers(min_value=0, max_value=len(line)))
        end = data.draw(st.integers(min_value=start, max_value=min(len(line), start + 8)))
        line[start:end] = data.draw(st.binary(max_size=3) | st.sampled_from(BYTES))
    read_or_refused(bytes(line))


@pytest.mark.parametrize("depth", [100, 10_000, 1_000_000])
def test_deep_nesting_is_read_or_refused(depth):
    """No depth of a value we do not read ends the program."""
    for opened, close in (("[", "]"), ('{"a":', "}")):
        inner = opened * depth + "1" + close * depth
        for text in (
            '{"new":%s,"neuron_runtime_data":[]}',
            '{"neuron_runtime_data":%s}',
            '{"neuron_runtime_data":[%s]}',
            '{"neuron_runtime_data":[{"report":%s}]}',
            '{"pid":"x","system_data":{"vcpu_usage":{"period":"x","new":%s}}}',
        ):
            read_or_refused((text % inner).encode())


def test_the_message_never_holds_the_payload():
    """Model paths and tags identify a customer: an error names the fault, not the bytes."""
    for line in (b'{"secret": 1}', b"secret", b'["secret"]'):
        with pytest.raises(ReportError) as caught:
            decode(line)
        assert "secret" not in str(caught.value)
