"""
The cost of the stack's functions.

Run `python -m benchmarks.stack_figures ingest`, or `close`, in its own process. The functions are
the real ones, and the table is a stand-in. It replaces boto3's client for close. For ingest it is
at the other end of the connection, so that boto3 does all its work without the network. The minute
of a fleet is on disk, so that the measured process holds only what the function would.
"""

from __future__ import annotations

import argparse
import base64
import dataclasses
import gzip
import json
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

import boto3
from botocore.awsrequest import AWSResponse

from aggregator.environment import Rules
from aggregator.minutes import end_s
from aggregator.storage.dynamodb import Requests
from aggregator.storage.record_items import TABLE_BUCKETS, item_of
from aggregator.storage.table import Table
from aggregator.storage.values import CloseProgress
from benchmarks import fleet_lines
from benchmarks.emitter import memory_mib
from benchmarks.figures import Figure
from benchmarks.sample_reports import environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from botocore.awsrequest import AWSPreparedRequest

    from aggregator.runtime import LambdaContext
    from aggregator.storage.values import RecordItem

INGEST_LIMIT_MS: Final = 2.0
CLOSE_LIMIT_S: Final = 1.5
CLOSE_LIMIT_MIB: Final = 512
STACK_INSTANCES: Final = 10_000
STACK_CLUSTERS: Final = 20
MEASURED_RUNS: Final = 3  # the fastest counts, because a short run is often disturbed as a whole
DELIVERIES: Final = 300
RECORDS_GROUP: Final = "/neuron-emf/records"
STACK_ACCOUNT: Final = "123456789012"
FUNCTION_VARIABLES: Final = {
    "AWS_LAMBDA_FUNCTION_NAME": "neuron-emf-ingest", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256",
    "AWS_LAMBDA_LOG_GROUP_NAME": "/neuron-emf/neuron-emf/ingest",
    "POWERTOOLS_SERVICE_NAME": "ingest", "RECORDS_LOG_GROUP": RECORDS_GROUP,
    "ROLLUPS_LOG_GROUP": "/neuron-emf/neuron-emf/rollups", "STACK_NAME": "neuron-emf",
    "TABLE_NAME": "neuron-emf",
}  # fmt: skip
_PAGE_ITEMS: Final = 2_000
_PLENTY_S: Final = 1_000.0
_ALL_HAVE_REPORTED_S: Final = 60  # after the end of a minute


@dataclass(slots=True)
class StandIn:
    """
    The table of one process. Every condition holds, because no other process writes.

    Attributes:
        folder: The folder with the records of every minute, one file per bucket.
    """

    folder: Path
    _items: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    def query(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401  # as boto3's client
        """Return a page of one partition."""
        pk = request["ExpressionAttributeValues"][":pk"]["S"]
        if pk.startswith("m#"):
            return self._records(pk, request.get("ExclusiveStartKey"))
        return {"Items": [item for key, item in sorted(self._items.items()) if key[0] == pk]}

    def get_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return one item, or none."""
        found = self._items.get(_key(request["Key"]))
        return {} if found is None else {"Item": found}

    def batch_get_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return several items of one table."""
        ((table, wanted),) = request["RequestItems"].items()
        found = [self._items.get(_key(key)) for key in wanted["Keys"]]
        return {"Responses": {table: [item for item in found if item]}, "UnprocessedKeys": {}}

    def put_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401
        """Store one item."""
        self._items[_key(request["Item"])] = request["Item"]
        return {}

    def delete_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401
        """Delete one item."""
        self._items.pop(_key(request["Key"]), None)
        return {}

    def batch_write_item(self, **_request: Any) -> dict[str, Any]:  # noqa: ANN401
        """Accept records, which are never read again."""
        return {"UnprocessedItems": {}}

    def _records(self, pk: str, after: dict[str, Any] | None) -> dict[str, Any]:
        offset = int(after["sk"]["S"]) if after else 0
        with (self.folder / str(int(pk.rpartition("#")[2]))).open("rb") as file:
            file.seek(offset)
            items: list[dict[str, Any]] = []
            while len(items) < _PAGE_ITEMS and (size := file.read(4)):
                items.append({"r": {"B": file.read(int.from_bytes(size, "big"))}})
            more = {"pk": {"S": pk}, "sk": {"S": str(file.tell())}}
        return {"Items": items, **({"LastEvaluatedKey": more} if len(items) == _PAGE_ITEMS else {})}


_INGEST_CONTEXT: Final = SimpleNamespace(
    function_name="neuron-emf-ingest",
    memory_limit_in_mb=256,
    invoked_function_arn=f"arn:aws:lambda:us-east-1:{STACK_ACCOUNT}:function:neuron-emf-ingest",
    aws_request_id="8e3c1a5e-0000-4000-8000-000000000000",
    get_remaining_time_in_millis=lambda: 30_000,
)
"""The context that Lambda passes to a handler."""


def figures(folder: Path) -> list[Figure]:
    """Return the figures of one delivery and of a fleet's minute."""
    write_minute(folder, STACK_INSTANCES)
    once = _measured("ingest")
    runs = [_measured("close", str(folder)) for _ in range(MEASURED_RUNS)]
    least = min(runs, key=lambda run: run["cpu_s"])
    what = f"{STACK_INSTANCES:,} instances of {fleet_lines.CORES_OF_INSTANCE} cores of a minute"
    return [
        Figure(
            "ingest: processor time of one record",
            1_000 * once["cpu_s"],
            "ms",
            INGEST_LIMIT_MS,
            f"handler and boto3, warm, without the network; {once['mib']:.0f} MiB at most",
        ),
        Figure(
            f"reduce: processor time of {what}",
            least["cpu_s"],
            "s",
            CLOSE_LIMIT_S,
            f"{STACK_CLUSTERS} clusters, {least['lines']:.0f} lines",
        ),
        Figure(f"reduce: most memory of {what}", least["mib"], "MiB", CLOSE_LIMIT_MIB),
    ]


def _measured(*words: str) -> dict[str, float]:
    settings = FUNCTION_VARIABLES if words[0] == "ingest" else {}
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.stack_figures", *words],
        stdout=subprocess.PIPE,
        env=environment(**settings),
        check=True,
    )
    found: dict[str, float] = json.loads(ended.stdout)
    return found


