"""The truth finds what is wrong: every kind of fault, planted in lines that were right."""

from __future__ import annotations

import json

import pytest

from proof.chaos import truth
from proof.factories.records import MINUTE, record
from tests.aggregator.made_stack import END_S, Stack

MINUTE_MS = 60_000
LAST = 8
LATE = record(instance_id="i-2", minute=MINUTE + 1, seq=2, executions=7)
RECORDS = [
    *(record(instance_id="i-1", minute=MINUTE + at, seq=at + 1) for at in range(LAST + 1)),
    *(record(instance_id="i-2", minute=MINUTE + at, seq=at + 1) for at in (0, *range(2, LAST + 1))),
    record(instance_id="i-3", instance_type="inf2.xlarge"),  # and then it is silent
    record(instance_id="i-4", bye=True),
    LATE,
]


def rolled_up(records):
    """What both functions print of *records*, one minute after the other, the late one last."""
    stack = Stack()
    stack.close(END_S - 60)
    for at in range(LAST + 1):
        in_time = [one for one in records if one.minute_ms == (MINUTE + at) * MINUTE_MS]
        stack.deliver(END_S + 60 * at + 5, *(one for one in in_time if one is not LATE))
        stack.close(END_S + 60 * at + 125)
    stack.deliver(END_S + 60 * LAST + 130, *(one for one in records if one is LATE))
    stack.close(END_S + 60 * LAST + 170)
    return stack.printed


PRINTED = rolled_up(RECORDS)
CLOSED = range(MINUTE, MINUTE + LAST + 1)


def wrong(records=RECORDS, printed=PRINTED, **more):
    """What is found, as (offset of the minute, what)."""
    found = truth.compare(records, printed, closed=CLOSED, **more)
    return {(one.minute_s // 60 - MINUTE, one.member) for one in found.differences}


def changed(offset, change, kind="rollup", publication=1):
    """The printed lines with one of them, found by its place, changed."""
    lines = []
    for text in PRINTED:
        line = json.loads(text)
        found = line["_aws"]["Timestamp"] == (MINUTE + offset) * MINUTE_MS
        if found and (line["Kind"], line["Publication"]) == (kind, publication):
            line |= change(line)
        lines.append(json.dumps(line))
    assert [json.loads(one) for one in PRINTED] != [json.loads(one) for one in lines]
    return lines


def place_of(offset, publication):
    """Where the cluster's line stands among those that were printed."""
    return next(
        place
        for place, line in enumerate(map(json.loads, PRINTED))
        if line["_aws"]["Timestamp"] == (MINUTE + offset) * MINUTE_MS
        and (line["Kind"], line["Publication"]) == ("rollup", publication)
    )


def test_lines_that_are_right_are_found_right():
    """
    Nine minutes of a cluster, one of them restated; copies of lines and of rollups change nothing.
    """
    found = truth.compare(RECORDS, PRINTED, closed=CLOSED)
    assert ({"training": LAST + 1}, []) == (found.rollups, found.differences)
    assert set() == wrong([*RECORDS, *RECORDS], [*PRINTED, PRINTED[place_of(1, 2)]])


def test_a_lost_record_is_found():
    """One that was accepted and is in no rollup: by what it would have added."""
    lost = record(instance_id="i-5", minute=MINUTE + 3, executions=1)
    names = {what for offset, what in wrong([*RECORDS, lost]) if offset == 3}
    assert {"Instances", "NeuronCores", "Executions", "Records", "CoveragePercent"} <= names


def test_a_record_that_counts_twice_is_found():
    """One that is in a rollup and that nobody sent."""
    without = [one for one in RECORDS if one != RECORDS[4]]
    assert {"Instances", "Executions", "Records"} <= {what for _, what in wrong(without)}


def test_a_gauge_of_an_older_restatement_is_found():
    """The last line must be the one with the late record."""
    printed = list(PRINTED)
    one, two = place_of(1, 1), place_of(1, 2)
    printed[one], printed[two] = printed[two], printed[one]
    assert {(1, "Instances"), (1, "Records")} <= wrong(printed=printed)
    assert (1, "Instances") in wrong(printed=[*PRINTED, PRINTED[one]])


def test_a_tally_that_is_published_twice_is_found():
    """Under the same RollupId it is a copy, under another it counts."""
    again = {**json.loads(PRINTED[place_of(2, 1)]), "RollupId": "training@again#2"}
    assert (2, "Executions") in wrong(printed=[*PRINTED, json.dumps(again)])


def test_an_amount_said_to_be_overstated_needs_records_that_were_merged():
    """Otherwise it hides that something was counted twice."""

    def hide(line):
        return {"Executions": line["Executions"] + 5, "TalliesOverstated": {"Executions": 5}}

    assert {(4, "TalliesOverstated")} == wrong(printed=changed(4, hide))


def test_a_missing_rollup_is_found():
    """Of a minute with records; and of one in which the cluster was only known."""
    without = [one for place, one in enumerate(PRINTED) if place != place_of(5, 1)]
    assert {(5, "rollup")} == wrong(printed=without)
    everyone_silent = [one for one in RECORDS if one.minute_ms < (MINUTE + 2) * MINUTE_MS]
    assert (4, "rollup") in wrong(everyone_silent, [PRINTED[place_of(0, 1)]])


@pytest.mark.parametrize(
    ("expected", "change"),
    [
        ("Cores of [not told]", {"Cores": 1.000001}),
        ("UsdPerHour of [not told]", {"UsdPerHour": 0.5}),
        ("TopIdleOwners", {"Owner": "ml/a"}),
    ],
)
def test_owners_that_do_not_add_up_are_found(expected, change):
    """Each by its row; one that nobody named is found, too."""

    def forge(line):
        return {"TopIdleOwners": [{**line["TopIdleOwners"][0], **change}]}

    assert {(4, expected)} == wrong(printed=changed(4, forge))


@pytest.mark.parametrize("offset", [5, 6])
def test_the_wrong_silence_is_found(offset):
    """i-3 is not silent for five minutes, and from the sixth on it is; i-4 said goodbye."""

    def swap(line):
        silent = 1 - line["SilentInstances"]
        names = {"SilentInstances": silent, "SilentInstanceNames": [{"InstanceId": "i-3"}] * silent}
        return {**names, "CoveragePercent": 100 * 2 / (2 + silent)}

    expected = {(offset, "SilentInstances"), (offset, "SilentInstanceNames")}
    assert expected == wrong(printed=changed(offset, swap))
