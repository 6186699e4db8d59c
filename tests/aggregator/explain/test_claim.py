"""One fact, one message: idle cores, their cost and low utilization of one cluster."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from datetime import datetime, timezone

import boto3
import pytest

from aggregator.explain import topic
from aggregator.explain.event import read_transition
from aggregator.explain.notification import PATIENCE_S, notify, pauses
from aggregator.explain.topic import TopicError
from aggregator.storage.table import Table
from aggregator.storage.values import TableError
from proof.memory_table import KilledError
from tests.aggregator.explain.alarm_events import (
    ENVIRONMENT,
    MINUTE,
    RANG_S,
    TOPIC_ARN,
    of_a_contributor,
    of_an_alarm,
    rollup,
    state,
)

CORES, COST, UTILIZATION = IDLE = ("IdleCorePercent", "IdleCostPerHour", "NeuronCoreUtilization")
CHAT_ARN = f"{TOPIC_ARN}-chat"
CHATTING = replace(ENVIRONMENT, chat_topic_arn=CHAT_ARN)


@pytest.fixture
def table(dynamodb):  # noqa: ARG001 - the table is there
    """The table in DynamoDB, with a rollup of the cluster."""
    made = Table.connect("records")
    made.write_last_rollup("minute", "training", MINUTE, json.dumps(rollup()))
    return made


@pytest.fixture
def sent():
    """The topics that a message went to, in order."""
    return []


def transition(metric, after_ms=0, value="ALARM", **detail):
    """An alarm on *metric* changed its state so much later than the others."""
    at = datetime.fromtimestamp(RANG_S + after_ms / 1000, timezone.utc)
    now = state(value, at.isoformat(timespec="milliseconds").replace("+00:00", "+0000"))
    return read_transition(of_a_contributor(metric, now=now, **detail))


def once():
    """Look once and wait for nobody."""
    yield


def tell(one, table, sent, *, looks=once, publish=None, environment=ENVIRONMENT):
    """What becomes of a transition."""
    to = publish or (lambda arn, _: sent.append(arn))
    return notify(
        one, table, environment, to, RANG_S + 60, printer=lambda _: None, looks=looks
    ).outcome


def test_alarms_that_ring_together_are_one_message(table, sent):
    """
    Each in an environment of its own: the others look while the first is sending, and wait for it.

    The function's role lets it read items and put them, and nothing else.
    """
    looked, told, outcomes, calls = threading.Semaphore(0), threading.Event(), [], set()
    table._requests._client.meta.events.register(
        "before-call.dynamodb", lambda model, **_: calls.add(model.name)
    )

    def looks():
        yield
        looked.release()
        assert told.wait(30)
        yield

    def publish(arn, _):
        sent.append(arn)
        for other in others:
            other.start()
        assert all(looked.acquire(timeout=30) for _ in others)

    others = [
        threading.Thread(
            target=lambda metric=metric: outcomes.append(
                tell(transition(metric), table, sent, looks=looks)
            )
        )
        for metric in (COST, UTILIZATION)
    ]
    assert "sent" == tell(transition(CORES), table, sent, publish=publish)
    told.set()
    for other in others:
        other.join()
    assert ["joined", "joined"] == outcomes
    assert [TOPIC_ARN] == sent
    assert {"GetItem", "BatchGetItem", "PutItem"} >= calls
    repeated = [tell(transition(metric), table, sent) for metric in IDLE]
    assert ["repeated"] * 3 == repeated


def test_who_reads_before_anybody_claimed_does_not_claim_after_somebody_did(
    table, sent, monkeypatch
):
    """The put is refused, and the second look finds whose message it is."""
    read, others = table.read_claim, [transition(CORES)]

    def read_claim(group):
        found = read(group)
        if others:
            assert "sent" == tell(others.pop(), Table.connect("records"), sent)
        return found

    monkeypatch.setattr(table, "read_claim", read_claim)
    assert "joined" == tell(transition(COST), table, sent)
    assert [TOPIC_ARN] == sent


def test_a_claim_whose_message_never_came_covers_nobody(table, sent):
    """The first dies before it sends: the second waits, then sends; the first, again, sends too."""

    def die(*_):
        raise KilledError

    with pytest.raises(KilledError):
        tell(transition(CORES), table, sent, publish=die)
    assert "sent" == tell(transition(COST), table, sent)
    assert "sent" == tell(transition(CORES), table, sent, looks=pytest.fail)  # waits for nobody
    assert 2 == len(sent)
    assert ["repeated", "joined"] == [
        tell(transition(metric), table, sent) for metric in (CORES, UTILIZATION)
    ]


def test_a_message_is_waited_for_no_longer_than_a_third_of_the_time_that_there_is():
    """However slow the table is: the clock is asked, not the looks counted."""
    for step_s in (0.0, 7.0):
        now, slept = [0.0], []

        def sleep(pause_s, step_s=step_s, now=now, slept=slept):
            slept.append(pause_s)
            now[0] += pause_s + step_s

        looks = sum(1 for _ in pauses(lambda now=now: now[0], sleep))
        assert looks == len(slept) + 1
        assert PATIENCE_S <= now[0] < PATIENCE_S + 1 + step_s
    assert PATIENCE_S * 3 <= 60


@pytest.mark.parametrize("method", ["read_claim", "write_claim", "was_notified"])
def test_a_table_that_fails_is_a_message_more(table, sent, monkeypatch, method):
    """Where it fails at the claim, or while it is looked whether the other message is out."""
    first, second = transition(CORES), transition(COST)
    tell(first, table, sent)
    answers = getattr(table, method)

    def fail(*given):
        if method == "was_notified" and not given[0].startswith(first.identity):
            return answers(*given)
        msg = "records rejected a call with ThrottlingException"
        raise TableError(msg)

    if method == "write_claim":
        second = transition(COST, 15 * 60_000)
    monkeypatch.setattr(table, method, fail)
    assert "sent" == tell(second, table, sent)
    assert 2 == len(sent)


@pytest.mark.parametrize(
    ("after_ms", "expected"),
    [(899_999, "joined"), (900_000, "sent"), (-899_999, "joined"), (-900_000, "sent")],
)
def test_a_quarter_of_an_hour_is_that_of_the_transitions(table, sent, after_ms, expected):
    """Whenever they are delivered; it begins with the first and is not made longer by others."""
    tell(transition(CORES), table, sent)
    assert "joined" == tell(transition(COST, after_ms // 2), table, sent)
    assert expected == tell(transition(UTILIZATION, after_ms), table, sent)


def test_ends_are_joined_with_ends(table, sent):
    """And an alarm that rings after the others were over is told, however soon."""
    story = [
        (CORES, "ALARM"), (COST, "ALARM"), (CORES, "OK"), (COST, "OK"), (UTILIZATION, "ALARM"),
        (UTILIZATION, "OK"),
    ]  # fmt: skip
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
    """A filter on Muted keeps a muted message from its readers; nobody knows what gone is."""
    table.write_last_rollup("minute", "serving", MINUTE, json.dumps(rollup()))
    for one in (transition(CORES, value=other.state), other):
        assert "sent" == tell(one, table, sent)


def test_a_message_without_the_numbers_covers_nobody(dynamodb, sent):  # noqa: ARG001
    """Where there is no rollup, each alarm is told."""
    empty = Table.connect("records")
    assert ["sent", "sent"] == [tell(transition(one), empty, sent) for one in (CORES, COST)]


def test_chat_is_told_where_only_the_people_were(table, sent):
    """Each topic has what it needs: what one has got does not count for the other."""

    def refuse_chat(arn, _):
        if arn == CHAT_ARN:
            raise TopicError
        sent.append(arn)

    with pytest.raises(TopicError):
        tell(transition(CORES), table, sent, publish=refuse_chat, environment=CHATTING)
    assert "sent" == tell(transition(COST), table, sent, environment=CHATTING)
    assert [TOPIC_ARN, CHAT_ARN] == sent
    assert "sent" == tell(transition(CORES), table, sent, environment=CHATTING)
    assert "joined" == tell(transition(UTILIZATION), table, sent, environment=CHATTING)
    assert [TOPIC_ARN, CHAT_ARN, CHAT_ARN] == sent


@pytest.mark.parametrize("metric", IDLE)
@pytest.mark.parametrize("value", ["ALARM", "OK"])
def test_each_message_says_what_the_others_would_have(table, metric, value):
    """The idle of the known, what they cost, and how little is used."""
    text = notify(
        transition(metric, value=value), table, ENVIRONMENT, lambda *_: None, RANG_S, looks=once
    ).message.text
    for said in ("36 of 128 known cores (28 %) idle", "24.19 USD/h", "mean utilization 41.4 %"):
        assert said in text


@pytest.mark.parametrize("metric", IDLE)
def test_who_filters_by_one_of_the_metrics_gets_the_message(table, metric):
    """Whichever of the three alarms claimed it."""
    arn = boto3.client("sns").create_topic(Name="alarms")["TopicArn"]
    queues = boto3.client("sqs")
    url = queues.create_queue(QueueName="alarms")["QueueUrl"]
    queue = queues.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
    boto3.client("sns").subscribe(
        TopicArn=arn, Protocol="sqs", Endpoint=queue["QueueArn"],
        Attributes={"FilterPolicy": json.dumps({"Metric": [metric]})},
    )  # fmt: skip
    topic.client.cache_clear()
    for one in (transition(CORES), read_transition(of_an_alarm("SilentInstances"))):
        notify(one, table, replace(ENVIRONMENT, alarm_topic_arn=arn), topic.publish, RANG_S)
    topic.client.cache_clear()
    (message,) = queues.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    assert list(IDLE) == json.loads(json.loads(message["Body"])["Message"])["Metrics"]
