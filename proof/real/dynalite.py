"""
Run the store, the chaos and an hour of 200 instances on dynalite, an independent DynamoDB.

1. `pytest` of the store's contract and of everything else that asks for a DynamoDB.
2. `proof.chaos` with the table on the server.
3. The handlers of ingest and close as Lambda starts them, close in two processes. All rollups are
   compared with `proof.reference`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final
from unittest import mock

import boto3

from aggregator import runtime
from aggregator.close import function as close
from aggregator.ingest import function as ingest
from aggregator.storage.table import Table
from proof.chaos import chaos_fleet, functions
from proof.chaos.chaos_stack import ChaosStack
from proof.chaos.chaos_truth import compare
from proof.chaos.functions import TICK
from proof.chaos.subscription import SubscriptionFilter
from proof.factories.invocations import Context, direct
from proof.real import npm_server
from proof.real.instance_hour import PlayedHour

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuron_wire import MinuteRecord
    from neuron_wire.line_members import Amounts
    from proof.chaos.chaos_fleet import Accepted

TITLE: Final = "dynalite"
CLAIM: Final = (
    "The functions use dynalite, an independent DynamoDB, through boto3: the store's contract "
    "holds, and the rollups of the chaos and of an hour of 200 instances equal the reference's."
)
CONTRACT: Final = ("tests/aggregator/storage", "tests/aggregator/test_handlers.py")
DYNALITE_OPTIONS: Final = {"createTableMs": 0, "deleteTableMs": 0}
DYNALITE_SEED: Final = 5
CHAOS_INSTANCES: Final = 12
CHAOS_MINUTES: Final = 20
DYNALITE_INSTANCES: Final = 200
DYNALITE_MINUTES: Final = 60
DYNALITE_BUCKETS: Final = 32  # all of them
MEMORY_MB: Final = 2 * 1_769  # two processes


def missing() -> str | None:
    """Return why dynalite cannot run here, or None."""
    return npm_server.missing("dynalite")


def versions() -> dict[str, str]:
    """Return the versions of the server, of its runtime and of the client."""
    return {**npm_server.versions("dynalite"), "boto3": boto3.__version__}


def run(folder: Path) -> list[str]:
    """Run each of the three on a server of its own; raise AssertionError with the differences."""
    sentences = []
    for part in (run_contract, run_chaos, run_hour):
        with npm_server.serving("dynalite", DYNALITE_OPTIONS) as address:
            began_s = time.monotonic()
            with mock.patch.dict(os.environ, environment(address)):
                sentence = part(folder)
            sentences.append(f"{sentence} {time.monotonic() - began_s:.0f} s.")
    return sentences


def environment(address: str) -> dict[str, str]:
    """Return the variables with which the functions and boto3 find the table at *address*."""
    return {
        **npm_server.CREDENTIALS,
        "AWS_ENDPOINT_URL_DYNAMODB": address,
        "TABLE_NAME": "records",
        "STACK_NAME": "neuron-emf",
        "ROLLUPS_LOG_GROUP": functions.ROLLUPS_GROUP,
        "AWS_LAMBDA_LOG_GROUP_NAME": functions.INGEST_GROUP,
        "POWERTOOLS_SERVICE_NAME": "ingest",
        "POWERTOOLS_METRICS_NAMESPACE": "Neuron/Stack",
    }


def run_contract(_: Path) -> str:
    """Run the tests of the store with the server instead of moto."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider"]
    command += ["-p", "proof.real.dynalite_store", *CONTRACT]
    root = Path(__file__).resolve().parents[2]
    tests = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert tests.returncode == 0, tests.stdout[-4_000:]
    passed = tests.stdout.splitlines()[-1].partition(" passed")[0].split()[-1]
    return f"Contract: {passed} tests of the store and of the handlers passed."


