"""Holders of attached-idle cores. An unreadable holder never costs the minute."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_wire import MinuteRecord, WireFormatError, encode, parse
from neuron_wire.core_members import core_indexes, core_ranges
from neuron_wire.holders import MAX_COMMAND_CHARS, MAX_HOLDER_NAME_CHARS, MAX_HOLDERS, Holder
from neuron_wire.merging import merge_records
from neuron_wire.names import MAX_CORES
from proof.factories.records import record
from tests.neuron_wire.wire_records import WIRE_MINUTE_MS, line_of

TWO_CORES = MinuteRecord("blue", "i-1", "0", 1, WIRE_MINUTE_MS, 60.0, 1, "aa", (0.0, 0.0), (5, 5))


@given(st.lists(st.integers(0, MAX_CORES - 1), max_size=40))
def test_core_ranges_are_read_as_they_were_written(cores):
    """A list of cores is read as the set that was written, in any order and with repetitions."""
    assert tuple(sorted(set(cores))) == core_indexes(core_ranges(cores))


@pytest.mark.parametrize(
    "text", ["-1", "0-", "a", "1,0", "0-3,3", "3-1", "0,,1", "1024", "0-99999999", " 1", "1\n"]
)
def test_a_text_that_is_not_a_list_of_cores_is_refused(text):
    """A core list that descends, repeats or exceeds the highest core number is refused."""
    with pytest.raises(WireFormatError) as caught:
        core_indexes(text)
    assert "bad_member" == caught.value.reason


@pytest.mark.parametrize(
    ("tag", "written"),
    [
        ("x" * MAX_HOLDER_NAME_CHARS, "x" * MAX_HOLDER_NAME_CHARS),
        ("x" * (MAX_HOLDER_NAME_CHARS + 1), "x" * MAX_HOLDER_NAME_CHARS),
        ("caf\u00e9", "caf\u00e9"),
        ("a\nb\x00", "a?b?"),
        ("\ud800", "?"),
    ],
    ids=repr,
)
def test_a_foreign_name_is_shortened_and_printable(tag, written):
    """A tag or command is shortened and made printable, so that the line can be sent."""
    record = dataclasses.replace(TWO_CORES, holders=(Holder("0", tag, 1, tag, command=tag),))
    line = encode({"Timestamp": WIRE_MINUTE_MS, **record.members()})
    assert line.encode()
    command = written[:MAX_COMMAND_CHARS]
    assert (Holder("0", written, 1, written, command=command),) == parse(line).holders


GOOD_HOLDER = {"Cores": "0"}


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (None, ((), 0)), ([], ((), 0)), ("0-7", ((), 0)), ({"Cores": "0"}, ((), 0)),
        ([GOOD_HOLDER, 1, None, []], ((Holder("0"),), 3)), ([GOOD_HOLDER, {}], ((Holder("0"),), 1)),
        ([{"Cores": "x"}, GOOD_HOLDER], ((Holder("0"),), 1)), ([{"Cores": 0}], ((), 1)),
        ([{**GOOD_HOLDER, "Pid": "1", "Tag": 2, "Name": []}], ((Holder("0"),), 0)),
        ([{**GOOD_HOLDER, "Pid": True}], ((Holder("0"),), 0)),
        ([{**GOOD_HOLDER, "Started": "2026-11-22 02:10", "Command": ["rm"]}], ((Holder("0"),), 0)),
        ([{"Cores": "9-3"}, {"Cores": "0,1024"}, GOOD_HOLDER], ((Holder("0"),), 2)),
        ([{**GOOD_HOLDER, "Host": "of a later release"}], ((Holder("0"),), 0)),
        ([GOOD_HOLDER] * (MAX_HOLDERS + 2), ((Holder("0"),) * MAX_HOLDERS, 2)),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
def test_an_unreadable_holder_is_counted(member, expected):
    """A holder that cannot be read is counted; the minute and the other holders are read."""
    record = parse(json.dumps(line_of(Holders=member)))
    assert expected == (record.holders, record.holders_more)


def holding(seconds, state, *holders, **changes):
    """Return the record of a part of a minute with *state* and *holders*."""
    return record(
        covered_seconds=seconds,
        core_state=state,
        utilization_percent=tuple(None if letter == "?" else 0.0 for letter in state),
        idle_minutes=changes.pop("idle_minutes", (20,) * len(state)),
        holders=holders,
        **changes,
    )


def restarted(state, holders, then_state, *then_holders):
    """Return the merged minute of two parts of 30 s each."""
    parts = [holding(30.0, state, *holders), holding(30.0, then_state, *then_holders, seq=2)]
    return merge_records(parts).record


def test_a_runtime_that_two_parts_name_is_one_holder():
    """A holder in both parts has the cores of both, and what either part knows of its process."""
    known = Holder("0-1", "ml/llama", 7, "serve", started="2026-11-22T02:10Z", command="python3")
    merged = restarted("aa", [known], "?a", Holder("1", None, 7, "serve"))
    assert (known,) == merged.holders


@pytest.mark.parametrize(
    "other", [Holder("1", "n", 8, "serve"), Holder("1", "n", 7, "train"), Holder("1", "n", 7)]
)
def test_neither_pid_nor_tag_alone_identifies_a_holder(other):
    """Holders are equal only if PID and tag are: tags collide, and a pod has several processes."""
    merged = restarted("aa", [Holder("0-1", "n", 7, "serve")], "?a", other)
    assert all(holder in merged.holders for holder in (Holder("0", "n", 7, "serve"), other))


def test_merged_holders_are_the_most_idle_eight():
    """The eight holders with the most idle minutes, then cores, are listed; others are counted."""
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


def test_cores_that_are_not_attached_idle_have_no_holder():
    """A holder is listed only with its attached-idle cores."""
    merged = restarted("abu", [Holder("0-2", "ml/llama")], "???")
    assert (Holder("0", "ml/llama"),) == merged.holders
