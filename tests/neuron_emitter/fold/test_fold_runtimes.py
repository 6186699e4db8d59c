"""Runtime lines: the numbers of one runtime in a minute, which add up to the instance's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_emitter.fold import Fold, FoldSettings
from neuron_emitter.owners.assignments import RuntimeOwner
from tests.neuron_emitter.neuron_reports import (
    GIB,
    IDLE_COUNTERS,
    REPORTS_START_S,
    add,
    closed,
    counters,
    executions,
    hardware,
    instance,
    kubernetes,
    memory,
    minute_of,
    new_fold,
    no_runtimes,
    report,
    runtime,
    runtime_vcpu,
    two_cores,
)


def runtimes_of(*documents, **chosen):
    """Return the runtimes of a minute with these reports."""
    fold = new_fold(**{"runtime_lines": "all", **chosen})
    for place, document in enumerate(documents):
        add(fold, document, REPORTS_START_S + 5 * place)
    closed(fold)
    return fold.due_runtimes


ENTRIES = st.tuples(st.integers(1, 4), st.sampled_from("ab"), st.integers(0, 9), st.integers(0, 3))


@settings(max_examples=50)
@given(st.lists(st.lists(ENTRIES, max_size=4), max_size=6))
def test_the_runtimes_add_up_to_the_instance(reports):
    """Executions and errors of runtimes add up to the instance's, even if PIDs and tags collide."""
    fold = new_fold(runtime_lines="all")
    fold.clock.open_minute(REPORTS_START_S)
    for entries in reports:
        groups = [
            runtime(execution_stats=executions(ran, timed_out=late), pid=pid, tag=tag)
            for pid, tag, ran, late in entries
        ]
        add(fold, report(*groups), REPORTS_START_S)
    record = closed(fold)
    runtimes: list[dict[str, Any]] = [
        line for line in fold.due_runtimes if line["Executions"] is not None
    ]
    for count, member in (
        (record.executions, "Executions"),
        (record.execution_errors, "ExecutionErrors"),
    ):
        assert count == (sum(line[member] for line in runtimes) if runtimes else None)
    identities = [(line["Pid"], line["RuntimeTag"]) for line in fold.due_runtimes]
    assert len(identities) == len({*identities})


NO_BYTES = "Constants", "ModelCode", "ModelSharedScratchpad", "RuntimeMemory"


def test_a_runtime_line_has_every_number():
    """A runtime line has every number of the runtime's groups, folded like the instance's."""
    latency = {"p0": 0.125, "p50": 0.25, "p99": 0.5, "p100": 1.0}
    groups = (
        counters([50, 0, 0, 0], effective_flops={0: 2e12, 1: 1e12}),
        memory({0: 65_536, 1: 4096}, [(0, 2)], host=1000),
        executions(10, timed_out=1, total=latency, device={"p50": 0.125, "p99": 0.25}),
        runtime_vcpu(24.0, 3.0),
    )
    (line,) = runtimes_of(*[report(runtime(*groups))] * 12)
    expected = {
        "Reason": "start",
        "Pid": 2499,
        "RuntimeTag": "2499",
        "Owner": None,
        "Cores": "0-2",
        "CoresHeld": 3,
        "CoresListed": 4,
        "LoadedModels": 1,
        "Executions": 120,
        "ExecutionErrors": 12,
        "LatencyP50Mean": 0.25,
        "LatencyP99Max": 0.5,
        "LatencyMin": 0.125,
        "LatencyMax": 1.0,
        "DeviceLatencyP50Mean": 0.125,
        "DeviceLatencyP99Max": 0.25,
        "LatencyGapP50": 0.125,
        "TeraFlops": 3.0,
        "DeviceMemoryUsed": 69_632,
        "RuntimeHostMemory": 1000,
        "RuntimeCpuUserPercent": 24.0,
        "RuntimeCpuSystemPercent": 3.0,
        **{f"DeviceMemory{use}": 0 for use in NO_BYTES},
        "DeviceMemoryTensors": 69_632,
        "RuntimeHostMemoryApplicationMemory": 1000,
        "RuntimeHostMemoryConstants": 0,
        "RuntimeHostMemoryDmaBuffers": 0,
        "RuntimeHostMemoryTensors": 0,
        "ExecutionsTimedOut": 12,
    }
    assert list(expected.items()) == list(line.items())


def test_a_use_that_a_newer_tool_names_is_other():
    """Memory uses of a newer tool are added to `Other`, because a line's members are fixed."""
    group = memory({0: 10})
    breakdown = group["neuron_runtime_used_bytes"]["usage_breakdown"]
    breakdown["neuroncore_memory_usage"]["0"].update(collectives=5, scratch=2)
    breakdown["host"]["pinned"] = 3
    (line,) = runtimes_of(report(runtime(memory_used=group)))
    assert 7 == line["DeviceMemoryOther"]
    assert 3 == line["RuntimeHostMemoryOther"]


