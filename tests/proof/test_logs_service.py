"""
The loopback CloudWatch Logs keeps the real one's rules, as real boto3 sees them.

What is proved against it is worth what it refuses.
"""

from __future__ import annotations

import contextlib

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from logs_service import (
    ANSWER_LOST,
    DENIED,
    INTERNAL,
    LATE,
    RESET,
    THROTTLED,
    UNAVAILABLE,
    LogsService,
)

NOW_S = 1_800_000_000.0
NOW_MS = int(NOW_S * 1000)
HOUR_MS = 3_600_000
PLACE = {"logGroupName": "/neuron-emf/records", "logStreamName": "i-0"}


@pytest.fixture
def service():
    """
    A service at one moment, with the stream already made.
    """
    with LogsService(lambda: NOW_S) as made:
        made.rules.groups[PLACE["logGroupName"]].add(PLACE["logStreamName"])
        yield made


@pytest.fixture
def client(service, monkeypatch):
    """
    A real client that finds the service as the emitter's does, and never tries twice.
    """
    for name, value in service.variables.items():
        monkeypatch.setenv(name, value)
    config = Config(retries={"mode": "standard", "total_max_attempts": 1})
    made = boto3.session.Session().client("logs", config=config)
    yield made
    made.close()


def put(client, *events, **place):
    """
    Put events of (age in ms, message).
    """
    sent = [{"timestamp": NOW_MS - age_ms, "message": message} for age_ms, message in events]
    return client.put_log_events(**{**PLACE, **place}, logEvents=sent)


def error_of(client, *events, **place):
    """
    The name and status of the error that a call gets.
    """
    with pytest.raises(ClientError) as found:
        put(client, *events, **place)
    answer = found.value.response
    return answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]


def messages(service):
    """
    What was taken.
    """
    return [one.message for one in service.rules.applied]


def test_what_was_taken_is_kept_in_order(service, client):
    """
    Stream, timestamp and message, and a date by the service's own clock.
    """
    answer = put(client, (2000, "first"), (1000, "second"))
    assert "rejectedLogEventsInfo" not in answer
    assert "Fri, 15 Jan 2027 08:00:00 GMT" == answer["ResponseMetadata"]["HTTPHeaders"]["date"]
    assert [("i-0", NOW_MS - 2000, "first"), ("i-0", NOW_MS - 1000, "second")] == [
        (one.stream, one.timestamp_ms, one.message) for one in service.rules.applied
    ]


def test_a_stream_must_be_made_first(service, client):
    """
    Not found, then made, then found; a second time is said to be one too many.
    """
    new = {"logStreamName": "i-1"}
    assert ("ResourceNotFoundException", 400) == error_of(client, (0, "x"), **new)
    client.create_log_stream(**{**PLACE, **new})
    put(client, (0, "x"), **new)
    with pytest.raises(ClientError, match="ResourceAlreadyExistsException"):
        client.create_log_stream(**{**PLACE, **new})
    no_group = {"logGroupName": "/other"}
    assert ("ResourceNotFoundException", 400) == error_of(client, (0, "x"), **no_group)
    assert ["x"] == messages(service)


def test_order_is_asked_of_every_call(service, client):
    """
    One event out of order costs the whole call.
    """
    assert ("InvalidParameterException", 400) == error_of(client, (0, "late"), (1, "early"))
    assert [] == messages(service)


def test_a_call_spans_24_hours_and_no_more(service, client):
    """
    The bound is inclusive, and only events that are taken count.
    """
    day_ms = 24 * HOUR_MS
    put(client, (day_ms, "a"), (0, "b"))
    assert ("InvalidParameterException", 400) == error_of(client, (day_ms + 1, "c"), (0, "d"))
    put(client, (20 * day_ms, "too old"), (day_ms, "e"), (0, "f"))
    assert ["a", "b", "e", "f"] == messages(service)


