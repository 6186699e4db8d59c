"""The input of a handler, as AWS makes it."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.typing import LambdaContext

if TYPE_CHECKING:
    from aggregator.arrivals import LogLine
    from proof.logs.rules import Document

SAMPLE_STREAM = "i-0aaaaaaaaaaaaaaa1"


@dataclass
class Context(LambdaContext):
    """The parts of Lambda's context object that Powertools and close read."""

    function_name: str = "function"
    memory_limit_in_mb: int = 256
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:function"
    aws_request_id: str = "5a2d2f6e-0000-0000-0000-000000000000"
    remaining_s: float = 55.0

    # a number per object, which a static method cannot have
    def get_remaining_time_in_millis(self) -> int:  # type: ignore[override]
        return int(self.remaining_s * 1000)


def payload(
    *log_lines: LogLine,
    log_group: Any = "/neuron-emf/records",
    log_stream: str = SAMPLE_STREAM,
    kind: str = "DATA_MESSAGE",
) -> bytes:
    """Return a compressed delivery of CloudWatch Logs, for a function or a stream."""
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


def delivery(*log_lines: LogLine, **members: Any) -> Document:
    """Return a subscription event as CloudWatch Logs makes it."""
    return direct(payload(*log_lines, **members))


def direct(data: bytes) -> Document:
    """Return the event with which CloudWatch Logs invokes a function."""
    return {"awslogs": {"data": base64.b64encode(data).decode()}}


def batch(*payloads: bytes) -> Document:
    """Return a batch of Kinesis records as Lambda makes it, with sequence numbers n-0, n-1..."""
    return {
        "Records": [
            {
                "kinesis": {
                    "kinesisSchemaVersion": "1.0",
                    "partitionKey": "i-0aaaaaaaaaaaaaaa1",
                    "sequenceNumber": f"n-{number}",
                    "data": base64.b64encode(payload).decode(),
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
            for number, payload in enumerate(payloads)
        ]
    }
