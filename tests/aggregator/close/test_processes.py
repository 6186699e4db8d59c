"""Minutes are the same for any number of processes, even if some of the processes end."""

from __future__ import annotations

import multiprocessing
import os
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.environment import Rules
from aggregator.reading.workers import ProcessLostError
from aggregator.storage.record_items import TABLE_BUCKETS
from aggregator.storage.values import TableError
from proof.factories.records import record
from tests.aggregator.close.test_exactness import compare
from tests.aggregator.cluster_world import ONE_EACH, WORLD_FATES, FragileTable, live_through
from tests.aggregator.memory_stack import MINUTE_END_S, MemoryStack

PROCESS_ENDS = ("killed", "memory", "pipe")
FORKED_FATES = st.builds(
    lambda fate, **more: fate | more,
    WORLD_FATES,
    what=st.sampled_from(["deliver", "close"]),
    processes=st.integers(1, 4),
    lost=st.none() | st.tuples(st.sampled_from(PROCESS_ENDS), st.integers(0, 40)),
)


def gone():
    """Return True if this process has no child of its own group, not even a dead child."""
    try:
        os.waitpid(0, os.WNOHANG)
    except ChildProcessError:
        return not multiprocessing.active_children()
    return False


def reported(max_clusters=7):
    """Return a stack to which 40 instances of seven clusters have reported a minute."""
    stack = MemoryStack(Rules(max_clusters=max_clusters))
    stack.close(MINUTE_END_S - 10)
    stack.deliver(
        MINUTE_END_S + 5,
        *(record(instance_id=f"i-{n}", cluster=f"cluster-{n % 7}") for n in range(40)),
    )
    return stack


def closed(processes, *, stack=None, connect=None, **options):
    """Close a minute with *processes* processes; return the stack and the outcome."""
    stack = stack or reported()
    connects = connect and (lambda: connect(stack.table))
    outcome = stack.close(MINUTE_END_S + 50, processes=processes, connect=connects, **options)
    return stack, outcome


def remembered(stack):
    """Return the registry without its empty buckets."""
    read = {bucket: zlib.decompress(packed) for bucket, packed in stack.table.registry.items()}
    return {bucket: text for bucket, text in read.items() if text != b"{}"}


@pytest.mark.parametrize("max_clusters", [3, 7])
def test_the_same_lines_and_the_same_registry_from_any_number_of_processes(max_clusters):
    """Lines and registry are equal byte for byte, even if some new clusters have no room."""
    alone, outcome = closed(1, stack=reported(max_clusters))
    assert max_clusters == outcome.lines_printed
    for processes in (2, 3, 6):
        together, same = closed(processes, stack=reported(max_clusters))
        assert alone.printed == together.printed
        assert remembered(alone) == remembered(together)
        assert outcome.records_refused == same.records_refused
        assert gone()


@settings(max_examples=25)
@given(ONE_EACH, st.lists(FORKED_FATES, min_size=2, max_size=8))
def test_a_process_that_ends_loses_nothing_and_doubles_nothing(records, fates):
    """
    If a forked process ends at any bucket, its run fails, and the next run prints exact lines.
    """
    world = live_through(records, fates)
    compare(world, records, may_overstate=False)
    assert gone()


@pytest.mark.parametrize("how", PROCESS_ENDS)
def test_a_run_ends_with_the_process_it_lost(how):
    """A run that lost a process prints nothing, saves nothing and releases its lease."""

    def connect(table):
        return FragileTable(table, how, lambda _, bucket: bucket == TABLE_BUCKETS - 1)

    stack = reported()
    before = stack.table.progress
    with pytest.raises(ProcessLostError, match="one of 2 processes"):
        closed(2, stack=stack, connect=connect)
    assert [] == stack.printed
    assert before == stack.table.progress
    assert {} == stack.table.registry
    assert stack.table.lease is None
    assert gone()
    assert closed(1)[0].printed == closed(2, stack=stack)[0].printed


def test_a_process_that_does_not_answer_is_not_waited_for_beyond_the_run():
    """
    A run stops waiting for a process before Lambda would kill the run together with its lease.
    """

    def connect(table):
        return FragileTable(table, "silent", lambda _, bucket: bucket == 1)

    with pytest.raises(ProcessLostError, match="of 2 processes did not finish"):
        closed(2, connect=connect, remaining_s=lambda: 5.5)
    assert gone()


def test_what_the_table_refuses_a_process_it_refuses_the_run():
    """If the table refuses a request of a process, the run fails with the table's message."""
    with pytest.raises(TableError, match="the table is busy"):
        closed(3, connect=lambda table: FragileTable(table, "refused", lambda _, bucket: bucket))
    assert gone()


def test_nobody_waits_for_processes_that_outlive_the_one_that_forked_them():
    """Processes end after the process that forked them was killed."""
    reads, writes = os.pipe()
    if not os.fork():
        connect = lambda table: FragileTable(table, "orphan", lambda *_: True)  # noqa: E731
        os.close(reads)
        closed(3, connect=connect)
        os._exit(0)
    os.close(writes)
    os.wait()
    # The pipe reaches its end after every process that holds its other end is gone.
    assert b"" == os.read(reads, 1)
    os.close(reads)
