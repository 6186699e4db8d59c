"""Rule: missing. Of the real reports no two have the same members."""

from __future__ import annotations

import pytest

from proof.factories.reports import inf1_busy, inf2_loaded, minute_of, trn1_nobody, trn2_logical

GROUPS = ("neuroncore_counters", "execution_stats", "memory_used", "neuron_runtime_vcpu_usage")
FIELDS = {
    "neuroncore_counters": {
        "covered_seconds", "core_state", "utilization_percent", "tera_flops", "holders",
    },
    "execution_stats": {
        "executions", "execution_errors", "latency_p50_mean_s", "latency_p99_max_s",
        "device_latency_p50_mean_s", "device_latency_p99_max_s", "latency_gap_s",
    },
    "memory_used": {
        "device_memory_used_bytes", "runtime_host_memory_bytes", "core_state", "holders",
    },
    "neuron_runtime_vcpu_usage": set(),
}  # fmt: skip


def with_group(name, value):
    """The inf2 report with one group replaced, or without it."""
    document = inf2_loaded()
    groups = document["neuron_runtime_data"][0]["report"]
    if value is None:
        del groups[name]
    else:
        groups[name] = value(groups[name])
    return document


def fields(record):
    """What a minute says, by name."""
    return {name: getattr(record, name) for name in record.__slots__}


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize(
    "value",
    [None, lambda _: None, lambda group: {**group, "error": "failed"}, lambda _: {}],
    ids=["absent", "null", "error", "empty"],
)
def test_every_group_and_field_is_optional(name, value):
    """Every group is optional: absent, null, error text set; only what it tells is missing."""
    whole, without = fields(minute_of(inf2_loaded())), fields(minute_of(with_group(name, value)))
    different = {field for field in whole if whole[field] != without[field]}
    assert different <= FIELDS[name]
    assert whole["reports"] == without["reports"]
    told = different - {"core_state", "covered_seconds", "utilization_percent"}
    assert [] == [field for field in told if without[field]]


@pytest.mark.parametrize(
    "member", ["neuron_runtime_data", "system_data", "instance_info", "neuron_hardware_info"]
)
@pytest.mark.parametrize("is_there", [True, False], ids=["null", "absent"])
def test_every_top_level_member_is_optional(member, is_there):
    """Absent or null: the report is a report all the same."""
    document = inf2_loaded()
    if is_there:
        document[member] = None
    else:
        del document[member]
    assert 1 == minute_of(document).reports


def test_an_older_tool_is_read():
    """Older tool: no device memory size, no flops, `generic` among the errors."""
    record = minute_of(inf1_busy())
    assert ("bbuu", 300) == (record.core_state, record.executions)
    assert record.tera_flops is None


def test_a_newer_tool_is_read():
    """Newer tool: unknown members are ignored, at every level."""
    document = inf2_loaded()
    expected = minute_of(document)
    runtime = document["neuron_runtime_data"][0]
    for holder in (document, runtime, document["system_data"], document["instance_info"],
                   document["neuron_hardware_info"], *runtime["report"].values()):  # fmt: skip
        holder["a_member_of_2027"] = {"deep": [1, None, {"x": "y"}]}
    assert expected == minute_of(document)


def test_absent_is_absent():
    """
    Absent is absent: never 0, never -1. A trn2 report without system data, memory or executions.
    """
    record = minute_of(trn2_logical())
    members = record.members()
    unread = (
        "Executions", "ExecutionErrors", "LatencyP50Mean", "DeviceMemoryUsed", "HostMemoryUsed",
        "HostCpuPercent", "EccCorrected", "EccUncorrectedRise", "RuntimeHostMemory",
    )  # fmt: skip
    assert [] == [member for member in unread if member in members]


def test_a_minute_without_a_report_says_so():
    """No report: no core is known, nothing is 0 but what was counted."""
    record = minute_of()
    assert (0, 0, "", None) == (
        record.reports, record.covered_seconds, record.core_state, record.executions,
    )  # fmt: skip
    after = minute_of(trn1_nobody())
    assert "uu" == after.core_state
