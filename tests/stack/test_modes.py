"""
The path of lines to ingest in each mode; a change of mode loses no line, because of its guard.
"""

from __future__ import annotations

import json
import re
import urllib.request

import boto3
import pytest

ALL_MODES = ["direct", "kinesis", "drain"]
STREAM_ONLY = {"RecordsStream", "StreamReader", "IteratorAgeAlarm"}
NAMED = "arn:aws:kinesis:us-east-1:123456789012:stream/neuron-emf-RecordsStream-*"
RIGHT_TYPES = re.compile(r"AWS::(IAM::|Lambda::Permission|SQS::QueuePolicy|SNS::TopicPolicy)")


def statements_of(role):
    """Return the statements of a resolved role."""
    (policy,) = role["Properties"]["Policies"]
    return policy["PolicyDocument"]["Statement"]


# --- one filter, one destination ---


def test_kinesis_delivers_to_the_stream_and_to_nothing_else(deployed):
    """Mode kinesis delivers only to the stream; CloudWatch Logs writes with a role of its own."""
    resources = deployed(Mode="kinesis")
    assert resources.keys() >= STREAM_ONLY
    subscription = resources["RecordsSubscription"]["Properties"]
    assert subscription["DestinationArn"] == "<RecordsStream.Arn>"
    assert subscription["RoleArn"] == "<SubscriptionRole.Arn>"
    (statement,) = statements_of(resources["SubscriptionRole"])
    assert statement["Resource"] == NAMED
    assert {"kinesis:PutRecord", "kinesis:PutRecords"} == set(statement["Action"])


def test_drain_delivers_directly_and_still_reads_the_stream(deployed):
    """Mode drain delivers directly and reads the stream, so that no line of the stream is lost."""
    direct, kinesis, drain = (deployed(Mode=mode) for mode in ALL_MODES)
    assert direct.keys() | STREAM_ONLY == kinesis.keys() == drain.keys()
    assert direct["RecordsSubscription"] == drain["RecordsSubscription"]
    assert kinesis["StreamReader"] == drain["StreamReader"]


def test_no_mode_changes_what_anybody_may_do(deployed):
    """
    A mode changes no permission, because a new or removed permission would race with its user.
    """
    rights = [
        {
            name: resource
            for name, resource in deployed(Mode=mode).items()
            if RIGHT_TYPES.match(resource["Type"])
        }
        for mode in ALL_MODES
    ]
    assert rights[0]
    assert rights[0] == rights[1] == rights[2]


# --- the stream and its reader ---


def test_the_reader_gives_up_before_the_stream_forgets(deployed):
    """
    The reader gives up before the stream expires, so that its failures go to the queue; the house
    rules check the rest.
    """
    resources = deployed(Mode="kinesis")
    reader = resources["StreamReader"]["Properties"]
    kept_s = resources["RecordsStream"]["Properties"]["RetentionPeriodHours"] * 3600
    assert reader["MaximumRecordAgeInSeconds"] < kept_s
    assert "<RecordsStream.Arn>" == reader["EventSourceArn"]
    assert "TRIM_HORIZON" == reader["StartingPosition"]


def test_a_full_window_ends_before_a_minute_is_closed_without_it(template):
    """
    A full window ends before a minute closes without it: it is less than half of the shortest
    grace.
    """
    reader = template["Resources"]["StreamReader"]["Properties"]
    window_s = reader["MaximumBatchingWindowInSeconds"]
    assert window_s < template["Parameters"]["GraceSeconds"]["MinValue"] / 2


STACK_ARN = "arn:aws:cloudformation:us-east-1:111122223333:stack/neuron-emf/0"
KINESIS_TO_DIRECT = ("kinesis", "direct")


@pytest.fixture
def ask(template, monkeypatch):
    """
    Return a function that runs the guard on an event as CloudFormation does and returns its answer.
    """
    guard = {}
    bodies = []
    exec(template["Resources"]["ModeGuardFunction"]["Properties"]["Code"]["ZipFile"], guard)
    monkeypatch.setattr(urllib.request, "urlopen", lambda request: bodies.append(request.data))

    def answer(request_type, before, after, status):
        class FakeCloudFormation:
            def describe_stacks(self, StackName):  # noqa: N803 - as boto3 calls it
                assert StackName == STACK_ARN
                if status is None:
                    raise PermissionError
                return {"Stacks": [{"StackStatus": status}]}

        monkeypatch.setattr(boto3, "client", lambda _service, **_: FakeCloudFormation())
        old = {"OldResourceProperties": {"Mode": before}} if request_type == "Update" else {}
        event = {
            "RequestType": request_type,
            "ResponseURL": "http://127.0.0.1/",
            "StackId": STACK_ARN,
            "RequestId": "1",
            "LogicalResourceId": "ModeGuard",
            "ResourceProperties": {"Mode": after},
            **old,
        }
        guard["handler"](event, None)
        return json.loads(bodies.pop())

    return answer


@pytest.mark.parametrize(
    ("request_type", "modes", "status", "expected"),
    [
        ("Update", KINESIS_TO_DIRECT, "UPDATE_IN_PROGRESS", "FAILED"),
        ("Update", KINESIS_TO_DIRECT, None, "FAILED"),  # an unknown status is not a rollback
        ("Update", KINESIS_TO_DIRECT, "UPDATE_ROLLBACK_IN_PROGRESS", "SUCCESS"),
        ("Update", ("drain", "direct"), "UPDATE_IN_PROGRESS", "SUCCESS"),
        ("Update", ("kinesis", "drain"), "UPDATE_IN_PROGRESS", "SUCCESS"),
        ("Update", ("direct", "kinesis"), "UPDATE_IN_PROGRESS", "SUCCESS"),
        ("Create", ("", "direct"), "CREATE_IN_PROGRESS", "SUCCESS"),
        ("Delete", ("", "kinesis"), "DELETE_IN_PROGRESS", "SUCCESS"),
    ],
)
def test_unread_lines_are_deleted_by_no_deployment(ask, request_type, modes, status, expected):
    """
    Only a rollback goes from kinesis to direct in one step; a deployment that would lose lines
    fails.
    """
    answer = ask(request_type, *modes, status)
    assert expected == answer["Status"]
    assert "mode" == answer["PhysicalResourceId"]
    assert (expected == "FAILED") == ("Mode=drain" in answer.get("Reason", ""))
    assert "ModeGuard" == answer["LogicalResourceId"]
    assert "1" == answer["RequestId"]
    assert STACK_ARN == answer["StackId"]


def test_the_filter_waits_for_the_guard(template):
    """Lines' resources change only after the guard has agreed."""
    after = template["Resources"]["RecordsSubscription"]["Metadata"]
    assert {"Ref": "ModeGuard"} == after["Allowed"]
    assert {"Ref": "Mode"} == template["Resources"]["ModeGuard"]["Properties"]["Mode"]
