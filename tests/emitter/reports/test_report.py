"""Every group and member is optional, and a wrong type costs only its group."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
import pytest
from neuron_reports import (
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

from emitter.reports.report import ReportError, decode

if TYPE_CHECKING:
    from collections.abc import Iterator


def places(found: object, name: str) -> Iterator[tuple[str, object]]:
    """Every value below *found* that is no struct, with its place."""
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
    """The same of a JSON document."""
    if isinstance(found, dict | list):
        pairs = found.items() if isinstance(found, dict) else enumerate(found)
        for key, value in pairs:
            yield from members(value, f"{name}.{key}")
    else:
        yield name, found


def test_every_member_of_the_newest_tool_is_decoded():
    """
    Nothing that neuron-monitor writes is overlooked, but for what nobody reads: names of models,
    bytes of a subgraph, shares of each vCPU, periods of what counts however short.
    """
    latency = dict.fromkeys(("p0", "p1", "p25", "p50", "p75", "p99", "p100"), 0.5)
    cores = counters({0: 42.01, 1: 0}, flops={0: 5e12, 1: 0}, effective_flops={0: 4e12, 1: 0})
    ran = executions(300, total=latency, device=latency)
    kinds = ("neuron_device_type", "neuron_device_version", "neuroncore_version")
    document = {
        **whole(),
        "neuron_runtime_data": [runtime(cores, memory({0: 65_536}, [(0, 1)]), ran, runtime_vcpu())],
        "instance_info": instance(ultraserver_id="u-0123456789abcdef"),
        "neuron_hardware_info": hardware(
            neuron_device_memory_size=96 << 30,
            logical_neuroncore_config=2,
            **dict.fromkeys(kinds, "v3d"),
        ),
    }
    del document["system_data"]["vcpu_usage"]["usage_data"]
    unread = r"loaded_models\.0\.(name|uuid|model_id|is_running|.*memory_used_bytes.*)|zone_id"
    unread += r"|(execution_stats|memory_used|k8s_info)\.period|context_switch_count"
    written_members = {
        name: value for name, value in members(document, "") if not re.search(unread, name)
    }
    found = dict(places(decode(written(document)), ""))
    assert written_members == {name: found.get(name) for name in written_members}


BYTES = ("memory_used", "neuron_runtime_used_bytes", "usage_breakdown")


@pytest.mark.parametrize(
    "place",
    [
        ("neuroncore_counters", "neuroncores_in_use", "1"),
        ("memory_used", "loaded_models", 0),
        ("memory_used", "loaded_models", 0, "subgraphs", "sg_00"),
        (*BYTES, "host"),
        (*BYTES, "neuroncore_memory_usage", "0"),
    ],
)
def test_null_costs_no_group(place):
    """Absent and null are the same at every level, also of one core or of one model."""
    document = whole()
    parent = document["neuron_runtime_data"][0]["report"]
    for step in place[:-1]:
        parent = parent[step]
    parent[place[-1]] = None
    found = decode(written(document))
    assert () == found.dropped_groups
    fold = new_fold()
    fold.fold_report(found, 1_800_000_000.0)
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
    """An empty list says that no runtime exists; null or absent says that nobody looked."""
    assert expected == decode(written(document)).neuron_runtime_data


def test_unknown_members_are_ignored():
    """A newer tool adds members at every level; none costs anything."""
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


@pytest.mark.parametrize("line", [
    b"", b"   ", b"not json", b"{", b'{"neuron_runtime_data":[', b'{"neuron_runtime_data":[]}}',
    b'{"neuron_runtime_data":NaN}', b"\xff\xfe{}",
])  # fmt: skip
def test_what_is_not_json_is_refused(line):
    """Half a report is none."""
    with pytest.raises(ReportError, match="not JSON"):
        decode(line)


@pytest.mark.parametrize("line", [
    b"{}", b"[]", b"null", b"3", b'"neuron_runtime_data"', b'{"a":1}',
    b'{"message":"no neuron_runtime_data today"}', b'{"report":{"neuron_runtime_data":[]}}',
    b'["neuron_runtime_data"]',
])  # fmt: skip
def test_json_that_is_no_report_is_refused(line):
    """Another program's line is no report, whatever words stand in it."""
    with pytest.raises(ReportError, match="is JSON but"):
        decode(line)
