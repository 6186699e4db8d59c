"""
The two log groups, and what becomes of the lines in them: to the stack, and to metrics.

Only class STANDARD has both metric extraction and subscriptions, and the class
of a group cannot be changed. The subscription filter has the stack's name, lets
minute lines pass and nothing else, and delivers to the stack's function or
stream, or to a destination in the account that the stack is in.

An account policy keeps CloudWatch from making metrics of the groups it selects, by name or by
the beginning of the name, those it lists or all others; without criteria all. What its document
says is not documented, and that it exists is enough:
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutAccountPolicy.html
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.delivery.aws_failures import unreachable
from neuron_emf.check.aws_client import MISSING, NOBODY, UNREACHABLE, Answer, AwsClient, not_told
from neuron_emf.checks import CheckResult, failed, not_needed, not_tried, ok, warning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STANDARD: Final = "STANDARD"
PAGE: Final = 50
ANY: Final = "*"
_ARN_PARTS: Final = 6

POLICY_TYPE: Final = "METRIC_EXTRACTION_POLICY"
MAX_CRITERIA_BYTES: Final = 25 << 10
PATTERN: Final = '"CoveredSeconds"'
"""What template.yaml lets through: a member of minute lines alone."""

_NAME: Final = "LogGroupName"
_CRITERIA: Final = re.compile(
    rf"\s*({_NAME}(?:Prefix)?)\s+(NOT\s+)?IN\s*(\[.*\])\s*", re.DOTALL | re.IGNORECASE
)
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
    aws: AwsClient, target: LogTarget, name: str, *, deploys: str
) -> tuple[CheckResult, CheckResult, str]:
    """
    Look at log group *name*: whether it is there, and its class; and why that is not known.

    The reason is `MISSING` when AWS was asked and has none of this name, empty when it has.
    *deploys* is what to do then.
    """
    answer, groups = aws.ask_all(
        "logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name, limit=PAGE
    )
    if answer.reason:
        waits = not_tried(f"{answer.action} was not answered")
        return _untold(answer, target), waits, answer.reason
    group = next(
        (found_group for found_group in groups if found_group.get("logGroupName") == name), None
    )
    if group is None:
        missing = failed(f"no log group {name} in {target.region}", deploys)
        return missing, not_tried("there is no log group"), MISSING
    days = group.get("retentionInDays")
    kept = f"kept {days} days" if days else "never expires"
    return ok(f"{name}, {kept}"), _class(group), ""


def _untold(answer: Answer, target: LogTarget) -> CheckResult:
    if answer.reason == UNREACHABLE:
        return failed(*unreachable(answer.words, target.region))
    if answer.reason in NOBODY:
        return failed(
            f"CloudWatch Logs rejects the credentials: {answer.words}",
            "give the instance a role with the stack's emitter policy, or renew the credentials",
        )
    return not_told(answer, target.arn(), "; emitters do not need it")


def _class(group: Mapping[str, object]) -> CheckResult:
    group_class = str(group.get("logGroupClass", STANDARD))  # older regions have no classes
    if group_class == STANDARD:
        return ok(f"{STANDARD}: metrics are extracted, subscriptions deliver")
    return failed(
        f"{group_class}: lines are kept, but metrics are not extracted and nothing can subscribe",
        f"create a log group of class {STANDARD} under another name: the class cannot be changed",
    )


def check_subscription(aws: AwsClient, target: LogTarget) -> CheckResult:
    """Whether minute lines of the group are delivered to the stack."""
    if not target.stack_name:
        return not_needed("there is no stack to subscribe")
    answer, filters = aws.ask_all(
        "logs", "describe_subscription_filters", "subscriptionFilters", logGroupName=target.group
    )
    if answer.reason == MISSING:
        return not_tried(f"there is no log group {target.group}")
    if answer.reason:
        return not_told(answer, target.of_group, "; emitters do without")
    name = f"{target.stack_name}-minutes"
    subscription = next(
        (candidate for candidate in filters if candidate.get("filterName") == name), None
    )
    if subscription is not None:
        return _judged(subscription, name, target)
    others = ", ".join(str(candidate.get("filterName")) for candidate in filters)
    there = f"; there is {others}" if others else ""
    return failed(
        f"the log group has no subscription filter {name}{there}: no line reaches the stack",
        f"{_DEPLOY}, or name the stack that takes the lines with --stack-name",
    )


def _judged(found: Mapping[str, object], name: str, target: LogTarget) -> CheckResult:
    pattern = str(found.get("filterPattern", ""))
    destination = str(found.get("destinationArn", ""))
    if pattern.strip() != PATTERN:
        passing = "every line" if not pattern.strip() else f"what matches {pattern}"
        return failed(f"{name} lets {passing} through instead of {PATTERN}", _DEPLOY)
    if not _is_receiver(destination, target.stack_name):
        return failed(
            f"{name} delivers to {destination or 'nothing'}, which is neither IngestFunction nor "
            f"RecordsStream of {target.stack_name}, nor a destination of another account",
            _DEPLOY,
        )
    return ok(f"{name} delivers minute lines to {destination}")


def _is_receiver(destination: str, stack_name: str) -> bool:
    """By its name: CloudFormation begins it with the stack's, cut where it would be too long."""
    parts = destination.split(":", 5)
    if len(parts) < _ARN_PARTS:
        return False
    service, resource = parts[2], parts[5]
    if service == "logs":
        return resource.startswith("destination:")
    name = resource.rpartition(":")[2].rpartition("/")[2]
    stacks = [name.partition(receiver)[0] for receiver in _RECEIVERS if receiver in name]
    return any(stack and stack_name.startswith(stack) for stack in stacks)


def selects(criteria: str | None, group: str) -> bool | None:
    """Whether a policy with *criteria* is about *group*; None for no documented form of them."""
    if criteria is None or not criteria.strip():
        return True
    found = _CRITERIA.fullmatch(criteria[:MAX_CRITERIA_BYTES])
    if found is None:
        return None
    member, negation, text = found.groups()
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not all(isinstance(value, str) for value in values):
        return None
    is_name = member.lower() == _NAME.lower()
    is_listed = group in values if is_name else group.startswith(tuple(values))
    return is_listed is (negation is None)


def check_extraction(aws: AwsClient, groups: Sequence[str]) -> CheckResult:
    """Whether metrics are made of the lines in *groups*."""
    answer, policies = aws.ask_all(
        "logs", "describe_account_policies", "accountPolicies", policyType=POLICY_TYPE
    )
    if answer.reason:
        otherwise = f", or ask who owns the account whether a {POLICY_TYPE} is there"
        return not_told(answer, "*", otherwise)
    unread: list[str] = []
    for policy in policies:
        name = str(policy.get("policyName", "without a name"))
        selected = {group: selects(policy.get("selectionCriteria"), group) for group in groups}
        stopped = [group for group in groups if selected[group]]
        if None in selected.values():
            unread.append(name)
        elif stopped:
            return failed(
                f"the account policy {name} disables EMF for {' and '.join(stopped)}: "
                "lines are kept, but metrics are not extracted",
                f"exclude {' and '.join(stopped)} in its selection criteria, or delete it",
            )
    if unread:
        return warning(
            f"the criteria of the account policy {', '.join(unread)} cannot be read",
            f"check whether it disables EMF for {' or '.join(groups)}",
        )
    return ok("no account policy disables EMF for these groups")