def test_vcpu_of_a_runtime_is_weighted_by_period():
    """A runtime's vCPU share is weighted by period, and can be above 100 %."""
    groups = runtime_vcpu(100, 0, period=1.0), runtime_vcpu(400, 8, period=3.0)
    (line,) = runtimes_of(*(report(runtime(neuron_runtime_vcpu_usage=group)) for group in groups))
    assert 325.0 == line["RuntimeCpuUserPercent"]
    assert 6.0 == line["RuntimeCpuSystemPercent"]


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        (kubernetes({0: "blue/pod-1", 1: "blue/pod-1"}), "blue/pod-1/main"),
        (kubernetes({0: "blue/pod-1", 1: "blue/pod-2", 2: "blue/pod-2"}), "blue/pod-2/main"),
        (kubernetes({3: "blue/pod-3"}), None),
        (kubernetes({}, {0: "red/pod-9"}), "red/pod-9/main"),
        (kubernetes({0: "/pod-1"}), "pod-1"),
        (kubernetes({0: "blue/"}), None),
        (kubernetes({0: "blue/pod-1"}, error="no socket"), None),
        (None, None),
    ],
)
def test_the_owner_is_the_pod_of_most_of_its_cores(pods, expected):
    """A runtime's owner is the pod of most cores that it holds, by core or by device."""
    entry = runtime(counters([0, 0, 0, 0]), memory({0: 1, 1: 1, 2: 1}))
    assert expected == runtimes_of(report(entry, neuron_k8s_info=pods))[0]["Owner"]


def test_a_runtime_keeps_its_pod_for_ten_minutes_without_the_group():
    """A runtime keeps its pod for ten minutes without the group; a new runtime does not get it."""
    fold = new_fold(runtime_lines="all")
    owners = []
    for minute in range(12):
        pods = kubernetes({0: "blue/pod-1"}, error="no socket" if minute else "")
        began = max(1, minute)
        entries = [runtime(counters([0] * 4), memory({0: 1}), pid=pid) for pid in (99, began)]
        add(fold, report(*entries, neuron_k8s_info=pods), REPORTS_START_S + 60 * minute)
        closed(fold)
        owners.append([line["Owner"] for line in fold.due_runtimes])
    name = "blue/pod-1/main"
    assert [[name, name]] * 2 + [[name, None]] * 9 + [[None, None]] == owners


def test_totals_are_true_for_more_runtimes_than_lines():
    """A minute distinguishes at most 512 runtimes, and counts the executions of all."""
    fold = new_fold(runtime_lines="all")
    for pid in range(512 + 50):
        document = report(runtime(execution_stats=executions(1), pid=pid, tag="1"))
        add(fold, document, REPORTS_START_S)
    assert 512 + 50 == closed(fold).executions
    assert 512 == len(fold.due_runtimes)


def test_a_tag_is_untrusted_text():
    """A tag, which any process can set, is cut to 128 characters and has no control characters."""
    hostile = "\x9b31m\u202eevil\x1b]0;" + "x" * 100_000
    (runtime_line,) = runtimes_of(report(runtime(IDLE_COUNTERS, tag=hostile)))
    assert ("?31m?evil?]0;" + "x" * 200)[:128] == runtime_line["RuntimeTag"]


ON_0 = report(runtime(IDLE_COUNTERS, memory({0: 1}), executions(1)))
ON_1 = report(runtime(IDLE_COUNTERS, memory({1: 1}), executions(1)))
FAILING_RUNTIME = report(runtime(IDLE_COUNTERS, memory({0: 1}), executions(1, timed_out=1)))
BROKEN_RUNTIME = report(runtime(IDLE_COUNTERS, memory({0: 1}), error="lost the connection"))
OTHER_RUNTIME = report(runtime(IDLE_COUNTERS, memory({0: 1}), tag="other"))
OWNED_RUNTIME = report(
    runtime(IDLE_COUNTERS, memory({0: 1})), neuron_k8s_info=kubernetes({0: "blue/pod-1"})
)


def reasons(*minutes, **chosen):
    """Return the reason of the runtime's line in each minute; None if it has no line."""
    fold = new_fold(**chosen)
    line_reasons = []
    for number, document in enumerate(minutes):
        fold.clock.open_minute(REPORTS_START_S + 60 * number)
        if document is not None:
            add(fold, document, REPORTS_START_S + 60 * number)
        closed(fold)
        line_reasons.append(fold.due_runtimes[0]["Reason"] if fold.due_runtimes else None)
    return line_reasons


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        ([ON_0, ON_0, ON_0], ["start", None, None]),
        ([ON_0, ON_1, ON_1, ON_0], ["start", "change", None, "change"]),
        ([ON_0, OWNED_RUNTIME, OWNED_RUNTIME], ["start", "change", None]),
        ([ON_0, FAILING_RUNTIME, ON_0], ["start", "error", None]),
        ([ON_0, BROKEN_RUNTIME, ON_0], ["start", "error", None]),
        ([ON_0, None, ON_0], ["start", None, "start"]),
        ([ON_0, report(), ON_0], ["start", None, "start"]),
        # The interval of errors starts at the last line with an error.
        ([ON_0, ON_0, FAILING_RUNTIME], ["start", None, "error"]),
        # A PID is not unique over time.
        ([ON_0, OTHER_RUNTIME], ["start", "start"]),
    ],
)
def test_a_line_is_written_if_something_changed(minutes, expected):
    """
    A line is written at start, on another owner or other cores, and on error.

    A runtime that misses a minute starts again.
    """
    assert expected == reasons(*minutes)


