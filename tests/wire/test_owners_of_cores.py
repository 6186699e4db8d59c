"""Who held which cores: nobody who held one is forgotten, and nobody else is named."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_records import MINUTE_MS, holdings, line_of, owners

from neuron_wire import encode, parse
from neuron_wire.holders import core_indexes
from neuron_wire.merging import merge
from neuron_wire.owners import (
    MAX_OWNERS,
    MAX_OWNERS_BYTES,
    Owner,
    merge_owners,
    owned,
    owner_members,
)
from proof.factories.records import record

WIDTH = 40


def cores_of(named, more):
    """All cores that the owners of a line and those left out of it held."""
    return {core for text in (*(one.cores for one in named), more) for core in core_indexes(text)}


def size(named):
    """Bytes of the array as a line has it."""
    return len(encode({"Owners": owner_members(named)}).encode()) - len('{"Owners":}')


@given(holdings(WIDTH))
def test_owners_and_those_left_out_are_exactly_the_held_cores(told):
    """Whatever the names; and no core of a listed owner is said to be only of others."""
    named, more = owned(told)
    assert {core for _, cores, _ in told for core in cores} == cores_of(named, more)
    assert not set(core_indexes(more)) & cores_of(named, "")
    assert len(named) <= MAX_OWNERS
    assert not named or size(named) <= MAX_OWNERS_BYTES
    held = [len(core_indexes(one.cores)) for one in named]
    assert sorted(held, reverse=True) == held
    assert len({one.name for one in named}) == len(named)


@given(owners(4))
def test_owners_are_read_as_they_were_written(told):
    """With the law that held when they were written."""
    named, more = told
    line = line_of(Owners=owner_members(named) or None, OwnersMore=more or None)
    found = parse(json.dumps(line))
    assert told == (found.owners, found.owners_more)


def test_all_runtimes_of_one_name_are_one_owner():
    """As are all without a name; a team that they do not share is nobody's."""
    told = [("a", {0, 1}, "x"), (None, {2}, None), ("a", {1, 2}, "x"), ("", {3, 4, 5, 6}, "y")]
    expected = (Owner("2-6", "[unnamed]"), Owner("0-2", "a", "x"))
    assert (expected, "") == owned(told)
    assert ((Owner("0-1", "a"),), "") == owned([("a", {0}, "x"), ("a", {1}, "z")])


def test_the_line_has_16_owners():
    """The seventeenth is left out, and of its cores those that it holds alone."""
    told = [(f"{place:02}", {place}, None) for place in range(16)] + [("16", {0, 20}, None)]
    assert (16, "15") == (len(owned(told)[0]), owned(told)[1])
    told = [(f"{place:02}", {place, place + 20}, None) for place in range(16)] + [("16", {0}, None)]
    assert (16, "") == (len(owned(told)[0]), owned(told)[1])


@pytest.mark.parametrize(("letters", "listed"), [(22, 10), (23, 9)])
def test_an_owner_that_fits_to_the_byte_is_listed(letters, listed):
    """Eight of 111 bytes, one of 56, and the last: 1,000 bytes are allowed, one more is not."""
    told = [(f"{place}{'x' * 87}", {place}, None) for place in range(8)]
    told += [("y" * 33, {8}, None), ("z" * letters, {9}, None)]
    named, more = owned(told)
    assert (listed, "" if listed == 10 else "9") == (len(named), more)
    assert size(named) <= MAX_OWNERS_BYTES


@pytest.mark.parametrize(("name", "team"), [(100 * '"', None), (100 * "\\", None), ("", 63 * "t")])
def test_what_json_adds_to_a_name_counts_and_so_does_the_team(name, team):
    """Quotes and backslashes take two bytes."""
    named, _ = owned([(f"{place:02}{name}", {place}, team) for place in range(16)])
    assert MAX_OWNERS_BYTES - size(named[:1]) < size(named) <= MAX_OWNERS_BYTES


def test_one_that_is_too_long_keeps_no_shorter_one_out():
    """Three names of 512 bytes: the second does not fit, what comes after it does."""
    wide = "\U00020000" * 127
    told = [(f"{place}{wide}", {place, place + 10}, None) for place in (1, 2)]
    named, more = owned([*told, ("small", {5}, None)])
    assert (["1", "s"], "2,12") == ([one.name[0] for one in named], more)


GOOD = {"Cores": "0-1", "Name": "a"}


