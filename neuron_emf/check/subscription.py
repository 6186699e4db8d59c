"""
The way of the lines from the log group to the stack.

The filter has the stack's name, lets minute lines pass and nothing else, and
delivers to the stack's function or stream, or to a destination in the account
that the stack is in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from neuron_emf.check.aws_client import MISSING, AwsClient, unknown
from neuron_emf.check.result import CheckResult, failed, not_needed, not_tried, ok

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuron_emf.check.log_groups import LogTarget

CHECK: Final = "subscription"
PATTERN: Final = '"CoveredSeconds"'
"""What template.yaml lets through: a member of minute lines alone."""

_RECEIVERS: Final = ("-IngestFunction-", "-RecordsStream-")
_DEPLOY: Final = "deploy the stack again, with this group as its LogGroupName"


def check_subscription(aws: AwsClient, target: LogTarget) -> CheckResult:
    """Whether minute lines of the group are delivered to the stack."""
    if not target.stack_name:
        return not_needed(CHECK, "there is no stack to subscribe")
    answer, filters = aws.ask_all(
        "logs", "describe_subscription_filters", "subscriptionFilters", logGroupName=target.group
    )
    if answer.reason == MISSING:
        return not_tried(CHECK, f"there is no log group {target.group}")
    if answer.reason:
        return unknown(CHECK, answer, target.of_group, "; emitters do without")
    name = f"{target.stack_name}-minutes"
    subscription = next((one for one in filters if one.get("filterName") == name), None)
    if subscription is None:
        return _absent(name, filters)
    return _judged(subscription, name, target)


def _absent(name: str, filters: list[Mapping[str, object]]) -> CheckResult:
    others = ", ".join(str(one.get("filterName")) for one in filters)
    there = f"; there is {others}" if others else ""
    return failed(
        CHECK,
        f"the log group has no subscription filter {name}{there}: no line reaches the stack",
        f"{_DEPLOY}, or name the stack that takes the lines with --stack-name",
    )


def _judged(found: Mapping[str, object], name: str, target: LogTarget) -> CheckResult:
    pattern = str(found.get("filterPattern", ""))
    destination = str(found.get("destinationArn", ""))
    if pattern.strip() != PATTERN:
        passing = "every line" if not pattern.strip() else f"what matches {pattern}"
        return failed(CHECK, f"{name} lets {passing} through instead of {PATTERN}", _DEPLOY)
    if not _is_receiver(destination, target.stack_name):
        return failed(
            CHECK,
            f"{name} delivers to {destination or 'nothing'}, which is neither IngestFunction nor "
            f"RecordsStream of {target.stack_name}, nor a destination of another account",
            _DEPLOY,
        )
    return ok(CHECK, f"{name} delivers minute lines to {destination}")


def _is_receiver(destination: str, stack_name: str) -> bool:
    """By its name: CloudFormation begins it with the stack's, cut where it would be too long."""
    parts = destination.split(":", 5)
    if len(parts) < 6:
        return False
    service, resource = parts[2], parts[5]
    if service == "logs":
        return resource.startswith("destination:")
    name = resource.rpartition(":")[2].rpartition("/")[2]
    for receiver in _RECEIVERS:
        stack, found, _ = name.partition(receiver)
        if found and stack and stack_name.startswith(stack):
            return True
    return False