def test_a_quiet_runtime_has_a_line_an_hour():
    """A runtime without changes has a line 60 minutes after its last line."""
    minutes = enumerate(reasons(*[ON_0] * 30, *[ON_1] * 100))
    expected = {0: "start", 30: "change", 90: "hourly"}
    assert expected == {minute: reason for minute, reason in minutes if reason}


def test_a_runtime_that_always_fails_has_six_lines_an_hour():
    """A runtime that always fails has six lines an hour, because error lines cost money."""
    minutes = reasons(*[FAILING_RUNTIME] * 60)
    assert ["start"] + ["error"] * 5 == [reason for reason in minutes if reason]


def test_a_setting_chooses_runtime_lines():
    """`all` adds lines with the reason `all`, and `none` writes no lines."""
    assert ["start", "all", "change"] == reasons(ON_0, ON_0, ON_1, runtime_lines="all")
    assert [None, None] == reasons(ON_0, FAILING_RUNTIME, runtime_lines="none")


def bytes_of(*documents):
    """Return the bytes that the runtimes use on the devices and on the host."""
    record = minute_of(*documents)
    return {
        "device": record.device_memory_used_bytes,
        "host": record.number("RuntimeHostMemory"),
    }


@pytest.mark.parametrize(("models", "expected"), [([(0, 0), (0, 1)], None), ([], 0)])
def test_zero_device_memory_with_loaded_models_is_absent(models, expected):
    """Zero device memory with loaded models is absent: inf1 measures only host memory."""
    group = memory(models=models, host=4_527_943_680)
    assert {"device": expected, "host": 4_527_943_680} == bytes_of(
        report(runtime(IDLE_COUNTERS, group))
    )


@pytest.mark.parametrize(
    ("hardware_info", "instance_type", "expected"),
    [
        (hardware(16, 2, neuron_device_memory_size=32 * GIB), "trn1.32xlarge", 512 * GIB),
        (hardware(2, None, neuron_device_memory_size=GIB), "trn9.new", 2 * GIB),
        (hardware(), "inf1.xlarge", 8 * GIB),
        (hardware(), "inf9.large", None),
    ],
    ids=["reported", "without cores", "older tool: size by type", "unknown type"],
)
def test_the_total_is_that_of_the_devices(hardware_info, instance_type, expected):
    """Total device memory is devices times memory per device, or the type's, or absent."""
    record = minute_of(
        report(neuron_hardware_info=hardware_info, instance_info=instance(instance_type))
    )
    assert expected == record.device_memory_total_bytes


FOLD_PERIOD_S = 15.0
FIRST_MINUTE = "2027-01-15T08:00Z"


def entry(completed=0, pid=7, tag="7"):
    """Return a report's entry of a runtime that holds core 0 and does not use it."""
    return runtime(
        counters([0, 0], FOLD_PERIOD_S),
        memory({0: 1}),
        executions(completed, period=FOLD_PERIOD_S),
        pid=pid,
        tag=tag,
    )


def started(state=None, owner="slurm:7 ann"):
    """Return a fold with the stored *state*."""
    named = None if owner is None else RuntimeOwner(owner)
    return Fold(FoldSettings(period_s=FOLD_PERIOD_S), state, owner_of=lambda _pid: named)


def last(fold, minute, *runtimes):
    """Return the last executions of the holders in a minute with one report."""
    add(fold, two_cores(*(runtimes or [entry()])), REPORTS_START_S + 60 * minute)
    return [holder.last_execution for holder in closed(fold, seq=minute + 1).holders]


def executed(minute=0):
    """Return a fold whose runtime executed in the last minute."""
    fold = started()
    last(fold, minute, entry(5))
    return fold


@pytest.mark.parametrize("missing", [two_cores(entry(pid=8)), no_runtimes(FOLD_PERIOD_S)])
def test_a_runtime_that_is_not_listed_has_ended(missing):
    """A runtime that is not listed has ended. A later one with its PID and tag is new."""
    fold = executed()
    add(fold, missing, REPORTS_START_S + 60)
    closed(fold)
    assert [None] == last(fold, 2)


@pytest.mark.parametrize(("minute", "expected"), [(10, FIRST_MINUTE), (11, None), (-11, None)])
def test_the_last_execution_expires_after_ten_minutes(minute, expected):
    """The last execution expires after ten minutes in which no emitter ran."""
    assert [expected] == last(started(executed().encode_state()), minute)


def test_another_owner_is_another_process():
    """Another owner means another process. An unknown owner may be the same process."""
    reported = []
    state = None
    for minute, owner in enumerate(["slurm:7 ann", None, "slurm:7 ann", "slurm:8 ann"]):
        fold = started(state, owner)
        reported += last(fold, minute, entry(0 if state else 1))
        state = fold.encode_state()
    assert [FIRST_MINUTE, FIRST_MINUTE, FIRST_MINUTE, None] == reported
