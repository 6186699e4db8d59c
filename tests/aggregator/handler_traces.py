"""Output and table items of a handler, and EC2 state-change events."""

from __future__ import annotations

import json
import sys

from aggregator.storage.record_items import records_of
from proof.factories.records import MINUTE

HANDLERS_NOW_S = 60.0 * (MINUTE + 10_000) + 30


class CurrentStdout:
    """The stdout that print writes to now; a logger keeps the stdout of its creation."""

    def write(self, text):
        return sys.stdout.write(text)

    def flush(self):
        sys.stdout.flush()


def documents(text):
    """Return the lines of an output that are JSON documents with metrics, and all other lines."""
    read = [json.loads(line) for line in text.splitlines()]
    return [document for document in read if "_aws" in document], [
        document for document in read if "_aws" not in document
    ]


def items(dynamodb):
    """Return the partition keys in the table."""
    return [item["pk"]["S"] for item in dynamodb.scan(TableName="records")["Items"]]


def record_items(dynamodb):
    """Return the partition keys of records; late in a minute the table also has markers."""
    return [pk for pk in items(dynamodb) if pk.startswith("m#")]


def records(dynamodb):
    """Return the instance and number of every record in the table, alone or in a pack."""
    return sorted(
        (record.instance_id, record.seq)
        for item in dynamodb.scan(TableName="records")["Items"]
        if item["pk"]["S"].startswith("m#")
        for record in records_of(item["r"]["B"], int(item["pk"]["S"].split("#")[1]))[0]
    )


def state_change(
    state="terminated", instance_id="i-0aaaaaaaaaaaaaaa1", time="2025-11-24T16:00:59Z", **changes
):
    """Return an event about the new state of an EC2 instance, as EventBridge delivers it."""
    return {
        "version": "0",
        "id": "ee376907-2647-4179-9203-343cfb3017a4",
        "detail-type": "EC2 Instance State-change Notification",
        "source": "aws.ec2",
        "account": "123456789012",
        "time": time,
        "region": "us-east-1",
        "resources": [f"arn:aws:ec2:us-east-1:123456789012:instance/{instance_id}"],
        "detail": {"instance-id": instance_id, "state": state},
        **changes,
    }
