"""
Recorded answers of AWS: `tables/` of cases, a file per test module, and the tests' calls.

Each line has one case of a recording, with the recording's path; the recordings themselves stay in
their repository. Paths are those of github.com/radkawar/stackd at commit
9dc356f5e5cc49d2d334178a09c1398dd1c62617, captured in September and October 2026. Words of patterns
and names of groups are replaced one for one; a case "one before" is the evaluation before the
recorded one, which changed nothing.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from proof.account.account_double import ACCOUNT_REGION

TABLES = Path(__file__).parent / "tables"


@functools.cache
def every_row():
    """Return the cases of all tables."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(TABLES.glob("*.jsonl"))]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def each(table):
    """Run a test for every case of *table*, as its argument `row`."""
    name = lambda row: f"{row['recording'].removeprefix('testdata/aws/')}: {row['case']}"  # noqa: E731
    rows = [row for row in every_row() if table == row["table"]]
    return pytest.mark.parametrize("row", rows, ids=name)


RECORDED_NOW_S = 1_800_000_000.0
RECORDED_NOW_MS = int(RECORDED_NOW_S * 1000)
RECORDED_STREAM = {"logGroupName": "/neuron-emf/records", "logStreamName": "i-0"}


@functools.cache
def _sdk():
    """Return the SDK's own data, read once."""
    return boto3.session.Session()


def client_of(account):
    """Return a real client that never retries and leaves validation to the service."""
    retries = {"mode": "standard", "total_max_attempts": 1}
    config = Config(retries=retries, parameter_validation=False)
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    address = {"endpoint_url": account.url, "region_name": ACCOUNT_REGION}
    return _sdk().client("logs", config=config, **address, **keys)


def put(client, *events, **place):
    """Put events of (age in ms, message)."""
    sent = [
        {"timestamp": RECORDED_NOW_MS - age_ms, "message": message} for age_ms, message in events
    ]
    return client.put_log_events(**{**RECORDED_STREAM, **place}, logEvents=sent)


def error_in(call):
    """Return the name and status of the error that *call* ends with."""
    with pytest.raises(ClientError) as caught:
        call()
    answer = caught.value.response
    return answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]


def words_of(call):
    """Return the service's message about the error."""
    with pytest.raises(ClientError) as caught:
        call()
    return caught.value.response["Error"]["Message"]


def messages(service):
    """Return the messages that the service accepted."""
    return [record.message for record in service.rules.applied]
