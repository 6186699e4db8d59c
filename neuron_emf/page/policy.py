"""
What the page may do, as an IAM policy: reading, and of queries only those that somebody starts.

https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatchlogs.html
https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatch.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neuron_emf.page.alarms import ACTIONS as ALARM_ACTIONS
from neuron_emf.page.messages import messages_group
from neuron_emf.page.paid_queries import ACTIONS_ON_GROUPS, OTHER_ACTIONS
from neuron_emf.reading.log_group import ACTION as READ_LINES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_emf.account import Account


def policy(account: Account, region: str | None) -> dict[str, Any]:
    """The policy of whoever looks at *account*; without a *region*, of every region."""
    groups = [account.log_group, account.rollups_log_group, messages_group(account)]
    arn = f"arn:{account.partition}:logs:{region or '*'}:*:log-group:"
    lines = [f"{arn}{group}:*" for group in groups]
    return {
        "Version": "2012-10-17",
        "Statement": [
            _statement("Lines", [READ_LINES], lines),
            _statement("Alarms", ALARM_ACTIONS, ["*"]),
            _statement("QueriesOnLines", ACTIONS_ON_GROUPS, lines),
            _statement("Queries", OTHER_ACTIONS, ["*"]),
        ],
    }


def _statement(name: str, actions: Sequence[str], resources: Sequence[str]) -> dict[str, Any]:
    return {
        "Sid": name,
        "Effect": "Allow",
        "Action": sorted(actions),
        "Resource": resources[0] if len(resources) == 1 else list(resources),
    }
