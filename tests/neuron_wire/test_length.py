"""The length of a minute line, and the members of lines of every kind."""

from __future__ import annotations

import dataclasses
import itertools
import json
from typing import Any

import pytest
from hypothesis import given

from neuron_emitter.fold import LineIdentity
from neuron_emitter.fold.minute_cores import ReportSample
from neuron_emitter.lines import LineWriter
from neuron_emitter.lines.drafts import runtime_draft
from neuron_emitter.lines.emf import line_of
from neuron_emitter.logs import Event
from neuron_emitter.settings import MinuteSettings
from neuron_wire import encode, length
from neuron_wire.catalogue import members_of
from neuron_wire.extraction import violations
from neuron_wire.length import METADATA_BYTES, max_minute_bytes, split_minute
from neuron_wire.owners import Owner
from tests.neuron_wire.emf_documents import undocumented
from tests.neuron_wire.wire_records import (
    HOLDER,
    LABELS,
    RARE_ECC,
    RARE_HEALTH,
    V1_FOLDER,
    WIRE_MINUTE_MS,
    WORST_FAILURES,
    WORST_HEALTH,
    everything,
    line_with_metrics,
    records,
)

SETS = [["ClusterName"], ["ClusterName", "InstanceId"]]
UNVERIFIED = "AssignedUnverifiedCores"
HALF_A_DAY = 999
MONTH_MINUTES = 44_640
USUAL: dict[str, Any] = {"lifecycle": "on-demand", "paid": None}
"""Payment of nearly every instance; other tests check the bytes of other values."""
LAST_MEMBERS = {"Holders", "HoldersMore", "Owners", "OwnersMore"}


def size(record):
    """Return the bytes of a minute line at `--metrics instance`, without lists of runtimes."""
    kept, _ = split_minute(record.members())
    bounded = {name: value for name, value in kept.items() if name not in LAST_MEMBERS}
    return len(line_with_metrics(bounded, record.minute_ms, SETS).encode())


@pytest.mark.parametrize("health", [{}, WORST_HEALTH], ids=["no health", "health"])
@pytest.mark.parametrize("cores", [1, 32, 33, 64, 65, 128, 129, 1024])
def test_an_ordinary_minute_is_one_line_and_needs_no_encoding(cores, health, monkeypatch):
    """
    A minute after half a day of idleness, with the longest numbers, fits in one line.

    split_minute decides this without encoding the record.
    """
    record = dataclasses.replace(
        everything("a" * cores, HALF_A_DAY), details={}, health=health, **USUAL
    )
    with monkeypatch.context() as unmeasured:
        unmeasured.delattr(length, "encode")
        kept, aside = split_minute(record.members())
    assert record.members() == kept
    assert {} == aside
    assert size(record) <= max_minute_bytes(cores)


@given(records())
def test_no_member_is_lost_to_the_second_line(record):
    """Each member of a record is in one of its two lines, in the record's order."""
    record = dataclasses.replace(
        record, details=WORST_FAILURES, health={**WORST_HEALTH, **RARE_HEALTH}
    )
    members = record.members()
    kept, aside = split_minute(members)
    assert members == kept | aside
    assert not kept.keys() & aside.keys()
    for part in (kept, aside):
        assert [name for name in members if name in part] == list(part)


def test_failures_move_to_the_second_line_first():
    """
    Failures move to the second line first: runtime lines have them too.

    Members that the stack reads never move.
    """
    record = everything("bau" * 13, 99)
    assert [*LABELS, UNVERIFIED, *WORST_FAILURES] == list(split_minute(record.members())[1])
    record = everything("a" * 64, MONTH_MINUTES)
    kept, aside = split_minute(record.members())
    assert {*LABELS, *WORST_FAILURES, *RARE_HEALTH, *RARE_ECC, UNVERIFIED} == aside.keys()
    assert {*WORST_HEALTH, "ExecutionErrors", "CoreIdleMinutes", *LAST_MEMBERS} <= kept.keys()


AMI_ID = "ami-0123456789abcdef0"
LENGTH_SENDER = LineIdentity(
    "blue",
    "i-0123456789abcdef0",
    identity_guessed=True,
    boot="01a1fd4e75ef2470b16e",
    instance_type="trn1.32xlarge",
    ami_id=AMI_ID,
)
USES_OF_MEMORY = {
    "DeviceMemory": "Constants ModelCode ModelSharedScratchpad RuntimeMemory Tensors Other",
    "RuntimeHostMemory": "ApplicationMemory Constants DmaBuffers Tensors Other",
}
LONG_RUNTIME: dict[str, str | int | float | None] = {
    "Reason": "error",
    "Pid": 41,
    "RuntimeTag": "serve",
    "Owner": "ml/llama-0",
    "Cores": "0-2,5",
    "CoresHeld": 4,
    "CoresListed": 32,
    "LoadedModels": 2,
    "Executions": 100,
    "ExecutionErrors": 3,
    "LatencyP50Mean": 0.1,
    "LatencyP99Max": 0.2,
    "LatencyMin": 0.05,
    "LatencyMax": 0.3,
    "DeviceLatencyP50Mean": 0.08,
    "DeviceLatencyP99Max": 0.18,
    "LatencyGapP50": 0.02,
    "TeraFlops": 3.5,
    "DeviceMemoryUsed": 1 << 30,
    "RuntimeHostMemory": 1 << 20,
    "RuntimeCpuUserPercent": 130.5,
    "RuntimeCpuSystemPercent": 3.5,
    **{total + use: 1 for total, uses in USES_OF_MEMORY.items() for use in uses.split()},
    **WORST_FAILURES,
}
SAMPLE = ReportSample(
    at_s=WIRE_MINUTE_MS / 1000 + 0.25,
    period_s=1.0,
    utilization_percent=(1.5, None, 2.5),
    executions=10,
    execution_errors=1,
    tera_flops=0.5,
)
LONG_EVENT = Event(
    "MonitorDied",
    WIRE_MINUTE_MS / 1000 + 1.5,
    "neuron-monitor ended with code 1 after 5 s",
    {"RanSeconds": 5.25, "ExitCode": 1, "Stderr": "no device", "Count": 3},
)