def write_minute(folder: Path, instances: int) -> None:
    """Write the items of a fleet's minute into *folder*."""
    buckets: dict[int, list[RecordItem]] = defaultdict(list)
    for record in fleet_lines.records(instances, STACK_CLUSTERS):
        item = item_of(record, 0)
        buckets[item.bucket].append(item)
    folder.mkdir(parents=True)
    for bucket in range(TABLE_BUCKETS):
        with (folder / str(bucket)).open("wb") as file:
            for item in sorted(buckets[bucket], key=lambda row: row.key):
                file.write(len(item.payload).to_bytes(4, "big") + item.payload)


def close(folder: Path) -> dict[str, float]:
    """
    Close the minute that `write_minute` wrote, and return its cost.

    The minute before it is closed first, so that the registry knows every instance, as at any later
    minute.
    """
    from aggregator.close.run import CloseRun  # noqa: PLC0415  # memory that ingest must not have

    table = Table(Requests(StandIn(folder), "neuron-emf"))
    table.write_progress(
        CloseProgress(fleet_lines.FLEET_MINUTE - 1, (), fleet_lines.FLEET_MINUTE - 1)
    )
    found: dict[str, float] = {}
    for minute in (fleet_lines.FLEET_MINUTE - 1, fleet_lines.FLEET_MINUTE):
        run = CloseRun(
            table=table,
            rules=Rules(),
            emit=lambda _line: None,
            now_s=lambda at=minute: float(end_s(at) + _ALL_HAVE_REPORTED_S),  # type: ignore[misc]
            remaining_s=lambda: _PLENTY_S,
            processes=1,
            connect=None,
        )
        started_s = time.process_time()
        outcome = run.run()
        found = {"cpu_s": time.process_time() - started_s, "lines": outcome.lines_printed}
        if (outcome.minutes_closed, outcome.records_unreadable) != (1, 0):
            msg = f"one minute was to be closed, found {outcome}"
            raise RuntimeError(msg)
    return {**found, "mib": memory_mib("self", "VmHWM")}


def ingest() -> dict[str, float]:
    """Ingest deliveries of one record each with `SETTINGS`. Return the cost of one."""
    boto3.setup_default_session(
        aws_access_key_id="testing",
        aws_secret_access_key="testing",  # noqa: S106  # no service receives the requests
        region_name="us-east-1",
    )
    boto3.DEFAULT_SESSION.events.register("before-send.dynamodb", _accept)
    from aggregator import ingest as function  # noqa: PLC0415  # it connects when loaded

    times_s: list[float] = []
    for event in _events(DELIVERIES + 1):
        started_s = time.process_time()
        if function.handler(event, cast("LambdaContext", _INGEST_CONTEXT))["RecordsStored"] != 1:
            msg = "every record was to be stored, one was not"
            raise RuntimeError(msg)
        times_s.append(time.process_time() - started_s)
    # The first delivery opens the connection.
    return {"cpu_s": statistics.median(times_s[1:]), "mib": memory_mib("self", "VmHWM")}


def _accept(request: AWSPreparedRequest, **_event: object) -> AWSResponse:
    """Return the table's answer to records."""
    body = SimpleNamespace(stream=lambda **_how: [b'{"UnprocessedItems": {}}'])
    return AWSResponse(request.url, 200, {}, body)


def _events(count: int) -> Iterator[dict[str, object]]:
    minute_ms = int(time.time()) // 60 * 60_000
    for number, made in enumerate(fleet_lines.records(count)):
        record = dataclasses.replace(made, minute_ms=minute_ms)
        event = {
            "id": f"{number:056d}",
            "timestamp": minute_ms,
            "message": fleet_lines.line_of(record),
        }
        document = {
            "messageType": "DATA_MESSAGE",
            "owner": STACK_ACCOUNT,
            "logGroup": RECORDS_GROUP,
            "logStream": record.instance_id,
            "subscriptionFilters": ["neuron-emf-minutes"],
            "logEvents": [event],
        }
        payload = gzip.compress(json.dumps(document, separators=(",", ":")).encode(), 6)
        yield {"awslogs": {"data": base64.b64encode(payload).decode()}}


def _key(item: dict[str, Any]) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]


def main(arguments: Sequence[str]) -> int:
    """Measure one function in this process, and print its cost as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stack_figures")
    parser.add_argument("function", choices=("ingest", "close"))
    parser.add_argument(
        "folder", type=Path, nargs="?", help="for close: the folder of `write_minute`"
    )
    chosen = parser.parse_args(arguments)
    found = ingest() if chosen.function == "ingest" else close(chosen.folder)
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
