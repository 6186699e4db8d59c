"""Runtimes that may hang: read by anybody, never a reason to lose a minute."""

from __future__ import annotations

import json

import pytest
from wire_records import line_of

from neuron_wire import MinuteRecord, parse
from neuron_wire.merging import merge
from neuron_wire.stalls import MAX_STALLS, Stall
from proof.factories.records import LATER_BOOT, record

GOOD = {"Cores": "0", "Minutes": 3, "Cause": "busy"}
READ = Stall("0", cause="busy", minutes=3)


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (None, ()), ("busy", ()), (GOOD, ()), ([GOOD], (READ,)), ([1, None, [], GOOD], (READ,)),
        ([{**GOOD, "Cores": "x"}], ()), ([{**GOOD, "Minutes": "3"}], ()),
        ([{**GOOD, "Minutes": -1}], ()), ([{**GOOD, "Cause": "of a later release"}], ()),
        ([{**GOOD, "Cause": []}], ()), ([{**GOOD, "Host": 7}], (READ,)),
        ([GOOD] * (MAX_STALLS + 1), (READ,) * MAX_STALLS),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
def test_a_bad_stall_costs_only_itself(member, expected):
    """The minute is read all the same."""
    found = parse(json.dumps(line_of(Stalls=member)))
    assert isinstance(found, MinuteRecord)
    assert expected == found.stalls


@pytest.mark.parametrize(
    ("before", "after", "merged"),
    [
        ({"stalls": (READ,)}, {"executions": None}, (READ,)),
        ({"stalls": (READ,)}, {"executions": 5}, ()),
        ({}, {"stalls": (READ,), "executions": None}, (READ,)),
    ],
)
def test_of_two_records_of_a_minute_the_last_that_knew_says_what_stalls(before, after, merged):
    """One that did not read executions takes nothing back."""
    parts = [
        record(covered_seconds=30.0, **before),
        record(covered_seconds=30.0, boot=LATER_BOOT, **after),
    ]
    assert merged == merge(parts).record.stalls
