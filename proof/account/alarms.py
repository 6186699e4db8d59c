"""
DescribeAlarms and DescribeAlarmContributors: the template's alarms, in states that a test sets.

JSON 1.0, the one protocol of those in botocore's model of CloudWatch that it takes
by default. Of contributors it lists those in ALARM, as CloudWatch was recorded to
do (`tests/recorded`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proof.logs.forms import NOT_READ, ServiceError
from proof.logs.protocol import JsonWire

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proof.account.pages import Tokens

CONTENT_TYPE = "application/x-amz-json-1.0"
TARGET_PREFIX = "GraniteServiceVersion20100801."
MAX_DESCRIBED = 50
SUFFIX = "0A1B2C3D4E5F"
"""What CloudFormation puts behind a name."""


class AlarmWire(JsonWire):
    """The protocol of CloudWatch."""

    signing_name = "monitoring"

    def is_of(self, headers: Mapping[str, str]) -> bool:
        return headers.get("x-amz-target", "").startswith(TARGET_PREFIX)

    def operation_in(self, headers: Mapping[str, str], body: bytes) -> str:  # noqa: ARG002
        return headers.get("x-amz-target", "").removeprefix(TARGET_PREFIX)

    def check_form(self, headers: Mapping[str, str]) -> None:
        if headers.get("content-type") != CONTENT_TYPE:
            raise ServiceError(NOT_READ, f"expected {CONTENT_TYPE} for {TARGET_PREFIX}")


@dataclass
class StackAlarms:
    """
    The alarms of one stack, all OK at first.

    Attributes:
        described: As DescribeAlarms has them, by logical id.

        contributors: Those in ALARM, by logical id: attributes and reason.

        page_size: Most rows of an answer.
    """

    tokens: Tokens
    made_s: float
    described: dict[str, dict[str, Any]] = field(default_factory=dict)
    contributors: dict[str, list[tuple[dict[str, str], str]]] = field(default_factory=dict)
    page_size: int = MAX_DESCRIBED
    answers: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.answers = {
            "DescribeAlarms": self._describe_alarms,
            "DescribeAlarmContributors": self._describe_alarm_contributors,
        }

    def add(self, stack: str, logical_id: str, properties: Mapping[str, Any]) -> None:
        """An alarm of the template, with its functions resolved."""
        kept = ("AlarmDescription", "Metrics", "Namespace", "MetricName", "Dimensions", "Threshold")
        self.described[logical_id] = {
            "AlarmName": f"{stack}-{logical_id}-{SUFFIX}",
            "StateValue": "OK",
            "StateReason": "Threshold Crossed: no datapoint was greater than the threshold.",
            "StateTransitionedTimestamp": self.made_s,
            **{name: properties[name] for name in kept if name in properties},
        }

    def fire(self, logical_id: str, *clusters: str, reason: str = "Threshold Crossed") -> None:
        """Have an alarm be in ALARM, for *clusters* where it is one on a query."""
        self.described[logical_id] |= {"StateValue": "ALARM", "StateReason": reason}
        self.contributors[logical_id] = [({"ClusterName": one}, reason) for one in clusters]

    def _describe_alarms(self, document: dict[str, Any]) -> dict[str, Any]:
        prefix = document.get("AlarmNamePrefix", "")
        names = sorted(
            one for one, alarm in self.described.items() if alarm["AlarmName"].startswith(prefix)
        )
        page, more = self._page("DescribeAlarms", document, [self.described[one] for one in names])
        return {"MetricAlarms": page, "CompositeAlarms": [], **more}

    def _describe_alarm_contributors(self, document: dict[str, Any]) -> dict[str, Any]:
        rows = [
            {
                "ContributorId": f"{number:016x}",
                "ContributorAttributes": attributes,
                "StateReason": reason,
                "StateTransitionedTimestamp": self.made_s,
            }
            for logical_id, found in self.contributors.items()
            if self.described[logical_id]["AlarmName"] == document["AlarmName"]
            for number, (attributes, reason) in enumerate(found)
        ]
        page, more = self._page("DescribeAlarmContributors", document, rows)
        return {"AlarmContributors": page, **more}

    def _page(
        self, operation: str, document: dict[str, Any], rows: list[Any]
    ) -> tuple[list[Any], dict[str, str]]:
        """CloudWatch writes the token with a capital."""
        request = {name: one for name, one in document.items() if name != "NextToken"}
        if "NextToken" in document:
            request["nextToken"] = document["NextToken"]
        page, more = self.tokens.page(operation, request, rows, self.page_size)
        return page, {"NextToken": more["nextToken"]} if more else {}
