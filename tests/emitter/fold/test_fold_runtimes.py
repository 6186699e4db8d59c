"""What one runtime did in a minute: its own numbers, which together are the instance's."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neuron_reports import (
    START_S,
    add,
    closed,
    counters,
    executions,
    kubernetes,
    memory,
    new_fold,
    report,
    runtime,
    runtime_vcpu,
)

from emitter.fold.runtime_lines import RuntimeMinute


def runtimes_of(*documents, **chosen):
    """The runtimes of a minute with these reports."""
    fold = new_fold(**{"runtime_lines": "all", **chosen})
    for place, document in enumerate(documents):
        add(fold, document, START_S + 5 * place)
    closed(fold)
    return fold.due_runtimes


ENTRIES = st.tuples(st.integers(1, 4), st.sampled_from("ab"), st.integers(0, 9), st.integers(0, 3))


@settings(max_examples=50)
@given(st.lists(st.lists(ENTRIES, max_size=4), max_size=6))
def test_the_runtimes_add_up_to_the_instance(reports):
    """Whatever pids and tags collide, no execution and no error is lost or counted twice."""
    fold = new_fold(runtime_lines="all")
    fold.clock.open_minute(START_S)
    for entries in reports:
        groups = [
            runtime(execution_stats=executions(ran, timed_out=late), pid=pid, tag=tag)
            for pid, tag, ran, late in entries
        ]
        add(fold, report(*groups), START_S)
    record = closed(fold)
    told = [one for one in fold.due_runtimes if one.executions is not None]
    assert record.executions == (sum(one.executions for one in told) if told else None)
    assert record.execution_errors == (sum(one.execution_errors for one in told) if told else None)
    assert len(fold.due_runtimes) == len({(one.pid, one.tag) for one in fold.due_runtimes})


def test_a_runtime_is_told_whole():
    """Every number of its groups, folded as those of the instance are."""
    latency = {"p0": 0.125, "p50": 0.25, "p99": 0.5, "p100": 1.0}
    groups = (
        counters([50, 0, 0, 0], effective_flops={0: 2e12, 1: 1e12}),
        memory({0: 65_536, 1: 4096}, [(0, 2)], host=1000),
        executions(10, timed_out=1, total=latency, device={"p50": 0.125, "p99": 0.25}),
        runtime_vcpu(24.0, 3.0),
    )
    (found,) = runtimes_of(*[report(runtime(*groups))] * 12)
    zeros = dict.fromkeys(("constants", "model_code", "model_shared_scratchpad"), 0)
    expected = RuntimeMinute(
        2499, "2499", cores=(0, 1, 2), cores_listed=4, reason="start", tera_flops=3.0,
        executions=120, execution_errors=12, details={"ExecutionsTimedOut": 12},
        latency_p50_mean_s=0.25, latency_p99_max_s=0.5, latency_min_s=0.125, latency_max_s=1.0,
        device_latency_p50_mean_s=0.125, device_latency_p99_max_s=0.25, latency_gap_s=0.125,
        device_memory_used_bytes=69_632, host_memory_used_bytes=1000, loaded_models=1,
        device_memory_by_use={**zeros, "runtime_memory": 0, "tensors": 69_632},
        host_memory_by_use={"application_memory": 1000, "constants": 0, "dma_buffers": 0,
                            "tensors": 0},
        vcpu_user_percent=24.0, vcpu_system_percent=3.0,
    )  # fmt: skip
    assert expected == found


def test_what_was_not_read_of_a_runtime_is_absent():
    """A trimmed report says nothing of memory and vCPU: None, never 0."""
    (found,) = runtimes_of(report(runtime(counters([0, 0, 0, 0]))))
    held = RuntimeMinute(2499, "2499", cores=(0, 1, 2, 3), cores_listed=4, reason="start")
    assert held == found


@pytest.mark.parametrize(("group", "expected"), [(None, None), (counters([]), 0)])
def test_a_runtime_without_counters_lists_no_known_number_of_cores(group, expected):
    """None instead of 0, which is what a runtime lists that sees no core."""
    (found,) = runtimes_of(report(runtime(group, memory({0: 1}))))
    assert expected == found.cores_listed


def test_a_use_that_a_newer_tool_names_is_other():
    """The member names of a line are fixed: unknown uses are one."""
    group = memory({0: 10})
    breakdown = group["neuron_runtime_used_bytes"]["usage_breakdown"]
    breakdown["neuroncore_memory_usage"]["0"].update(collectives=5, scratch=2)
    breakdown["host"]["pinned"] = 3
    (found,) = runtimes_of(report(runtime(memory_used=group)))
    assert 7 == found.device_memory_by_use["other"]
    assert 3 == found.host_memory_by_use["other"]


def test_flops_of_a_runtime_are_the_mean_over_its_own_samples():
    """One that lived for a quarter of the minute did what it did in that time."""
    long = runtime(counters([50, 0, 0, 0], flops={0: 1e12}), pid=1)
    short = runtime(counters([0, 50, 0, 0], flops={1: 4e12}), pid=2)
    found = runtimes_of(*[report(long)] * 9, *[report(long, short)] * 3)
    assert [1.0, 4.0] == [one.tera_flops for one in found]


@pytest.mark.parametrize("group", [
    runtime_vcpu(period=0.07), runtime_vcpu(period=None), runtime_vcpu(error="open /proc/7/stat"),
    runtime_vcpu(user=None), runtime_vcpu(user=-1), runtime_vcpu(user=1e6),
    runtime_vcpu(system=-1), runtime_vcpu(system=1e6),
])  # fmt: skip
def test_vcpu_of_a_runtime_that_means_nothing_is_absent(group):
    """A first sample of milliseconds, and the error of a sidecar that sees no other processes."""
    (found,) = runtimes_of(report(runtime(neuron_runtime_vcpu_usage=group)))
    assert None is found.vcpu_user_percent is found.vcpu_system_percent


@pytest.mark.parametrize("told", [(0, 5), (5, 0), (0, 0), (999_999.5, 999_999.5)])
def test_vcpu_of_a_runtime_is_from_0_to_10_000_vcpus(told):
    """A runtime that waits spends nothing, and that is known of it."""
    (found,) = runtimes_of(report(runtime(neuron_runtime_vcpu_usage=runtime_vcpu(*told))))
    assert told == (found.vcpu_user_percent, found.vcpu_system_percent)


def test_vcpu_of_a_runtime_is_weighted_by_period():
    """Several threads take more than 100 percent of a vCPU."""
    groups = runtime_vcpu(100, 0, period=1.0), runtime_vcpu(400, 8, period=3.0)
    (found,) = runtimes_of(*(report(runtime(neuron_runtime_vcpu_usage=one)) for one in groups))
    assert (325.0, 6.0) == (found.vcpu_user_percent, found.vcpu_system_percent)


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
    """Of the cores that it holds; by device where a pod asked for whole devices."""
    entry = runtime(counters([0, 0, 0, 0]), memory({0: 1, 1: 1, 2: 1}))
    assert expected == runtimes_of(report(entry, neuron_k8s_info=pods))[0].owner


def test_a_runtime_keeps_its_pod_for_ten_minutes_without_the_group():
    """One that began since does not get it: its core may be another pod's by now."""
    fold = new_fold(runtime_lines="all")
    owners = []
    for minute in range(12):
        pods = kubernetes({0: "blue/pod-1"}, error="no socket" if minute else "")
        began = max(1, minute)
        entries = [runtime(counters([0] * 4), memory({0: 1}), pid=pid) for pid in (99, began)]
        add(fold, report(*entries, neuron_k8s_info=pods), START_S + 60 * minute)
        closed(fold)
        owners.append([one.owner for one in fold.due_runtimes])
    name = "blue/pod-1/main"
    assert [[name, name]] * 2 + [[name, None]] * 9 + [[None, None]] == owners


def test_who_starts_processes_in_a_loop_still_gets_true_totals():
    """512 runtimes are told apart in one minute; the executions of all are counted."""
    fold = new_fold(runtime_lines="all")
    for pid in range(512 + 50):
        document = report(runtime(execution_stats=executions(1), pid=pid, tag="1"))
        add(fold, document, START_S)
    assert 512 + 50 == closed(fold).executions
    assert 512 == len(fold.due_runtimes)
