"""
Every group and member is optional, and a wrong type costs only its group.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neuron_reports import (
    closed,
    counters,
    executions,
    hardware,
    hardware_counters,
    host_memory,
    instance,
    kubernetes,
    memory,
    new_fold,
    report,
    runtime,
    runtime_vcpu,
    vcpu,
    written,
)

from emitter.reports.report import Report, ReportError, decode
from emitter.reports.splits import may_be_split
from emitter.reports.system_groups import Hardware

if TYPE_CHECKING:
    from collections.abc import Iterator


def whole() -> dict[str, object]:
    """
    A report with every group.
    """
    return report(
        runtime(
            counters([27.02, 19.35, 0, 0]),
            memory({0: 65_536}, [(0, 1)]),
            executions(300),
            runtime_vcpu(),
        ),
        runtime(counters([0, 0, 7.5, 0]), memory({2: 4096}), executions(1), pid=2500, tag="b"),
        system_data={
            "memory_info": host_memory(),
            "vcpu_usage": vcpu(user=28.37),
            "neuron_hw_counters": hardware_counters({"mem_ecc_corrected": 1}),
        },
        neuron_hardware_info=hardware(neuron_device_memory_size=8 << 30),
        neuron_k8s_info=kubernetes({0: "blue/pod-1"}, {0: "blue/pod-1"}),
    )


def test_a_whole_report_drops_nothing():
    """
    What neuron-monitor writes is read without a drop.
    """
    found = decode(written(whole()))
    assert () == found.dropped_groups
    assert [2499, 2500] == [entry.pid for entry in found.neuron_runtime_data or ()]


def places(found: object, name: str) -> Iterator[tuple[str, object]]:
    """
    Every value below *found* that is no struct, with its place.
    """
    if isinstance(found, msgspec.Struct):
        for field in msgspec.structs.fields(found):
            yield from places(getattr(found, field.name), f"{name}.{field.encode_name}")
    elif isinstance(found, dict):
        for key, value in found.items():
            yield from places(value, f"{name}.{key}")
    elif isinstance(found, list):
        for index, value in enumerate(found):
            yield from places(value, f"{name}.{index}")
    else:
        yield name, found


def members(found: object, name: str) -> Iterator[tuple[str, object]]:
    """
    The same of a JSON document.
    """
    if isinstance(found, dict | list):
        pairs = found.items() if isinstance(found, dict) else enumerate(found)
        for key, value in pairs:
            yield from members(value, f"{name}.{key}")
    else:
        yield name, found


def test_every_member_of_the_newest_tool_is_decoded():
    """
    Nothing that neuron-monitor writes is overlooked, but for the bytes of a subgraph by use
    and the shares of each vCPU.
    """
    latency = dict.fromkeys(("p0", "p1", "p25", "p50", "p75", "p99", "p100"), 0.5)
    cores = counters({0: 42.01, 1: 0}, flops={0: 5e12, 1: 0}, effective_flops={0: 4e12, 1: 0})
    for core, use in cores["neuroncores_in_use"].items():
        use["v3d"] = {f"nc_v3.{core}{half}": {"neuroncore_utilization": 21.5} for half in "01"}
    document = report(
        runtime(
            cores,
            memory({0: 65_536}, [(0, 1)]),
            executions(300, total=latency, device=latency),
            runtime_vcpu(),
        ),
        system_data={
            "memory_info": host_memory(),
            "vcpu_usage": vcpu(user=28.37),
            "neuron_hw_counters": hardware_counters({"mem_ecc_corrected": 1}),
        },
        instance_info=instance(ultraserver_id="u-0123456789abcdef"),
        neuron_hardware_info=hardware(
            neuron_device_type="trainium2",
            neuron_device_version="v4",
            neuroncore_version="v3d",
            neuron_device_memory_size=96 << 30,
            logical_neuroncore_config=2,
        ),
        neuron_k8s_info=kubernetes({0: "blue/pod-1"}, {0: "blue/pod-1"}),
    )
    del document["system_data"]["vcpu_usage"]["usage_data"]
    written_members = dict(members(document, ""))
    found = dict(places(decode(written(document)), ""))
    assert written_members == {name: found.get(name) for name in written_members}


@pytest.mark.parametrize("key", ["v3d", "v4d", "physical"])
def test_the_physical_split_is_found_whatever_its_key(key):
    """
    Two physical cores behind a logical one, in an object named v3d on trn2: what the next
    device calls it, nobody says.
    """
    cores = counters([42.01, 0])
    cores["neuroncores_in_use"]["0"][key] = {
        "nc_v3.0": {"neuroncore_utilization": 21.01},
        "nc_v3.1": {"neuroncore_utilization": 63.01},
    }
    cores["neuroncores_in_use"]["0"]["limits"] = {"power": 300}
    document = report(
        runtime(cores), neuron_hardware_info=hardware(16, 4, logical_neuroncore_config=2)
    )
    whole_report = decode(written(document))
    assert (whole_report.unsplit is None) == (key == "v3d"), "the others cost a second decode"
    whole_report.find_splits()
    found = whole_report.neuron_runtime_data[0].report.neuroncore_counters
    split = found.neuroncores_in_use["0"].split
    assert [21.01, 63.01] == [half.neuroncore_utilization for half in split.values()]
    assert found.neuroncores_in_use["1"].split is None


@pytest.mark.parametrize(
    ("members_of_hardware", "expected"),
    [
        ({"logical_neuroncore_config": 1, "neuroncore_version": "v3d"}, False),
        ({"logical_neuroncore_config": 2}, True),
        ({"neuroncore_version": "v4d"}, True),
        ({"neuroncore_version": "v3"}, False),
        ({"neuroncore_version": ""}, False),
        ({}, False),
    ],
)
def test_only_logical_cores_are_looked_through_for_a_split(members_of_hardware, expected):
    """
    A second decode costs time: only what says that it has logical cores is worth it.
    """
    assert expected == may_be_split(Hardware(**members_of_hardware))
    assert not may_be_split(None)


@pytest.mark.parametrize(
    "place",
    [
        ("neuroncore_counters", "neuroncores_in_use", "1"),
        ("memory_used", "loaded_models", 0),
        ("memory_used", "loaded_models", 0, "subgraphs", "sg_00"),
        ("memory_used", "neuron_runtime_used_bytes", "usage_breakdown", "host"),
        (
            "memory_used",
            "neuron_runtime_used_bytes",
            "usage_breakdown",
            "neuroncore_memory_usage",
            "0",
        ),
    ],
)
def test_null_costs_no_group(place):
    """
    Absent and null are the same at every level, also of one core or of one model.
    """
    document = whole()
    parent = document["neuron_runtime_data"][0]["report"]
    for step in place[:-1]:
        parent = parent[step]
    parent[place[-1]] = None
    found = decode(written(document))
    assert () == found.dropped_groups
    fold = new_fold()
    fold.add(found, 1_800_000_000.0)
    assert 4 == closed(fold).neuron_cores


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"neuron_runtime_data": []}, []),
        ({"neuron_runtime_data": None}, None),
        ({"system_data": None}, None),
    ],
)
def test_no_runtime_and_not_collected_are_told_apart(document, expected):
    """
    An empty list says that no runtime exists; null or absent says that nobody looked.
    """
    assert expected == decode(written(document)).neuron_runtime_data


def test_unknown_members_are_ignored():
    """
    A newer tool adds members at every level; none costs anything.
    """
    document = whole()
    document["dropped_groups"] = ["a name of ours"]
    document["neuron_new_info"] = {"period": 15.03, "neuroncores_new_info": {"0": [None]}}
    entry = document["neuron_runtime_data"][0]
    entry["report"]["neuroncore_counters"]["neuroncores_in_use"]["0"]["v3d"] = {
        "nc_v3.0": {"neuroncore_utilization": 21.01}
    }
    entry["report"]["new_group"] = {"period": "soon"}
    entry["address"] = "unix:/run/neuron.sock"
    assert () == decode(written(document)).dropped_groups


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"   ",
        b"not json",
        b"{",
        b'{"neuron_runtime_data":[',
        b'{"neuron_runtime_data":[]}}',
        b'{"neuron_runtime_data":NaN}',
        b"\xff\xfe{}",
    ],
)
def test_what_is_not_json_is_refused(line):
    """
    Half a report is none.
    """
    with pytest.raises(ReportError, match="not JSON"):
        decode(line)


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"[]",
        b"null",
        b"3",
        b'"neuron_runtime_data"',
        b'{"a":1}',
        b'{"message":"no neuron_runtime_data today"}',
        b'{"report":{"neuron_runtime_data":[]}}',
        b'["neuron_runtime_data"]',
    ],
)
def test_json_that_is_no_report_is_refused(line):
    """
    Another program's line is no report, whatever words stand in it.
    """
    with pytest.raises(ReportError, match="is JSON but"):
        decode(line)


@pytest.mark.parametrize(
    ("place", "wrong", "dropped"),
    [
        (("neuron_runtime_data",), {}, "neuron_runtime_data"),
        (("neuron_runtime_data", 0), None, "neuron_runtime_data"),
        (("neuron_runtime_data", 0), "gone", "neuron_runtime_data"),
        (("neuron_runtime_data", 0, "pid"), "2499", "pid"),
        (("neuron_runtime_data", 0, "neuron_runtime_tag"), 7, "neuron_runtime_tag"),
        (("neuron_runtime_data", 0, "report"), [], "report"),
        (
            ("neuron_runtime_data", 0, "report", "neuroncore_counters", "period"),
            "5s",
            "neuroncore_counters",
        ),
        (
            ("neuron_runtime_data", 0, "report", "neuroncore_counters", "neuroncores_in_use", "0"),
            27.02,
            "neuroncore_counters",
        ),
        (
            ("neuron_runtime_data", 0, "report", "memory_used", "loaded_models"),
            {},
            "memory_used",
        ),
        (
            ("neuron_runtime_data", 0, "report", "execution_stats", "execution_summary"),
            [1],
            "execution_stats",
        ),
        (("system_data",), 3, "system_data"),
        (("system_data", "memory_info", "memory_used_bytes"), "7 GB", "memory_info"),
        (("system_data", "vcpu_usage", "average_usage"), 12.5, "vcpu_usage"),
        (("system_data", "neuron_hw_counters", "neuron_devices"), {}, "neuron_hw_counters"),
        (
            ("neuron_runtime_data", 0, "report", "neuron_runtime_vcpu_usage", "vcpu_usage"),
            27.86,
            "neuron_runtime_vcpu_usage",
        ),
        (("neuron_k8s_info", "neuroncores_k8s_info", "0"), "blue/pod-1", "neuron_k8s_info"),
        (("instance_info", "instance_id"), 17, "instance_info"),
        (("neuron_hardware_info", "neuron_device_count"), "one", "neuron_hardware_info"),
    ],
)
def test_a_wrong_type_costs_its_group_only(place, wrong, dropped):
    """
    The failing group is dropped and counted; every other group is as without the fault.
    """
    document = whole()
    expected = decode(written(document))
    parent = document
    for step in place[:-1]:
        parent = parent[step]
    parent[place[-1]] = wrong
    found = decode(written(document))
    assert (dropped,) == found.dropped_groups
    fold = new_fold()
    fold.add(found, 1_800_000_000.0)
    assert 1 == fold.groups_dropped
    for name in ("system_data", "instance_info", "neuron_hardware_info", "neuron_k8s_info"):
        if place[0] != name:
            assert getattr(expected, name) == getattr(found, name)
    if place[0] != "neuron_runtime_data":
        assert expected.neuron_runtime_data == found.neuron_runtime_data
    elif len(place) > 1:
        assert expected.neuron_runtime_data[1] == found.neuron_runtime_data[1]
    if len(place) > 3:
        expected_groups = expected.neuron_runtime_data[0].report
        groups = found.neuron_runtime_data[0].report
        for name in (
            "neuroncore_counters",
            "memory_used",
            "execution_stats",
            "neuron_runtime_vcpu_usage",
        ):
            if name == dropped:
                assert getattr(groups, name) is None
            else:
                assert getattr(expected_groups, name) == getattr(groups, name)


def test_two_faults_are_two_drops():
    """
    Groups fail one by one, each is counted.
    """
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
    """
    JSON has one kind of number: 5.0 bytes are 5 bytes.
    """
    line = b'{"system_data":{"memory_info":{"memory_used_bytes":%s}}}' % number.encode()
    found = decode(line)
    assert () == found.dropped_groups
    assert 5 == found.system_data.memory_info.memory_used_bytes


def test_broken_utf8_in_a_text_costs_its_group_only():
    """
    A tag is free text, and nothing makes it UTF-8.
    """
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
    """
    A whole report with one to four values replaced, removed or renamed, at any depth.
    """
    document = copy.deepcopy(whole())
    for _ in range(draw(st.integers(min_value=1, max_value=4))):
        parent: object = document
        while True:
            steps = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
            if not steps:
                break
            step = draw(st.sampled_from(steps))
            below = parent[step]
            if isinstance(below, (dict, list)) and below and draw(st.integers(0, 4)):
                parent = below
                continue
            change = draw(st.sampled_from(["replace", "replace", "remove", "rename"]))
            value = parent.pop(step) if change != "replace" else draw(VALUES)
            if change == "replace":
                parent[step] = value
            elif change == "rename" and isinstance(parent, dict):
                parent[draw(st.sampled_from(["1023", "1024", "-1", "01", "x", "99"]))] = value
            break
    return document


@given(mutated())
def test_a_mutated_report_is_read_or_refused(document):
    """
    Whatever a value is replaced with, decode gives a report or raises ReportError.
    """
    try:
        found = decode(written(document))
    except ReportError:
        return
    assert isinstance(found, Report)


@given(st.data())
def test_mutated_bytes_are_read_or_refused(data):
    """
    Whatever bytes are replaced, decode gives a report or raises ReportError.
    """
    line = bytearray(written(whole()))
    for _ in range(data.draw(st.integers(min_value=1, max_value=5))):
        start = data.draw(st.integers(min_value=0, max_value=len(line)))
        end = data.draw(st.integers(min_value=start, max_value=min(len(line), start + 8)))
        line[start:end] = data.draw(
            st.one_of(
                st.binary(max_size=3),
                st.sampled_from([b"\xff", b'"', b"{", b"}", b"[", b"\\u", b"\\ud800", b"1e999"]),
            )
        )
    try:
        found = decode(bytes(line))
    except ReportError:
        return
    assert isinstance(found, Report)


@pytest.mark.parametrize("depth", [100, 10_000, 1_000_000])
def test_deep_nesting_is_read_or_refused(depth):
    """
    No depth of a value we do not read ends the program.
    """
    for opened, close in (("[", "]"), ('{"a":', "}")):
        inner = opened * depth + "1" + close * depth
        for text in (
            '{"new":%s,"neuron_runtime_data":[]}',
            '{"neuron_runtime_data":%s}',
            '{"neuron_runtime_data":[%s]}',
            '{"neuron_runtime_data":[{"report":%s}]}',
            '{"pid":"x","system_data":{"vcpu_usage":{"period":"x","new":%s}}}',
        ):
            try:
                found = decode((text % inner).encode())
            except ReportError:
                continue
            assert isinstance(found, Report)


def test_the_message_never_holds_the_payload():
    """
    Model paths and tags identify a customer: an error names the fault, not the bytes.
    """
    for line in (b'{"secret": 1}', b"secret", b'["secret"]'):
        with pytest.raises(ReportError) as caught:
            decode(line)
        assert "secret" not in str(caught.value)


def test_json_dumps_is_what_the_monitor_writes():
    """
    The builder's own check: compact JSON, as captured.
    """
    assert whole() == json.loads(written(whole()))
    assert b": " not in written(whole())