READINGS_THEN = {
    "DeviceLatencyP50Mean": 0.012345678,
    "DeviceLatencyP99Max": 0.112345678,
    "LatencyGapP50": 0.001234567,
    "RuntimeHostMemory": 2_199_023_255_552,
    "EccCorrected": 1_234_567,
    "EccUncorrected": 123_456,
    "HostMemoryUsed": 2_199_023_255_552,
    "HostMemoryTotal": 2_199_023_255_552,
    "HostCpuPercent": 99.99,
    "HardwareFaults": 12_345,
}


def lines(tier, **settings):
    """Return a writer of an emitter's lines at *tier*."""
    return LineWriter(MinuteSettings(metrics=tier, **settings))


def read(written):
    """Return lines as documents, and check that CloudWatch extracts each line."""
    for line in written:
        assert {violation.rule for violation in violations(line)} <= {"metadata"}
    return [json.loads(line) for line in written]


@pytest.mark.parametrize("tier", ["none", "cluster", "instance", "core"])
@pytest.mark.parametrize(("cores", "promised"), [(32, 2_400), (64, 2_700), (128, 3_600)])
def test_a_line_of_the_worst_minute_is_no_longer_than_promised(cores, promised, tier):
    """The worst minute's first line keeps the promised length; the rest is in a second line."""
    for letters, idle_for in itertools.product(["bau", "b", "u", "a?", "a"], [0, 1_440, 44_640]):
        record = everything((letters * cores)[:cores], idle_for)
        bare: dict[str, Any] = {"holders": (), "holders_more": 0, "owners": (), "owners_more": ""}
        record = dataclasses.replace(record, **bare)
        written = [written_record.line for written_record in lines(tier).minute_records(record)]
        metadata = len(encode(json.loads(written[0]).get("_aws", {})))
        # the promise covers eight metrics
        further = max(0, metadata - METADATA_BYTES)
        assert len(written[0].encode()) - further <= promised, (letters, idle_for)
    member_names = {name for line in read(written) for name in line}
    assert record.members().keys() <= member_names


def test_a_runtime_line_is_documented_whole():
    """A runtime line has every member of its kind if every group of the runtime was read."""
    line = json.loads(line_of(runtime_draft(LONG_RUNTIME, everything("ba", 1), 7), "Neuron"))
    assert [] == undocumented(line)
    assert members_of("runtime").keys() == line.keys()


def test_lines_of_the_other_kinds_are_golden(golden):
    """Lines of cores, runtimes, events and reports equal the golden file, byte by byte."""
    line_writer = lines("core", high_resolution_metrics=True)
    *_, core = lines("core").minute_records(everything("ba", 1))
    minute = dataclasses.replace(everything("ba", 1), cluster=LENGTH_SENDER.cluster)
    written = [
        core.line,
        line_of(runtime_draft(LONG_RUNTIME, minute, 7), "Neuron"),
        line_writer.event_records([LONG_EVENT], LENGTH_SENDER, 8)[0].line,
        *[record.line for record in line_writer.report_records(SAMPLE, LENGTH_SENDER, 9)],
    ]
    assert ["core", "runtime", "event", "report"] == [line["Kind"] for line in read(written)]
    golden(V1_FOLDER / "kinds.lines.jsonl", "".join(f"{line}\n" for line in written))


def test_a_minute_line_with_owners_is_golden(golden):
    """A minute line with account, payment, owners and holders equals the golden file."""
    holder = dataclasses.replace(HOLDER, cores="1-2", assigned_to=None, started=None, command=None)
    before = dataclasses.replace(
        everything("baau?"),
        details={},
        health={},
        readings=READINGS_THEN,
        labels={
            "InstanceName": "llm-pretrain-worker7",
            "NeuronDeviceVersion": "v4",
            "NeuronCoreVersion": "v3d",
            "LogicalNeuronCoreConfig": 2,
        },
        holders=(holder,),
        holders_more=0,
        owners=(Owner("0-2", "ml/llama-0", "ml"), Owner("4", "[unnamed]")),
        owners_more="3",
        reservations=None,
        unknown_reason=None,
    )
    golden(V1_FOLDER / "owned.lines.jsonl", f"{lines('cluster').minute_records(before)[0].line}\n")
    now = dataclasses.replace(
        before,
        holders=(dataclasses.replace(HOLDER, cores="1-2"),),
        reservations="known",
        details={"AssignedUnverifiedCores": 1},
        owners=(
            Owner("0-2", "ml/llama-0", "ml", "", 0, 7),
            Owner("4", "[unnamed]", None, "", 12),
            Owner("", "ml/llama-1", "ml", "3", None, 7),
        ),
        owners_more="",
    )
    golden(
        V1_FOLDER / "reservations.lines.jsonl", f"{lines('cluster').minute_records(now)[0].line}\n"
    )
