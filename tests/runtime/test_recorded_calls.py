"""
The built functions request exactly what their roles permit, as recorded while they run.

A day of each function under AWS's own runtime client, against moto, whose recorder keeps every
request. A permission that was not recorded is too much; a request that is not permitted would fail
on AWS.
"""

from __future__ import annotations

import json
import re
import time
import urllib.parse
import urllib.request
from base64 import b64decode

import boto3
import pytest

from aggregator.storage.table import SETTLE_PROGRESS
from local.alarms.template import load_template
from neuron_wire.catalogue import READING_MEMBERS
from neuron_wire.line_members import iso_minute
from proof.factories.invocations import batch, delivery, payload
from proof.factories.records import lines, record
from tests.aggregator.explain.alarm_events import of_an_alarm, state
from tests.built_artefact import handlers
from tests.runtime.conftest import LEDGER_NAME, ON_THE_DEFAULT, TABLE_NAME
from tests.runtime.test_all_functions import a_departure
from tests.stack.stack_template import as_list, statements

pytestmark = [pytest.mark.slow]

BY_LAMBDA = {
    "logs:CreateLogStream": "Lambda writes what a function prints",
    "logs:PutLogEvents": "Lambda writes what a function prints",
    "sqs:SendMessage": "Lambda keeps the events that a function failed on",
    "kinesis:DescribeStream": "Lambda polls the stream",
    "kinesis:DescribeStreamSummary": "Lambda polls the stream",
    "kinesis:GetRecords": "Lambda polls the stream",
    "kinesis:GetShardIterator": "Lambda polls the stream",
    "kinesis:ListShards": "Lambda polls the stream",
}
"""
Actions that AWS's services, not the project's code, do with a function's role, with the reason.
https://docs.aws.amazon.com/lambda/latest/dg/lambda-intro-execution-role.html
https://docs.aws.amazon.com/lambda/latest/dg/services-kinesis-create.html

https://docs.aws.amazon.com/lambda/latest/dg/lambda-intro-execution-role.html
https://docs.aws.amazon.com/lambda/latest/dg/services-kinesis-create.html
"""


def stamp(minute):
    """Return the time of a state in CloudWatch's form."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.000+0000", time.gmtime(minute * 60))


class GrantRecorder:
    """The recorder of a moto server."""

    def __init__(self, endpoint, file):
        self._endpoint = endpoint
        self._file = file

    def __enter__(self):
        self._file.write_text("")
        self._ask("start-recording")
        return self

    def __exit__(self, *_error):
        self._ask("stop-recording")

    def _ask(self, what):
        url = f"{self._endpoint}/moto-api/recorder/{what}"
        urllib.request.urlopen(urllib.request.Request(url, method="POST")).close()

    def actions(self):
        """Return the recorded requests as IAM actions."""
        return {
            action_of(json.loads(entry)) for entry in self._file.read_text("utf-8").splitlines()
        }


def action_of(request):
    """
    Return the IAM action of a recorded request.

    The client signs the service. The operation is in the target of JSON protocols, in the form of
    the query protocol, or in S3's method and path.
    """
    headers = {name.lower(): value for name, value in request["headers"].items()}
    signed = re.search(
        r"Credential=[^/]+/\d{8}/[^/]+/([^/]+)/aws4_request", headers["authorization"]
    )
    target = headers.get("x-amz-target")
    if target is not None:
        return f"{signed[1]}:{target.rpartition('.')[2]}"
    if signed[1] == "s3":
        bucket, _, key = urllib.parse.urlsplit(request["url"]).path.lstrip("/").partition("/")
        assert bucket
        return "s3:" + (
            {"PUT": "PutObject", "GET": "GetObject"}[request["method"]] if key else "ListBucket"
        )
    form = urllib.parse.parse_qs(b64decode(request["body"]).decode())
    return f"{signed[1]}:{form['Action'][0]}"


FAULTY = {**dict.fromkeys(READING_MEMBERS, 0), "HardwareFaults": 1}
"""Readings that open a finding."""


@pytest.fixture
def recorder(endpoint, tmp_path, monkeypatch):
    """Return a recorder that writes to a file of this test."""
    from moto import moto_api  # noqa: PLC0415 - 0.4 s of each run

    file = tmp_path / "recorded"
    monkeypatch.setattr(moto_api.recorder, "_location", str(file))
    return GrantRecorder(endpoint, file)


@pytest.fixture
def topic_arn(endpoint):
    """Return a topic for messages."""
    client = boto3.client(
        "sns",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )
    arn = client.create_topic(Name="neuron-emf-alarms")["TopicArn"]
    client.close()
    return arn


def granted(template, function):
    """Return the permissions of a function's role, without those that services use."""
    actions = {
        action
        for name, statement in statements(template)
        if name == f"{function}Role"
        for action in as_list(statement["Action"])
    }
    return {action for action in actions - BY_LAMBDA.keys() if not action.startswith("kms:")}


@ON_THE_DEFAULT
def test_every_action_that_is_granted_is_used_and_no_other(
    repository, warm, recorder, dynamodb, topic_arn
):
    """
    Every permission is used and no other is requested, in a day with late lines, both modes, a
    restatement, an alarm and an hour.
    """
    template = load_template(repository / "template.yaml")
    now = int(time.time()) // 60
    ingest = warm("ingest")
    departure = warm("departure")
    close = warm("close", FINDINGS_BUS="default")
    explain = warm("explain", ALARM_TOPIC_ARN=topic_arn, RUNBOOK="docs/operations.md")
    used = {}
    with recorder:
        ingest.result(delivery(*lines(record(minute=now - 4, readings=FAULTY))))
        ingest.result(batch(payload(*lines(record(minute=now - 3)))))
        ingest.result(delivery(*lines(record(minute=now - 110))))
        used["Ingest"] = recorder.actions()
    with recorder:
        departure.result(a_departure())
        used["Departure"] = recorder.actions()
    with recorder:
        assert 0 < close.result({})["LinesPrinted"]
        used["Close"] = recorder.actions()
    ingest.result(delivery(*lines(record(minute=now - 4, instance_id="i-late"))))
    with recorder:
        assert 0 < close.result({})["LinesPrinted"]
        used["Close"] |= recorder.actions()
    fired = state("ALARM", stamp(now - 1))
    with recorder:
        explain.result(of_an_alarm(now=fired, before=state("OK", stamp(now - 60))))
        used["Explain"] = recorder.actions()
    settle = warm("settle", LEDGER_BUCKET=LEDGER_NAME, LATE_MINUTES="10")
    assert 0 == settle.result({})["HoursSettled"]  # the first settled hour is the hour in progress
    hour = {"N": str((now - 110) // 60)}
    dynamodb.update_item(
        TableName=TABLE_NAME,
        Key=SETTLE_PROGRESS,
        UpdateExpression="SET #hour = :hour",
        ExpressionAttributeNames={"#hour": "hour"},
        ExpressionAttributeValues={":hour": hour},
    )
    with recorder:
        assert 0 < settle.result({})["HoursSettled"]
        used["Settle"] = recorder.actions()
    digest = warm("digest", LEDGER_BUCKET=LEDGER_NAME, ALARM_TOPIC_ARN=topic_arn)
    with recorder:
        digest.result({"Until": iso_minute((now - 4) // 60 * 60 + 60)})
        used["Digest"] = recorder.actions()
    assert {name: granted(template, name) for name in used} == used
    assert {f"{name}Function" for name in used} == handlers(repository).keys()
