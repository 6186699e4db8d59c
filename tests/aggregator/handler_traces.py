"""What a handler left on stdout and in the table, and a change of state that it is told."""

from __future__ import annotations

import json
import sys

from aggregator.storage.record_items import records_of


class CurrentStdout:
    """Where print writes now; a logger keeps the stdout of the moment it was made."""

    def write(self, text):
        return sys.stdout.write(text)

    def flush(self):
        sys.stdout.flush()


def documents(text):
    """The lines of an output that are JSON documents with metrics, and the others."""
    read = [json.loads(line) for line in text.splitlines()]
    return [one for one in read if "_aws" in one], [one for one in read if "_aws" not in one]


def items(dynamodb):
    """The partition keys in the table."""
    return [one["pk"]["S"] for one in dynamodb.scan(TableName="records")["Items"]]


def record_items(dynamodb):
    """Those of them that hold records; late in a minute its markers stand beside."""
    return [pk for pk in items(dynamodb) if pk.startswith("m#")]


def records(dynamodb):
    """The instance and number of every record in the table, alone or in a pack."""
    return sorted(
        (found.instance_id, found.seq)
        for one in dynamodb.scan(TableName="records")["Items"]
        if one["pk"]["S"].startswith("m#")
        for found in records_of(one["r"]["B"], int(one["pk"]["S"].split("#")[1]))[0]
    )


def state_change(
    state="terminated", instance_id="i-0aaaaaaaaaaaaaaa1", time="2025-11-24T16:00:59Z", **changes
):
    """A change of state of an EC2 instance as EventBridge tells it."""
    return {
        "version": "0", "id": "ee376907-2647-4179-9203-343cfb3017a4",
        "detail-type": "EC2 Instance State-change Notification", "source": "aws.ec2",
        "account": "123456789012", "time": time, "region": "us-east-1",
        "resources": [f"arn:aws:ec2:us-east-1:123456789012:instance/{instance_id}"],
        "detail": {"instance-id": instance_id, "state": state}, **changes,
    }  # fmt: skip
