"""What is asked for is enough, and little more."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.errors import SourceError
from neuron_emf.top.feed import FileFeed, LogGroupFeed
from neuron_emf.top.fleet import fleet_of
from neuron_emf.top.window import Window
from tests.neuron_emf.reading.lines import START_MS, line, record
from tests.neuron_emf.reading.played_logs import PlayedAccount, PlayedLogs

MINUTE_MS = 60_000
SINCE_MS = 10 * MINUTE_MS
ARRIVALS = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 2), st.sampled_from("ab"), st.integers(0, 110)),
    min_size=1,
    max_size=20,
    unique_by=lambda one: one[:3],
)
"""Minute, instance, boot, and the seconds after its end in which a line arrives."""


def changes_of(minute, number, boot):
    return {
        "minute_ms": START_MS + minute * MINUTE_MS,
        "instance_id": f"i-{number}",
        "boot": boot,
        "seq": minute + 1,
        "covered_seconds": 30.0,
    }


def starts(logs):
    """From which minute on each call asked."""
    return [(one["startTime"] - START_MS) / MINUTE_MS for one in logs.requests]


@given(ARRIVALS, st.integers(5, 50))
def test_what_arrives_within_two_minutes_is_seen_within_another(arrivals, step_s):
    """In any order, from instances that were not known, and a part of a minute after the other."""
    logs = PlayedLogs()
    feed, window, everything = LogGroupFeed(PlayedAccount(logs), SINCE_MS, ""), Window(), Window()
    coming = [
        (START_MS + (minute + 1) * MINUTE_MS + late_s * 1000, changes_of(minute, number, boot))
        for minute, number, boot, late_s in sorted(arrivals, key=lambda one: 60 * one[0] + one[3])
    ]
    now_ms = START_MS + MINUTE_MS
    while coming:
        now_ms += step_s * 1000
        while coming and coming[0][0] <= now_ms:
            _, changes = coming.pop(0)
            everything.add([record(**changes)])
            logs.events.append((changes["minute_ms"], line(**changes)))
        feed.read(window, now_ms)
    now_ms += MINUTE_MS
    feed.read(window, now_ms)
    assert fleet_of(everything, 15, now_ms=now_ms) == fleet_of(window, 15, now_ms=now_ms)


def test_after_the_first_reading_only_what_may_still_come_is_asked_for():
    """
    Ten minutes, then what nobody told of, and once a minute the four before the last of these.
    """
    logs = PlayedLogs([(START_MS + 8 * MINUTE_MS, line(minute_ms=START_MS + 8 * MINUTE_MS))])
    feed, window = LogGroupFeed(PlayedAccount(logs), SINCE_MS, ""), Window()
    for second in (0, 5, 55, 60, 65):
        feed.read(window, START_MS + 10 * MINUTE_MS + second * 1000)
    assert [0, 9, 9, 6, 9] == starts(logs)
    assert feed.traffic.startswith("5 calls, 0.0 MB")


def test_an_instance_that_tells_nothing_is_waited_for_four_minutes():
    """
    What it may still send is asked for again and again; then it is left to the reading of all.
    """
    minutes = [(minute, number) for minute in range(11) for number in range(2)]
    logs = PlayedLogs(
        [
            (changes["minute_ms"], line(**changes))
            for minute, number in minutes
            if number == 0 or minute < 8
            for changes in [changes_of(minute, number, "a")]
        ]
    )
    feed, window = LogGroupFeed(PlayedAccount(logs), SINCE_MS, ""), Window()
    for second in (0, 10, 50):
        feed.read(window, START_MS + 10 * MINUTE_MS + second * 1000)
    assert [0, 8, 8] == starts(logs)
    feed.read(window, START_MS + 12 * MINUTE_MS)
    feed.read(window, START_MS + 12 * MINUTE_MS + 5_000)
    assert [6, 11] == starts(logs)[3:]


def test_nothing_is_missed_while_nothing_could_be_read():
    """A laptop slept for an hour, or its credentials had expired."""
    logs = PlayedLogs()
    feed, window = LogGroupFeed(PlayedAccount(logs), SINCE_MS, ""), Window()
    feed.read(window, START_MS + 10 * MINUTE_MS)
    logs.refusal = "ExpiredTokenException"
    with pytest.raises(SourceError, match="Renew"):
        feed.read(window, START_MS + 11 * MINUTE_MS)
    logs.refusal = ""
    feed.read(window, START_MS + 70 * MINUTE_MS)
    assert [0, 6, 6] == starts(logs)


def test_a_cluster_is_asked_for_by_its_name():
    """Lines of others cost time and, over the internet, money."""
    logs = PlayedLogs([(START_MS, line()), (START_MS, line(cluster="other", instance_id="i-1"))])
    feed, window = LogGroupFeed(PlayedAccount(logs), SINCE_MS, "other"), Window("other")
    feed.read(window, START_MS + MINUTE_MS)
    assert ['"CoveredSeconds" "other"'] == [one["filterPattern"] for one in logs.requests]
    assert (1, [("other", "i-1")]) == (feed.records.read, sorted(window._instances))


def test_files_are_read_again_when_they_have_changed(tmp_path):
    """And not before: `--output file:PATH` adds a line a minute."""
    path = tmp_path / "lines"
    path.write_text(line() + "\n", "utf-8")
    feed, window = FileFeed([path]), Window()
    feed.read(window, 0)
    first = feed.records
    feed.read(window, 0)
    assert first is feed.records
    with path.open("a", encoding="utf-8") as file:
        file.write(line(seq=2, instance_id="i-1") + "\n")
    os.utime(path, ns=(1, 1))
    feed.read(window, 0)
    assert (2, 0) == (feed.records.read, feed.records.repeated)
    assert 2 == len(sorted(window._instances))
    assert "1 file" == feed.traffic