@pytest.mark.parametrize(
    ("listed", "more", "expected"),
    [
        (None, None, ((), "")), ([], "", ((), "")), ("0", 7, ((), "")),
        ({"Cores": "0"}, [], ((), "")),
        ([1, GOOD, None, {}], None, ((Owner("0-1", "a"),), "")),
        ([GOOD, {"Cores": "1,3"}], "0,2", ((Owner("0-1", "a"),), "2-3")),
        ([{"Cores": "4", "Name": "a"}, {"Cores": "3-1", "Name": "b"}], "0-4", ((), "")),
        ([{**GOOD, "Team": 7}, {**GOOD, "Team": "t\n"}], None,
         ((Owner("0-1", "a"), Owner("0-1", "a", "t?")), "")),
        ([{**GOOD, "Name": ""}, {**GOOD, "Cores": ""}], None, ((), "0-1")),
        ([GOOD] * 17, None, ((Owner("0-1", "a"),) * 16, "")),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
def test_a_bad_owner_costs_only_its_name(listed, more, expected):
    """The cores count as held where they can be read and the instance of 4 cores has them."""
    found = parse(json.dumps(line_of(Owners=listed, OwnersMore=more)))
    assert expected == (found.owners, found.owners_more)


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=9) | st.sampled_from(["0", "0-2", "7-0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["Cores", "Name", "Team", "Else"]), inner)
    ),
    max_leaves=8,
)


@given(JSON, JSON, JSON)
def test_whatever_stands_for_owners_the_minute_is_read(listed, more, text):
    """The rest is the same, and what was read can be written again."""
    bare = parse(json.dumps(line_of()))
    texts = {"AccountId": text, "Lifecycle": text, "Paid": text}
    found = parse(json.dumps(line_of(Owners=listed, OwnersMore=more, **texts)))
    told = {"owners": (), "owners_more": "", "account_id": None, "lifecycle": None, "paid": None}
    assert bare == dataclasses.replace(found, **told)
    assert found == parse(encode({"Timestamp": MINUTE_MS, **found.members()}))


@pytest.mark.parametrize(
    ("member", "good", "bad"),
    [
        ("AccountId", "012345678901", ["12345678901", 123456789012, "12345678901x"]),
        ("Lifecycle", "capacity-block", ["", "on demand", "x" * 41, 1, "\n"]),
        ("Paid", "sunk", ["", "SUNK", "free", True]),
    ],
)
def test_a_text_of_another_form_is_absent(member, good, bad):
    """Who pays is worth less than the minute; what was written can be read."""
    read = {"AccountId": "account_id", "Lifecycle": "lifecycle", "Paid": "paid"}[member]
    assert good == getattr(parse(json.dumps(line_of(**{member: good}))), read)
    for value in bad:
        assert getattr(parse(json.dumps(line_of(**{member: value}))), read) is None
        assert member not in dataclasses.replace(record(), **{read: str(value)}).members() or value
    assert {member: good}.items() <= dataclasses.replace(record(), **{read: good}).members().items()


PARTS = st.lists(
    st.tuples(st.text("bau?", min_size=6, max_size=6), owners(6)), min_size=2, max_size=3
)


@given(PARTS)
def test_of_several_records_the_last_that_knew_a_core_says_who_held_it(parts):
    """Core by core, whoever is listed; and cores of several parts of one name are one owner."""
    records = [
        record(
            seq=seq, covered_seconds=20.0, core_state=state, idle_minutes=(0,) * 6,
            utilization_percent=tuple(None if one == "?" else 0.0 for one in state),
            owners=named, owners_more=more,
        )
        for seq, (state, (named, more)) in enumerate(parts, 1)
    ]  # fmt: skip
    merged = merge(records).record
    held = set()
    for core in range(6):
        knowing = [one for one in records if one.core_state[core] != "?"] or records
        if core in cores_of(knowing[-1].owners, knowing[-1].owners_more):
            held.add(core)
    assert held == cores_of(merged.owners, merged.owners_more)
    assert len({one.name for one in merged.owners}) == len(merged.owners)


def test_a_merged_owner_has_the_cores_of_its_parts():
    """The first knows core 0 last, the second core 1; who was left out is not forgotten."""
    first = ((Owner("0-1", "a", "x"),), "2")
    second = ((Owner("1", "a", "x"), Owner("2", "b")), "")
    merged = merge_owners([(first, {0, 2}), (second, {1})])
    assert ((Owner("0-1", "a", "x"),), "2") == merged
    assert ((Owner("0-2", "a", "x"),), "") == merge_owners([(first, {0}), (second, {1}), (
        ((Owner("2", "a", "x"),), ""), {2})])  # fmt: skip


def test_account_lifecycle_and_paid_are_those_last_told():
    """A part that could not ask yet takes them from the other."""
    told = {"account_id": "123456789012", "lifecycle": "spot", "paid": "sunk"}
    parts = [record(covered_seconds=30.0, **told), record(covered_seconds=30.0, seq=2)]
    merged = merge(parts).record
    assert told == {name: getattr(merged, name) for name in told}
