"""DescribeSubscriptionFilters, DescribeAccountPolicies and DescribeQueryDefinitions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proof.account.log_groups import MAX_DESCRIBED
from proof.account.model import check

if TYPE_CHECKING:
    from proof.account.log_groups import StoredGroups
    from proof.account.pages import Tokens

MAX_LISTED = 1_000


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
        check(operation, document)
        group = self.groups.named_in(document)
        prefix = document.get("filterNamePrefix", "")
        found = sorted(
            (
                one
                for one in self.subscriptions
                if one["logGroupName"] == group and one["filterName"].startswith(prefix)
            ),
            key=lambda one: str(one["filterName"]),
        )
        size = document.get("limit", MAX_DESCRIBED)
        page, more = self.tokens.page(operation, document, found, size)
        return {"subscriptionFilters": page, **more}

    def describe_account_policies(self, document: dict[str, Any]) -> dict[str, Any]:
        """The policies of one type."""
        operation = "DescribeAccountPolicies"
        check(operation, document)
        found = [
            one
            for one in self.policies
            if one["policyType"] == document["policyType"]
            and document.get("policyName", one["policyName"]) == one["policyName"]
        ]
        page, more = self.tokens.page(operation, document, found, MAX_DESCRIBED)
        return {"accountPolicies": page, **more}

    def describe_query_definitions(self, document: dict[str, Any]) -> dict[str, Any]:
        """A page of the saved queries whose name begins so."""
        operation = "DescribeQueryDefinitions"
        check(operation, document)
        prefix = document.get("queryDefinitionNamePrefix", "")
        language = document.get("queryLanguage")
        found = [
            one
            for one in self.saved
            if one["name"].startswith(prefix) and language in {None, one["queryLanguage"]}
        ]
        size = document.get("maxResults", MAX_LISTED)
        page, more = self.tokens.page(operation, document, found, size)
        return {"queryDefinitions": page, **more}
