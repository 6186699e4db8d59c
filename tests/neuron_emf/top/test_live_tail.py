"""A Live Tail session, and what is asked for beside it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from botocore.exceptions import ClientError, EventStreamError
from urllib3.exceptions import ProtocolError

from emitter.errors import SettingsError, SourceError
from neuron_emf.top import feed as feed_module
from neuron_emf.top.feed import LiveTailFeed, Session
from neuron_emf.top.window import Window
from tests.neuron_emf.reading.lines import START_MS, line
from tests.neuron_emf.reading.played_logs import PlayedAccount, PlayedLogs

MINUTE_MS = 60_000
NOW_MS = START_MS + 10 * MINUTE_MS
ARN = "arn:aws:logs:us-east-1:123456789012:log-group:/neuron-emf/records"


def update(*lines, sampled=False):
    return {
        "sessionUpdate": {
            "sessionMetadata": {"sampled": sampled},
            "sessionResults": [{"message": one, "timestamp": START_MS} for one in lines],
        }
    }


def until_it_times_out(*updates):
    """As the client has it: an exception of the stream is raised."""
    yield {"sessionStart": {"sessionId": "0"}}
    yield from updates
    raise EventStreamError({"Error": {"Code": "SessionTimeoutException"}}, "StartLiveTail")


@dataclass
class PlayedTail(PlayedLogs):
    """The same with sessions."""

    streams: list = field(default_factory=list)
    started: list = field(default_factory=list)

    def describe_log_groups(self, **request):
        prefix = request["logGroupNamePrefix"]
        names = [f"{prefix}-old", prefix]
        return {"logGroups": [{"logGroupName": n, "arn": f"{ARN}:*"} for n in names]}

    def start_live_tail(self, **request):
        self.started.append(request)
        if not self.streams:
            raise ClientError({"Error": {"Code": "LimitExceededException"}}, "StartLiveTail")
        return {"responseStream": self.streams.pop(0)}


def feed_of(logs):
    return LiveTailFeed(PlayedAccount(logs), 10 * MINUTE_MS, "")


def test_what_was_there_before_and_what_comes_are_both_seen():
    """The session begins before the first reading, so that nothing falls between."""
    stream = until_it_times_out(update(), update(line(instance_id="i-1")))
    logs = PlayedTail(events=[(START_MS, line())], streams=[stream, iter([])])
    feed, window = feed_of(logs), Window()
    feed.read(window, NOW_MS)
    assert [("research", "i-0")] == sorted(window._instances)
    feed._session._thread.join()
    feed.read(window, NOW_MS + 5_000)
    assert [("research", "i-0"), ("research", "i-1")] == sorted(window._instances)
    expected = {"logGroupIdentifiers": [ARN], "logEventFilterPattern": '"CoveredSeconds"'}
    assert [expected] * 2 == logs.started, "three hours are over, and another session begins"
    assert 2 == len(logs.requests)
    assert feed.traffic.startswith("Live Tail, 2 sessions; 2 calls")


def test_a_connection_that_breaks_is_no_more_than_the_end_of_a_session():
    """The SDK lets what its own libraries raise through."""

    def broken():
        yield update(line())
        raise ProtocolError

    logs = PlayedTail(streams=[broken(), iter([])])
    feed, window = feed_of(logs), Window()
    feed.read(window, NOW_MS)
    feed._session._thread.join()
    feed.read(window, NOW_MS + 5_000)
    assert (2, [("research", "i-0")]) == (len(logs.started), sorted(window._instances))


def test_while_it_is_complete_nothing_is_asked_for():
    """The session has its price already."""
    logs = PlayedTail(streams=[iter([])])
    feed, window = feed_of(logs), Window()
    feed.read(window, NOW_MS)
    feed._session._thread.join()
    feed._session.has_ended = False  # as if it were open and quiet
    for second in (5, 65, 600):
        feed.read(window, NOW_MS + second * 1000)
    assert 1 == len(logs.requests)


@pytest.mark.parametrize("why", ["sampled", "too many"])
def test_what_a_session_left_out_is_asked_for(why, monkeypatch):
    """
    Above 500 lines a second CloudWatch Logs sends a sample; and nobody keeps lines without end.
    """
    if why == "too many":
        monkeypatch.setattr(feed_module, "MAX_WAITING_LINES", 1)
    logs = PlayedTail(streams=[iter([])])
    feed, window = feed_of(logs), Window()
    feed.read(window, NOW_MS)
    feed._session._thread.join()
    texts = [line(instance_id="i-1"), line(instance_id="i-2")]
    feed._session = Session(iter([update(*texts, sampled=why == "sampled")]))
    feed._session._thread.join()
    feed._session.has_ended = False
    logs.events = [(START_MS + 8 * MINUTE_MS, line(instance_id=f"i-{n}")) for n in range(4)]
    feed.read(window, NOW_MS + 5_000)
    assert 2 == len(logs.requests)
    assert [f"i-{n}" for n in range(4)] == [name for _, name in sorted(window._instances)]


def test_what_could_not_be_asked_for_is_asked_for_again():
    """A session alone does not say what it left out."""
    logs = PlayedTail(streams=[iter([])], refusal="ThrottlingException")
    feed, window = feed_of(logs), Window()
    for _ in range(2):
        with pytest.raises(SourceError, match="FilterLogEvents"):
            feed.read(window, NOW_MS)
        feed._session._thread.join()
        feed._session.has_ended = False
    logs.refusal, logs.events = "", [(START_MS + 8 * MINUTE_MS, line())]
    feed.read(window, NOW_MS)
    assert [("research", "i-0")] == sorted(window._instances)
    assert 1 == len(logs.started)


def test_a_session_that_is_refused_is_said():
    """With the action: whoever looks may lack the permission, or fifteen sessions run already."""
    with pytest.raises(SourceError, match="logs:StartLiveTail on /neuron-emf/records"):
        feed_of(PlayedTail()).read(Window(), NOW_MS)


def test_where_there_is_no_live_tail_it_is_said():
    """The embedded AWS has none, and a group that does not exist has no name to ask by."""
    with pytest.raises(SettingsError, match="Omit --live-tail"):
        LiveTailFeed(PlayedAccount(PlayedTail(), is_rehearsal=True), 0, "")
    logs = PlayedTail()
    logs.describe_log_groups = lambda **_: {"logGroups": [{"logGroupName": "/other"}]}
    with pytest.raises(SettingsError, match="Check --log-group"):
        feed_of(logs).read(Window(), NOW_MS)
