"""The handler of explain, from the event that EventBridge gives it to what a subscriber gets."""

from __future__ import annotations

import json
import time
from operator import itemgetter

import boto3
import pytest

from aggregator import runtime
from aggregator.close import function as close
from aggregator.explain import function as explain
from aggregator.explain import topic
from aggregator.explain.topic import TopicError
from aggregator.ingest import function as ingest
from neuron_wire.holders import Holder
from neuron_wire.owners import Owner
from proof.factories.invocations import Context, delivery
from proof.factories.records import lines, record
from tests.aggregator.explain.alarm_events import RANG_S, of_a_contributor, of_an_alarm
from tests.aggregator.handler_traces import CurrentStdout, documents, items


@pytest.fixture
def topic_arn(monkeypatch, functions):  # noqa: ARG001 - the table is there
    """A topic, in the environment that the template gives explain."""
    made = boto3.client("sns").create_topic(Name="neuron-emf-alarms")["TopicArn"]
    monkeypatch.setenv("ALARM_TOPIC_ARN", made)
    monkeypatch.setenv("RECORDS_LOG_GROUP", "/neuron-emf/records")
    monkeypatch.setenv("RUNBOOK", "https://runbooks.example.com/operations")
    monkeypatch.setattr(explain.logger.registered_handler, "stream", CurrentStdout())
    runtime.stack.cache_clear()
    topic.client.cache_clear()
    yield made
    topic.client.cache_clear()


def subscribed_queue(topic_arn, name, **policy):
    """What a queue that subscribed to the topic gets: subject and body of each message."""
    queues = boto3.client("sqs")
    url = queues.create_queue(QueueName=name)["QueueUrl"]
    names = ["QueueArn"]
    arn = queues.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]["QueueArn"]
    attributes = {"FilterPolicy": json.dumps(policy)} if policy else {}
    boto3.client("sns").subscribe(
        TopicArn=topic_arn, Protocol="sqs", Endpoint=arn, Attributes=attributes
    )

    def received():
        found = queues.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        return [json.loads(one["Body"]) for one in found]

    return received


@pytest.fixture
def subscribed(topic_arn):
    """The same of a queue that filters nothing."""
    return subscribed_queue(topic_arn, "alarms")


NOON = int(RANG_S) // 86_400 * 1440 + 720  # no test shall fail at midnight


def at(monkeypatch, minute, handler, event):
    """What the handler answers 130 seconds after the end of *minute*."""
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", lambda: (minute + 1) * 60 + 130.0)
        return handler(event, Context())


def closed(monkeypatch, *made):
    """Let ingest and close make a rollup of those records."""
    minute = made[0].minute_ms // 60_000
    at(monkeypatch, minute, ingest.handler, delivery(*lines(*made)))
    at(monkeypatch, minute, close.handler, {})


def test_from_a_record_to_a_message(monkeypatch, subscribed):
    """The names that the emitter sent are the names that people read."""
    held = record(
        minute=NOON, instance_id="i-0c3f5a7b9d1e2f4a6", core_state="aa", given="read",
        utilization_percent=(0.0, 0.0), idle_minutes=(200, 30), executions=0, execution_errors=0,
        owners=(Owner("0-1", "ml/llama-70b-0/main", "ml", executions=0, quiet_minutes=60),),
        holders=(Holder("0-1", "ml/llama-70b-0/main", 4242, "1"),), ecc_uncorrected_rise=3,
        readings={"HostCpuPercent": 25.0},
    )  # fmt: skip
    closed(monkeypatch, held)
    answer = at(monkeypatch, NOON, explain.handler, of_a_contributor())
    who = (
        "training: pod ml/llama-70b-0 (team ml) has used none of its 2 cores for 30 min, 1.34 USD/h"
    )
    first, where, against, _, total, *_ = answer["Text"].splitlines()
    assert who == first
    assert "Since 11:31 UTC on i-0c3f5a7b9d1e2f4a6 (trn1.2xlarge)." == where
    assert against.startswith("2 of 8 vCPUs work: it may be compiling or loading data.")
    assert "2 of 2 known cores (100 %) idle" in total
    assert "0.02 USD so far today" in total
    (received,) = subscribed()
    assert answer["Subject"] == received["Subject"]
    assert 2 == json.loads(received["Message"])["Rollup"]["IdleCores"]
    answer = at(monkeypatch, NOON, explain.handler, of_a_contributor("HardwareErrors"))
    assert "3 hardware errors in one minute, most on i-0c3f5a7b9d1e2f4a6" in answer["Text"]
    assert "Only pod ml/llama-70b-0 had cores of it." in answer["Text"]


def test_from_failed_executions_to_their_type_share_and_owner(monkeypatch, topic_arn):  # noqa: ARG001
    """As far as the minute line tells them: by type, and with whoever had the cores."""
    one = record(
        minute=NOON, instance_id="i-0c3f5a7b9d1e2f4a6", executions=6, execution_errors=2,
        details={"ExecutionsTimedOut": 2}, owners=(Owner("0-1", "slurm:7 ada", executions=8),),
    )  # fmt: skip
    closed(monkeypatch, one)
    text = at(monkeypatch, NOON, explain.handler, of_a_contributor("ExecutionErrors"))["Text"]
    first = "training: 2 failed executions in one minute, most timed out, of Slurm job 7 (ada)"
    assert first == text.splitlines()[0]
    assert "Do not wait: 25 % of the executions there failed." in text
    assert "1. State and time left:  scontrol show job 7" in text


