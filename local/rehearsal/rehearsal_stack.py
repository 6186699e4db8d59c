"""
The deployed stack as the rehearsal sees it: its log groups, its metrics, its functions.

It uses only public APIs, like a person with credentials.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from local.alarms.history import CloudWatchHistory
from local.embedded_aws.child_processes import EmbeddedAwsError
from local.embedded_aws.clients import EMBEDDED_REGION
from local.pump import EmfPump
from local.rehearsal.comparison import add_rollups, against_truth
from local.rehearsal.page import AccountEndpoint
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local.embedded_aws.emulator import EmbeddedAws
    from local.embedded_aws.sam_deployment import Deployment
    from local.monitor.simulator_truth import Expected
    from local.rehearsal.comparison import ClusterMinute, PublishedMinute
    from local.rehearsal.workspace import Workspace

STACK_NAME: Final = "neuron-emf"
INGEST_PATIENCE_S: Final = 60.0
CLOSES_AFTER_S: Final = 45  # the seconds after its end from which close accepts a minute
CLOSE_AGAIN_S: Final = 5.0
SETTLED_S: Final = 15.0
_THREADS: Final = 8


def closable_minute(at_s: float) -> int:
    """Return the newest minute that close accepts at *at_s*, counted from the epoch."""
    return int(at_s - CLOSES_AFTER_S) // MINUTE_S - 1


def overrides(template: Mapping[str, Any]) -> dict[str, str]:
    """
    Return parameters that differ from a user's deployment.

    Runtime and architecture are this machine's, so that the stated ones run. A value that the
    *template* does not offer keeps its default; a release has no parameter for the architecture.
    """
    wanted = {
        "Architecture": "arm64" if platform.machine() in {"aarch64", "arm64"} else "x86_64",
        "Runtime": f"python{sys.version_info.major}.{sys.version_info.minor}",
    }
    declared = template["Parameters"]
    return {
        name: value
        for name, value in wanted.items()
        if name in declared and value in declared[name]["AllowedValues"]
    }


class DeployedStack:
    """
    One deployed stack.

    Attributes:
        aws: The emulator that it is deployed on.

        rollups: The rollup lines so far.

        history: Its metrics.

        place: The endpoint for other programs.

        pump: The replacement for CloudWatch's extraction.
    """

    def __init__(self, aws: EmbeddedAws, deployment: Deployment, since_ms: int) -> None:
        """Read everything from *since_ms* on, milliseconds since the epoch."""
        self.aws = aws
        outputs = deployment.outputs
        self.resources = deployment.resources
        self.rollups: dict[ClusterMinute, PublishedMinute] = {}
        self.place = AccountEndpoint(
            aws.endpoint_url,
            EMBEDDED_REGION,
            outputs["EmitterLogGroupName"],
            outputs["RollupsLogGroupName"],
            STACK_NAME,
        )
        self.history = CloudWatchHistory(aws.client("cloudwatch"))
        place = self.place
        groups = [place.log_group, place.rollups_log_group, outputs["IngestLogGroupName"]]
        self.pump = EmfPump(aws.client("logs"), aws.client("cloudwatch"), groups, since_ms)
        self._outputs = outputs

    def read_new_rollups(self) -> int:
        """Extract the new lines. Return the number of new rollup lines."""
        events = self.pump.extract_new_lines()[self.place.rollups_log_group]
        return add_rollups(self.rollups, (event.message for event in events))

    def stored_records(self) -> int:
        """
        Return the number of minute records in the table.

        They are counted there, because the embedded AWS may hold back a function's output until the
        function runs again.
        """
        scan = self.aws.client("dynamodb").get_paginator("scan")
        pages = scan.paginate(
            TableName=self._outputs["RecordsTableName"],
            Select="COUNT",
            ConsistentRead=True,
            FilterExpression="begins_with(pk, :minutes)",
            ExpressionAttributeValues={":minutes": {"S": "m#"}},
        )
        return sum(page["Count"] for page in pages)

    def close_minutes(self) -> None:
        """Run the close function now, as its schedule does each minute."""
        function = self._outputs["CloseFunctionName"]
        self.aws.client("lambda").invoke(FunctionName=function, InvocationType="Event")

    def explain(self, event: Mapping[str, Any]) -> None:
        """Make explain notify people of an alarm's *event*, as EventBridge does."""
        function = self.resources["ExplainFunction"]
        payload = json.dumps(event).encode()
        self.aws.client("lambda").invoke(FunctionName=function, Payload=payload)

    def put_objects(self, objects: Mapping[str, bytes]) -> None:
        """Put *objects* into the bucket of the ledger, where settle puts its own."""
        bucket = self._outputs["LedgerBucketName"]
        s3 = self.aws.client("s3")
        with ThreadPoolExecutor(_THREADS) as pool:
            list(
                pool.map(
                    lambda key: s3.put_object(Bucket=bucket, Key=key, Body=objects[key]), objects
                )
            )

    def refused_lines(self) -> list[str]:
        """Return the lines that CloudWatch would have refused to extract."""
        pump = self.pump
        rules = ", ".join(f"{rule} {count} times" for rule, count in pump.broken_rules.items())
        sentence = f"{pump.refused} of {pump.emf_lines} EMF lines would not be extracted: {rules}"
        return [sentence] if pump.refused else []

    def close_until(
        self,
        expected: Mapping[ClusterMinute, Expected],
        workspace: Workspace,
        patience_s: float,
        *,
        again_s: float = CLOSE_AGAIN_S,
    ) -> None:
        """
        Close minutes, every *again_s*, until every expected rollup is right.

        The verdict reports whatever is not right after *patience_s*, or when all are there and
        nothing new comes any more.
        """
        started_s = news_s = time.monotonic()
        asked_s = started_s - again_s
        while against_truth(expected, self.rollups):
            now_s = time.monotonic()
            settled = now_s - news_s > SETTLED_S and not expected.keys() - self.rollups
            if settled or now_s - started_s > patience_s:
                return
            if now_s - asked_s >= again_s:
                asked_s = now_s
                self.close_minutes()
            workspace.wait(1.0)
            if self.read_new_rollups():
                news_s = time.monotonic()

    def wait_until_stored(self, records: int, workspace: Workspace) -> None:
        """
        Wait until ingest has stored *records*.

        Raises:
            EmbeddedAwsError: If it does not within `INGEST_PATIENCE_S`.
        """
        deadline = time.monotonic() + INGEST_PATIENCE_S
        while self.stored_records() < records:
            if time.monotonic() > deadline:
                msg = f"ingest stored fewer than {records} lines in {INGEST_PATIENCE_S:.0f} s"
                raise EmbeddedAwsError(msg)
            workspace.wait(0.1)
