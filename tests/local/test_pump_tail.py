"""Every event of a log group exactly once, whatever the service leaves out."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from local.pump import tail as tail_module
from local.pump.tail import LogTail


class Logs:
    """The two calls that the tail makes, a long answer cut off without a word."""

    def __init__(self):
        self.events = []
        self.calls = Counter()
        self.clock_ms = 0

    def put(self, stream, timestamp_ms, message):
        """Store one event, as of now."""
        row = {
            "logStreamName": stream,
            "timestamp": timestamp_ms,
            "ingestionTime": self.clock_ms,
            "message": message,
        }
        self.events.append(row)

    def get_paginator(self, name):
        """Only streams are paged through."""
        assert "describe_log_streams" == name
        return self

    def paginate(self, logGroupName):  # noqa: N803  # boto3's own spelling
        """Streams in the order of their names, an empty one among them."""
        assert "/g" == logGroupName
        self.calls["describe"] += 1
        newest = {event["logStreamName"]: event["ingestionTime"] for event in self.events}
        rows = [
            {"logStreamName": name, "lastIngestionTime": newest[name]} for name in sorted(newest)
        ]
        rows.append({"logStreamName": "empty"})
        for start in range(0, len(rows), 2):
            yield {"logStreams": rows[start : start + 2]}

    def filter_log_events(self, **request):
        """Events in time order, at most `limit` of them."""
        self.calls["filter"] += 1
        asked, since_ms = request["logStreamNames"], request["startTime"]
        chosen = [
            event
            for event in sorted(self.events, key=lambda event: event["timestamp"])
            if event["logStreamName"] in asked and event["timestamp"] >= since_ms
        ]
        return {"events": chosen[: request["limit"]]}


@pytest.fixture
def logs(monkeypatch):
    """A service whose clock the tail goes by."""
    service = Logs()
    monkeypatch.setattr(tail_module.time, "time_ns", lambda: service.clock_ms * 1_000_000)
    return service


def messages(events):
    """What the events say, in their order."""
    return [event.message for event in events]


def test_two_equal_lines_of_one_millisecond_are_two_events(logs):
    """A function may print the same line twice; neither is lost, none is invented."""
    logs.put("fn", 5, "same")
    logs.put("fn", 5, "same")
    tail = LogTail(logs, "/g", 0)
    assert ["same", "same"] == messages(tail.new_events())
    logs.put("fn", 5, "same")
    assert ["same"] == messages(tail.new_events())
    assert [] == messages(tail.new_events())


def test_an_event_with_an_old_timestamp_is_found_later(logs):
    """A record of an hour ago arrives behind newer ones."""
    logs.put("i-1", 5_000_000, "new")
    tail = LogTail(logs, "/g", 0)
    tail.new_events()
    logs.clock_ms += 60_000
    logs.put("i-1", 1_400_000, "late")
    assert ["late"] == messages(tail.new_events())


@given(times=st.lists(st.integers(0, 12), max_size=30), limit=st.integers(8, 12))
def test_long_answers_lose_and_repeat_nothing(times, limit):
    """Silently cut off, as by the embedded AWS."""
    logs = Logs()
    for number, timestamp_ms in enumerate(times):
        # Some lines are equal on purpose.
        logs.put(f"fn-{number % 3}", timestamp_ms, f"line {number // 4}")
    assume(max(Counter(times).values(), default=0) < limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tail_module, "MAX_EVENTS_PER_PAGE", limit)
        events = LogTail(logs, "/g", 0).new_events()
    found = Counter((one.stream, one.timestamp_ms, one.message) for one in events)
    expected = Counter(
        (row["logStreamName"], row["timestamp"], row["message"]) for row in logs.events
    )
    assert expected == found


def test_more_events_in_a_millisecond_than_an_answer_holds_are_an_error(logs, monkeypatch):
    """Rather than a loop, or events that nobody sees."""
    monkeypatch.setattr(tail_module, "MAX_EVENTS_PER_PAGE", 8)
    for number in range(8):
        logs.put("fn", 0, f"line {number}")
    with pytest.raises(RuntimeError, match="more events at 0 than one call returns"):
        LogTail(logs, "/g", 0).new_events()
