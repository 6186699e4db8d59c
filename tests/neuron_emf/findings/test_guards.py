"""Instances that must never be stopped, and that each guard is needed for one of them."""

from __future__ import annotations

import json

import pytest

from neuron_emf.findings.facts import line_facts
from neuron_emf.findings.guards import GUARDS, PASSED, UNKNOWN
from tests.neuron_emf.findings.histories import (
    CORES,
    DENIED,
    HISTORIES,
    INSTANCE,
    MINUTE_MS,
    START_MS,
    TYPE,
    cores,
    idle_minute,
    idle_world,
    rollup,
)

MANY = 40
BY_GROUP = (
    f"aws autoscaling terminate-instance-in-auto-scaling-group --instance-id {INSTANCE} "
    "--should-decrement-desired-capacity"
)


def spoilt(name):
    """The world of a history."""
    world = idle_world()
    HISTORIES[name].spoil(world)
    return world


def test_the_base_of_all_histories_may_be_stopped():
    """Else each of them would be held back by what it has in common, and show nothing."""
    found = idle_world().verdict()
    assert [] == found.held_back_by
    assert found.is_stoppable


@pytest.mark.parametrize("name", HISTORIES)
def test_a_history_is_held_back_by_the_guards_that_see_it(name):
    """By these and no others, with no command to type."""
    found = spoilt(name).verdict()
    assert HISTORIES[name].held_back_by.split() == found.held_back_by
    assert (False, None) == (found.is_stoppable, found.command)


def test_what_was_found_is_said(golden, repository):
    """Of each history, by the guards that hold it back; read in review."""
    lines = [
        f"{name}: {guard.name} {judgement.state}: {judgement.value}\n"
        for name in HISTORIES
        for guard, judgement in spoilt(name).verdict().judgements
        if judgement.state != PASSED
    ]
    lines += [
        f"{guard.name} {judgement.state}: {judgement.value}\n"
        for guard, judgement in idle_world().verdict().judgements
    ]
    golden(repository / "tests/data/shown/guards.txt", "".join(lines))


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_without_a_guard_an_instance_would_be_stopped(guard):
    """Take any guard away, and at least one of the histories may wrongly be stopped."""
    others = [one for one in GUARDS if one is not guard]
    wrong = [name for name in HISTORIES if spoilt(name).verdict(others).is_stoppable]
    assert wrong
    assert {guard.name} == {HISTORIES[name].held_back_by for name in wrong}


def test_there_are_many_histories():
    """Each spoils the base in another way."""
    assert MANY <= len(HISTORIES)


@pytest.mark.parametrize(
    "part",
    ["ec2", "has_stop_protection", "has_termination_protection", "has_instance_store", "group",
     "ecs_clusters", "sessions"],
)  # fmt: skip
def test_what_the_account_does_not_tell_is_unknown_and_says_why(part):
    """Not failed, which would claim to know; never passed."""
    world = idle_world()
    world.told(**{part: DENIED})
    states = [found for _, found in world.verdict().judgements if found.state == UNKNOWN]
    assert states
    assert {DENIED.why} == {found.value for found in states}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"paid": "avoidable"}, "avoidable: avoidable"),
        ({"lifecycle": "spot"}, "spot: avoidable"),
        ({"lifecycle": None}, f"{TYPE}: avoidable"),
        ({"lifecycle": None, "instance_type": None}, "not told: avoidable"),
    ],
)
def test_how_an_instance_is_paid_is_said(changes, said):
    """By what decides it."""
    world = idle_world()
    world.minutes(0, **changes)
    found = {guard.name: judgement for guard, judgement in world.verdict().judgements}
    assert said == found["not-sunk"].value


def test_copies_and_order_of_lines_change_nothing():
    """Lines are delivered at least once, and in any order."""
    world = idle_world()
    world.records = [*reversed(world.records), *world.records[:30]]
    assert world.verdict().is_stoppable


