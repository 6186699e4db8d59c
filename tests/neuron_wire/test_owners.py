"""Owners of cores in a line: no owner is lost or invented."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neuron_wire import encode, parse
from neuron_wire.core_members import core_indexes
from neuron_wire.merging import merge_records
from neuron_wire.owners import (
    MAX_OWNERS_BYTES,
    MAX_OWNERS_IN_LINE,
    Holding,
    Owner,
    group_holdings,
    list_owners,
    owner_members,
)
from proof.factories.records import record
from tests.neuron_wire.wire_records import WIRE_MINUTE_MS, holdings, line_of, owners, quieted

LONG_STATE = "abuu?" * 8


def cores_of(named, more):
    """Return all cores of the owners in a line and of the omitted owners."""
    texts = (*(text for owner in named for text in (owner.cores, owner.reserved)), more)
    return {core for text in texts for core in core_indexes(text)}


def owned(*holdings):
    """Return a line's owners for *holdings*: name, cores, team, reserved, executions."""
    return list_owners(group_holdings(Holding(*holding) for holding in holdings))


def size(named):
    """Return the bytes of the array Owners in a line."""
    return len(encode({"Owners": owner_members(named)}).encode()) - len('{"Owners":}')


@given(holdings(LONG_STATE))
def test_listed_and_omitted_owners_have_exactly_the_owned_cores(holdings):
    """Listed and omitted owners have exactly the held and reserved cores, without overlap."""
    named, more = quieted(holdings)
    had = [{*holding.cores, *holding.reserved} for holding in holdings]
    assert set().union(*had) == cores_of(named, more)
    assert not set(core_indexes(more)) & cores_of(named, "")
    assert len(named) <= MAX_OWNERS_IN_LINE
    assert not named or size(named) <= MAX_OWNERS_BYTES
    counts = [len(cores_of([owner], "")) for owner in named]
    assert sorted(counts, reverse=True) == counts
    assert len({owner.name for owner in named}) == len(named)


def test_all_holdings_of_one_name_are_one_owner():
    """
    Holdings with one name, or without a name, are one owner.

    Its executions are absent if a holding with cores does not report them.
    """
    first = ("a", {0, 1}, "x", (), 3)
    second = ("a", {1, 2}, "x", (), 4)
    holdings = [first, (None, {2}), second, ("a", (), "x", {7})]
    unnamed = Owner("2-6", "[unnamed]")
    expected = (unnamed, Owner("0-2", "a", "x", "7", 7))
    named, more = owned(*holdings, ("", {3, 4, 5, 6}, "y"))
    assert expected == named
    assert "" == more


TEAM_SOURCES = st.tuples(st.sampled_from(["x", "x", "z", None, ""]), st.booleans())


@given(st.lists(TEAM_SOURCES, min_size=1, max_size=4))
def test_the_team_of_an_owner_is_what_any_source_knows(sources):
    """An owner has the team that any source knows, and no team if two sources disagree."""
    known = {team for team, _ in sources} - {None, ""}
    ((owner,), _) = owned(
        *(
            ("a", (), team, {place}) if is_reserved else ("a", {place}, team)
            for place, (team, is_reserved) in enumerate(sources)
        )
    )
    assert (min(known) if len(known) == 1 else None) == owner.team


@pytest.mark.parametrize(("more_letters", "left_out"), [(0, ""), (1, "39")])
def test_an_owner_that_fits_to_the_byte_is_listed(more_letters, left_out):
    """The array Owners has at most 1,800 bytes: with one byte more, an owner is omitted."""
    holdings = [(f"{place}{'x' * 90}", {place}, "t", {place + 20}, 7) for place in range(11)]
    room = MAX_OWNERS_BYTES - size(owned(*holdings)[0]) - size([Owner("39", "", 'q"')]) + len("[],")
    name = "z" * (room - len(",,") + more_letters)
    named, more = owned(*holdings, (name, {39}, 'q"'))
    assert left_out == more
    assert left_out or size(named) == MAX_OWNERS_BYTES


OWNER_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9)
    | st.sampled_from(["0", "0-2", "7-0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["Cores", "Name", "Team", "Reserved", "Executions", "Pid", "Tag", "Else"]
            ),
            inner,
        )
    ),
    max_leaves=8,
)


