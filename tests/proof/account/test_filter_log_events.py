"""
FilterLogEvents and GetLogEvents of the account, each rule beside the words it rests on.

Through real boto3, which is told to leave the checking to the service.
"""

from __future__ import annotations

import pytest

from proof.logs.calls import INVALID, NOT_FOUND, NOW_MS, error_in, words_of
from proof.logs.documentation import quotes_in, says, text_at
from proof.logs.rules import RECORDS_GROUP

FILTER = "FilterLogEvents"
REQUEST = "FilterLogEventsRequest"
PAGES = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/"
CLASSES = PAGES + "CloudWatch_Logs_Log_Classes.html"
GROUP = {"logGroupName": RECORDS_GROUP}
NOT_PLAYED = ("NotPlayed", 501)


def found(client, **asked):
    """The messages of all pages, and how many pages there were."""
    messages, pages, token = [], 0, {}
    while True:
        answer = client.filter_log_events(**{**GROUP, **asked}, **token)
        messages += [one["message"] for one in answer["events"]]
        pages += 1
        if "nextToken" not in answer:
            return messages, pages
        token = {"nextToken": answer["nextToken"]}


def refusal(client, **asked):
    """The name and status of the error that a request gets."""
    return error_in(lambda: client.filter_log_events(**{**GROUP, **asked}))


@says(
    FILTER,
    "Each page returned can contain up to 1 MB of log events or up to 10,000 log events.",
    "Specifying the limit parameter only guarantees that a single page doesn't return more log"
    " events than the specified limit",
)
@says("EventsLimit", "min: 1 max: 10000")
def test_a_page_has_its_bounds_and_nothing_falls_between_two(account, logs):
    """In events, in bytes, and in what was asked for; every event is on one page."""
    account.reading.empty_pages = 0
    account.put(RECORDS_GROUP, "i-0", [(NOW_MS + n, str(n)) for n in range(10_001)])
    everything = [str(n) for n in range(10_001)]
    assert (everything, 3) == found(logs)
    assert (everything, 5) == found(logs, limit=3_000)
    assert INVALID == refusal(logs, limit=10_001)
    assert INVALID == refusal(logs, limit=0)
    halves = [(NOW_MS + 20_000 + n, str(n) * 500_000) for n in range(5)]
    account.put(RECORDS_GROUP, "i-1", halves)
    assert ([text for _, text in halves], 4) == found(logs, startTime=NOW_MS + 20_000)


@says(
    FILTER,
    "The returned log events are sorted by event timestamp, the timestamp when the event was"
    " ingested by CloudWatch Logs, and the ID of the PutLogEvents request.",
)
def test_events_of_all_streams_are_sorted_by_their_time(account, logs):
    """Whenever they came."""
    account.put(RECORDS_GROUP, "i-1", [(NOW_MS, "c"), (NOW_MS - 5, "a")])
    account.put(RECORDS_GROUP, "i-0", [(NOW_MS - 3, "b"), (NOW_MS + 9, "d")])
    assert ["a", "b", "c", "d"] == found(logs, limit=3)[0]


@says(f"{REQUEST}.startTime", "Events with a timestamp before this time are not returned.")
@says(f"{REQUEST}.endTime", "Events with a timestamp later than this time are not returned.")
def test_both_ends_of_the_time_are_in_it(account, logs):
    """An event at the end is returned, unlike by GetLogEvents."""
    account.put(RECORDS_GROUP, "i-0", [(NOW_MS + n, str(n)) for n in range(5)])
    assert ["1", "2", "3"] == found(logs, startTime=NOW_MS + 1, endTime=NOW_MS + 3)[0]
    assert INVALID == refusal(logs, startTime=NOW_MS, endTime=NOW_MS - 1)


def test_a_log_group_must_be_named_and_there(logs):
    """By its name alone; what nothing of ours asks is not played."""
    assert INVALID == error_in(logs.filter_log_events)
    assert NOT_FOUND == refusal(logs, logGroupName="/other")
    assert INVALID == refusal(logs, logGroupName="a b")
    assert ("SerializationException", 400) == refusal(logs, startTime="now")
    assert NOT_PLAYED == refusal(logs, startFromHead=False)
    assert INVALID == refusal(logs, filterPattern="x" * 1025)


