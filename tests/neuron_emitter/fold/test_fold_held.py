"""A core is held by bytes on it, a model on it, or use of it; listing it is not holding it."""

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
    """Bytes by core and use of a `memory_used`."""
    return group["neuron_runtime_used_bytes"]["usage_breakdown"]["neuroncore_memory_usage"]


def test_listing_a_core_is_not_holding_it():
    """Every runtime lists every core it can see."""
    assert "uuuu" == minute_of(report(runtime(IDLE_COUNTERS, memory()))).core_state


@pytest.mark.parametrize(("use", "size", "states"), [
    ("constants", 1, "uauu"), ("model_code", 1, "uauu"), ("model_shared_scratchpad", 1, "uauu"),
    ("runtime_memory", 1, "uauu"), ("tensors", 1, "uauu"), ("a_use_of_a_newer_tool", 1, "uauu"),
    ("tensors", None, "uuuu"), ("tensors", 0, "uuuu"), ("tensors", -1, "uuuu"),
])  # fmt: skip
def test_any_bytes_on_a_core_hold_it(use, size, states):
    """As on an inf2.xlarge: 13,376 bytes of runtime memory and no loaded model."""
    group = memory()
    table_of(group)["1"][use] = size
    assert states == minute_of(report(runtime(IDLE_COUNTERS, group))).core_state


@pytest.mark.parametrize(
    ("place", "expected"), [((0, 0), 0), ((0, 1), 1), ((1, 0), 2), ((7, 1), 15), ((15, 1), 31)]
)
def test_the_core_index_of_a_model_counts_within_its_device(place, expected):
    """
    Checked on a report of 32 runtimes against its memory table: as a global index it
    fits 2 of 32.
    """
    entry = runtime(counters([0] * 32), memory(models=[place], cores=32))
    record = minute_of(report(entry, neuron_hardware_info=hardware(16, 2)))
    assert [expected] == [core for core, state in enumerate(record.core_state) if state == "a"]


@pytest.mark.parametrize(
    "group", [None, memory({0: 1}, error="cannot read memory")], ids=["missing", "in error"]
)
def test_a_runtime_without_usable_memory_holds_every_core_it_lists(group):
    """Nothing says otherwise; cores it does not list stay free."""
    entry = runtime(counters({1: 0, 2: 0}), group)
    assert "uaau" == minute_of(report(entry)).core_state


GONE_RUNTIME = runtime(error="no such process")
IDLE_0, IDLE_1, BOTH = (
    runtime(IDLE_COUNTERS, memory(dict.fromkeys(on, 1))) for on in ([0], [1], [0, 1])
)
UNTOLD = runtime(IDLE_COUNTERS)
OTHER_1, OTHER_3 = (runtime(IDLE_COUNTERS, memory({core: 1}), pid=2) for core in (1, 3))
FAILED_MEMORY = runtime(IDLE_COUNTERS, memory({0: 1, 1: 1, 2: 1}, error="cannot read memory"))
LISTS_1 = runtime(counters({1: 0}))
OTHER_LISTS_3 = runtime(counters({3: 0}), pid=2)
SILENT = runtime(None, memory(error="x"))
OTHER_SILENT = runtime(counters([], error="x"), pid=2)


@pytest.mark.parametrize(
    ("states", "reports"),
    [
        # A runtime that let go of a core within the minute does not hold it.
        ("uauu", [[BOTH], [IDLE_1]]),
        # Where memory is due less often than counters, its last reading stands.
        ("uauu", [[IDLE_1], [UNTOLD], [UNTOLD]]),
        ("uauu", [[IDLE_1], None]),
        # So does that before a group that failed, whatever others reported since.
        ("auua", [[IDLE_0, OTHER_1], [FAILED_MEMORY, OTHER_3]]),
        ("auua", [[IDLE_0, OTHER_1], [FAILED_MEMORY, OTHER_3], [FAILED_MEMORY, OTHER_3]]),
        ("uuua", [[IDLE_0, OTHER_1], [FAILED_MEMORY, OTHER_3], [OTHER_3]]),
        ("auuu", [[IDLE_0], [FAILED_MEMORY]]),
        # Who appears after the last reading has none, and holds what it lists.
        ("uaua", [[IDLE_1], [UNTOLD, OTHER_LISTS_3]]),
        ("uauu", [[IDLE_1], [UNTOLD, OTHER_LISTS_3], [IDLE_1]]),
        # Who ended holds nothing, nor does no runtime once it is believed.
        ("uauu", [[IDLE_0, OTHER_1], [OTHER_1]]),
        ("uuuu", [[IDLE_0], [], []]),
        ("uuuu", [[LISTS_1], [], []]),
        # Where counters are due less often than lines, their last reading stands.
        ("uaua", [[LISTS_1, OTHER_LISTS_3], [SILENT, OTHER_SILENT]]),
        ("uauu", [[LISTS_1, OTHER_LISTS_3], [SILENT]]),
        ("auua", [[OTHER_LISTS_3], [IDLE_0, OTHER_SILENT]]),
        # What a runtime listed before it was gone is no evidence when it is back.
        (
            "uuua",
            [[LISTS_1, OTHER_3], [IDLE_0, OTHER_3], [GONE_RUNTIME, OTHER_3], [SILENT, OTHER_3]],
        ),
        # Without memory the exception is for the runtime, not for the report.
        ("auua", [[IDLE_0, OTHER_LISTS_3]]),
    ],
)
def test_the_last_report_that_had_the_group_decides(states, reports):
    """Per runtime: a minute without a list of runtimes says nothing of any."""
    documents = [report(neuron_runtime_data=entries) for entries in reports]
    assert states == minute_of(*documents).core_state


def test_a_memory_table_with_a_key_that_cannot_be_read_is_no_evidence():
    """The runtime holds every core that it lists: bytes may be on any of them."""
    group = memory()
    table_of(group)["nc1"] = {"tensors": 1}
    assert "aaaa" == minute_of(report(runtime(IDLE_COUNTERS, group))).core_state


LISTED_32 = counters([0] * 32)
TRN1 = hardware(16, 2)


def holding(pid, *cores, tag="1"):
    """A runtime with a byte on each of these cores."""
    return runtime(LISTED_32, memory(dict.fromkeys(cores, 1)), pid=pid, tag=tag)


def trn1(*runtimes, **members):
    """A report of 32 cores."""
    return report(*runtimes, **{"neuron_hardware_info": TRN1, **members})


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 99), st.lists(st.integers(0, 31), min_size=1, max_size=4, unique=True)
        ),
        max_size=12,
        unique_by=lambda one: one[0],
    )
)
def test_every_attached_idle_core_has_a_holder(entries):
    """Holders name no other core, at most eight stand in a record, and none is forgotten."""
    record = minute_of(*[trn1(*[holding(pid, *cores) for pid, cores in entries])] * 12)
    named = [core for holder in record.holders for core in core_indexes(holder.cores)]
    idle = {core for core, state in enumerate(record.core_state) if state == "a"}
    assert idle >= set(named)
    if not record.holders_more:
        assert idle == set(named)
    assert len(entries) == len(record.holders) + record.holders_more
    assert len(record.holders) <= MAX_HOLDERS


def test_the_most_idle_come_first():
    """By the longest idle of their idle cores, then by how many these are, then by pid."""
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
