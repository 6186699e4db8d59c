"""Memory, a model or utilization holds a core. A listed core alone is not held."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_wire.core_members import core_indexes
from neuron_wire.holders import MAX_HOLDERS
from tests.neuron_emitter.neuron_reports import (
    IDLE_COUNTERS,
    REPORTS_START_S,
    add,
    closed,
    counters,
    hardware,
    memory,
    minute_of,
    new_fold,
    report,
    runtime,
)


def table_of(group):
    """Return the table of a `memory_used` group: bytes by core and use."""
    return group["neuron_runtime_used_bytes"]["usage_breakdown"]["neuroncore_memory_usage"]


def test_a_listed_core_is_not_held():
    """A runtime lists every visible core, so a listed core is not held."""
    assert "uuuu" == minute_of(report(runtime(IDLE_COUNTERS, memory()))).core_state


@pytest.mark.parametrize(("use", "size", "states"), [
    ("constants", 1, "uauu"), ("model_code", 1, "uauu"), ("model_shared_scratchpad", 1, "uauu"),
    ("runtime_memory", 1, "uauu"), ("tensors", 1, "uauu"), ("a_use_of_a_newer_tool", 1, "uauu"),
    ("tensors", None, "uuuu"), ("tensors", 0, "uuuu"), ("tensors", -1, "uuuu"),
])  # fmt: skip
def test_any_bytes_on_a_core_hold_it(use, size, states):
    """Any bytes on a core hold it, such as 13,376 bytes without a loaded model on inf2."""
    group = memory()
    table_of(group)["1"][use] = size
    assert states == minute_of(report(runtime(IDLE_COUNTERS, group))).core_state


@pytest.mark.parametrize(
    ("place", "expected"), [((0, 0), 0), ((0, 1), 1), ((1, 0), 2), ((7, 1), 15), ((15, 1), 31)]
)
def test_the_core_index_of_a_model_counts_within_its_device(place, expected):
    """
    A model's core index counts within its device.

    A captured report of 32 runtimes shows this: a global index would fit the memory of only 2.
    """
    entry = runtime(counters([0] * 32), memory(models=[place], cores=32))
    record = minute_of(report(entry, neuron_hardware_info=hardware(16, 2)))
    assert [expected] == [core for core, state in enumerate(record.core_state) if state == "a"]


@pytest.mark.parametrize(
    "group", [None, memory({0: 1}, error="cannot read memory")], ids=["missing", "in error"]
)
def test_a_runtime_without_usable_memory_holds_every_core_it_lists(group):
    """A runtime without readable memory holds every core that it lists, and no other core."""
    entry = runtime(counters({1: 0, 2: 0}), group)
    assert "uaau" == minute_of(report(entry)).core_state


GONE_RUNTIME = runtime(error="no such process")
IDLE_0, IDLE_1, BOTH = (
    runtime(IDLE_COUNTERS, memory(dict.fromkeys(on, 1))) for on in ([0], [1], [0, 1])
)
WITHOUT_MEMORY = runtime(IDLE_COUNTERS)
OTHER_1, OTHER_3 = (runtime(IDLE_COUNTERS, memory({core: 1}), pid=2) for core in (1, 3))
FAILED_MEMORY = runtime(IDLE_COUNTERS, memory({0: 1, 1: 1, 2: 1}, error="cannot read memory"))
LISTS_1 = runtime(counters({1: 0}))
OTHER_LISTS_3 = runtime(counters({3: 0}), pid=2)
SILENT = runtime(None, memory(error="x"))
OTHER_SILENT = runtime(counters([], error="x"), pid=2)


@pytest.mark.parametrize(
    ("states", "reports"),
    [
        # A runtime that released a core within the minute does not hold it.
        ("uauu", [[BOTH], [IDLE_1]]),
        # If memory is reported less often than counters, its last reading counts.
        ("uauu", [[IDLE_1], [WITHOUT_MEMORY], [WITHOUT_MEMORY]]),
        ("uauu", [[IDLE_1], None]),
        # The reading before a failed group counts, whatever other runtimes reported since.
        ("auua", [[IDLE_0, OTHER_1], [FAILED_MEMORY, OTHER_3]]),
        ("auua", [[IDLE_0, OTHER_1], [FAILED_MEMORY, OTHER_3], [FAILED_MEMORY, OTHER_3]]),
        ("uuua", [[IDLE_0, OTHER_1], [FAILED_MEMORY, OTHER_3], [OTHER_3]]),
        ("auuu", [[IDLE_0], [FAILED_MEMORY]]),
        # A runtime that appears after the last reading holds what it lists.
        ("uaua", [[IDLE_1], [WITHOUT_MEMORY, OTHER_LISTS_3]]),
        ("uauu", [[IDLE_1], [WITHOUT_MEMORY, OTHER_LISTS_3], [IDLE_1]]),
        # A runtime that ended holds nothing, and after a confirmed empty list no core is held.
        ("uauu", [[IDLE_0, OTHER_1], [OTHER_1]]),
        ("uuuu", [[IDLE_0], [], []]),
        ("uuuu", [[LISTS_1], [], []]),
        # If counters are due less often than lines, their last reading counts.
        ("uaua", [[LISTS_1, OTHER_LISTS_3], [SILENT, OTHER_SILENT]]),
        ("uauu", [[LISTS_1, OTHER_LISTS_3], [SILENT]]),
        ("auua", [[OTHER_LISTS_3], [IDLE_0, OTHER_SILENT]]),
        # A runtime that returns does not hold the cores it listed before it was gone.
        (
            "uuua",
            [[LISTS_1, OTHER_3], [IDLE_0, OTHER_3], [GONE_RUNTIME, OTHER_3], [SILENT, OTHER_3]],
        ),
        # A runtime without memory holds its listed cores, even if other runtimes report memory.
        ("auua", [[IDLE_0, OTHER_LISTS_3]]),
    ],
)
def test_the_last_report_that_had_the_group_decides(states, reports):
    """The last report with the group decides for each runtime; a missing list changes nothing."""
    documents = [report(neuron_runtime_data=entries) for entries in reports]
    assert states == minute_of(*documents).core_state


def test_a_memory_table_with_an_unreadable_key_does_not_count():
    """If a key in its memory table is unreadable, a runtime holds every core that it lists."""
    group = memory()
    table_of(group)["nc1"] = {"tensors": 1}
    assert "aaaa" == minute_of(report(runtime(IDLE_COUNTERS, group))).core_state


LISTED_32 = counters([0] * 32)
TRN1 = hardware(16, 2)


def holding(pid, *cores, tag="1"):
    """Return a runtime with a byte on each of *cores*."""
    return runtime(LISTED_32, memory(dict.fromkeys(cores, 1)), pid=pid, tag=tag)


def trn1(*runtimes, **members):
    """Return a report of 32 cores."""
    return report(*runtimes, **{"neuron_hardware_info": TRN1, **members})


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 99), st.lists(st.integers(0, 31), min_size=1, max_size=4, unique=True)
        ),
        max_size=12,
        unique_by=lambda entry: entry[0],
    )
)
def test_every_attached_idle_core_has_a_holder(entries):
    """Holders cover exactly the attached-idle cores; a record lists eight and counts the others."""
    record = minute_of(*[trn1(*[holding(pid, *cores) for pid, cores in entries])] * 12)
    named = [core for holder in record.holders for core in core_indexes(holder.cores)]
    idle = {core for core, state in enumerate(record.core_state) if state == "a"}
    assert idle >= set(named)
    if not record.holders_more:
        assert idle == set(named)
    assert len(entries) == len(record.holders) + record.holders_more
    assert len(record.holders) <= MAX_HOLDERS


def test_the_most_idle_come_first():
    """Holders are sorted by their longest idle minutes, then by idle cores, then by PID."""
    fold = new_fold()
    for minute, runtimes in enumerate(
        ([holding(30, 5)], [holding(30, 5), holding(20, 1), holding(10, 2, 3), holding(9, 8, 9)])
    ):
        for second in range(0, 60, 5):
            add(fold, trn1(*runtimes), REPORTS_START_S + 60 * minute + second)
        busy = [50 if core in {1, 2, 3, 8, 9} else 0 for core in range(32)]
        if minute == 0:
            add(fold, trn1(holding(30, 5), runtime(counters(busy), pid=99)), REPORTS_START_S + 59)
        record = closed(fold)
    assert [30, 9, 10, 20] == [holder.pid for holder in record.holders]
