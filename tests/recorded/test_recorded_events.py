"""Deliveries, events and messages as AWS sent them; a kept recording has no account or person."""

from __future__ import annotations

import base64
import gzip
import json
import re
from datetime import datetime, timezone
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from aggregator.explain.event import read_transition
from aggregator.explain.notification import notify
from aggregator.runtime import arrival_of
from local.pump import extract
from neuron_wire.catalogue import CATALOGUE_MEMBERS
from neuron_wire.names import OF_A_CONTRIBUTOR, OF_AN_ALARM
from proof.accept.call_recording import RECORDED_ACCOUNT, CallRecorder
from proof.memory_table import MemoryTable
from tests.aggregator.explain.alarm_events import (
    ENVIRONMENT,
    FIRED_S,
    of_a_contributor,
    of_an_alarm,
)
from tests.recorded.service_recording import each

OF_ANY_EVENT = {
    "version",
    "detail-type",
    "source",
    "account",
    "time",
    "region",
    "resources",
    "detail",
}
OF_QUERIES = {"detail.configuration.metrics.expression", "detail.configuration.metrics.period"}


def paths(value, at=""):
    """Yield the path of every member of an event; elements of an array share the array's path."""
    for name, member in value.items():
        path = f"{at}.{name}" if at else name
        yield path
        for inner in member if isinstance(member, list) else [member]:
            if isinstance(inner, dict):
                yield from paths(inner, path)


@each("events_of_alarms")
def test_an_event_has_the_members_that_were_recorded(row):
    """An event has exactly the recorded members, except those of an alarm's queries."""
    case = row["case"]
    there = set(row["members"])
    event = {OF_A_CONTRIBUTOR: of_a_contributor(), OF_AN_ALARM: of_an_alarm()}[case]
    members = set(paths(event))
    assert OF_ANY_EVENT | (there - OF_QUERIES) <= members
    assert not set(row["never"]) & members
    moments = event["time"], event["detail"]["state"]["timestamp"]
    assert re.fullmatch(
        r"[-0-9]{10}T[:0-9]{8}Z [-0-9]{10}T[:0-9]{8}\.\d{3}\+0000", " ".join(moments)
    )


@each("deliveries")
def test_ingest_unpacks_what_was_delivered(row):
    """
    Ingest unpacks recorded deliveries of subscriptions and streams; a control message has no line.
    """
    packed = base64.b64encode(gzip.compress(json.dumps(row["envelope"]).encode())).decode()
    event: dict[str, Any] = {"awslogs": {"data": packed}}
    if "kinesis" in row["recording"]:
        kinesis = {"sequenceNumber": "1", "data": packed, "partitionKey": "0" * 32}
        event = {"Records": [{"eventSource": "aws:kinesis", "kinesis": kinesis}]}
    (delivery,) = arrival_of(event).deliveries
    assert row["lines"] == [line.event_id for line in delivery.lines]


@each("standard_output")
def test_metrics_of_what_a_function_prints(row):
    """
    Metrics of recorded output are extracted from unchanged lines; a document joined to another line
    has none.
    """
    assert row["metrics"] == len(extract(row["stored"], 1_800_000_000_000).data)


def test_no_line_of_ours_has_the_member_that_a_log_level_drops():
    """No line has the member `level`, because JSON format drops lines below ApplicationLogLevel."""
    assert "level" not in {member.name.lower() for member in CATALOGUE_MEMBERS}


@each("messages_of_alarms")
@pytest.mark.parametrize("event", [of_an_alarm(), of_a_contributor()], ids=["alarm", "contributor"])
def test_a_subject_begins_as_the_recorded_one(row, event):
    """
    A subject begins with the state as in the recorded one, and the page's reader understands
    CloudWatch's own message.
    """
    message = notify(
        read_transition(event),
        MemoryTable(),
        ENVIRONMENT,
        lambda *_: None,
        FIRED_S,
        printer=lambda _: None,
    ).message
    assert row["subject"].partition(" ")[0] == message.subject.partition(" ")[0] == "ALARM:"
    assert {"AlarmName", "NewStateValue", "NewStateReason"} <= set(row["members"])


NUMBER = "987654321098"
RUN = "neuron-accept-0123456789"
CALLER_ARN = f"arn:aws:sts::{NUMBER}:assumed-role/PaulaAdmin/paula"


def test_an_answer_is_kept_without_account_person_run_or_key(tmp_path):
    """
    A kept answer has substitutes for account, person, run and key, equal for equal values, and a
    repeated answer is kept once.
    """
    recorder = CallRecorder(tmp_path)
    recorder.hide(NUMBER, "AROAEXAMPLEEXAMPLE123:paula", CALLER_ARN)
    recorder.scrubber.hide(RUN, "neuron-accept-run")
    client = boto3.client(
        "sts", region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    recorder.listen(client)
    recorder.step("look")
    role = f"arn:aws:iam::{NUMBER}:role/{RUN}-role"
    uuid = "6f1d1c6e-1111-4222-8333-0123456789ab"
    answer = {
        "Credentials": {
            "AccessKeyId": "ASIAABCDEFGHIJKLMNOP",
            "SecretAccessKey": "sEcReT",
            "SessionToken": "tOkEn",
            "Expiration": datetime(2026, 11, 22, tzinfo=timezone.utc),
        },
        "AssumedRoleUser": {"AssumedRoleId": "AROAEXAMPLEEXAMPLE123:paula", "Arn": CALLER_ARN},
        "SourceIdentity": f"paula@corp.example.com from 10.1.2.3 {uuid} {uuid}",
    }
    asked = {"RoleArn": role, "RoleSessionName": "paula"}
    with Stubber(client) as stubber:
        for _ in range(2):
            stubber.add_response("assume_role", answer, asked)
            client.assume_role(**asked)
        stubber.add_client_error("get_caller_identity", "AccessDenied", f"{CALLER_ARN} may not")
        with pytest.raises(client.exceptions.ClientError):
            client.get_caller_identity()
    client.close()
    kept = (tmp_path / "look.jsonl").read_text(encoding="utf-8")
    for secret in (NUMBER, "paula", "Paula", RUN, "ASIA", "sEcReT", "tOkEn", "10.1.2.3", uuid):
        assert secret not in kept, secret
    lines = (tmp_path / "look.jsonl").read_text(encoding="utf-8").splitlines()
    first, refused = map(json.loads, lines)
    assert (
        f"arn:aws:iam::{RECORDED_ACCOUNT}:role/neuron-accept-run-role" == first["asked"]["RoleArn"]
    )
    assert 2 == first["answer"]["SourceIdentity"].count("00000000-0000-4000-8000-000000000001")
    assert "AccessDenied" == refused["error"]["Code"]
