"""
Each step of a finding is sent, with equal copies, whatever happens to records, runs and the bus.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.environment import Rules
from aggregator.findings.instance_findings import InstanceFindings
from aggregator.findings.outbox import StackLogGroups
from aggregator.storage.record_items import TABLE_BUCKETS, bucket_of
from neuron_accounts.findings import FindingKey, FindingsState, OpenFinding, finding_id
from neuron_accounts.prices import Prices
from neuron_wire.merging import merge_records
from neuron_wire.owners import Owner
from proof.factories.records import MINUTE, record
from tests.aggregator.cluster_world import (
    WORLD_FATES,
    ClusterWorld,
    live_through,
    minute_records,
    universes,
)
from tests.aggregator.findings.findings_fleet import NOTHING_RAN, held
from tests.aggregator.findings.late_fleet import lived

LAW_RULES = Rules(idle_after_minutes=12, silent_after_minutes=2)


OWNED_RECORDS = minute_records().map(
    lambda record: replace(record, owners=(Owner("0", "slurm:7 ann"),) if record.core_state else ())
)


@settings(max_examples=150)
@given(universes(OWNED_RECORDS), st.lists(WORLD_FATES, max_size=8))
def test_each_step_is_sent_and_a_copy_is_the_same(records, fates):
    """
    Each step is sent, its copies are equal, and the last sent steps are the open findings.

    Records are redelivered and restated, runs are killed at any call, and two runs overlap.
    """
    holds_for(live_through(records, fates, LAW_RULES))


@pytest.mark.parametrize("after", [False, True])
def test_a_run_may_be_killed_at_each_of_its_calls(after):
    """
    A run may be killed after each of its calls: if the bus has accepted an event, it gets a copy.
    """
    copies = 0
    for killed_at in range(1, 200):
        world = ClusterWorld(MINUTE * 60.0, LAW_RULES)
        world.close()
        world.now_s += 66
        world.deliver([held("aa", (20, 20))()])
        world.now_s += 60
        is_over = world.close(killed_at=killed_at, after=after) is not None
        world.now_s += 60
        world.settle()
        holds_for(world)
        assert {"idle-instance", "idle-owner"} <= {event["Kind"] for event in world.sent}
        copies += len(world.sent) - len({(event["Id"], event["Step"]) for event in world.sent})
        if is_over:
            break
    assert is_over
    assert copies > 0


@pytest.mark.parametrize("seed", range(12))
def test_minutes_out_of_order_lose_no_fault_and_reopen_nothing(seed):
    """
    Each fault of a delivered line is sent once, and an owner that is always idle has one finding.

    Lines come late, in halves, twice or never; runs die, overlap or come too late.
    """
    history = lived(seed)
    holds_for(history.world)
    assert history.faults == history.sent
    assert set(history.owners.values()) <= {1}


def holds_for(world):
    """Check the laws of this module."""
    steps = defaultdict(dict)
    for event in world.sent:
        before = steps[event["Id"]].setdefault(event["Step"], event)
        assert before == event
    states = [FindingsState.unpacked(finding.payload) for finding in world.table.findings.values()]
    assert [] == [event for state in states for event in state.due]
    for of_one in steps.values():
        assert list(range(1, len(of_one) + 1)) == sorted(of_one)
        ordered = [of_one[step] for step in sorted(of_one)]
        assert "opened" == ordered[0]["Change"]
        assert all("closed" != event["Change"] for event in ordered[:-1])
        # faults of late minutes are sent after newer ones
        if ordered[0]["Kind"] != "hardware-fault":
            assert all(before["Minute"] < after["Minute"] for before, after in pairwise(ordered))
    is_open = {
        finding_id(key, finding.opened): finding.step
        for state in states
        for key, finding in state.findings.items()
    }
    last = {name: max(of_one) for name, of_one in steps.items()}
    assert is_open == {
        name: step for name, step in last.items() if steps[name][step]["Change"] != "closed"
    }


@settings(max_examples=300)
@given(
    st.text("au?", min_size=1, max_size=6).filter(lambda state: "?" in state),
    st.booleans(),
    st.integers(0, 10_000),
)
def test_an_instance_with_an_unknown_core_neither_opens_nor_closes(state, is_open, idle_minutes):
    """
    An instance with an unknown core neither opens nor closes a finding, however long its other
    cores are idle.
    """
    states = {bucket: FindingsState() for bucket in range(TABLE_BUCKETS)}
    key = FindingKey("training", "idle-instance", "i-1")
    if is_open:
        states[bucket_of("i-1")].findings[key] = OpenFinding(MINUTE, MINUTE - 20, 1, 0, MINUTE)
    findings = InstanceFindings(states, LAW_RULES, Prices(), StackLogGroups("", ""))
    findings.begin_minute(MINUTE + 1, MINUTE)
    findings.draft_instance(
        merge_records(
            [
                record(
                    instance_id="i-1",
                    core_state=state,
                    idle_minutes=(idle_minutes,) * len(state),
                    utilization_percent=tuple(None if letter == "?" else 0.0 for letter in state),
                    **NOTHING_RAN,
                )
            ]
        )
    )
    findings.keep_drafts({})
    assert [] == list(findings.packed_buckets())
