"""
Lines delivered to ingest, in a process of its own: `python -m benchmarks.stack.deliveries`.

The real handler with the real client of the table; the other end of its
connection answers in the same process, and its time is taken off.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import dataclasses
import gc
import gzip
import io
import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, cast

from benchmarks.reports import environment
from benchmarks.stack import fleet
from benchmarks.stack.dynamodb import StandIn, Use
from benchmarks.stack.processes import peak_mib
from neuron_emf.cost.measurements import IngestRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from aggregator.runtime import LambdaContext

LOG_GROUP: Final = "/neuron-emf/records"
ACCOUNT: Final = "123456789012"
SETTINGS: Final = {
    "AWS_LAMBDA_FUNCTION_NAME": "neuron-emf-ingest", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256",
    "AWS_LAMBDA_LOG_GROUP_NAME": "/neuron-emf/neuron-emf/ingest",
    "POWERTOOLS_SERVICE_NAME": "ingest", "RECORDS_LOG_GROUP": LOG_GROUP,
    "ROLLUPS_LOG_GROUP": "/neuron-emf/neuron-emf/rollups", "STACK_NAME": "neuron-emf",
    "TABLE_NAME": "neuron-emf",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Context:
    """What Lambda hands to a handler."""

    function_name: str = "neuron-emf-ingest"
    memory_limit_in_mb: int = 256
    invoked_function_arn: str = f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:neuron-emf-ingest"
    aws_request_id: str = "8e3c1a5e-0000-4000-8000-000000000000"

    def get_remaining_time_in_millis(self) -> int:
        """Time enough."""
        return 30_000


def delivered(records: int, rounds: int, cores: int = fleet.CORES) -> IngestRun:
    """Ingest *rounds* deliveries: one record each from CloudWatch Logs, more from Kinesis."""
    numbers = map(str, (records, rounds, cores))
    command = [sys.executable, "-m", "benchmarks.stack.deliveries", *numbers]
    ended = subprocess.run(command, stdout=subprocess.PIPE, env=environment(**SETTINGS), check=True)
    return IngestRun(**json.loads(ended.stdout))


def payload_of(stream: str, lines: Iterable[str], timestamp_ms: int) -> bytes:
    """What CloudWatch Logs hands on of one stream: a document, compressed."""
    events = [
        {"id": f"{place:056d}", "timestamp": timestamp_ms, "message": line}
        for place, line in enumerate(lines)
    ]
    document = {
        "messageType": "DATA_MESSAGE",
        "owner": ACCOUNT,
        "logGroup": LOG_GROUP,
        "logStream": stream,
        "subscriptionFilters": ["neuron-emf-minutes"],
        "logEvents": events,
    }
    return gzip.compress(json.dumps(document, separators=(",", ":")).encode(), 6)


def logs_event(payload: bytes) -> dict[str, object]:
    """The event of a subscription to a function."""
    return {"awslogs": {"data": base64.b64encode(payload).decode()}}


def kinesis_event(payloads: Iterable[bytes]) -> dict[str, object]:
    """The event of a batch of a stream that the subscription writes to."""
    stream = f"arn:aws:kinesis:us-east-1:{ACCOUNT}:stream/neuron-emf"
    shard = "shardId-000000000000"
    return {
        "Records": [
            {
                "kinesis": {
                    "kinesisSchemaVersion": "1.0", "partitionKey": f"{place:032x}",
                    "sequenceNumber": f"{place:056d}", "data": base64.b64encode(payload).decode(),
                    "approximateArrivalTimestamp": 1_800_000_000.0,
                },
                "eventSource": "aws:kinesis", "eventVersion": "1.0",
                "eventID": f"{shard}:{place:056d}", "eventName": "aws:kinesis:record",
                "invokeIdentityArn": f"arn:aws:iam::{ACCOUNT}:role/ingest",
                "awsRegion": "us-east-1", "eventSourceARN": stream,
            }
            for place, payload in enumerate(payloads)
        ]
    }  # fmt: skip


def deliver(records: int, rounds: int, cores: int = fleet.CORES) -> IngestRun:
    """In this process, whose environment must be `SETTINGS`."""
    stand_in = StandIn()
    stand_in.behind_boto3()
    from aggregator import ingest  # noqa: PLC0415  # connects to the table when it is loaded

    context = cast("LambdaContext", _Context())
    events = _events(records, rounds + 1, cores)
    times_s: list[float] = []
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        ingest.handler(next(events), context)  # the first opens the connection
        stand_in.use = Use()
        printed.truncate(0)
        printed.seek(0)
        for event in events:
            gc.collect()
            stand_in.own_s = 0.0
            begun = time.process_time()
            ingest.handler(event, context)
            times_s.append(time.process_time() - begun - stand_in.own_s)
    if printed.getvalue():
        msg = f"expected every record to be stored, the function says {printed.getvalue()[:200]}"
        raise RuntimeError(msg)
    return IngestRun(
        cpu_s=statistics.median(times_s),
        peak_mib=peak_mib(),
        calls=stand_in.use.calls // rounds,
        write_units=stand_in.use.write_units // rounds,
    )


def _events(records: int, count: int, cores: int) -> Iterator[dict[str, object]]:
    now_minute = int(time.time()) // 60
    events = (
        dataclasses.replace(record, minute_ms=now_minute * 60_000)
        for record in fleet.records(records * count, cores=cores)
    )
    while batch := list(islice(events, records)):
        payloads = [
            payload_of(record.instance_id, [fleet.line_of(record)], record.minute_ms)
            for record in batch
        ]
        yield logs_event(payloads[0]) if records == 1 else kinesis_event(payloads)


def main(arguments: Sequence[str]) -> int:
    """Deliver, and print what an invocation took as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stack.deliveries")
    parser.add_argument("records", type=int, help="of one delivery; 1 is by CloudWatch Logs")
    parser.add_argument("rounds", type=int, help="deliveries")
    parser.add_argument("cores", type=int, nargs="?", default=fleet.CORES, help="of an instance")
    chosen = parser.parse_args(arguments)
    found = deliver(chosen.records, chosen.rounds, chosen.cores)
    sys.stdout.write(json.dumps(dataclasses.asdict(found)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
