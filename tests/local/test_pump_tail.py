"""Every event of a log group exactly once, whatever the service leaves out."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.pump import LogTail
from local.pump import tail as tail_module


class Logs:
    """
    The two calls that the tail makes.

    *tokens* decides who it is like: AWS continues a long answer by a nextToken,
    the embedded AWS cuts it off without a word.
    """

    def __init__(self, *, tokens=False, streams_per_page=2):
        self.events = []
        self.tokens = tokens
        self.streams_per_page = streams_per_page
        self.calls = Counter()
        self.clock_ms = 0

    def put(self, stream, timestamp_ms, message, event_id=None):
        """Store one event, as of now."""
        row = {
            "logStreamName": stream,
            "timestamp": timestamp_ms,
            "ingestionTime": self.clock_ms,
            "message": message,
        }
        self.events.append({**row, "eventId": event_id} if event_id else row)

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
        for start in range(0, len(rows), self.streams_per_page):
            yield {"logStreams": rows[start : start + self.streams_per_page]}

    def filter_log_events(self, **request):
        """Events in time order, at most `limit` of them."""
        self.calls["filter"] += 1
        asked, since_ms = request["logStreamNames"], request["startTime"]
        chosen = [
            event
            for event in sorted(self.events, key=lambda event: event["timestamp"])
            if event["logStreamName"] in asked and event["timestamp"] >= since_ms
        ]
        start = int(request.get("nextToken", 0))
        page = chosen[start : start + request["limit"]]
        answer = {"events": page}
        if self.tokens and start + len(page) < len(chosen):
            answer["nextToken"] = str(start + len(page))
        return answer


@pytest.fixture
def logs(monkeypatch):
    """A service whose clock the tail goes by."""
    service = Logs()
    monkeypatch.setattr(tail_module.time, "time_ns", lambda: service.clock_ms * 1_000_000)
    return service


def messages(events):
    """What the events say, in their order."""
    return [event.message for event in events]


def test_an_event_is_returned_once(logs):
    """Also when it is read again, with or without an event id."""
    logs.put("i-1", 5, "with", event_id="e1")
    logs.put("fn", 6, "without")
    tail = LogTail(logs, "/g", 0)
    assert ["with", "without"] == messages(tail.new_events())
    assert [] == messages(tail.new_events())
    assert logs.calls["filter"] == 2  # written to just now: it was read again


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
    logs.put("i-1", 5_000_000, "new", event_id="e1")
    tail = LogTail(logs, "/g", 0)
    tail.new_events()
    logs.clock_ms += 60_000
    logs.put("i-1", 1_400_000, "late", event_id="e2")
    assert ["late"] == messages(tail.new_events())


@pytest.mark.parametrize("tokens", [True, False])
@given(
    times=st.lists(st.integers(0, 12), max_size=30),
    limit=st.integers(8, 12),
    with_ids=st.booleans(),
)
def test_long_answers_lose_and_repeat_nothing(tokens, times, limit, with_ids):
    """Continued by a token as on AWS, or silently cut off as by the embedded AWS."""
    logs = Logs(tokens=tokens)
    crowd = max(Counter(times).values(), default=0)
    for number, timestamp_ms in enumerate(times):
        # Some lines are equal on purpose.
        event_id = f"e{number}" if with_ids else None
        logs.put(f"fn-{number % 3}", timestamp_ms, f"line {number // 4}", event_id)
    tail = LogTail(logs, "/g", 0, page_limit=limit)
    if crowd >= limit and not tokens:
        with pytest.raises(RuntimeError, match="cannot be told apart"):
            tail.new_events()
        return
    found = Counter((one.stream, one.timestamp_ms, one.message) for one in tail.new_events())
    expected = Counter(
        (row["logStreamName"], row["timestamp"], row["message"]) for row in logs.events
    )
    assert expected == found