def test_a_call_holds_1048576_bytes_with_26_an_event(service, client):
    """
    UTF-8 bytes; one more is one too many.
    """
    full = "é" * ((1_048_576 - 26) // 2)
    put(client, (0, full))
    assert ("InvalidParameterException", 400) == error_of(client, (0, full + "x"))
    halves = "x" * (1_048_576 // 2 - 26)
    put(client, (0, halves), (0, halves))
    assert ("InvalidParameterException", 400) == error_of(client, (0, halves), (0, halves + "x"))
    assert 3 == len(messages(service))


def test_a_call_holds_10000_events(service, client):
    """
    One more is one too many, whatever their size; none is too few, and empty is no message.
    """
    put(client, *[(0, "x")] * 10_000)
    assert ("InvalidParameterException", 400) == error_of(client, *[(0, "x")] * 10_001)
    assert 10_000 == len(messages(service))
    service.rules.applied.clear()
    with pytest.raises((ClientError, BotoCoreError)):
        put(client, (0, ""))
    assert [] == messages(service)


def test_age_is_asked_of_every_event(service, client):
    """
    What is too old, expired or too new is left out and named by its place; the rest is taken.
    """
    day_ms = 24 * HOUR_MS
    answer = put(client, (15 * day_ms, "a"), (14 * day_ms + 1, "b"), (14 * day_ms, "c"))
    assert {"tooOldLogEventEndIndex": 2} == answer["rejectedLogEventsInfo"]
    answer = put(client, (0, "d"), (-2 * HOUR_MS, "e"), (-2 * HOUR_MS - 1, "f"))
    assert {"tooNewLogEventStartIndex": 2} == answer["rejectedLogEventsInfo"]
    answer = put(client, (-3 * HOUR_MS, "g"))
    assert {"tooNewLogEventStartIndex": 0} == answer["rejectedLogEventsInfo"]
    service.rules.retention_ms = day_ms
    answer = put(client, (2 * day_ms, "h"), (day_ms, "i"))
    assert {"expiredLogEventEndIndex": 1} == answer["rejectedLogEventsInfo"]
    assert ["c", "d", "e", "i"] == messages(service)


def test_a_poison_message_costs_its_call(service, client):
    """
    Whatever it stands beside.
    """
    service.rules.poison = "poison"
    assert ("InvalidParameterException", 400) == error_of(client, (0, "good"), (0, "a poison"))
    put(client, (0, "good"))
    assert ["good"] == messages(service)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (THROTTLED, ("ThrottlingException", 400)),
        (DENIED, ("AccessDeniedException", 400)),
        (UNAVAILABLE, ("ServiceUnavailableException", 503)),
        (INTERNAL, ("InternalFailure", 500)),
    ],
)
def test_an_error_takes_nothing(fault, expected, service, client):
    """
    It is told as the real service tells it; the next call works again.
    """
    service.next_faults.append(fault)
    assert expected == error_of(client, (0, "x"))
    assert [] == messages(service)
    put(client, (0, "x"))
    assert ["x"] == messages(service)
    assert {fault: 1, "PutLogEvents": 1} == service.happened


@pytest.mark.parametrize(("fault", "taken"), [(RESET, []), (ANSWER_LOST, ["x"])])
def test_a_connection_that_breaks_does_not_say_what_was_taken(fault, taken, service, client):
    """
    The client sees one kind of failure; the service knows which it was.
    """
    service.next_faults.append(fault)
    with pytest.raises(BotoCoreError):
        put(client, (0, "x"))
    assert taken == messages(service)
    put(client, (0, "y"))
    assert [*taken, "y"] == messages(service)


def test_a_late_answer_is_an_answer(service, client):
    """
    Within the client's patience it is like any other.
    """
    service.next_faults.append(LATE)
    put(client, (0, "x"))
    assert ["x"] == messages(service)


def test_a_service_that_is_gone_refuses_connections_until_it_is_back(service, client):
    """
    At the same address, with everything it had.
    """
    put(client, (0, "before"))
    service.vanish()
    with pytest.raises(BotoCoreError):
        put(client, (0, "meanwhile"))
    service.come_back()
    put(client, (0, "after"))
    assert ["before", "after"] == messages(service)


def test_chances_are_shares_of_all_calls(service, client):
    """
    Every call is drawn for; what has no chance does not happen.
    """
    service.chances = {THROTTLED: 0.5}
    for _ in range(100):
        with contextlib.suppress(ClientError):
            put(client, (0, "x"))
    assert 100 == sum(service.happened.values())
    assert {"PutLogEvents", THROTTLED} == set(service.happened)