@pytest.mark.parametrize("teams", [("ml",), ("ml", "ops")])
def test_a_team_gets_the_messages_that_name_its_owners(monkeypatch, topic_arn, teams):
    """Of one team or of several; by kind, too. No other team gets them."""
    filters = [{"Team": ["ml"]}, {"Team": [teams[-1]], "Kind": ["idle-cores"]}, {"Team": ["lab"]},
               {"Kind": ["silent-instances"]}]  # fmt: skip
    queues = [subscribed_queue(topic_arn, f"q{n}", **one) for n, one in enumerate(filters)]
    owners = tuple(Owner(f"{core}", f"{team}/a", team) for core, team in enumerate(teams))
    cores = len(teams)
    held = record(
        minute=NOON, core_state="a" * cores, utilization_percent=(0.0,) * cores,
        idle_minutes=(60,) * cores, owners=owners,
    )  # fmt: skip
    closed(monkeypatch, held)
    at(monkeypatch, NOON, explain.handler, of_a_contributor())
    assert [1, 1, 0, 0] == [len(received()) for received in queues]


def test_an_instance_that_fell_silent_is_named(monkeypatch, topic_arn):  # noqa: ARG001
    """With the minute in which it was last seen."""
    quiet = record(minute=NOON, instance_id="i-0a1b2c3d4e5f60718")
    closed(monkeypatch, quiet, record(minute=NOON))
    for later in range(1, 7):
        closed(monkeypatch, record(minute=NOON + later, seq=1 + later))
    text = at(monkeypatch, NOON + 6, explain.handler, of_an_alarm("SilentInstances"))["Text"]
    assert "1 instance stopped reporting without a clean shutdown" in text
    assert "Last seen: i-0a1b2c3d4e5f60718 (trn1.2xlarge) 12:00 UTC." in text
    assert "1 other still reporting." in text


def test_a_redelivered_event_is_recognised(subscribed, capsys):
    """Nothing is sent, and it is logged."""
    assert explain.handler(of_an_alarm(), Context())
    assert {} == explain.handler(of_an_alarm(), Context())
    _, others = documents(capsys.readouterr().out)
    logged = [one for one in others if "outcome" in one]
    assert ["sent", "repeated"] == [one["outcome"] for one in logged]
    assert "training" == logged[0]["cluster"]
    assert 1 == len(subscribed())


def test_a_topic_that_refuses_fails_the_invocation(dynamodb, topic_arn):
    """
    Lambda comes again, and in the end the alarm on this function fires; nothing is remembered.
    """
    boto3.client("sns").delete_topic(TopicArn=topic_arn)
    with pytest.raises(TopicError, match="neuron-emf-alarms: it rejected a call with NotFound"):
        explain.handler(of_an_alarm(), Context())
    assert [] == items(dynamodb)


def test_without_a_topic_the_message_is_the_answer(monkeypatch, topic_arn, dynamodb):  # noqa: ARG001
    """Who calls explain by hand reads what would be sent."""
    monkeypatch.setenv("ALARM_TOPIC_ARN", "")
    runtime.stack.cache_clear()
    answer = explain.handler(of_an_alarm(), Context())
    assert "ALARM: training: idle cores" == answer["Subject"]
    assert [] == items(dynamodb)


def test_a_table_that_fails_is_logged_and_stops_nothing(dynamodb, subscribed, capsys):
    """The message goes out, shorter, and says why."""
    dynamodb.delete_table(TableName="records")
    answer = explain.handler(of_an_alarm(), Context())
    _, others = documents(capsys.readouterr().out)
    assert "could not be read" in answer["Text"]
    assert 1 == len(subscribed())
    logged = [one["reason"] for one in others if "reason" in one]
    assert "records rejected a call with ResourceNotFoundException" in logged[0]


def test_each_message_that_is_sent_is_printed_as_a_line_of_its_own(subscribed, capsys):
    """Nothing before it and nothing around it; one that is recognised prints none."""
    for _ in range(2):
        explain.handler(of_an_alarm(), Context())
    (line,) = [one for one in capsys.readouterr().out.splitlines() if '"Kind":"message"' in one]
    (received,) = subscribed()
    told = json.loads(line)
    assert received["Subject"] == told["Subject"]
    assert ("ALARM", "training") == (told["State"], told["ClusterName"])


def test_chat_gets_the_bare_form_of_amazon_q(monkeypatch, subscribed):
    """A topic of its own: whoever reads the alarm topic gets what it always got."""
    chat = boto3.client("sns").create_topic(Name="neuron-emf-chat")["TopicArn"]
    queues = boto3.client("sqs")
    url = queues.create_queue(QueueName="chat")["QueueUrl"]
    boto3.client("sns").subscribe(
        TopicArn=chat,
        Protocol="sqs",
        Endpoint=queues.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])[
            "Attributes"
        ]["QueueArn"],
    )
    monkeypatch.setenv("CHAT_TOPIC_ARN", chat)
    runtime.stack.cache_clear()
    explain.handler(of_an_alarm(), Context())
    (one,) = queues.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    envelope = json.loads(one["Body"])
    assert ("1.0", "custom") == itemgetter("version", "source")(json.loads(envelope["Message"]))
    assert "training" == envelope["MessageAttributes"]["ClusterName"]["Value"]
    (mailed,) = subscribed()
    assert "ALARM" == json.loads(mailed["Message"])["State"]