def test_the_bounds_are_as_they_are_told():
    """Five minutes old, 45 seconds, under 5 percent, 95 percent, under half: all of them pass."""
    world = idle_world()
    world.now_ms += 4 * MINUTE_MS
    world.minutes(0, covered_seconds=45.0, readings={"HostCpuPercent": 4.999})
    world.minutes(59, idle_minutes=(60,) * CORES)
    world.cluster(0, CoveragePercent=95)
    world.cluster(40, BusyCores=1)
    world.group(desired=3)
    world.ec2(launched_ms=START_MS)
    assert [] == world.verdict().held_back_by


def test_a_clock_may_be_a_minute_behind():
    """Of whoever asks; not a moment more."""
    world = idle_world()
    world.now_ms = START_MS + 59 * MINUTE_MS
    assert [] == world.verdict().held_back_by
    world.now_ms -= 1
    assert ["newest-line"] == world.verdict().held_back_by


def test_the_hour_and_the_cluster_alone_are_looked_at():
    """Not what was before it, not another cluster, and no line that is no rollup."""
    world = idle_world()
    before = range(-5, 0)
    world.records = [*(idle_minute(at, **cores("b")) for at in before), *world.records]
    others = [rollup(at, ClusterName="other", BusyCores=192 * (at < 30)) for at in range(58)]
    full = [rollup(at, BusyCores=192) for at in before]
    other_kind = rollup(3, Kind="other", Publication=9, BusyCores=192)
    world.rollups = [*full, "no rollup", *others, *world.rollups, other_kind]
    assert [] == world.verdict().held_back_by


def test_a_line_that_is_no_json_is_left_out():
    """Nor one that is nested without an end."""
    world = idle_world()
    texts = ["{", "[" * 100_000, json.dumps(world.rollups[0])]
    found = line_facts(world.lines, texts, INSTANCE, world.now_ms, {})
    assert 1 == len(found.cluster_minutes)


def test_rollups_may_be_missing_for_ten_minutes():
    """Between two of them; and coverage is that of the last twenty minutes."""
    world = idle_world()
    del world.rollups[20:29]
    assert [] == world.verdict().held_back_by
    world = idle_world()
    del world.rollups[42:]
    assert ["no-fleet-change"] == world.verdict().held_back_by
    del world.rollups[41:]
    assert ["coverage", "no-fleet-change"] == world.verdict().held_back_by


@pytest.mark.parametrize("is_late", [False, True])
def test_a_rollup_that_was_published_again_counts_once(is_late):
    """As it was published last, in whatever order both are read."""
    world = idle_world()
    again = [{**one, "Publication": 2, "CoveragePercent": 50} for one in world.rollups[-1:]]
    world.rollups = world.rollups + again if is_late else again + world.rollups
    assert ["coverage"] == world.verdict().held_back_by


@pytest.mark.parametrize(
    ("busy", "said"),
    [
        ((192, 0), "100 % of its cores until 2025-11-20 08:40 UTC"),
        ((96, 0), "50 % of its cores until 2025-11-20 08:40 UTC"),
        ((96, 4), "at most 48 % of its cores"),
        ((96, 15), "at most 42 % of its cores"),
        ((0, 96), "at most 0 % of its cores"),
    ],
)
def test_half_a_cluster_that_turns_idle_is_told_and_one_that_begins_to_work_is_not(busy, said):
    """With the minute until which it did."""
    world = idle_world()
    world.cluster(0, 40, BusyCores=busy[0])
    world.cluster(40, BusyCores=busy[1])
    found = {guard.name: judgement for guard, judgement in world.verdict().judgements}
    assert said == found["no-fleet-change"].value


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, f"{BY_GROUP} --region us-west-2"),
        ({"group": None}, f"aws ec2 stop-instances --instance-ids {INSTANCE} --region us-west-2"),
    ],
)
def test_the_command_gives_the_instance_back_for_good(change, words):
    """A group would replace a stopped instance."""
    world = idle_world()
    world.told(**change)
    assert words == world.verdict().command


def test_a_spot_instance_is_terminated():
    """EC2 does not stop one that was asked for once."""
    world = idle_world()
    world.told(group=None)
    world.ec2(lifecycle="spot")
    assert "aws ec2 terminate-instances" in world.verdict().command
