"""What a runtime that failed hides, and what it does not."""

from __future__ import annotations

import pytest
from neuron_reports import (
    START_S,
    add,
    closed,
    counters,
    memory,
    minute_of,
    new_fold,
    report,
    runtime,
    runtime_vcpu,
    two_cores,
)

HEALTHY = runtime(counters([40, 0, 0, 0]), memory({0: 1}))
FAILED = {
    "missing": None,
    "in error": counters([0, 0, 0, 0], error="cannot read counters"),
    "too short": counters([99, 99, 99, 99], 0.07),
}


@pytest.mark.parametrize("failed", FAILED.values(), ids=FAILED)
def test_a_failed_runtime_hides_the_cores_it_holds(failed):
    """
    What it did on them is not known, but for a core that another shows above 0; the other cores
    are.
    """
    entries = [HEALTHY, runtime(failed, memory({0: 1, 1: 1}, [(0, 2)]), pid=2)]
    for document in (report(*entries), report(*reversed(entries))):
        record = minute_of(document)
        assert (40.0, None, None, 0.0) == record.utilization_percent
        assert ("b??u", 5) == (record.core_state, record.covered_seconds)


@pytest.mark.parametrize(
    "group", [None, memory(error="cannot read memory")], ids=["missing", "in error"]
)
@pytest.mark.parametrize("failed", FAILED.values(), ids=FAILED)
def test_a_failed_runtime_without_memory_hides_every_core(failed, group):
    """Nothing says which cores are its own; what another shows above 0 stays known."""
    record = minute_of(report(HEALTHY, runtime(failed, group, pid=2)))
    assert (40.0, None, None, None) == record.utilization_percent


def test_a_failure_hides_cores_in_its_report_only():
    """In a minute the cores are known from the reports that gave them a sample."""
    healthy = report(runtime(counters([40, 20, 0, 0]), memory({0: 1, 1: 1})))
    failed = report(runtime(None, memory({0: 1, 1: 1})), runtime(counters([0] * 4), pid=2))
    record = minute_of(healthy, failed, failed)
    assert (40.0, 20.0, 0.0, 0.0) == record.utilization_percent
    assert 15 == record.covered_seconds


def test_a_group_error_of_a_living_runtime_leaves_the_others():
    """
    As captured in a sidecar: four runtimes tagged "1", a vCPU error in every report,
    and good counters beside it.
    """
    blind = runtime_vcpu(0, 0, error="open /proc/784315/stat: no such file or directory")
    shares = ([12.5 if core == mine else 0 for core in range(4)] for mine in range(4))
    entries = [
        runtime(counters(percent), memory(), None, blind, pid=784_315 + mine, tag="1")
        for mine, percent in enumerate(shares)
    ]
    assert (12.5,) * 4 == minute_of(report(*entries)).utilization_percent


def test_a_runtime_whose_process_is_gone_is_left_out():
    """And counted: it neither hides cores nor keeps the list from being empty of runtimes."""
    gone = runtime(pid=2, error="no such process")
    gone["report"] = None
    healthy = runtime(counters([40, 0]), memory({0: 1}))
    assert (40.0, 0.0) == minute_of(two_cores(healthy, gone)).utilization_percent
    fold = new_fold()
    for second in (0, 5):
        add(fold, two_cores(gone, gone), START_S + second)
    assert 4 == fold.runtimes_gone
    assert (0.0, 0.0) == closed(fold).utilization_percent
    add(fold, two_cores(healthy, gone), START_S + 60)
    assert 5 == fold.runtimes_gone


@pytest.mark.parametrize("groups", [None, {}])
def test_a_runtime_that_exists_and_tells_nothing_hides_every_core(groups):
    """It is not no runtime, and nothing says that it ended: what it does is unknown."""
    entry = {**runtime(error="failed to read metrics"), "report": groups}
    assert "??" == minute_of(two_cores(entry)).core_state
