"""The explain handler, from EventBridge's event to what a subscriber receives."""

from __future__ import annotations

import json
import time

import boto3
import pytest

from aggregator import runtime
from aggregator.close import function as close
from aggregator.explain import function as explain
from aggregator.explain.topic import TopicError, sns_client
from aggregator.ingest import function as ingest
from neuron_wire.holders import Holder
from neuron_wire.owners import Owner
from proof.factories.invocations import Context, delivery
from proof.factories.records import lines, record
from tests.aggregator.explain.alarm_events import FIRED_S, of_a_contributor, of_an_alarm
from tests.aggregator.handler_traces import CurrentStdout, items


@pytest.fixture
def topic_arn(monkeypatch, functions):  # noqa: ARG001 - the table is there
    """Create a topic and set it in the environment, as the template does for explain."""
    arn = boto3.client("sns").create_topic(Name="neuron-emf-alarms")["TopicArn"]
    monkeypatch.setenv("ALARM_TOPIC_ARN", arn)
    monkeypatch.setenv("RECORDS_LOG_GROUP", "/neuron-emf/records")
    monkeypatch.setenv("RUNBOOK", "https://runbooks.example.com/operations")
    monkeypatch.setattr(explain.logger.registered_handler, "stream", CurrentStdout())
    runtime.stack.cache_clear()
    sns_client.cache_clear()
    yield arn
    sns_client.cache_clear()


def subscribed_queue(topic_arn, name, **policy):
    """
    Return a function that reads subject and body of each message that a subscribed queue received.
    """
    queues = boto3.client("sqs")
    url = queues.create_queue(QueueName=name)["QueueUrl"]
    names = ["QueueArn"]
    arn = queues.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]["QueueArn"]
    attributes = {"FilterPolicy": json.dumps(policy)} if policy else {}
    boto3.client("sns").subscribe(
        TopicArn=topic_arn, Protocol="sqs", Endpoint=arn, Attributes=attributes
    )

    def received():
        messages = queues.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        return [json.loads(message["Body"]) for message in messages]

    return received


@pytest.fixture
def subscribed(topic_arn):
    """Return a function that reads the messages of a queue without a filter."""
    return subscribed_queue(topic_arn, "alarms")


NOON = int(FIRED_S) // 86_400 * 1440 + 720  # noon, so that no test fails at midnight


def at(monkeypatch, minute, handler, event):
    """Return the handler's answer 130 seconds after the end of *minute*."""
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", lambda: (minute + 1) * 60 + 130.0)
        return handler(event, Context())


def closed(monkeypatch, *records):
    """Return a function in which ingest and close make a rollup of records."""
    minute = records[0].minute_ms // 60_000
    at(monkeypatch, minute, ingest.handler, delivery(*lines(*records)))
    at(monkeypatch, minute, close.handler, {})


def test_from_a_record_to_a_message(monkeypatch, subscribed):
    """The names that the emitter sent are the names in the message."""
    held = record(
        minute=NOON,
        instance_id="i-0c3f5a7b9d1e2f4a6",
        core_state="aa",
        reservations="known",
        utilization_percent=(0.0, 0.0),
        idle_minutes=(200, 30),
        executions=0,
        execution_errors=0,
        owners=(Owner("0-1", "ml/llama-70b-0/main", "ml", executions=0, quiet_minutes=60),),
        holders=(Holder("0-1", "ml/llama-70b-0/main", 4242, "1"),),
        ecc_uncorrected_rise=3,
        readings={"HostCpuPercent": 25.0},
    )
    closed(monkeypatch, held)
    answer = at(monkeypatch, NOON, explain.handler, of_a_contributor())
    owner_line = (
        "training: pod ml/llama-70b-0 (team ml) has used none of its 2 cores for 30 min, 1.34 USD/h"
    )
    first, where, against, _, total, *_ = answer["Text"].splitlines()
    assert owner_line == first
    assert "Since 11:31 UTC on i-0c3f5a7b9d1e2f4a6 (trn1.2xlarge)." == where
    assert against.startswith("2 of 8 vCPUs are busy: it may be compiling or loading data.")
    assert "2 of 2 known cores idle (100 %)" in total
    assert "0.02 USD so far today" in total
    (received,) = subscribed()
    assert answer["Subject"] == received["Subject"]
    assert 2 == json.loads(received["Message"])["Rollup"]["IdleCores"]


@pytest.mark.parametrize("teams", [("ml",), ("ml", "ops")])
def test_a_team_gets_the_messages_that_name_its_owners(monkeypatch, topic_arn, teams):
    """A subscription can filter by team and kind; another team's queue gets no message."""
    filters = [
        {"Team": ["ml"]},
        {"Team": [teams[-1]], "Kind": ["idle-cores"]},
        {"Team": ["lab"]},
        {"Kind": ["silent-instances"]},
    ]
    queues = [subscribed_queue(topic_arn, f"q{n}", **policy) for n, policy in enumerate(filters)]
    owners = tuple(Owner(f"{core}", f"{team}/a", team) for core, team in enumerate(teams))
    cores = len(teams)
    held = record(
        minute=NOON,
        core_state="a" * cores,
        utilization_percent=(0.0,) * cores,
        idle_minutes=(60,) * cores,
        owners=owners,
    )
    closed(monkeypatch, held)
    at(monkeypatch, NOON, explain.handler, of_a_contributor())
    assert [1, 1, 0, 0] == [len(received()) for received in queues]


def test_a_topic_that_refuses_fails_the_invocation(dynamodb, topic_arn):
    """
    If the topic refuses a message, the invocation fails and stores nothing, so that Lambda retries.
    """
    boto3.client("sns").delete_topic(TopicArn=topic_arn)
    with pytest.raises(TopicError, match="neuron-emf-alarms: it rejected a call with NotFound"):
        explain.handler(of_an_alarm(), Context())
    assert [] == items(dynamodb)


def test_without_a_topic_the_message_is_the_answer(monkeypatch, topic_arn, dynamodb):  # noqa: ARG001
    """Without a topic, explain returns the message that it would send."""
    monkeypatch.setenv("ALARM_TOPIC_ARN", "")
    runtime.stack.cache_clear()
    answer = explain.handler(of_an_alarm(), Context())
    assert "ALARM: today: training: idle cores" == answer["Subject"]
    assert [] == items(dynamodb)
