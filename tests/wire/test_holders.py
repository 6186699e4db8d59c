"""Who holds attached-idle cores: written once, read by anybody, never a reason to lose a minute."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_records import MINUTE_MS, line_of

from neuron_wire import MinuteRecord, WireFormatError, encode, parse
from neuron_wire.cores import core_indexes, core_ranges
from neuron_wire.holders import MAX_HOLDERS, MAX_NAME_CHARS, Holder, holder_members
from neuron_wire.names import MAX_CORES

SMALL = MinuteRecord("blue", "i-1", "0", 1, MINUTE_MS, 60.0, 1, "aa", (0.0, 0.0), (5, 5))


@given(st.lists(st.integers(0, MAX_CORES - 1), max_size=40))
def test_core_ranges_are_read_as_they_were_written(cores):
    """The same set of cores, in whatever order and however often they were named."""
    assert tuple(sorted(set(cores))) == core_indexes(core_ranges(cores))


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        ("", ()), ("0", (0,)), ("0-1", (0, 1)), ("0-7,12", (*range(8), 12)), ("0,2,4", (0, 2, 4)),
        ("1023", (1023,)),
    ],
)  # fmt: skip
def test_core_ranges_are_short(text, cores):
    """Neighbours are one range, a core alone stands alone."""
    assert text == core_ranges(cores)
    assert cores == core_indexes(text)


@pytest.mark.parametrize(
    "text", ["-1", "0-", "a", "1,0", "0-3,3", "3-1", "0,,1", "1024", "0-99999999", " 1", "1\n"]
)
def test_what_is_no_list_of_cores_is_refused(text):
    """Neither a range that runs backwards nor one that would fill the memory."""
    with pytest.raises(WireFormatError) as caught:
        core_indexes(text)
    assert "bad_member" == caught.value.reason


def test_holders_stand_last_and_their_count_among_the_scalars():
    """Logs Insights flattens arrays: what stands behind this one could not be queried."""
    record = dataclasses.replace(SMALL, holders=(Holder("0-1", pid=7),), holders_more=2)
    members = list(record.members())
    assert "Holders" == members[-1]
    assert members.index("HoldersMore") < members.index("CoreState")
    assert not {"Holders", "HoldersMore"} & SMALL.members().keys()


def test_a_holder_has_only_the_members_that_are_known():
    """Absent is absent: no empty name, no process 0 in place of one that nobody told."""
    written = holder_members([Holder("0-7,12"), Holder("3", "ml/llama-0", 41, "serve")])
    expected = [
        {"Cores": "0-7,12"},
        {"Cores": "3", "Name": "ml/llama-0", "Pid": 41, "Tag": "serve"},
    ]
    assert expected == written
    assert [{"Cores": "1"}] == holder_members([Holder("1", "", -1, "")])


@pytest.mark.parametrize(
    ("tag", "written"),
    [
        ("x" * MAX_NAME_CHARS, "x" * MAX_NAME_CHARS),
        ("x" * (MAX_NAME_CHARS + 1), "x" * MAX_NAME_CHARS),
        ("caf\u00e9", "caf\u00e9"),
        ("a\nb\x00", "a?b?"),
        ("\ud800", "?"),
    ],
    ids=repr,
)
def test_a_name_is_other_peoples_text(tag, written):
    """A tag may have any length and any character; the line stays one line that can be sent."""
    record = dataclasses.replace(SMALL, holders=(Holder("0", tag, 1, tag),))
    line = encode({"Timestamp": MINUTE_MS, **record.members()})
    assert line.encode()
    assert (Holder("0", written, 1, written),) == parse(line).holders


GOOD = {"Cores": "0"}


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (None, ((), 0)), ([], ((), 0)), ("0-7", ((), 0)), ({"Cores": "0"}, ((), 0)),
        ([GOOD, 1, None, []], ((Holder("0"),), 3)), ([GOOD, {}], ((Holder("0"),), 1)),
        ([{"Cores": "x"}, GOOD], ((Holder("0"),), 1)), ([{"Cores": 0}], ((), 1)),
        ([{**GOOD, "Pid": "1", "Tag": 2, "Name": []}], ((Holder("0"),), 0)),
        ([{**GOOD, "Pid": True}], ((Holder("0"),), 0)),
        ([{**GOOD, "Host": "of a later release"}], ((Holder("0"),), 0)),
        ([GOOD] * (MAX_HOLDERS + 2), ((Holder("0"),) * MAX_HOLDERS, 2)),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
def test_a_bad_holder_costs_only_itself(member, expected):
    """The minute is read all the same, and what could not be read of it is counted."""
    record = parse(json.dumps(line_of(Holders=member)))
    assert expected == (record.holders, record.holders_more)


@pytest.mark.parametrize("more", [-1, 1.5, "1", True, [], 1 << 63])
def test_a_bad_count_of_further_holders_is_none(more):
    """How many more there are is not worth a minute either."""
    assert 0 == parse(json.dumps(line_of(HoldersMore=more))).holders_more


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9)
    | st.sampled_from(["0", "0-7,12", "7-0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["Cores", "Name", "Pid", "Tag", "Else"]), inner)
    ),
    max_leaves=8,
)


@given(JSON, JSON)
def test_whatever_stands_for_holders_the_minute_is_read(listed, more):
    """The rest of the record is the same, and what was read can be written again."""
    bare = parse(json.dumps(line_of()))
    record = parse(json.dumps(line_of(Holders=listed, HoldersMore=more)))
    assert bare == dataclasses.replace(record, holders=(), holders_more=0)
    assert record == parse(encode({"Timestamp": MINUTE_MS, **record.members()}))
