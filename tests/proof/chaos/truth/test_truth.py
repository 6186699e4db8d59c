"""The truth finds what is wrong: every kind of fault, planted in lines that were right."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from local.monitor.truth import read_truth
from neuron_wire import parse
from proof.chaos.truth import comparison as truth
from proof.chaos.truth.comparison import Undisturbed
from proof.factories.records import MINUTE, message, record
from proof.logs.rules import Applied
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


def applied(records):
    """The records as the service took them."""
    return [Applied(one.instance_id, one.minute_ms, message(one)) for one in records]


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
    found = truth.compare(applied(records), printed, closed=CLOSED, **more)
    return {(one.minute_ms // MINUTE_MS - MINUTE, one.what) for one in found.differences}


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
    found = truth.compare(applied(RECORDS), PRINTED, closed=CLOSED)
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


@pytest.fixture(scope="module")
def told(repository, tmp_path_factory):
    """Five minutes of a simulated monitor: what it says it wrote, and the emitter's lines."""
    folder = tmp_path_factory.mktemp("told")
    reports, written = folder / "reports", folder / "truth"
    play = ("--instance-type", "inf2.24xlarge", "--scenario", "multi-runtime", "--no-wait")
    start = ("--start-ms", str(MINUTE * MINUTE_MS + 1000), "--reports", "72", "--seed", "3")
    reports.write_bytes(run(repository, "local.monitor", *play, *start, "--truth", str(written)))
    begin = ("--start", "2025-11-24T16:00:01Z", "--interval", "5", "--cluster", "c")
    lines = run(repository, "emitter", "replay", str(reports), *begin).decode().splitlines()
    records = [one for one in map(parse, lines) if hasattr(one, "core_state")]
    return read_truth([written]), records


def run(repository, module, *arguments):
    """What one module of this repository prints."""
    variables = {**os.environ, "PYTHONPATH": f"{repository}{os.pathsep}{repository / 'lambda'}"}
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, env=variables, check=True).stdout


def disturbed(told, records, margin_ms=0):
    """What is found in the four whole minutes in the middle, rollups left out."""
    produced, _ = told
    minutes = [(MINUTE + at) * MINUTE_MS for at in range(1, 5)]
    calm = Undisturbed(records[0].instance_id, produced, minutes, margin_ms)
    found = truth.compare(applied(records), [], [calm])
    assert 4 == found.undisturbed_minutes
    return {
        (one.minute_ms // MINUTE_MS - MINUTE, one.what)
        for one in found.differences
        if one.instance_id is not None
    }


@pytest.mark.parametrize("margin_ms", [0, 8_000])
def test_minutes_that_nobody_disturbed_are_what_was_produced(told, margin_ms):
    """Wherever a report near a full minute may have been read."""
    assert set() == disturbed(told, told[1], margin_ms)


def in_the_third(records, change):
    """The *records*, that of the third minute with other members."""
    at_ms = (MINUTE + 2) * MINUTE_MS
    return [replace(one, **change(one)) if one.minute_ms == at_ms else one for one in records]


@pytest.mark.parametrize(
    ("member", "change", "what"),
    [
        ("executions", lambda count: count + 1, "Executions"),
        ("execution_errors", lambda count: count + 1, "ExecutionErrors"),
        ("reports", lambda count: count - 1, "Reports"),
        ("core_state", lambda state: state.replace("b", "a", 1), "BusyCores"),
        (
            "utilization_percent",
            lambda all_: [min(100, 2 + x) for x in all_],
            "NeuronCoreUtilization",
        ),
        ("ecc_corrected_rise", lambda count: count + 1, "EccCorrectedRise"),
    ],
)
def test_a_minute_that_says_something_else_is_found(member, change, what, told):
    """Each member that the chain begins with."""
    records = in_the_third(told[1], lambda one: {member: change(getattr(one, member))})
    assert (2, what) in disturbed(told, records)


def test_a_report_that_is_in_no_minute_is_found_however_wide_the_margin(told):
    """What moved from one minute into the next is in their sum."""
    records = in_the_third(told[1], lambda _: {"executions": 0, "reports": 0})
    found = disturbed(told, records, 20_000)
    assert {(1, "Reports of 4 minutes"), (1, "Executions of 4 minutes")} <= found


def test_an_undisturbed_minute_without_a_record_is_found(told):
    """And one with two."""
    _, records = told
    without = [one for one in records if one.minute_ms != (MINUTE + 3) * MINUTE_MS]
    assert {(3, "undisturbed minute")} == disturbed(told, without)
    twice = [*records, replace(records[3], boot="another")]
    assert (3, "undisturbed minute") in disturbed(told, twice)
