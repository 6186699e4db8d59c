"""
The two log groups, the emitters' and the rollups', and the way of the lines to the stack.

Only class STANDARD has both metric extraction and subscriptions, and the class
of a group cannot be changed. The subscription filter has the stack's name, lets
minute lines pass and nothing else, and delivers to the stack's function or
stream, or to a destination in the account that the stack is in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.delivery.aws_failures import unreachable
from neuron_emf.check.aws_client import MISSING, NOBODY, UNREACHABLE, Answer, AwsClient, unknown
from neuron_emf.check.result import CheckResult, failed, not_needed, not_tried, ok

if TYPE_CHECKING:
    from collections.abc import Mapping

CLASS: Final = "class"
STANDARD: Final = "STANDARD"
PAGE: Final = 50
ANY: Final = "*"
_ARN_PARTS: Final = 6

SUBSCRIPTION: Final = "subscription"
PATTERN: Final = '"CoveredSeconds"'
"""What template.yaml lets through: a member of minute lines alone."""

_RECEIVERS: Final = ("-IngestFunction-", "-RecordsStream-")
_DEPLOY: Final = "deploy the stack again, with this group as its LogGroupName"


@dataclass(frozen=True, slots=True)
class LogTarget:
    """
    Where lines go.

    Attributes:
        region: Such as `us-east-1`.

        group: Of the emitters' lines.

        rollups_group: Of the rollups.

        stack_name: Of the stack; empty when there is none.

        partition: Such as `aws`.

        account_id: Twelve digits, `*` when it is not known.
    """

    region: str
    group: str
    rollups_group: str
    stack_name: str
    partition: str = "aws"
    account_id: str = ANY

    def arn(self, rest: str = ANY) -> str:
        """What a policy must name: for actions that look at groups by prefix, all of them."""
        return f"arn:{self.partition}:logs:{self.region}:{self.account_id}:log-group:{rest}"

    @property
    def of_group(self) -> str:
        """The group, as a policy names it."""
        return self.arn(f"{self.group}:{ANY}")


def account_of(caller: Answer) -> tuple[str, str]:
    """Partition and account number by the answer of STS, `*` for what it does not say."""
    parts = str(caller.response.get("Arn", "")).split(":")
    partition = parts[1] if len(parts) >= _ARN_PARTS else "aws"
    return partition, str(caller.response.get("Account", "")) or ANY


def check_group(
    aws: AwsClient, target: LogTarget, name: str, check: str, *, deploys: str
) -> tuple[list[CheckResult], str]:
    """
    Look at log group *name*: whether it is there, and its class; and why that is not known.

    The reason is `MISSING` when AWS was asked and has none of this name, empty when it has.

    Args:
        aws: The way to AWS.

        target: Where that is, for the advice.

        name: Of the group.

        check: Of the result that it is there; its class is another one.

        deploys: What to do when it is not there.
    """
    answer, groups = aws.ask_all(
        "logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name, limit=PAGE
    )
    klass = f"{check} {CLASS}"
    if answer.reason:
        untold = not_tried(klass, f"{answer.action} was not answered")
        return [_untold(check, answer, target), untold], answer.reason
    group = next((one for one in groups if one.get("logGroupName") == name), None)
    if group is None:
        missing = failed(check, f"no log group {name} in {target.region}", deploys)
        return [missing, not_tried(klass, "there is no log group")], MISSING
    days = group.get("retentionInDays")
    kept = f"kept {days} days" if days else "never expires"
    return [ok(check, f"{name}, {kept}"), _class(klass, group)], ""


def _untold(check: str, answer: Answer, target: LogTarget) -> CheckResult:
    if answer.reason == UNREACHABLE:
        return failed(check, *unreachable(answer.words, target.region))
    if answer.reason in NOBODY:
        return failed(
            check,
            f"CloudWatch Logs rejects the credentials: {answer.words}",
            "give the instance a role with the stack's emitter policy, or renew the credentials",
        )
    return unknown(check, answer, target.arn(), "; emitters do not need it")


def _class(check: str, group: Mapping[str, object]) -> CheckResult:
    group_class = str(group.get("logGroupClass", STANDARD))  # older regions have no classes
    if group_class == STANDARD:
        return ok(check, f"{STANDARD}: metrics are extracted, subscriptions deliver")
    return failed(
        check,
        f"{group_class}: lines are kept, but metrics are not extracted and nothing can subscribe",
        f"create a log group of class {STANDARD} under another name: the class cannot be changed",
    )


def check_subscription(aws: AwsClient, target: LogTarget) -> CheckResult:
    """Whether minute lines of the group are delivered to the stack."""
    if not target.stack_name:
        return not_needed(SUBSCRIPTION, "there is no stack to subscribe")
    answer, filters = aws.ask_all(
        "logs", "describe_subscription_filters", "subscriptionFilters", logGroupName=target.group
    )
    if answer.reason == MISSING:
        return not_tried(SUBSCRIPTION, f"there is no log group {target.group}")
    if answer.reason:
        return unknown(SUBSCRIPTION, answer, target.of_group, "; emitters do without")
    name = f"{target.stack_name}-minutes"
    subscription = next((one for one in filters if one.get("filterName") == name), None)
    if subscription is not None:
        return _judged(subscription, name, target)
    others = ", ".join(str(one.get("filterName")) for one in filters)
    there = f"; there is {others}" if others else ""
    return failed(
        SUBSCRIPTION,
        f"the log group has no subscription filter {name}{there}: no line reaches the stack",
        f"{_DEPLOY}, or name the stack that takes the lines with --stack-name",
    )


def _judged(found: Mapping[str, object], name: str, target: LogTarget) -> CheckResult:
    pattern = str(found.get("filterPattern", ""))
    destination = str(found.get("destinationArn", ""))
    if pattern.strip() != PATTERN:
        passing = "every line" if not pattern.strip() else f"what matches {pattern}"
        return failed(SUBSCRIPTION, f"{name} lets {passing} through instead of {PATTERN}", _DEPLOY)
    if not _is_receiver(destination, target.stack_name):
        return failed(
            SUBSCRIPTION,
            f"{name} delivers to {destination or 'nothing'}, which is neither IngestFunction nor "
            f"RecordsStream of {target.stack_name}, nor a destination of another account",
            _DEPLOY,
        )
    return ok(SUBSCRIPTION, f"{name} delivers minute lines to {destination}")


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
