"""
Named faults of an account, one by one, for whoever must find exactly the right one.

Each is done to a right account: `break_account(account, "records group missing")`. A
name that ends with an action's stands for one fault of each action.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from proof.account.account import ACCOUNT_ID, REGION
from proof.logs import faults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proof.account.account import AccountDouble

# What the stack's policy for instances grants; an operator has more.
EMITTER_ACTIONS = frozenset({"logs:CreateLogStream", "logs:PutLogEvents"})
SKEW_S = 120.0
FOREVER_MS = 1e15


Fault = Callable[["AccountDouble"], None]


def _group(change: Callable[[AccountDouble, str], None], which: str) -> Fault:
    return lambda account: change(
        account, account.records_group if which == "records" else account.rollups_group
    )


def _missing(account: AccountDouble, name: str) -> None:
    account.remove_group(name)
    account.subscriptions[:] = [one for one in account.subscriptions if one["logGroupName"] != name]


def _of_class(log_group_class: str) -> Callable[[AccountDouble, str], None]:
    def changed(account: AccountDouble, name: str) -> None:
        account.classes[name] = log_group_class
        # Only the Standard class has subscription filters.
        account.subscriptions[:] = [
            one for one in account.subscriptions if one["logGroupName"] != name
        ]

    return changed


def _filter(**changes: str) -> Fault:
    return lambda account: account.subscriptions[0].update(changes)


def policy(name: str, criteria: str | None) -> dict[str, Any]:
    """
    A metric extraction policy as AWS describes it; *criteria* None is for all log groups.

    No page says what its document looks like, so a reader must not depend on it.
    """
    found = {
        "policyName": name,
        "policyDocument": json.dumps({"not": "documented"}),
        "lastUpdatedTime": 1_700_000_000_000,
        "policyType": "METRIC_EXTRACTION_POLICY",
        "scope": "ALL",
        "accountId": ACCOUNT_ID,
    }
    return found if criteria is None else {**found, "selectionCriteria": criteria}


def _policy(criteria: str | None) -> Fault:
    def broken(account: AccountDouble) -> None:
        names = {"records": account.records_group, "rollups": account.rollups_group}
        given = None if criteria is None else criteria.format(**names)
        account.policies.append(policy("no-metrics", given))

    return broken


def _clock(skew_s: float) -> Fault:
    """The service's time as its answers tell it; it refuses nothing for it."""

    def broken(account: AccountDouble) -> None:
        clock = account.service.clock
        account.service.clock = lambda: clock() + skew_s

    return broken


def _lagging(account: AccountDouble) -> None:
    account.lag_ms = FOREVER_MS


def _only_the_emitters(account: AccountDouble) -> None:
    account.denied |= {f"logs:{name}" for name in account.rules.operations} - EMITTER_ACTIONS


def _denied(operation: str) -> Fault:
    return lambda account: account.denied.add(f"logs:{operation}")


def _always(operation: str, fault: str) -> Fault:
    return lambda account: account.service.always.update({operation: fault})


ACTIONS = (
    "CreateLogStream",
    "DescribeAccountPolicies",
    "DescribeLogGroups",
    "DescribeSubscriptionFilters",
    "GetLogEvents",
    "PutLogEvents",
)
_OTHER_FUNCTION = f"arn:aws:lambda:{REGION}:{ACCOUNT_ID}:function:somebody-elses"

FAULTS: Mapping[str, Fault] = {
    "credentials expired": lambda account: account.service.keys.update(testing=None),
    "credentials of another secret": lambda account: account.service.keys.update(testing="another"),
    "credentials unknown": lambda account: account.service.keys.clear(),
    "service gone": lambda account: account.service.vanish(),
    "records group missing": _group(_missing, "records"),
    "rollups group missing": _group(_missing, "rollups"),
    "records group INFREQUENT_ACCESS": _group(_of_class("INFREQUENT_ACCESS"), "records"),
    "records group ESSENTIALS": _group(_of_class("ESSENTIALS"), "records"),
    "rollups group INFREQUENT_ACCESS": _group(_of_class("INFREQUENT_ACCESS"), "rollups"),
    "subscription missing": lambda account: account.subscriptions.clear(),
    "subscription of another name": _filter(filterName="somebody-elses"),
    "subscription of another pattern": _filter(filterPattern='"Kind"'),
    "subscription to another function": _filter(destinationArn=_OTHER_FUNCTION),
    "extraction off everywhere": _policy(None),
    "extraction off for the records group": _policy('LogGroupName IN ["{records}"]'),
    "extraction off for the rollups group": _policy('LogGroupName IN ["{rollups}"]'),
    "extraction off for a prefix": _policy('LogGroupNamePrefix IN ["/neuron-emf/"]'),
    "extraction off but for others": _policy('LogGroupName NOT IN ["/somebody/elses"]'),
    "clock behind": _clock(SKEW_S),
    "clock ahead": _clock(-SKEW_S),
    "nothing read back": _lagging,
    "emitter's permissions only": _only_the_emitters,
    **{f"denied {name}": _denied(name) for name in ACTIONS},
    **{f"throttled {name}": _always(name, faults.THROTTLED) for name in ACTIONS},
}
"""What can be wrong; `clock` is that of the machine that asks."""

HARMLESS: Mapping[str, Fault] = {
    "extraction off elsewhere": _policy('LogGroupName IN ["/somebody/elses"]'),
    "extraction off but for both groups": _policy('LogGroupName NOT IN ["{records}", "{rollups}"]'),
    "extraction off for another prefix": _policy('LogGroupNamePrefix IN ["/aws/"]'),
    "a clock within a minute": _clock(30.0),
}
"""What looks like a fault and is none: nothing may be found."""


def break_account(account: AccountDouble, fault: str) -> None:
    """Do one of `FAULTS`, or of `HARMLESS`, to it."""
    {**FAULTS, **HARMLESS}[fault](account)
