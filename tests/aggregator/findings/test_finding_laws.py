"""
Each step of a finding is sent, with equal copies, whatever happens to records, runs and the bus.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.environment import Rules
from aggregator.findings.instance_findings import InstanceFindings
from aggregator.findings.outbox import StackLogGroups
from aggregator.storage.record_items import TABLE_BUCKETS, bucket_of
from neuron_accounts.findings import FindingKey, FindingsState, OpenFinding, finding_id
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
from tests.aggregator.findings.findings_fleet import NOTHING_RAN

LATE_FLEET_RULES = Rules(idle_after_minutes=5)
LATE_FLEET_MINUTES = 40
RESTART = 20
LAST_RUNS = 12
LATE = 0.02
TWICE = 0.02
HALVES = 0.05
FAULTY = 0.05
MISSING = 0.01
KILLED = 0.3
MEETS = 0.05


@dataclass
class History:
    """
    The deliveries to a fleet and the findings about it.

    Attributes:
        world: The table, the clock and the sent events.

        faults: Faults in delivered lines, by cluster and instance.

        sent: Faults in events, by cluster and instance.

        owners: Number of findings of each owner; all owners hold idle cores to the end.
    """

    world: ClusterWorld
    faults: Counter = field(default_factory=Counter)
    sent: Counter = field(default_factory=Counter)
    owners: Counter = field(default_factory=Counter)


def lived(seed: int) -> History:
    """
    Run two clusters of working instances and of instances whose owners hold idle cores to the end.

    Close runs at a second at which it reads a minute twice before its grace is over.
    """
    draw = random.Random(seed)
    history = History(ClusterWorld(MINUTE * 60 + draw.uniform(45, 60), LATE_FLEET_RULES))
    world = history.world
    world.close()
    deliveries = sorted(_deliveries(draw, history), key=lambda delivery: -delivery[0])
    for now_s in [world.now_s + 60 * number for number in range(1, LATE_FLEET_MINUTES + LAST_RUNS)]:
        while deliveries and deliveries[-1][0] <= now_s:
            world.now_s, line = deliveries.pop()
            world.deliver([line])
        world.now_s = now_s
        _run(world, draw)
    world.settle()
    last = {event["Id"]: event for event in sorted(world.sent, key=itemgetter("Step"))}
    for last_event in last.values():
        if last_event["Kind"] == "hardware-fault":
            history.sent[last_event["ClusterName"], last_event["InstanceId"]] += last_event[
                "Faults"
            ]
        elif "Owner" in last_event:
            history.owners[last_event["ClusterName"], last_event["Owner"]] += 1
    return history


def _deliveries(draw, history):
    """Yield each line with the time of its delivery."""
    for number in range(draw.randint(4, 20)):
        is_alone = number == 0  # A cluster of one idle instance: in its gaps no instance reports.
        cluster = "alone" if is_alone else f"c{number % 2}"
        is_idle = is_alone or draw.random() < 0.5
        silent_until = -1
        for minute in range(LATE_FLEET_MINUTES):
            if draw.random() < MISSING:  # for at most 4 minutes, which is less than silence
                silent_until = minute + draw.randint(0, 3)
            is_restarting = is_alone and minute == RESTART + 1
            if (is_idle and minute <= silent_until) or is_restarting:
                continue
            is_clean_shutdown = is_alone and minute == RESTART
            for line in _lines(
                draw,
                cluster,
                f"i-{number}",
                minute,
                is_idle=is_idle,
                is_clean_shutdown=is_clean_shutdown,
            ):
                is_late = draw.random() < LATE
                delay_s = draw.uniform(60, 600) if is_late else draw.uniform(5, 35)
                faults = line.readings["HardwareFaults"] + line.ecc_uncorrected_rise
                if faults:
                    history.faults[line.cluster, line.instance_id] += faults
                for copy in range(1 + (draw.random() < TWICE)):
                    yield (MINUTE + minute + 1) * 60 + delay_s + 30 * copy, line


def _lines(draw, cluster, instance_id, minute, *, is_idle, is_clean_shutdown):
    """Yield the line of one minute, or both lines if the emitter restarted in it."""
    halves = 1 + (draw.random() < HALVES)
    for half in range(halves):
        faults = draw.randint(1, 3) if draw.random() < FAULTY else 0
        kernels = draw.choice((0, faults))
        yield record(
            cluster=cluster,
            instance_id=instance_id,
            minute=MINUTE + minute,
            is_clean_shutdown=is_clean_shutdown,
            boot=f"{halves}{half}{minute if halves > 1 else 0}",
            seq=minute + 1,
            covered_seconds=60.0 / halves,
            core_state="aa" if is_idle else "bb",
            utilization_percent=(0.0, 0.0) if is_idle else (80.0, 80.0),
            idle_minutes=(minute + 3,) * 2 if is_idle else (0, 0),
            executions=None,
            execution_errors=None,
            owners=(Owner("0-1", instance_id if is_idle else "works"),),
            readings={"HardwareFaults": kernels},
            ecc_uncorrected_rise=faults - kernels,
        )


def _run(world, draw):
    """Run close once; it may die at any call, or lose its lease to another run."""

    def meets():
        world.table.lease = None
        world.close()

    fate = draw.random()
    if fate < KILLED:
        world.close(killed_at=draw.randint(1, 250), after=draw.random() < 0.5)
    elif fate < KILLED + MEETS:
        world.close(meets_at=draw.randint(2, 250), meets=meets)
    else:
        world.close()


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
    findings = InstanceFindings(states, LAW_RULES, StackLogGroups("", ""))
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
