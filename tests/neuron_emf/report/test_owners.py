"""Whose an idle core is."""

from __future__ import annotations

from neuron_emf.report.owners import NOBODY, NOT_TOLD, IdleOwner, OwnerKind
from neuron_wire.holders import Holder
from tests.neuron_emf.report.minutes import HOLDERS, counted, minute, the_one


def test_the_owner_is_who_holds_the_core():
    """
    By name, else by tag, else as a process; the first that the line names, where two hold one.
    """
    counting = counted(minute(state="aaaaau", holders=HOLDERS))
    assert {
        ("research", IdleOwner(OwnerKind.NAMED, "ml/llama-0")): 2,
        ("research", IdleOwner(OwnerKind.TAG, "eval")): 1,
        ("research", IdleOwner(OwnerKind.PROCESS)): 1,
        ("research", NOT_TOLD): 1,
        ("research", NOBODY): 1,
    } == {key: one.idle.core_minutes for key, one in counting.owners.items()}


def test_an_owner_is_one_on_all_its_instances():
    """A job of many hosts is one row; in another cluster the same name is another's."""
    holders = (Holder("0-3", "ml/llama-0", 41, "serve"),)
    counting = counted(
        *(minute(0, holders=holders, instance=f"i-{n}") for n in range(3)),
        minute(0, holders=holders, instance="i-9", cluster="serving"),
    )
    found = counting.owners["research", IdleOwner(OwnerKind.NAMED, "ml/llama-0")]
    assert (12, {"i-0", "i-1", "i-2"}) == (found.idle.core_minutes, found.instances)
    assert 2 == len(counting.owners)


def test_cores_of_a_holder_that_cannot_be_read_are_not_told():
    """A foreign line costs a name, not the count."""
    counting = counted(minute(state="aa", holders=(Holder("9-1", "ml/x"),)))
    assert [("research", NOT_TOLD)] == list(counting.owners)


def test_a_core_remembers_its_longest_time_and_its_last_owner():
    """For the list of the worst."""
    first, second = (Holder("0", "ml/a", 1), Holder("0", "ml/b", 2))
    found = the_one(
        counted(minute(1, "a", (16,), holders=(second,)), minute(0, "a", (90,), holders=(first,)))
    )
    core = found.by_core[0]
    assert (90, "ml/b", 2) == (core.longest_minutes, core.owner.name, core.amount.core_minutes)
