"""
Account policies that keep CloudWatch from making metrics of EMF lines.

Such a policy selects groups by name or by the beginning of the name, those it
lists or all others; without criteria it selects all. What its document says is
not documented, and that it exists is enough. From
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutAccountPolicy.html
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from neuron_emf.check.aws_client import AwsClient, unknown
from neuron_emf.check.result import CheckResult, failed, ok, warning

if TYPE_CHECKING:
    from collections.abc import Sequence

CHECK: Final = "metric extraction"
POLICY_TYPE: Final = "METRIC_EXTRACTION_POLICY"
MAX_CRITERIA_BYTES: Final = 25 << 10

_NAME: Final = "LogGroupName"
_CRITERIA: Final = re.compile(
    rf"\s*({_NAME}(?:Prefix)?)\s+(NOT\s+)?IN\s*(\[.*\])\s*", re.DOTALL | re.IGNORECASE
)


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
    if member.lower() == _NAME.lower():
        is_listed = group in values
    else:
        is_listed = group.startswith(tuple(values))
    return is_listed is (negation is None)


def check_extraction(aws: AwsClient, groups: Sequence[str]) -> CheckResult:
    """Whether metrics are made of the lines in *groups*."""
    answer, policies = aws.ask_all(
        "logs", "describe_account_policies", "accountPolicies", policyType=POLICY_TYPE
    )
    if answer.reason:
        otherwise = f", or ask who owns the account whether a {POLICY_TYPE} is there"
        return unknown(CHECK, answer, "*", otherwise)
    unread: list[str] = []
    for policy in policies:
        name = str(policy.get("policyName", "without a name"))
        selected = {group: selects(policy.get("selectionCriteria"), group) for group in groups}
        stopped = [group for group in groups if selected[group]]
        if None in selected.values():
            unread.append(name)
        elif stopped:
            return failed(
                CHECK,
                f"the account policy {name} disables EMF for {' and '.join(stopped)}: "
                "lines are kept, but metrics are not extracted",
                f"exclude {' and '.join(stopped)} in its selection criteria, or delete it",
            )
    if unread:
        return warning(
            CHECK,
            f"the criteria of the account policy {', '.join(unread)} cannot be read",
            f"check whether it disables EMF for {' or '.join(groups)}",
        )
    return ok(CHECK, "no account policy disables EMF for these groups")
