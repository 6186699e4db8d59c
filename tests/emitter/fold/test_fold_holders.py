"""Who holds the cores that are attached idle."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from neuron_reports import (
    START_S,
    add,
    closed,
    counters,
    hardware,
    kubernetes,
    memory,
    minute_of,
    new_fold,
    report,
    runtime,
)

from neuron_wire.cores import core_indexes
from neuron_wire.holders import MAX_HOLDERS, Holder

LISTED = counters([0] * 32)
TRN1 = hardware(16, 2)


def holding(pid, *cores, tag="1"):
    """A runtime with a byte on each of these cores."""
    return runtime(LISTED, memory(dict.fromkeys(cores, 1)), pid=pid, tag=tag)


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
    named = [core for one in record.holders for core in core_indexes(one.cores)]
    idle = {core for core, state in enumerate(record.core_state) if state == "a"}
    assert idle >= set(named)
    if not record.holders_more:
        assert idle == set(named)
    assert len(entries) == len(record.holders) + record.holders_more
    assert len(record.holders) <= MAX_HOLDERS


def test_a_holder_has_cores_pid_tag_and_owner():
    """One runtime without use on cores 0 to 7 and 12."""
    pods = kubernetes(dict.fromkeys(range(8), "blue/pod-1"))
    record = minute_of(trn1(holding(7, *range(8), 12, tag="train"), neuron_k8s_info=pods))
    assert (Holder("0-7,12", "blue/pod-1/main", 7, "train", team="blue"),) == record.holders


def test_a_busy_core_has_no_holder():
    """Holders are about waste."""
    working = runtime(counters([50, 0, 0, 0]), memory({0: 1, 1: 1}), pid=7, tag="1")
    assert (Holder("1", None, 7, "1"),) == minute_of(report(working)).holders


def test_low_use_is_held_by_the_runtime_that_used_the_core():
    """Half a percent is not busy; without bytes on the core it is the evidence itself."""
    low = runtime(counters([0.5, 0, 0, 0]), memory(), pid=7, tag="1")
    other = runtime(counters([0, 0, 0, 0]), memory(), pid=8, tag="1")
    assert (Holder("0", None, 7, "1"),) == minute_of(report(low, other)).holders


def test_the_most_idle_come_first():
    """By the longest idle of their idle cores, then by how many these are, then by pid."""
    fold = new_fold()
    for minute, runtimes in enumerate(
        ([holding(30, 5)], [holding(30, 5), holding(20, 1), holding(10, 2, 3), holding(9, 8, 9)])
    ):
        for second in range(0, 60, 5):
            add(fold, trn1(*runtimes), START_S + 60 * minute + second)
        busy = [50 if core in {1, 2, 3, 8, 9} else 0 for core in range(32)]
        if minute == 0:
            add(fold, trn1(holding(30, 5), runtime(counters(busy), pid=99)), START_S + 59)
        record = closed(fold)
    assert [30, 9, 10, 20] == [one.pid for one in record.holders]


def test_holders_alike_come_by_pid_then_tag():
    """A runtime of which no pid is known comes before those of one."""
    entries = [
        holding(7, 4, tag="b"),
        holding(7, 3, tag="a"),
        holding(1, 2, tag="a"),
        holding(None, 1, tag="z"),
    ]
    record = minute_of(trn1(*entries))
    assert [(None, "z"), (1, "a"), (7, "a"), (7, "b")] == [
        (one.pid, one.tag) for one in record.holders
    ]
