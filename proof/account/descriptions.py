"""DescribeSubscriptionFilters, DescribeAccountPolicies and DescribeQueryDefinitions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proof.account.log_groups import MAX_DESCRIBED
from proof.account.model import check

if TYPE_CHECKING:
    from proof.account.log_groups import StoredGroups
    from proof.account.pages import Tokens


@dataclass
class Descriptions:
    """
    What stands around the log groups.

    Attributes:
        subscriptions: Subscription filters of all groups.

        policies: Of the account.

        saved: Queries.
    """

    groups: StoredGroups
    tokens: Tokens
    subscriptions: list[dict[str, Any]]
    saved: list[dict[str, Any]]
    policies: list[dict[str, Any]] = field(default_factory=list)
    answers: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.answers = {
            "DescribeAccountPolicies": self.describe_account_policies,
            "DescribeQueryDefinitions": self.describe_query_definitions,
            "DescribeSubscriptionFilters": self.describe_subscription_filters,
        }

    def describe_subscription_filters(self, document: dict[str, Any]) -> dict[str, Any]:
        """A page of the filters of one log group, by name."""
        operation = "DescribeSubscriptionFilters"
        check(operation, document, "logGroupName")
        group = self.groups.named_in(document)
        found = [one for one in self.subscriptions if one["logGroupName"] == group]
        found.sort(key=lambda one: str(one["filterName"]))
        page, more = self.tokens.page(operation, document, found, MAX_DESCRIBED)
        return {"subscriptionFilters": page, **more}

    def describe_account_policies(self, document: dict[str, Any]) -> dict[str, Any]:
        """The policies of one type."""
        operation = "DescribeAccountPolicies"
        check(operation, document, "policyType")
        found = [one for one in self.policies if one["policyType"] == document["policyType"]]
        page, more = self.tokens.page(operation, document, found, MAX_DESCRIBED)
        return {"accountPolicies": page, **more}

    def describe_query_definitions(self, document: dict[str, Any]) -> dict[str, Any]:
        """The saved queries whose name begins so; a stack has far fewer than a page of 1,000."""
        check("DescribeQueryDefinitions", document, "queryDefinitionNamePrefix")
        prefix = document.get("queryDefinitionNamePrefix", "")
        return {"queryDefinitions": [one for one in self.saved if one["name"].startswith(prefix)]}
