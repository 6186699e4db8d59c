"""
The two log groups: the emitters' and the rollups', and what a policy calls them.

Only class STANDARD has both metric extraction and subscriptions, and the class
of a group cannot be changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.delivery.aws_failures import unreachable
from neuron_emf.check.aws_client import NOBODY, UNREACHABLE, Answer, AwsClient, unknown
from neuron_emf.check.result import CheckResult, failed, not_tried, ok

if TYPE_CHECKING:
    from collections.abc import Mapping


CLASS: Final = "class"
STANDARD: Final = "STANDARD"
PAGE: Final = 50
ANY: Final = "*"
_ARN_PARTS: Final = 6


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

    @property
    def every_group(self) -> str:
        """What a policy must name for actions that look at groups by prefix."""
        return self._arn(ANY)

    @property
    def of_group(self) -> str:
        """The group, as a policy names it."""
        return self._arn(f"{self.group}:{ANY}")

    def of_stream(self, stream: str) -> str:
        """One stream of it, as a policy names it."""
        return self._arn(f"{self.group}:log-stream:{stream}")

    def _arn(self, rest: str) -> str:
        return f"arn:{self.partition}:logs:{self.region}:{self.account_id}:log-group:{rest}"


def account_of(caller: Answer) -> tuple[str, str]:
    """Partition and account number by the answer of STS, `*` for what it does not say."""
    parts = str(caller.response.get("Arn", "")).split(":")
    partition = parts[1] if len(parts) >= _ARN_PARTS else "aws"
    return partition, str(caller.response.get("Account", "")) or ANY


@dataclass(frozen=True, slots=True)
class GroupCheck:
    """
    What was seen of one log group.

    Attributes:
        results: That it is there, and its class.

        reason: Why AWS did not say; empty when it did.

        is_missing: AWS was asked and has none of this name.
    """

    results: tuple[CheckResult, CheckResult]
    reason: str = ""
    is_missing: bool = False


def check_group(
    aws: AwsClient, target: LogTarget, name: str, check: str, *, deploys: str
) -> GroupCheck:
    """
    Look at log group *name*.

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
        return GroupCheck((_untold(check, answer, target), untold), reason=answer.reason)
    group = next((one for one in groups if one.get("logGroupName") == name), None)
    if group is None:
        missing = failed(check, f"no log group {name} in {target.region}", deploys)
        return GroupCheck((missing, not_tried(klass, "there is no log group")), is_missing=True)
    return GroupCheck((ok(check, f"{name}, {_kept(group)}"), _class(klass, group)))


def _untold(check: str, answer: Answer, target: LogTarget) -> CheckResult:
    if answer.reason == UNREACHABLE:
        return failed(check, *unreachable(answer.words, target.region))
    if answer.reason in NOBODY:
        return failed(
            check,
            f"CloudWatch Logs rejects the credentials: {answer.words}",
            "give the instance a role with the stack's emitter policy, or renew the credentials",
        )
    return unknown(check, answer, target.every_group, "; emitters do not need it")


def _class(check: str, group: Mapping[str, object]) -> CheckResult:
    group_class = str(group.get("logGroupClass", STANDARD))  # older regions have no classes
    if group_class == STANDARD:
        return ok(check, f"{STANDARD}: metrics are extracted, subscriptions deliver")
    return failed(
        check,
        f"{group_class}: lines are kept, but metrics are not extracted and nothing can subscribe",
        f"create a log group of class {STANDARD} under another name: the class cannot be changed",
    )


def _kept(group: Mapping[str, object]) -> str:
    days = group.get("retentionInDays")
    return f"kept {days} days" if days else "never expires"
