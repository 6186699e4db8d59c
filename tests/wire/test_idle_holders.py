"""Who holds the idle cores of a minute that several records tell."""

from __future__ import annotations

import pytest

from neuron_wire.holders import Holder, holders_of
from neuron_wire.merging import merge_records
from proof.factories.records import record


def holding(seconds, state, *holders, **changes):
    """A part of the minute with these letters and holders."""
    return record(
        covered_seconds=seconds,
        core_state=state,
        utilization_percent=tuple(None if letter == "?" else 0.0 for letter in state),
        idle_minutes=changes.pop("idle_minutes", (20,) * len(state)),
        holders=holders,
        **changes,
    )


def restarted(state, holders, then_state, *then_holders):
    """The minute of two parts of 30 s each."""
    parts = [holding(30.0, state, *holders), holding(30.0, then_state, *then_holders, seq=2)]
    return merge_records(parts).record


def test_the_holder_of_a_core_comes_from_the_part_that_its_letter_comes_from():
    """After a restart the emitter knew only core 1 again: core 0 is still held by whom it was."""
    merged = restarted("aa", [Holder("0-1", "ml/old", 1, "x")], "?a", Holder("1", "ml/new", 2, "y"))
    assert "aa" == merged.core_state
    assert (Holder("0", "ml/old", 1, "x"), Holder("1", "ml/new", 2, "y")) == merged.holders


def test_a_core_that_was_let_go_has_no_holder():
    """The later part says unattached; who held it before is no news."""
    merged = restarted("a", [Holder("0", "ml/old")], "u")
    assert ("u", (), 0) == (merged.core_state, merged.holders, merged.holders_more)


def test_a_runtime_that_two_parts_name_is_one_holder():
    """With the cores of both, and the name that only one of them knew."""
    known = Holder("0-1", "ml/llama", 7, "serve")
    merged = restarted("aa", [known], "?a", Holder("1", None, 7, "serve"))
    assert (Holder("0-1", "ml/llama", 7, "serve"),) == merged.holders


@pytest.mark.parametrize(
    "other", [Holder("1", "n", 8, "serve"), Holder("1", "n", 7, "train"), Holder("1", "n", 7)]
)
def test_neither_pid_nor_tag_alone_is_one_holder(other):
    """Tags collide, and a pod has several processes."""
    merged = restarted("aa", [Holder("0-1", "n", 7, "serve")], "?a", other)
    assert {Holder("0", "n", 7, "serve"), other} == set(merged.holders)


def test_without_pid_and_tag_the_name_tells_holders_apart():
    """A reader of a later release may know nothing else."""
    merged = restarted("aaa", [Holder("0", "a"), Holder("1-2", "b")], "??a", Holder("2", "b"))
    assert {Holder("0", "a"), Holder("1-2", "b")} == set(merged.holders)


def test_merged_holders_are_the_most_idle_eight():
    """By minutes, then by cores; the ninth and tenth are counted."""
    first = [Holder(str(core), f"n{core}", core) for core in range(8)]
    then = Holder("8-9", "late", 88), Holder("10", "last", 99)
    idle = {"idle_minutes": tuple(range(11))}
    parts = [
        holding(30.0, "a" * 11, *first, holders_more=1, **idle),
        holding(30.0, "?" * 8 + "aaa", *then, seq=2, **idle),
    ]
    merged = merge_records(parts).record
    expected = "last late n7 n6 n5 n4 n3 n2"
    assert expected.split() == [holder.name for holder in merged.holders]
    assert 1 + 2 == merged.holders_more


def test_holders_of_cores_that_are_idle_alike_come_by_cores_then_pid_tag_and_name():
    """The same order every time, and a runtime of which no pid is known before those of one."""
    listed = [
        Holder("0", "z", 5, "t"), Holder("1-2", "y", 9, "t"), Holder("3", "x", 4, "u"),
        Holder("4", "w", 4, "t"), Holder("5", "b"), Holder("6", "a"), Holder("7", "v", 1, "t"),
        Holder("8", "c", None, "zz"),
    ]  # fmt: skip
    merged = restarted("a" * 9, listed, "?" * 9)
    assert ["y", "a", "b", "c", "v", "w", "x", "z"] == [holder.name for holder in merged.holders]
    assert 0 == merged.holders_more


def test_a_holder_whose_cores_cannot_be_read_is_one_more():
    """Only an emitter that is not ours writes such a text; the minute counts all the same."""
    merged = restarted("aa", [Holder("9-3", "odd")], "?a")
    assert ((), 1) == (merged.holders, merged.holders_more)
    said = ((Holder("9-3", "odd"), Holder("0", "fine")), 0)
    assert ([Holder("0", "fine")], 1) == holders_of(said, {0, 1})


def test_cores_that_are_not_attached_idle_have_no_holder():
    """Whatever the text of a holder says: who keeps a core busy holds no idle one."""
    merged = restarted("abu", [Holder("0-2", "ml/llama")], "???")
    assert (Holder("0", "ml/llama"),) == merged.holders


def test_holders_beyond_those_named_are_at_least_what_one_part_says():
    """Three that the first part does not name and two that the second does not may be the same."""
    parts = [holding(30.0, "aa", holders_more=3), holding(30.0, "?a", seq=2, holders_more=2)]
    assert ((), 3) == (
        merge_records(parts).record.holders,
        merge_records(parts).record.holders_more,
    )
