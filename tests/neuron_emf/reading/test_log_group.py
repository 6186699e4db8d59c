"""Reading a log group gives all lines of a range and no other, for any pages of the service."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.reading import LogGroup, log_group, pattern_of
from neuron_emitter.errors import SourceError
from proof.account.account_double import AccountDouble
from proof.factories.records import RECORDS_GROUP
from proof.logs.rules import ServiceError
from tests.neuron_emf.fake_aws import LogsClient

MOMENTS = st.lists(st.integers(0, 40), max_size=40).map(sorted)


@pytest.fixture(scope="module")
def double():
    """Yield an account with both log groups at the second 1 of the epoch."""
    with AccountDouble(lambda: 1.0) as account:
        yield account


@pytest.fixture
def logs(double):
    """Return a client of a log group without lines."""
    return client_of(double)


def client_of(double, moments=(), empty_pages=0):
    """Return a client of a log group with an event of its own message at each moment."""
    double.rules.applied.clear()
    double.empty_pages = empty_pages
    lines = [(at_ms, f"{number} at {at_ms}") for number, at_ms in enumerate(moments)]
    double.put(RECORDS_GROUP, "i-0", lines)
    return LogsClient(double)


def group_of(logs, *, is_rehearsal=False, **changes):
    """Return the log group of an account with this client."""
    account: Any = SimpleNamespace(
        client=lambda _service: logs, is_rehearsal=is_rehearsal, log_group=RECORDS_GROUP
    )
    return LogGroup(account, RECORDS_GROUP, **changes)


def lines_in(logs, start_ms=0, end_ms=41):
    """Return the messages of a range, in order."""
    return [
        event.message
        for event in logs.account.events(RECORDS_GROUP)
        if start_ms <= event.timestamp_ms < end_ms
    ]


@given(
    moments=MOMENTS,
    start_ms=st.integers(0, 41),
    end_ms=st.integers(0, 41),
    empty_pages=st.integers(0, 3),
    limit=st.integers(1, 9),
)
def test_every_line_of_the_range_is_read_once(
    double, moments, start_ms, end_ms, *, empty_pages, limit
):
    """Every line of the range is read once; empty pages do not end it, and its end is exclusive."""
    logs = client_of(double, moments, empty_pages)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_group, "MAX_EVENTS_PER_PAGE", limit)
        read = list(group_of(logs).read_lines(start_ms, end_ms))
    assert lines_in(logs, start_ms, end_ms) == read


@given(moments=MOMENTS, limit=st.integers(2, 9))
def test_reading_continues_after_a_page_cut_off_without_a_token(double, moments, limit):
    """Reading continues after a page that the embedded AWS cut off without a token."""
    logs = client_of(double, moments)
    logs.answer = lambda request: {
        "events": double.rules.call("FilterLogEvents", request)["events"]
    }
    crowded = max((moments.count(moment) for moment in moments), default=0) >= limit
    group = group_of(logs, is_rehearsal=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_group, "MAX_EVENTS_PER_PAGE", limit)
        if crowded:
            with pytest.raises(SourceError, match="more lines in a millisecond"):
                list(group.read_lines(0, 41))
        else:
            assert lines_in(logs) == list(group.read_lines(0, 41))


def test_an_instance_is_read_from_its_own_stream_first(logs):
    """An instance's own stream is read first, with one call; otherwise the group is read."""
    own, shared = (f'"CoveredSeconds" "{name}"' for name in ("i-1", "i-2"))
    logs.account.put(RECORDS_GROUP, "i-1", [(1, own)])
    logs.account.put(RECORDS_GROUP, "train/07", [(2, shared)])
    group = group_of(logs)
    assert [own] == group.read_lines_of_instance(0, 9, "i-1", pattern_of("i-1"))
    assert [shared] == group.read_lines_of_instance(0, 9, "i-2", pattern_of("i-2"))
    first = [request for request in logs.asked if "nextToken" not in request]
    streams = [request.get("logStreamNames") for request in first]
    assert [["i-1"], ["i-2"], None] == streams


def test_a_refusal_of_lines_names_the_group_and_the_quota(logs):
    """A rejection that the client gives up on is an error with the group and the quota."""

    def refuse(_request):
        code = "ThrottlingException"
        raise ServiceError(code, "Rate exceeded")

    logs.answer = refuse
    with pytest.raises(SourceError) as found:
        list(group_of(logs).read_lines(0, 9))
    for words in (
        "logs:FilterLogEvents",
        RECORDS_GROUP,
        "ThrottlingException",
        "5 of these calls a second",
    ):
        assert words in str(found.value)


def test_no_call_starts_after_a_minute(logs):
    """No call starts after a minute: with 7 s a call, the eighth is the last."""
    seconds = itertools.count(step=7)
    shown = []
    limit = log_group.ReadLimit(lambda *done: shown.append(done), lambda: next(seconds))
    limited = group_of(logs, limit=limit)
    for _ in range(8):
        list(limited.read_lines(0, 9))
    with pytest.raises(SourceError, match="stopped after 8 calls and 63 s"):
        list(limited.read_lines(0, 9))
    assert [(number, log_group.MAX_CALLS) for number in range(1, 9)] == shown


def test_a_service_that_goes_in_a_circle_is_left(logs):
    """A service that returns the same page token twice is an error, not an endless reading."""
    logs.answer = lambda _request: {"events": [], "nextToken": "here"}
    with pytest.raises(SourceError, match="the same page token twice"):
        list(group_of(logs).read_lines(0, 3000))
