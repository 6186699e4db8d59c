"""
The deployed stack as the rehearsal sees it: its log groups, its metrics, its functions.

Only through public APIs, as a person with credentials would.
"""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING, Any, Final

from local.alarms import CloudWatchHistory
from local.embedded_aws.clients import REGION
from local.pump import EmfPump
from local.rehearsal.figures import RollupLines
from local.rehearsal.page import AccountEndpoint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local.embedded_aws import Deployment, EmbeddedAws

STACK_NAME: Final = "neuron-emf"
_ARCHITECTURES: Final = {"aarch64": "arm64", "arm64": "arm64"}


def overrides(template: Mapping[str, Any]) -> dict[str, str]:
    """
    Parameters that differ from what a user would deploy with.

    Runtime and architecture are this machine's, so that what is stated is what
    runs; one that the *template* does not offer keeps its default.
    """
    wanted = {
        "Local": "true",
        "Architecture": _ARCHITECTURES.get(platform.machine(), "x86_64"),
        "Runtime": f"python{sys.version_info.major}.{sys.version_info.minor}",
    }
    declared = template["Parameters"]
    return {
        name: value
        for name, value in wanted.items()
        if value in declared[name].get("AllowedValues", [value])
    }


class DeployedStack:
    """
    One deployed stack.

    Attributes:
        rollups: The rollup lines seen so far.

        history: Its metrics.

        place: Where others find them.

        pump: What stands in for CloudWatch's extraction.
    """

    def __init__(self, aws: EmbeddedAws, deployment: Deployment, since_ms: int) -> None:
        """Read everything from *since_ms* on, milliseconds since the epoch."""
        outputs = deployment.outputs
        self.records_group = outputs["EmitterLogGroupName"]
        self._rollups_group = outputs["RollupsLogGroupName"]
        self._close_function = outputs["CloseFunctionName"]
        self._table = outputs["RecordsTableName"]
        self._lambda = aws.client("lambda")
        self._dynamodb = aws.client("dynamodb")
        self.resources = deployment.resources
        self.rollups = RollupLines()
        self.place = AccountEndpoint(
            endpoint_url=aws.endpoint_url,
            region=REGION,
            log_group=self.records_group,
            rollups_log_group=self._rollups_group,
            stack_name=deployment.stack_name,
        )
        self.history = CloudWatchHistory(aws.client("cloudwatch"))
        self.pump = EmfPump(
            aws.client("logs"),
            aws.client("cloudwatch"),
            [self.records_group, self._rollups_group, outputs["IngestLogGroupName"]],
            since_ms,
        )

    def look(self) -> int:
        """Extract what is new; returns the number of new rollup lines."""
        return self.rollups.add(self.pump.turn()[self._rollups_group])

    def stored_records(self) -> int:
        """
        Minute records in the table.

        Counted there, because the embedded AWS may keep back what a function
        prints at its end until the function runs again.
        """
        pages = self._dynamodb.get_paginator("scan").paginate(
            TableName=self._table,
            Select="COUNT",
            ConsistentRead=True,
            FilterExpression="begins_with(pk, :minutes)",
            ExpressionAttributeValues={":minutes": {"S": "m#"}},
        )
        return sum(page["Count"] for page in pages)

    def close_minutes(self) -> None:
        """Ask the close function to run now, as its schedule does each minute."""
        self._lambda.invoke(FunctionName=self._close_function, InvocationType="Event")


def refused_lines(stack: DeployedStack) -> list[str]:
    """What CloudWatch would have refused to extract."""
    counts = stack.pump.counts
    refused = counts.parsing_errors + counts.validation_errors
    if not refused:
        return []
    rules = ", ".join(f"{rule} {count} times" for rule, count in counts.rules.items())
    return [f"{refused} of {counts.emf_lines} EMF lines would not be extracted: {rules}"]