@says("FilterLogEventsResponse.nextToken", "The token expires after 24 hours.")
@says(f"{REQUEST}.nextToken", "You received this token from a previous call.")
def test_a_token_is_for_its_request_and_for_a_day(account, logs):
    """Another request, a day and a second later, or no token of ours: it is invalid."""
    account.put(RECORDS_GROUP, "i-0", [(NOW_MS + n, str(n)) for n in range(3)])
    token = {"nextToken": logs.filter_log_events(**GROUP, limit=1)["nextToken"]}
    assert INVALID == refusal(logs, **token, startTime=5)
    assert "nextToken is invalid" in words_of(
        lambda: logs.filter_log_events(**GROUP, nextToken="made up")
    )
    account.reading.tokens.clock = lambda: NOW_MS / 1000 + 86_400
    assert logs.filter_log_events(**GROUP, **token)["events"]
    account.reading.tokens.clock = lambda: NOW_MS / 1000 + 86_401
    assert INVALID == refusal(logs, **token)


@says(CLASSES, "GetLogEvents and FilterLogEvents: yes for Standard, no for Infrequent Access.")
def test_a_group_of_another_class_is_not_read(account, logs):
    """It is refused, not answered as if it were empty."""
    account.groups.of(RECORDS_GROUP).log_group_class = "INFREQUENT_ACCESS"
    assert INVALID == refusal(logs)
    assert "Standard" in words_of(lambda: logs.filter_log_events(**GROUP))


@says("LogGroup.retentionInDays", "The number of days to retain the log events")
def test_an_event_is_found_as_long_as_it_is_kept(account, logs):
    """And not before it is there for readers."""
    day_ms = 86_400_000
    account.put(RECORDS_GROUP, "i-0", [(NOW_MS - 31 * day_ms, "old"), (NOW_MS, "new")])
    assert ["new"] == found(logs)[0]
    account.groups.of(RECORDS_GROUP).retention_days = None
    assert ["old", "new"] == found(logs)[0]
    account.reading.lag_ms = 1
    assert ["old"] == found(logs)[0]


@says(
    "GetLogEventsRequest.startTime",
    "Events with a timestamp equal to this time or later than this time",
)
@says("LogStreamName", "min: 1 max: 512 pattern: [^:*]*")
def test_what_the_emitter_puts_is_read_by_its_stream(account, logs):
    """From the head; through PutLogEvents of the same service, to the group that it names."""
    stream = {**GROUP, "logStreamName": "i-0"}
    logs.create_log_stream(**stream)
    sent = [{"timestamp": NOW_MS + n, "message": str(n)} for n in range(3)]
    logs.put_log_events(**stream, logEvents=sent)
    account.put(RECORDS_GROUP, "i-1", [(NOW_MS, "x")])
    account.reading.empty_reads = 0

    def got(**asked):
        asked = {**stream, "startFromHead": True, **asked}
        return [one["message"] for one in logs.get_log_events(**asked)["events"]]

    assert ["0", "1", "2"] == got()
    assert ["1", "2"] == got(startTime=NOW_MS + 1)
    assert NOT_FOUND == error_in(lambda: got(logStreamName="i-2"))
    assert NOT_FOUND == error_in(lambda: got(logGroupName=account.rollups_group))
    assert INVALID == error_in(lambda: got(logStreamName="a:b"))
    assert INVALID == error_in(lambda: got(logStreamName=None))
    assert NOT_PLAYED == error_in(lambda: got(startFromHead=False))


QUOTES = [quote for quote in quotes_in(globals()) if quote.is_in_the_model]


@pytest.mark.parametrize("quote", QUOTES, ids=str)
def test_the_model_says_what_is_quoted_of_reading(quote):
    """Word for word, in the version of the SDK that is installed."""
    assert quote.words in text_at(quote.place)
