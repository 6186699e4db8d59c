"""What a handler is given beside its event, and what it left on stdout and in the table."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass

from aggregator.storage.pack import records_of


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


def last_minute():
    """The minute before this one."""
    return int(time.time()) // 60 - 1
