"""
PutLogEvents of the loopback CloudWatch Logs, rule by rule, each beside the words it rests on.

Through real boto3, which is told to leave the checking to the service.
"""

from __future__ import annotations

import pytest

from proof.logs.calls import (
    INVALID,
    NOW_MS,
    PLACE,
    error_in,
    error_of,
    messages,
    put,
    words_of,
)
from proof.logs.documentation import quotes_in, says, text_at
from proof.logs.forms import ServiceError

PUT = "PutLogEvents"


@says("InputLogEvent.timestamp", "the number of milliseconds after Jan 1, 1970 00:00:00 UTC")
def test_what_was_taken_is_kept_in_order(service, client):
    """Stream, timestamp and message, and a date by the service's own clock."""
    answer = put(client, (2000, "first"), (1000, "second"))
    assert "rejectedLogEventsInfo" not in answer
    assert "Fri, 15 Jan 2027 08:00:00 GMT" == answer["ResponseMetadata"]["HTTPHeaders"]["date"]
    assert [("i-0", NOW_MS - 2000, "first"), ("i-0", NOW_MS - 1000, "second")] == [
        (one.stream, one.timestamp_ms, one.message) for one in service.rules.applied
    ]


@says(
    PUT,
    "The maximum batch size is 1,048,576 bytes. This size is calculated as the sum of all event"
    " messages in UTF-8, plus 26 bytes for each log event.",
)
def test_a_call_holds_1048576_bytes_with_26_an_event(service, client):
    """UTF-8 bytes; one more is one too many."""
    halves = "é" * ((1_048_576 // 2 - 26) // 2)
    put(client, (0, halves), (0, halves))
    too_much = (0, halves), (0, halves + "x")
    assert INVALID == error_of(client, *too_much)
    assert "1048577 bytes" in words_of(lambda: put(client, *too_much))
    assert 2 == len(messages(service))


@says(PUT, "The maximum number of log events in a batch is 10,000.")
@says("InputLogEvents", "min: 1 max: 10000")
def test_a_call_holds_10000_events(service, client):
    """One more is one too many, whatever their size; none is too few."""
    put(client, *[(0, "x")] * 10_000)
    assert INVALID == error_of(client, *[(0, "x")] * 10_001)
    assert INVALID == error_of(client)
    assert 10_000 == len(messages(service))


@says("EventMessage", "min: 1")
@says("Timestamp", "min: 0")
def test_an_event_has_a_character_and_a_moment(service, client):
    """One that has not costs the call, and all that is wrong is said at once."""
    assert INVALID == error_of(client, (0, "good"), (0, ""))
    words = words_of(lambda: put(client, (NOW_MS + 1, "before 1970"), (0, "")))
    assert words.startswith("2 validation errors detected")
    assert "'logEvents.1.member.timestamp'" in words
    assert "'logEvents.2.member.message'" in words
    assert [] == messages(service)


@says("InputLogEvent.message", "The raw event message.")
def test_what_is_no_event_is_not_read(service, client):
    """A number for a text, half of a character, a text for a list: nothing is guessed."""
    not_read = ("SerializationException", 400)
    for event in ({"timestamp": "1", "message": "x"}, {"timestamp": NOW_MS, "message": "\ud800"}):
        assert not_read == error_in(lambda event=event: client.put_log_events(
            **PLACE, logEvents=[event]))  # fmt: skip
    with pytest.raises(ServiceError, match="Serialization"):
        service.rules.call(PUT, {**PLACE, "logEvents": "x"})
    for event in ({"timestamp": NOW_MS}, {"message": "x"}):
        with pytest.raises(ServiceError, match="must not be null"):
            service.rules.call(PUT, {**PLACE, "logEvents": [event]})
    assert [] == messages(service)


@pytest.mark.parametrize(
    ("member", "name"),
    [
        ("logGroupName", ""), ("logGroupName", "a b"), ("logGroupName", "a:b"),
        ("logGroupName", "/x\n"), ("logGroupName", "x" * 513), ("logStreamName", ""),
        ("logStreamName", "a:b"), ("logStreamName", "*"), ("logStreamName", "x" * 513),
    ],
)  # fmt: skip
@says("LogGroupName", "min: 1 max: 512 pattern: [\\.\\-_/#A-Za-z0-9]+")
@says("LogStreamName", "min: 1 max: 512 pattern: [^:*]*")
def test_a_name_that_cannot_be_is_not_looked_for(member, name, client):
    """It is invalid, not missing, and the member is named."""
    assert INVALID == error_of(client, (0, "x"), **{member: name})
    assert f"at '{member}'" in words_of(lambda: put(client, (0, "x"), **{member: name}))


@says("InvalidParameterException", "A parameter is specified incorrectly.")
def test_a_poison_message_costs_its_call(service, client):
    """Whatever it stands beside: there may be rules that nobody wrote down."""
    service.rules.poison = "poison"
    assert INVALID == error_of(client, (0, "good"), (0, "a poison"))
    put(client, (0, "good"))
    assert ["good"] == messages(service)


QUOTES = quotes_in(globals())


@pytest.mark.parametrize("quote", [one for one in QUOTES if one.is_in_the_model], ids=str)
def test_the_model_says_what_is_quoted_of_it(quote):
    """Word for word, in the version of the SDK that is installed."""
    assert quote.words in text_at(quote.place)


def test_every_rule_above_has_its_words():
    """And none of them is of this file's own making."""
    above = {name for name in globals() if name.startswith("test_")}
    unquoted = {name for name in above if not getattr(globals()[name], "quotes", ())}
    assert {
        "test_the_model_says_what_is_quoted_of_it",
        "test_every_rule_above_has_its_words",
    } == unquoted
