"""Whose an idle core is."""

from __future__ import annotations

import pytest

from neuron_emf.owners import UNALLOCATED, CoreOwner
from neuron_wire.holders import Holder
from neuron_wire.names import NOT_TOLD_OWNER
from neuron_wire.owners import Owner
from neuron_wire.teams import team_rules
from tests.neuron_emf.report.minutes import HOLDERS, counted, minute, the_one


def owned(counting):
    """Core minutes by name of their owner."""
    return {owner.name: one.idle.core_minutes for (_, owner), one in counting.owners.items()}


def test_the_owner_is_who_holds_the_core():
    """
    By the line's owners: a name, a process without one, those that the line had no room for;
    and nobody, of cores that nobody holds.
    """
    owners = (Owner("0-1", "ml/llama-0", "ml"), Owner("2", "[unnamed]"))
    counting = counted(
        minute(state="aaaaau", owners=owners, owners_more="3", holders=(Holder("4", "older"),))
    )
    told = {"ml/llama-0": 2, "[unnamed]": 1, "[others]": 1, "[not told]": 1, "[unallocated]": 1}
    assert told == owned(counting)
    assert ("research", CoreOwner("ml/llama-0", "ml")) in counting.owners


@pytest.mark.parametrize(("more", "word"), [(0, NOT_TOLD_OWNER), (2, "[others]")])
def test_a_line_of_an_older_emitter_names_who_holds_idle_cores(more, word):
    """A core that two hold is split evenly; of one that no holder has nobody told."""
    found = owned(counted(minute(state="aaaaau", holders=HOLDERS, holders_more=more)))
    assert {"ml/llama-0": 1.5, "[unnamed]": 2.5, word: 1, "[unallocated]": 1} == found


def test_a_core_that_three_hold_is_split_to_the_last_millionth():
    """What is left goes to the first by name."""
    owners = tuple(Owner("0", name) for name in "cab")
    found = owned(counted(minute(state="a", owners=owners)))
    assert {"a": 0.333334, "b": 0.333333, "c": 0.333333} == found


def test_an_owner_is_one_on_all_its_instances():
    """A job of many hosts is one row; in another cluster the same name is another's."""
    owners = (Owner("0-3", "ml/llama-0"),)
    counting = counted(
        *(minute(0, owners=owners, instance=f"i-{n}") for n in range(3)),
        minute(0, owners=owners, instance="i-9", cluster="serving"),
    )
    found = counting.owners["research", CoreOwner("ml/llama-0")]
    assert (12, {"i-0", "i-1", "i-2"}) == (found.idle.core_minutes, found.instances)
    assert 2 == len(counting.owners)


def test_a_rule_says_the_team_before_the_scheduler():
    """The first that matches; what nobody holds has none unless a rule names it."""
    owners = (Owner("0", "ml/a", "told"), Owner("1", "slurm:1 ada", "told"))
    rules = team_rules("research|slurm:*=first,*|*=second")
    counting = counted(minute(state="aau", owners=owners), teams=rules)
    assert {
        CoreOwner("ml/a", "second"),
        CoreOwner("slurm:1 ada", "first"),
        UNALLOCATED,
    } == {owner for _, owner in counting.owners}
    plain = counted(minute(state="aau", owners=owners))
    assert {"told", None} == {owner.team for _, owner in plain.owners}


def test_cores_of_a_holder_that_cannot_be_read_are_not_told():
    """A foreign line costs a name, not the count."""
    counting = counted(minute(state="aa", holders=(Holder("9-1", "ml/x"),)))
    assert {NOT_TOLD_OWNER: 2} == owned(counting)


def test_a_core_remembers_its_longest_time_and_its_last_owners():
    """For the list of the worst."""
    first, second = (Owner("0", "ml/a"),), (Owner("0", "ml/b"), Owner("0", "ml/c"))
    found = the_one(
        counted(minute(1, "a", (16,), owners=second), minute(0, "a", (90,), owners=first))
    )
    core = found.by_core[0]
    assert (90, ["ml/b", "ml/c"], 2) == (
        core.longest_minutes,
        [owner.name for owner in core.owners],
        core.amount.core_minutes,
    )
