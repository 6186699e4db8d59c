"""Reading a log group gives all lines of a range and no other, for any pages of the service."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.reading import LogGroup, log_group, pattern_of
from neuron_emitter.errors import SourceError
from proof.factories.records import RECORDS_GROUP


@dataclass
class FakeLogs:
    """
    A client of one log group.

    Attributes:
        events: (timestamp in ms, message), ascending by timestamp.

        page_sizes: Number of events of each next page; the page after them has the rest.

        tokens: True if the service says that more events follow.

        streams: Messages of each log stream, if a test sets them.
    """

    events: list[tuple[int, str]] = field(default_factory=list)
    page_sizes: list[int] = field(default_factory=list)
    tokens: bool = True
    streams: dict[str, list[str]] = field(default_factory=dict)
    refusal: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)

    def filter_log_events(self, **request: Any) -> dict[str, Any]:
        self.requests.append(dict(request))
        if self.refusal:
            raise ClientError({"Error": {"Code": self.refusal}}, "FilterLogEvents")
        of_stream = None
        for name in request.get("logStreamNames", ()):
            if name not in self.streams:
                raise ClientError(
                    {"Error": {"Code": "ResourceNotFoundException"}}, "FilterLogEvents"
                )
            of_stream = self.streams[name]
        events = [
            {"timestamp": at_ms, "message": message}  # AWS may leave eventId out
            for at_ms, message in self.events
            if request["startTime"] <= at_ms <= request["endTime"]
            and (of_stream is None or message in of_stream)
            and all(term in message for term in request.get("filterPattern", "").split('"')[1::2])
        ]
        start = int(request.get("nextToken", "0").partition(" ")[0])
        size = min(self.page_sizes.pop(0) if self.page_sizes else 10_000, request["limit"])
        answer: dict[str, Any] = {"events": events[start : start + size]}
        if self.tokens and start + size < len(events):
            # the same token never occurs twice
            answer["nextToken"] = f"{start + size} {len(self.requests)}"
        return answer


@dataclass
class FakeLogsAccount:
    """An account with one client."""

    logs: FakeLogs
    is_rehearsal: bool = False
    log_group: str = "/neuron-emf/records"

    def client(self, service: str) -> FakeLogs:
        assert service == "logs"
        return self.logs


MOMENTS = st.lists(st.integers(0, 40), max_size=40).map(sorted)


def events_at(moments):
    """Return an event with its own message at each moment."""
    return [(at_ms, f"{number} at {at_ms}") for number, at_ms in enumerate(moments)]


def group_of(logs, **changes):
    """Return the log group of an account with these lines."""
    account: Any = FakeLogsAccount(logs)
    return LogGroup(account, RECORDS_GROUP, **changes)


@given(MOMENTS, st.integers(0, 41), st.integers(0, 41), st.lists(st.integers(0, 9), max_size=9))
def test_every_line_of_the_range_is_read_once(moments, start_ms, end_ms, page_sizes):
    """Every line of the range is read once; empty pages do not end it, and its end is exclusive."""
    logs = FakeLogs(events_at(moments), page_sizes)
    expected = [message for at_ms, message in logs.events if start_ms <= at_ms < end_ms]
    assert expected == list(group_of(logs).read_lines(start_ms, end_ms))


@given(moments=MOMENTS, limit=st.integers(2, 9))
def test_reading_continues_after_a_page_cut_off_without_a_token(moments, limit):
    """Reading continues after a page that the embedded AWS cut off without a token."""
    logs = FakeLogs(events_at(moments), tokens=False)
    account: Any = FakeLogsAccount(logs, is_rehearsal=True)
    crowded = max((moments.count(moment) for moment in moments), default=0) >= limit
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_group, "MAX_EVENTS_PER_PAGE", limit)
        if crowded:
            with pytest.raises(SourceError, match="more lines in a millisecond"):
                list(LogGroup(account, RECORDS_GROUP).read_lines(0, 41))
        else:
            assert [event for _, event in logs.events] == list(
                LogGroup(account, RECORDS_GROUP).read_lines(0, 41)
            )


def test_an_instance_is_read_from_its_own_stream_first():
    """An instance's own stream is read first, with one call; otherwise the group is read."""
    own, shared = (f'"CoveredSeconds" "{name}"' for name in ("i-1", "i-2"))
    logs = FakeLogs([(1, own), (2, shared)], streams={"i-1": [own], "train/07": [shared]})
    group = group_of(logs)
    assert [own] == group.read_lines_of_instance(0, 9, "i-1", pattern_of("i-1"))
    assert [shared] == group.read_lines_of_instance(0, 9, "i-2", pattern_of("i-2"))
    assert [["i-1"], ["i-2"], None] == [request.get("logStreamNames") for request in logs.requests]


def test_a_refusal_of_lines_names_the_group_and_the_quota():
    """A rejection that the client gives up on is an error with the group and the quota."""
    with pytest.raises(SourceError) as found:
        list(group_of(FakeLogs(refusal="ThrottlingException")).read_lines(0, 9))
    for words in (
        "logs:FilterLogEvents",
        RECORDS_GROUP,
        "ThrottlingException",
        "5 of these calls a second",
    ):
        assert words in str(found.value)


def test_no_call_starts_after_a_minute():
    """No call starts after a minute: with 7 s a call, the eighth is the last."""
    seconds = itertools.count(step=7)
    shown = []
    limit = log_group.ReadLimit(lambda *done: shown.append(done), lambda: next(seconds))
    limited = group_of(FakeLogs(), limit=limit)
    for _ in range(8):
        list(limited.read_lines(0, 9))
    with pytest.raises(SourceError, match="stopped after 8 calls and 63 s"):
        list(limited.read_lines(0, 9))
    assert [(number, log_group.MAX_CALLS) for number in range(1, 9)] == shown


def test_a_service_that_goes_in_a_circle_is_left():
    """A service that returns the same page token twice is an error, not an endless reading."""
    logs = FakeLogs([(1000, "a"), (2000, "b")])
    logs.filter_log_events = lambda **_: {"events": [], "nextToken": "here"}
    with pytest.raises(SourceError, match="the same page token twice"):
        list(group_of(logs).read_lines(0, 3000))
