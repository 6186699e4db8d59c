"""
Each alarm is sent once, is never lost in a failure, and alarms about one fact are one message.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.explain.event import read_transition
from aggregator.explain.notification import EVIDENCE_TIMEOUT_S, is_news, notify, pauses
from aggregator.explain.topic import TopicError
from aggregator.storage.table import Table
from aggregator.storage.values import TableError
from proof.memory_table import KillableProcess, KilledError
from tests.aggregator.explain.alarm_events import (
    ALARM_MINUTE,
    ENVIRONMENT,
    FIRED_S,
    OVER_AT,
    TOPIC_ARN,
    of_a_contributor,
    of_an_alarm,
    rollup,
    state,
    table_with,
)

CHAT_ARN = f"{TOPIC_ARN}-chat"
TRANSITION_EVENTS = (
    of_an_alarm(),
    of_an_alarm("SilentInstances"),
    of_an_alarm(now=state("OK", OVER_AT), before=state("ALARM")),
    of_a_contributor(cluster="research"),
    of_a_contributor(cluster="serving"),
    of_a_contributor(cluster="research", now=state("OK", OVER_AT)),
)


def notify_about(event, table, sent):
    """Notify about one event; append what is sent to *sent*."""
    return notify(
        read_transition(event), table, ENVIRONMENT, lambda *call: sent.append(call), FIRED_S + 1
    )


@given(st.lists(st.sampled_from(TRANSITION_EVENTS), max_size=12))
def test_each_transition_is_sent_once_however_often_it_is_delivered(deliveries):
    """Each transition is sent once, however often and in whatever order it is delivered."""
    table = table_with(rollup())
    sent = []
    for event in deliveries:
        notify_about(event, table, sent)
    assert len({read_transition(event).identity for event in deliveries}) == len(sent)
    assert {TOPIC_ARN} >= {topic for topic, _ in sent}


@given(st.sampled_from(TRANSITION_EVENTS), st.integers(min_value=1, max_value=8), st.booleans())
def test_a_crash_at_any_step_may_repeat_a_message_and_never_loses_one(event, step, after):
    """
    A crash at any step may repeat a message and never loses one, because Lambda delivers the event
    again.
    """
    table = table_with(rollup())
    sent = []
    process: Any = KillableProcess(table, sent, killed_at=step, after=after)
    try:
        notify(
            read_transition(event),
            process,
            ENVIRONMENT,
            lambda _, message: process.emit(message.subject),
            FIRED_S + 1,
        )
    except KilledError:
        before = len(sent)
        notify_about(event, table, sent)
        assert before <= len(sent) <= 2
    assert 1 <= len(sent) <= 2
    assert "repeated" == notify_about(event, table, sent).outcome


@pytest.mark.parametrize("refusing", [TOPIC_ARN, CHAT_ARN])
def test_a_topic_that_refuses_does_not_keep_a_message_from_the_other(refusing):
    """
    If one topic refuses a message, Lambda retries, and only that topic gets the message again.
    """
    environment = replace(ENVIRONMENT, chat_topic_arn=CHAT_ARN)
    table = table_with(rollup())
    sent = []
    transition = read_transition(of_an_alarm())

    def publish(topic_arn, _):
        if topic_arn == refusing and not sent.count(refusing):
            sent.append(refusing)
            raise TopicError
        sent.append(topic_arn)

    with pytest.raises(TopicError):
        notify(transition, table, environment, publish, FIRED_S)
    assert {TOPIC_ARN, CHAT_ARN} == set(sent)
    assert "sent" == notify(transition, table, environment, publish, FIRED_S).outcome
    assert "repeated" == notify(transition, table, environment, publish, FIRED_S).outcome
    assert sorted([TOPIC_ARN, CHAT_ARN, refusing]) == sorted(sent)


@pytest.mark.parametrize(
    "method",
    [
        "was_notified",
        "put_notified",
        "read_last_rollup",
        "read_published",
        "read_claim",
        "write_claim",
    ],
)
def test_a_table_that_fails_does_not_stop_a_message(monkeypatch, method):
    """If the table fails, the message is shorter or sent twice, and the failure is logged."""
    table = table_with(rollup())
    sent = []

    def fail(*_):
        msg = "records rejected a call with ThrottlingException"
        raise TableError(msg)

    monkeypatch.setattr(table, method, fail)
    outcome = notify_about(of_an_alarm(), table, sent)
    assert "sent" == outcome.outcome
    assert 1 == len(sent)
    is_reported = method not in {"read_last_rollup", "read_published"}
    assert is_reported == bool(outcome.trouble)
    is_short = method in {"was_notified", "read_last_rollup", "read_published"}
    assert is_short == ("could not be read" in outcome.message.text)


@pytest.mark.parametrize(
    ("now", "before", "expected"),
    [
        ("ALARM", "OK", True), ("ALARM", "INSUFFICIENT_DATA", True), ("ALARM", None, True),
        ("OK", "ALARM", True), ("OK", None, True), ("OK", "INSUFFICIENT_DATA", False),
        ("INSUFFICIENT_DATA", "ALARM", True), ("INSUFFICIENT_DATA", "OK", False),
    ],
)  # fmt: skip
def test_the_news_are_alarms_and_their_ends(now, before, expected):
    """
    Only a new alarm and the end of an alarm that fired are sent; a new alarm starts without data.
    """
    event = of_an_alarm(now=state(now), before=state(before) if before else None)
    if before is None:
        del event["detail"]["previousState"]
    assert expected == is_news(read_transition(event))
    sent = []
    notification = notify_about(event, table_with(rollup()), sent)
    assert ("sent" if expected else "dropped") == notification.outcome
    assert int(expected) == len(sent)


CORES, COST, UTILIZATION = IDLE = ("IdleCorePercent", "IdleCostPerHour", "NeuronCoreUtilization")
CHAT_TOPIC_TOO = replace(ENVIRONMENT, chat_topic_arn=CHAT_ARN)


@pytest.fixture
def table(dynamodb):  # noqa: ARG001 - the table is there
    """Return the table in DynamoDB, with a rollup of the cluster."""
    new_table = Table.connect("records")
    new_table.write_last_rollup("minute", "training", ALARM_MINUTE, json.dumps(rollup()))
    return new_table


@pytest.fixture
def sent():
    """Return the list of topics to which messages were sent, in order."""
    return []


def transition(metric, after_ms=0, value="ALARM", **detail):
    """Return a change of an alarm on *metric*, *after_ms* after the first."""
    at = datetime.fromtimestamp(FIRED_S + after_ms / 1000, timezone.utc)
    now = state(value, at.isoformat(timespec="milliseconds").replace("+00:00", "+0000"))
    return read_transition(of_a_contributor(metric, now=now, **detail))


def once():
    """Look once and do not wait."""
    yield


def tell(changed, table, sent, *, looks=once, publish=None, environment=ENVIRONMENT):
    """Notify about a transition; return the outcome."""
    to = publish or (lambda arn, _: sent.append(arn))
    return notify(
        changed, table, environment, to, FIRED_S + 60, printer=lambda _: None, looks=looks
    ).outcome


def test_alarms_that_fire_together_are_one_message(table, sent):
    """
    If the function that claimed a message dies before it sends, the second alarm waits for its
    retry and joins it.
    """

    def die(*_):
        raise KilledError

    def looks():
        yield
        assert "sent" == tell(transition(CORES), table, sent)  # Lambda's retry
        yield

    with pytest.raises(KilledError):
        tell(transition(CORES), table, sent, publish=die)
    assert "joined" == tell(transition(COST), table, sent, looks=looks)
    assert "joined" == tell(transition(UTILIZATION), table, sent)
    assert [TOPIC_ARN] == sent
    repeated = [tell(transition(metric), table, sent) for metric in IDLE]
    assert ["repeated"] * 3 == repeated


def test_a_reader_before_any_claim_does_not_claim_after_another(table, sent, monkeypatch):
    """
    If another alarm claims the message after the first read, the conditional put is refused, and
    the second read finds the claim.
    """
    read = table.read_claim
    others = [transition(CORES)]

    def read_claim(group):
        claim = read(group)
        if others:
            assert "sent" == tell(others.pop(), Table.connect("records"), sent)
        return claim

    monkeypatch.setattr(table, "read_claim", read_claim)
    assert "joined" == tell(transition(COST), table, sent)
    assert [TOPIC_ARN] == sent


def test_a_claim_without_a_message_covers_no_alarm(table, sent):
    """
    A claim without a message covers no other alarm: the second alarm waits and sends, and so does
    the retry of the first.
    """

    def die(*_):
        raise KilledError

    with pytest.raises(KilledError):
        tell(transition(CORES), table, sent, publish=die)
    assert "sent" == tell(transition(COST), table, sent)
    assert "sent" == tell(transition(CORES), table, sent, looks=pytest.fail)  # does not wait
    assert 2 == len(sent)
    assert ["repeated", "joined"] == [
        tell(transition(metric), table, sent) for metric in (CORES, UTILIZATION)
    ]


def test_a_message_is_waited_for_no_longer_than_a_third_of_the_time_that_there_is():
    """The clock bounds the wait for a message to a third of the time, however slow the table is."""
    for step_s in (0.0, 7.0):
        now = [0.0]
        slept = []

        def sleep(pause_s, step_s=step_s, now=now, slept=slept):
            slept.append(pause_s)
            now[0] += pause_s + step_s

        looks = [*pauses(partial(min, now), sleep)]
        assert len(looks) == len(slept) + 1
        assert EVIDENCE_TIMEOUT_S <= now[0] < EVIDENCE_TIMEOUT_S + 1 + step_s
    assert EVIDENCE_TIMEOUT_S * 3 <= 60


@pytest.mark.parametrize(
    ("after_ms", "expected"),
    [(899_999, "joined"), (900_000, "sent"), (-899_999, "joined"), (-900_000, "sent")],
)
def test_a_quarter_of_an_hour_is_that_of_the_transitions(table, sent, after_ms, expected):
    """
    Alarms join a message within a quarter of an hour of its first transition, whenever they are
    delivered.
    """
    tell(transition(CORES), table, sent)
    assert "joined" == tell(transition(COST, after_ms // 2), table, sent)
    assert expected == tell(transition(UTILIZATION, after_ms), table, sent)


def test_ends_are_joined_with_ends(table, sent):
    """Ends join ends: an alarm that fires after the others ended is sent, however soon."""
    story = [
        (CORES, "ALARM"),
        (COST, "ALARM"),
        (CORES, "OK"),
        (COST, "OK"),
        (UTILIZATION, "ALARM"),
        (UTILIZATION, "OK"),
    ]
    outcomes = [
        tell(transition(metric, 1000 * number, value), table, sent)
        for number, (metric, value) in enumerate(story)
    ]
    assert ["sent", "joined", "sent", "joined", "sent", "sent"] == outcomes


@pytest.mark.parametrize(
    "other",
    [
        transition(COST, cluster="serving"),
        transition("SilentInstances"),
        transition(COST, muteDetail={"mutedByArn": "arn"}),
        replace(transition(COST, value="OK"), reason="No data was returned for this contributor"),
    ],
    ids=["another cluster", "another fact", "muted", "gone"],
)
def test_nothing_else_is_joined(table, sent, other):
    """
    A message never joins one of another cluster, fact or Muted value; missing data is not resolved.
    """
    table.write_last_rollup("minute", "serving", ALARM_MINUTE, json.dumps(rollup()))
    for changed in (transition(CORES, value=other.state), other):
        assert "sent" == tell(changed, table, sent)


def test_a_message_without_the_numbers_covers_no_alarm(dynamodb, sent):  # noqa: ARG001
    """A message without a rollup covers no other alarm, so each alarm is sent."""
    empty = Table.connect("records")
    assert ["sent", "sent"] == [tell(transition(metric), empty, sent) for metric in (CORES, COST)]


def test_chat_gets_a_message_that_only_people_got(table, sent):
    """A message to one topic does not cover the other topic."""

    def refuse_chat(arn, _):
        if arn == CHAT_ARN:
            raise TopicError
        sent.append(arn)

    with pytest.raises(TopicError):
        tell(transition(CORES), table, sent, publish=refuse_chat, environment=CHAT_TOPIC_TOO)
    assert "sent" == tell(transition(COST), table, sent, environment=CHAT_TOPIC_TOO)
    assert [TOPIC_ARN, CHAT_ARN] == sent
    assert "sent" == tell(transition(CORES), table, sent, environment=CHAT_TOPIC_TOO)
    assert "joined" == tell(transition(UTILIZATION), table, sent, environment=CHAT_TOPIC_TOO)
    assert [TOPIC_ARN, CHAT_ARN, CHAT_ARN] == sent
