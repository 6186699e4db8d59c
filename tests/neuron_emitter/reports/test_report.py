"""Parsing reports: groups and members are optional, and a wrong type costs only its group."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from neuron_emitter.reports.report import ReportError, decode
from tests.neuron_emitter.neuron_reports import (
    closed,
    counters,
    executions,
    hardware,
    instance,
    memory,
    new_fold,
    runtime,
    runtime_vcpu,
    whole,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


def places(content: object, name: str) -> Iterator[tuple[str, object]]:
    """Yield each value below *content* that is not a struct, with its place."""
    if isinstance(content, msgspec.Struct):
        for field in msgspec.structs.fields(content):
            yield from places(getattr(content, field.name), f"{name}.{field.encode_name}")
    elif isinstance(content, dict):
        for key, value in content.items():
            yield from places(value, f"{name}.{key}")
    elif isinstance(content, list):
        for index, value in enumerate(content):
            yield from places(value, f"{name}.{index}")
    else:
        yield name, content


def members(content: object, name: str) -> Iterator[tuple[str, object]]:
    """Yield each value of a JSON document, with its place."""
    if isinstance(content, dict | list):
        pairs = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in pairs:
            yield from members(value, f"{name}.{key}")
    else:
        yield name, content


def test_every_member_of_the_newest_tool_is_decoded():
    """
    Every member of a report is decoded, except members that no metric uses.

    These are names of models, bytes of subgraphs, shares of each vCPU and periods of some groups.
    """
    latency = dict.fromkeys(("p0", "p1", "p25", "p50", "p75", "p99", "p100"), 0.5)
    cores = counters({0: 42.01, 1: 0}, flops={0: 5e12, 1: 0}, effective_flops={0: 4e12, 1: 0})
    ran = executions(300, total=latency, device=latency)
    names = "neuron_device_type", "neuron_device_version", "neuroncore_version"
    kinds: dict[str, Any] = dict.fromkeys(names, "v3d")
    document = {
        **whole(),
        "neuron_runtime_data": [runtime(cores, memory({0: 65_536}, [(0, 1)]), ran, runtime_vcpu())],
        "instance_info": instance(ultraserver_id="u-0123456789abcdef"),
        "neuron_hardware_info": hardware(
            neuron_device_memory_size=96 << 30,
            logical_neuroncore_config=2,
            **kinds,
        ),
    }
    del document["system_data"]["vcpu_usage"]["usage_data"]
    ignored = r"loaded_models\.0\.(name|uuid|model_id|is_running|.*memory_used_bytes.*)|zone_id"
    ignored += r"|(execution_stats|memory_used|k8s_info)\.period|context_switch_count"
    written_members = {
        name: value for name, value in members(document, "") if not re.search(ignored, name)
    }
    decoded = dict(places(decode(written(document)), ""))
    assert written_members == {name: decoded.get(name) for name in written_members}


USED_BYTES = ("memory_used", "neuron_runtime_used_bytes", "usage_breakdown")


@pytest.mark.parametrize(
    "place",
    [
        ("neuroncore_counters", "neuroncores_in_use", "1"),
        ("memory_used", "loaded_models", 0),
        ("memory_used", "loaded_models", 0, "subgraphs", "sg_00"),
        (*USED_BYTES, "host"),
        (*USED_BYTES, "neuroncore_memory_usage", "0"),
    ],
)
def test_null_costs_no_group(place):
    """Null equals absent at every level, also for one core or one model."""
    document = whole()
    parent = document["neuron_runtime_data"][0]["report"]
    for step in place[:-1]:
        parent = parent[step]
    parent[place[-1]] = None
    decoded = decode(written(document))
    assert () == decoded.dropped_groups
    fold = new_fold()
    fold.fold_report(decoded, 1_800_000_000.0)
    assert 4 == len(closed(fold).core_state)


def test_unknown_members_are_ignored():
    """Unknown members of a newer tool are ignored at every level."""
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
    ("words", "lines"),
    [
        (
            "not JSON",
            [
                b"",
                b"   ",
                b"secret",
                b"{",
                b'{"neuron_runtime_data":[',
                b'{"neuron_runtime_data":[]}}',
                b'{"neuron_runtime_data":NaN}',
                b"\xff\xfe{}",
            ],
        ),
        (
            "is JSON but",
            [
                b"{}",
                b"[]",
                b"null",
                b"3",
                b'"neuron_runtime_data"',
                b'{"secret":1}',
                b'["secret"]',
                b'{"message":"no neuron_runtime_data today"}',
                b'{"report":{"neuron_runtime_data":[]}}',
            ],
        ),
    ],
)
def test_a_text_that_is_not_a_report_is_refused_without_its_payload(words, lines):
    """
    A text that is not a report is refused, without its payload in the error.

    Tags and paths identify customers.
    """
    for line in lines:
        with pytest.raises(ReportError, match=words) as caught:
            decode(line)
        assert "secret" not in str(caught.value)


NOT_THERE = object()


def replace(document, place, value):
    """Set *value* at the dotted *place*, or remove the member; a list entry becomes empty."""
    *steps, last = place.split(".")
    for step in steps:
        document = document[int(step) if isinstance(document, list) else step]
    if isinstance(document, list):
        document[int(last)] = {} if value is NOT_THERE else value
    elif value is NOT_THERE:
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
    """A group with a wrong type is dropped and counted. The report is as if it was not due."""
    spoiled = whole()
    without = whole()
    replace(spoiled, group + below, wrong)
    replace(without, group, NOT_THERE)
    decoded = decode(written(spoiled))
    name = group.removesuffix(".0").rpartition(".")[2]
    assert (name,) == decoded.dropped_groups
    assert decode(written(without)) == msgspec.structs.replace(decoded, dropped_groups=())
    fold = new_fold()
    fold.fold_report(decoded, 1_800_000_000.0)
    assert 1 == fold.groups_dropped


def test_a_runtime_of_a_wrong_type_still_exists():
    """A runtime of a wrong type counts as a runtime: otherwise its cores would be called idle."""
    document = whole()
    document["neuron_runtime_data"] = ["gone"]
    assert 1 == len(decode(written(document)).neuron_runtime_data or ())
