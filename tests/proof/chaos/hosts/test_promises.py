"""What the chaos calls wrong, and what it calls certain."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from local.monitor.truth import ReportTruth
from proof.chaos.hosts.certain_minutes import surely_closed, undisturbed
from proof.chaos.hosts.host_program import SeenMinute, Sightings, make_room, sightings
from proof.chaos.hosts.notes import Moved, Notes
from proof.chaos.hosts.promises import account

MINUTE_MS = 60_000
START = 30_000_000  # epoch minute
LATEST_MS = (START + 30) * MINUTE_MS
HOURS_MS = 3 * 3_600_000


def event(seq, minute=None, boot="a", **members):
    """A minute line and its timestamp; its minute is its number unless another is given."""
    minute = START + (seq if minute is None else minute)
    document = {"Kind": "minute", "Boot": boot, "Seq": seq, **members}
    return minute * MINUTE_MS, json.dumps(document)


def reports(*at_s, number=0):
    """Reports of one monitor, so many seconds after the start."""
    return [
        ReportTruth("i-1", 2, 5.0, number + place, int(START * MINUTE_MS + one * 1000), *[None] * 6)
        for place, one in enumerate(at_s)
    ]


def seen(*minutes, gap_s=5.0):
    """Minutes as a loop saw them, after the start."""
    return [SeenMinute(START + one, gap_s) for one in minutes]


UNBALANCED = {"RecordsProduced": 2, "RecordsDelivered": 1, "SpoolRecords": 0, "RecordsDropped": 0}
GOOD = [event(1), event(2), event(3, Bye=True)]
CLOSED = {(START + 1) * MINUTE_MS, (START + 2) * MINUTE_MS}


def test_what_is_there_is_right():
    """Copies are no difference, they are counted."""
    found = account(Notes(produced={"a": 3}), [*GOOD, GOOD[0]], CLOSED, LATEST_MS)
    assert [] == found.wrong
    assert (3, 3, 1) == (found.produced, found.delivered, found.copies)
    assert (3, 2) == (found.minutes, found.closed)


@pytest.mark.parametrize(
    ("events", "produced", "wrong"),
    [
        ([GOOD[0], event(3, 2, Bye=True)], 3, "1 record(s) are missing and were not counted: a 2"),
        (GOOD, 4, "1 record(s) are missing and were not counted: a 4"),
        (GOOD, 2, "1 record(s) arrived that no spool has known: a 3"),
        ([*GOOD, event(2, 5)], 3, "1 identities name two different lines: a 2"),
        ([event(1, 5), *GOOD[1:]], 3, "1 minute(s) were surely closed and are not there: 08:01"),
        ([*GOOD[:2], event(3)], 3, "the last minute says no goodbye, after a planned stop"),
        (
            [event(1, **UNBALANCED), *GOOD[1:]], 3,
            "1 line(s) whose produced is not delivered, spooled and dropped: a 1",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(events, produced, wrong):
    """By name, and nothing else is."""
    assert [wrong] == account(Notes(produced={"a": produced}), events, CLOSED, LATEST_MS).wrong


def test_a_record_that_is_missing_was_dropped_and_counted():
    """By its own emitter, or it lay hours ahead in the spool that the next one found."""
    ahead_ms = LATEST_MS + HOURS_MS
    notes = Notes(produced={"a": 5}, dropped={"a": Counter(too_new=1)}, waited={("a", 5): ahead_ms})
    found = account(notes, GOOD, CLOSED | {ahead_ms}, LATEST_MS)
    assert ([], {"too_new": 2}) == (found.wrong, found.dropped)
    told = [event(1, boot="b", RecordsDroppedOlder=2, Bye=True)]
    notes.produced["b"] = 1
    found = account(notes, [*GOOD, *told], CLOSED, LATEST_MS)
    said = "lines tell of 2 dropped record(s) of earlier starts, of which 1 are missing"
    assert [said] == found.wrong
    del notes.produced["b"]
    notes.waited = {("a", 5): LATEST_MS}
    found = account(notes, GOOD, CLOSED, LATEST_MS)
    assert ["2 record(s) are missing and were not counted: a 4, a 5"] == found.wrong


@pytest.mark.parametrize(
    ("minutes", "closed"),
    [
        ((0, 1, 2, 3, 4), {0, 1, 2}),  # 3 may not have been kept when it was killed
        ((0, 1, 0, 1, 2, 3, 4), {0, 1, 2}),  # back by a minute: it does not reopen
        ((0, 3, 4, 5), {0, 3}),
        ((0, 1, 150, 151, 2, 3, 4), {0, 1, 150, 151, 2}),  # followed back
        ((0,), set()),
    ],
)
def test_minutes_are_surely_closed_when_two_later_ones_were_seen(minutes, closed):
    """By the clock that the emitter had, wherever it was moved to."""
    found = surely_closed(seen(*minutes), reports(10))
    assert {(START + one) * MINUTE_MS for one in closed} == found


def steady(minutes=10):
    """Reports of one monitor each five seconds, for so long."""
    return reports(*range(2, minutes * 60, 5))


def test_minutes_are_undisturbed_in_the_middle_of_a_run_of_a_monitor():
    """Not those in which it began or ended, and no minute beside them."""
    (found,) = undisturbed("i-1", steady(), seen(*range(11)), [])
    assert [START + one for one in range(2, 8)] == [ms // MINUTE_MS for ms in found.minutes_ms]


@pytest.mark.parametrize(
    ("labels", "moves", "left"),
    [
        ([*seen(0, 1, 2, 3), SeenMinute(START + 4, 20.0), *seen(5, 6, 7, 8, 9)], [], {2, 5, 6, 7}),
        (seen(0, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9), [], {2, 3, 6, 7}),
        (seen(*range(10)), [Moved((START + 5.5) * 60, (START + 5.8) * 60)], set()),
        (seen(*range(10)), [Moved((START + 30) * 60, (START + 34) * 60)], {2, 3, 4, 5, 6, 7}),
        (seen(*range(10)), [Moved((START + 30) * 60, (START - 9) * 60)], set()),
    ],
)
def test_a_minute_is_disturbed_by_a_slow_machine_and_by_a_clock(labels, moves, left):
    """By a loop that was away, a minute that came twice, and a clock that was moved near it."""
    found = undisturbed("i-1", steady(), labels, moves)
    assert left == {ms // MINUTE_MS - START for one in found for ms in one.minutes_ms}


def test_what_a_loop_has_seen_is_kept_without_its_end(tmp_path):
    """Each minute as often as it came, with the longest time between two looks."""
    path = make_room(tmp_path / "seen")
    noted = Sightings(Path(path))
    for at_s in (59.0, 61.0, 65.0, 90.0, 119.0, 70.0, 75.0):
        noted.note(START * 60 + at_s)
    assert [SeenMinute(START, 0.0), SeenMinute(START + 1, 29.0)] == sightings(path)
    for at_s in (121.0, 62.0):
        noted.note(START * 60 + at_s)
    assert [START, START + 1, START + 2, START + 1] == [one.minute for one in sightings(path)]
