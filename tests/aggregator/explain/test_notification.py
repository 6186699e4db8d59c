"""Every alarm is told, once where nothing fails, and never lost where something does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.explain.event import read_transition
from aggregator.explain.notification import is_news, notify
from aggregator.explain.topic import TopicError
from aggregator.storage.values import TableError
from proof.memory_table import KillableProcess, KilledError, MemoryTable
from tests.aggregator.explain.alarm_events import (
    ENVIRONMENT,
    OVER,
    RANG_S,
    TOPIC_ARN,
    of_a_contributor,
    of_an_alarm,
    rollup,
    state,
    table_with,
)

CHAT_ARN = f"{TOPIC_ARN}-chat"
EVENTS = (
    of_an_alarm(),
    of_an_alarm("SilentInstances"),
    of_an_alarm(now=state("OK", OVER), before=state("ALARM")),
    of_a_contributor(cluster="research"),
    of_a_contributor(cluster="serving"),
    of_a_contributor(cluster="research", now=state("OK", OVER)),
)


def told(event, table, sent):
    """Tell one event; what is sent is put into *sent*."""
    return notify(
        read_transition(event), table, ENVIRONMENT, lambda *one: sent.append(one), RANG_S + 1
    )


@given(st.lists(st.sampled_from(EVENTS), max_size=12))
def test_each_transition_is_sent_once_however_often_it_is_delivered(deliveries):
    """In whatever order they come."""
    table, sent = table_with(rollup()), []
    for event in deliveries:
        told(event, table, sent)
    assert len({read_transition(event).identity for event in deliveries}) == len(sent)
    assert {TOPIC_ARN} >= {topic for topic, _ in sent}


@given(st.sampled_from(EVENTS), st.integers(min_value=1, max_value=8), st.booleans())
def test_a_crash_at_any_step_may_repeat_a_message_and_never_loses_one(event, step, after):
    """
    Lambda delivers the event again; the second invocation finds the table as the first left it.
    """
    table, sent = table_with(rollup()), []
    process = KillableProcess(table, sent, killed_at=step, after=after)
    try:
        notify(
            read_transition(event),
            process,
            ENVIRONMENT,
            lambda _, message: process.emit(message.subject),
            RANG_S + 1,
        )
    except KilledError:
        before = len(sent)
        told(event, table, sent)
        assert before <= len(sent) <= 2
    assert 1 <= len(sent) <= 2
    assert "repeated" == told(event, table, sent).outcome


@pytest.mark.parametrize("refusing", [TOPIC_ARN, CHAT_ARN])
def test_a_topic_that_refuses_does_not_keep_a_message_from_the_other(refusing):
    """Lambda comes again, and tells the one that was not told."""
    environment = replace(ENVIRONMENT, chat_topic_arn=CHAT_ARN)
    table, sent, transition = table_with(rollup()), [], read_transition(of_an_alarm())

    def publish(topic_arn, _):
        if topic_arn == refusing and not sent.count(refusing):
            sent.append(refusing)
            raise TopicError
        sent.append(topic_arn)

    with pytest.raises(TopicError):
        notify(transition, table, environment, publish, RANG_S)
    assert {TOPIC_ARN, CHAT_ARN} == set(sent)
    assert "sent" == notify(transition, table, environment, publish, RANG_S).outcome
    assert "repeated" == notify(transition, table, environment, publish, RANG_S).outcome
    assert sorted([TOPIC_ARN, CHAT_ARN, refusing]) == sorted(sent)


def test_what_is_remembered_outlives_the_dead_letter_queue(monkeypatch):
    """An event that somebody takes out of it after 13 days is still the same."""
    table, expiries = MemoryTable(), []
    monkeypatch.setattr(table, "put_notified", lambda _, expires_s: expiries.append(expires_s))
    told(of_an_alarm(), table, [])
    assert [int(RANG_S + 1) + 14 * 86_400] == expiries


@pytest.mark.parametrize(
    "method", ["was_notified", "put_notified", "read_last_rollup", "read_published"]
)
def test_a_table_that_fails_does_not_stop_a_message(monkeypatch, method):
    """It is shorter or comes twice; where it is the memory that fails, somebody is told of that."""
    table, sent = table_with(rollup()), []

    def fail(*_):
        msg = "records rejected a call with ThrottlingException"
        raise TableError(msg)

    monkeypatch.setattr(table, method, fail)
    found = told(of_an_alarm(), table, sent)
    assert ("sent", 1) == (found.outcome, len(sent))
    assert (method in {"was_notified", "put_notified"}) == bool(found.trouble)
    assert (method != "put_notified") == ("could not be read" in found.message.text)


@pytest.mark.parametrize(
    ("now", "before", "expected"),
    [
        ("ALARM", "OK", True), ("ALARM", "INSUFFICIENT_DATA", True), ("ALARM", None, True),
        ("OK", "ALARM", True), ("OK", None, True), ("OK", "INSUFFICIENT_DATA", False),
        ("INSUFFICIENT_DATA", "ALARM", True), ("INSUFFICIENT_DATA", "OK", False),
    ],
)  # fmt: skip
def test_the_news_are_alarms_and_their_ends(now, before, expected):
    """A new alarm has no data at first, and what never rang is not over."""
    event = of_an_alarm(now=state(now), before=state(before) if before else None)
    if before is None:
        del event["detail"]["previousState"]
    assert expected == is_news(read_transition(event))
    sent = []
    assert ("sent" if expected else "dropped") == told(event, table_with(rollup()), sent).outcome
    assert int(expected) == len(sent)