def run_chaos(_: Path) -> str:
    """Run the chaos of the stack with its table on the server."""
    lived = chaos_fleet.fleet(DYNALITE_SEED, CHAOS_INSTANCES, CHAOS_MINUTES)
    with mock.patch.object(functions, "MemoryTable", ServerTable):
        stack = ChaosStack(DYNALITE_SEED, {line.record.cluster for line in lived})
        stack.run(lived)
    records = [line.record for line in lived]
    rollups, problems = compare(records, stack.printed, stack.restated, stack.closed)
    differences = [*map(str, problems), *stack.complaints]
    assert not differences, "\n".join(differences[:20])
    hit, steps = stack.killed_at
    return (
        f"Chaos: {CHAOS_INSTANCES} instances, {CHAOS_MINUTES} minutes, {len(lived):,} lines, close "
        f"killed at {hit} of {steps} places; {rollups.total():,} rollups, no difference."
    )


class ServerTable(Table):
    """The table on the server, with the members of its double that the chaos reads."""

    def __init__(self) -> None:
        self._client = create_table()
        super().__init__(Table.connect("records")._requests)

    @property
    def progress(self) -> Any:
        return self.read_progress()

    @property
    def markers(self) -> list[int]:
        pages = self._client.get_paginator("scan").paginate(
            TableName="records",
            FilterExpression="begins_with(pk, :marker)",
            ExpressionAttributeValues={":marker": {"S": "dirty#"}},
        )
        return [int(item["pk"]["S"].partition("#")[2]) for page in pages for item in page["Items"]]


def create_table() -> Any:
    """Create the table of the template, and return its client."""
    client = boto3.client("dynamodb")
    keys = {"pk": "HASH", "sk": "RANGE"}
    client.create_table(
        TableName="records",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": name, "KeyType": key_type} for name, key_type in keys.items()],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in keys],
    )
    client.get_waiter("table_exists").wait(TableName="records")
    return client


def run_hour(_: Path) -> str:
    """Let the handlers ingest and close an hour of 200 instances."""
    with mock.patch.object(chaos_fleet, "CHAOS_BUCKETS", DYNALITE_BUCKETS):
        lived = chaos_fleet.fleet(DYNALITE_SEED, DYNALITE_INSTANCES, DYNALITE_MINUTES)
    create_table()
    hour = HandlersHour(lived)
    with hour.invoking():
        rollups = hour.live()
    return (
        f"Hour: {DYNALITE_INSTANCES} instances, {DYNALITE_MINUTES} minutes, {len(lived):,} lines, "
        f"{hour.runs} runs "
        f"of close in 2 processes; {rollups.total():,} rollups in {len(rollups)} clusters, no "
        "difference."
    )


class HandlersHour(PlayedHour):
    """The handlers as Lambda starts them, with their own environment, clients and processes."""

    def __init__(self, lived: list[Accepted]) -> None:
        super().__init__(lived)
        self.table = Table.connect("records")
        self._subscription = SubscriptionFilter(random.Random(DYNALITE_SEED))

    def deliver(self, records: list[MinuteRecord]) -> None:
        for delivery in self._subscription.deliveries(records):
            counts: dict[str, Any] = ingest.handler(direct(delivery.payload), Context())
            assert counts["RecordsStored"] > 0
            assert counts["RecordsRejected"] == counts["RecordsTooLate"] == 0

    def run_close(self) -> Amounts:
        return close.handler(TICK, Context(memory_limit_in_mb=MEMORY_MB))

    @contextlib.contextmanager
    def invoking(self) -> Iterator[None]:
        """Set the clock of both functions to the simulated time, and read what they print."""
        clock = SimpleNamespace(time=lambda: self.now_s)
        replace = mock.patch.object
        runtime.stack.cache_clear()
        with (
            replace(ingest, "time", clock),
            replace(close, "time", clock),
            replace(ingest.logger.registered_handler, "stream", io.StringIO()),
            replace(close.logger.registered_handler, "stream", io.StringIO()),
            contextlib.redirect_stdout(functions._Output(self._read)),
        ):
            yield
        runtime.stack.cache_clear()

    def _read(self, line: str) -> None:
        if json.loads(line).get("Kind"):
            self.take_line(line)