@given(OWNER_JSON, OWNER_JSON, OWNER_JSON)
def test_the_minute_is_read_whatever_owners_and_holders_are(entries, more, text):
    """
    The other members of a minute are read, whatever Owners, Holders and texts contain.

    The record can be written again.
    """
    bare = parse(json.dumps(line_of()))
    texts = {"AccountId": text, "Lifecycle": text, "Paid": text, "Reservations": text}
    listed = {"Owners": entries, "OwnersMore": more, "Holders": entries, "HoldersMore": more}
    minute: Any = parse(json.dumps(line_of(**listed, **texts)))
    changes: dict[str, Any] = {
        "owners": (),
        "owners_more": "",
        "account_id": None,
        "lifecycle": None,
        "paid": None,
    }
    changes |= {"reservations": None, "holders": (), "holders_more": 0}
    assert bare == dataclasses.replace(minute, **changes)
    assert minute == parse(encode({"Timestamp": WIRE_MINUTE_MS, **minute.members()}))


@pytest.mark.parametrize(
    ("member", "good", "bad"),
    [
        ("AccountId", "012345678901", ["12345678901", 123456789012, "12345678901x"]),
        ("Lifecycle", "capacity-block", ["", "on demand", "x" * 41, 1, "\n"]),
        ("Paid", "committed", ["", "COMMITTED", "free", True]),
        ("Reservations", "unknown", ["", "Read", "maybe", 1]),
        ("UnknownReason", "tag-filter", ["", "Tag-filter", "not reported", 1]),
    ],
)
def test_a_text_of_another_form_is_absent(member, good, bad):
    """A text in another form is absent; the minute is read."""
    fields = {"AccountId": "account_id", "UnknownReason": "unknown_reason"}
    read = fields.get(member, member.lower())
    two_cores = record(core_state="b?", utilization_percent=(80.0, None))
    assert good == getattr(parse(json.dumps(line_of(**{member: good}))), read)
    for value in bad:
        assert getattr(parse(json.dumps(line_of(**{member: value}))), read) is None
        wrong: dict[str, Any] = {read: str(value)}
        assert member not in dataclasses.replace(two_cores, **wrong).members() or value
    assert good == dataclasses.replace(two_cores, **{read: good}).members()[member]


OWNED_PARTS = st.lists(
    st.text("bau?", min_size=6, max_size=6).flatmap(
        lambda state: st.tuples(st.just(state), owners(state))
    ),
    min_size=2,
    max_size=3,
)


EXECUTED = (Owner("0-1", "x", executions=3),)
"""An owner in a record, which another record has only as reserved."""


@given(OWNED_PARTS)
@example([("aaaaaa", (EXECUTED, "")), ("aaaaaa", ((Owner("", "x", reserved="0-1"),), ""))])
@example([("aa????", (EXECUTED, "")), ("??aaaa", ((Owner("", "x", reserved="2"),), ""))])
def test_the_last_record_that_knew_a_core_names_its_owner(parts):
    """
    The last record that knows a core decides its owner; one name is one owner.

    Its executions are those of all records in which it held cores, and unknown if one of them
    does not know them. An owner that executed in one record is not quiet.
    """
    records = [
        record(
            seq=seq,
            covered_seconds=20.0,
            core_state=state,
            idle_minutes=(0,) * 6,
            utilization_percent=tuple(None if letter == "?" else 0.0 for letter in state),
            owners=named,
            owners_more=more,
        )
        for seq, (state, (named, more)) in enumerate(parts, 1)
    ]
    merged = merge_records(records).record
    held = set()
    for core in range(6):
        knowing = [record for record in records if record.core_state[core] != "?"] or records
        if core in cores_of(knowing[-1].owners, knowing[-1].owners_more):
            held.add(core)
    assert held == cores_of(merged.owners, merged.owners_more)
    assert len({owner.name for owner in merged.owners}) == len(merged.owners)
    for owner in merged.owners:
        named = [part for record in records for part in record.owners if part.name == owner.name]
        counts = [part.executions for part in named if part.cores]
        executions = None if None in counts else sum(counts)
        assert (executions if owner.cores else None) == owner.executions
        assert (None if executions else named[-1].quiet_minutes) == owner.quiet_minutes
