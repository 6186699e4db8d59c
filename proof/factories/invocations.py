"""What a handler is given, as AWS makes it, and what it left on stdout and in the table."""

from __future__ import annotations

import base64
import gzip
import json
import sys
from dataclasses import dataclass

from aggregator.storage.pack import records_of

STREAM = "i-0aaaaaaaaaaaaaaa1"


@dataclass
class Context:
    """What Powertools and close read of Lambda's context object."""

    function_name: str = "function"
    memory_limit_in_mb: int = 256
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:function"
    aws_request_id: str = "5a2d2f6e-0000-0000-0000-000000000000"

    def get_remaining_time_in_millis(self) -> int:
        return 55_000


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


def payload(*log_lines, log_group="/neuron-emf/records", log_stream=STREAM, kind="DATA_MESSAGE"):
    """What CloudWatch Logs delivers, compressed, to a function or a stream."""
    delivered = {
        "messageType": kind,
        "owner": "123456789012",
        "logGroup": log_group,
        "logStream": log_stream,
        "subscriptionFilters": ["neuron-emf-minutes"],
        "logEvents": [
            {"id": line.event_id, "timestamp": 1_764_000_000_000, "message": line.message}
            for line in log_lines
        ],
    }
    return gzip.compress(json.dumps(delivered).encode())


def delivery(*log_lines, **members):
    """A subscription event as CloudWatch Logs makes it."""
    return direct(payload(*log_lines, **members))


def direct(data):
    """The event that CloudWatch Logs invokes a function with, of a payload."""
    return {"awslogs": {"data": base64.b64encode(data).decode()}}


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


def batch(*payloads):
    """A batch of Kinesis records as Lambda makes it; their sequence numbers are n-0, n-1..."""
    return {
        "Records": [
            {
                "kinesis": {
                    "kinesisSchemaVersion": "1.0",
                    "partitionKey": "i-0aaaaaaaaaaaaaaa1",
                    "sequenceNumber": f"n-{number}",
                    "data": base64.b64encode(one).decode(),
                    "approximateArrivalTimestamp": 1_764_000_000.1,
                },
                "eventSource": "aws:kinesis",
                "eventVersion": "1.0",
                "eventID": f"shardId-000000000000:n-{number}",
                "eventName": "aws:kinesis:record",
                "invokeIdentityArn": "arn:aws:iam::123456789012:role/ingest",
                "awsRegion": "us-east-1",
                "eventSourceARN": "arn:aws:kinesis:us-east-1:123456789012:stream/lines",
            }
            for number, one in enumerate(payloads)
        ]
    }
