"""
Named faults of an account. A check must find each fault exactly.

Each fault changes an account without faults: `break_account(account, "records group missing")`. A
name that ends with an action stands for one fault of each action.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from proof.account.account_double import ACCOUNT_ID, ACCOUNT_REGION
from proof.logs.service_faults import THROTTLED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proof.account.account_double import AccountDouble

# The permissions of the stack's policy for instances; an operator has more.
EMITTER_ACTIONS = frozenset({"logs:CreateLogStream", "logs:PutLogEvents"})
SKEW_S = 120.0
FOREVER_MS = 1e15
ACTIONS = (
    "CreateLogStream",
    "DescribeAccountPolicies",
    "DescribeLogGroups",
    "DescribeSubscriptionFilters",
    "GetLogEvents",
    "PutLogEvents",
)
_CLASS = "INFREQUENT_ACCESS"
_OTHER_FUNCTION = f"arn:aws:lambda:{ACCOUNT_REGION}:{ACCOUNT_ID}:function:another"

Fault = Callable[["AccountDouble"], object]


def add_policy(account: AccountDouble, criteria: str = "") -> None:
    """
    Add a metric extraction policy as AWS describes it; without *criteria* it is for all log groups.

    AWS does not document the policy document, so a reader must not depend on its form.
    """
    policy = {
        "policyName": "no-metrics",
        "policyDocument": json.dumps({"not": "documented"}),
        "lastUpdatedTime": 1_700_000_000_000,
        "policyType": "METRIC_EXTRACTION_POLICY",
        "scope": "ALL",
        "accountId": ACCOUNT_ID,
    }
    account.policies.append({**policy, "selectionCriteria": criteria} if criteria else policy)


def _extraction_off(group: str) -> Fault:
    criteria = f'LogGroupName IN ["{group}"]'
    return lambda account: add_policy(account, criteria.format(account))


def _filter(**changes: str) -> Fault:
    return lambda account: account.subscriptions[0].update(changes)


def _clock(skew_s: float) -> Fault:
    """Change the service's clock in its answers; the service accepts every request."""
    return lambda account: setattr(account, "clock", lambda clock=account.clock: clock() + skew_s)


def _only_the_emitters(account: AccountDouble) -> None:
    account.denied |= {f"logs:{name}" for name in account.rules.operations} - EMITTER_ACTIONS


def _denied(action: str) -> Fault:
    return lambda account: account.denied.add(f"logs:{action}")


def _throttled(action: str) -> Fault:
    return lambda account: account.always.update({action: THROTTLED})


ACCOUNT_FAULTS: Mapping[str, Fault] = {
    "credentials expired": lambda account: account.keys.update(testing=None),
    "credentials of another secret": lambda account: account.keys.update(testing="another"),
    "credentials unknown": lambda account: account.keys.clear(),
    "service gone": lambda account: account.vanish(),
    "records group missing": lambda account: account.remove_group(account.records_group),
    "rollups group missing": lambda account: account.remove_group(account.rollups_group),
    "records group INFREQUENT_ACCESS": lambda account: account.add_group(
        account.records_group, _CLASS
    ),
    "rollups group INFREQUENT_ACCESS": lambda account: account.add_group(
        account.rollups_group, _CLASS
    ),
    "subscription missing": lambda account: account.subscriptions.clear(),
    "subscription of another name": _filter(filterName="another"),
    "subscription of another pattern": _filter(filterPattern='"Kind"'),
    "subscription to another function": _filter(destinationArn=_OTHER_FUNCTION),
    "extraction off everywhere": add_policy,
    "extraction off for the records group": _extraction_off("{0.records_group}"),
    "extraction off for the rollups group": _extraction_off("{0.rollups_group}"),
    "clock behind": _clock(SKEW_S),
    "clock ahead": _clock(-SKEW_S),
    "nothing read back": lambda account: setattr(account, "lag_ms", FOREVER_MS),
    "emitter's permissions only": _only_the_emitters,
    **{f"denied {name}": _denied(name) for name in ACTIONS},
    **{f"throttled {name}": _throttled(name) for name in ACTIONS},
}
"""The faults; `clock` is the clock of the machine that runs the check."""

HARMLESS_ACCOUNT_CHANGES: Mapping[str, Fault] = {
    "extraction off elsewhere": _extraction_off("/another/group"),
    "a clock within a minute": _clock(30.0),
}
"""Changes that look like faults and are not: the check must report nothing."""


def break_account(account: AccountDouble, fault: str) -> None:
    """Change *account* by one of `FAULTS` or of `HARMLESS`."""
    {**ACCOUNT_FAULTS, **HARMLESS_ACCOUNT_CHANGES}[fault](account)
