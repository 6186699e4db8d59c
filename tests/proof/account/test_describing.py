"""
What stands in the account, described: groups, subscriptions, policies, saved queries.
"""

from __future__ import annotations

from proof.account.account import AccountDouble
from proof.account.account_faults import policy
from proof.logs.asking import INVALID, NOT_FOUND, NOW_S, error_in
from proof.logs.documentation import says
from proof.logs.rules import RECORDS_GROUP

ROLLUPS_GROUP = "/neuron-emf/neuron-emf/rollups"
GROUPS = "DescribeLogGroupsRequest"


def names(answer, member="logGroups", name="logGroupName"):
    """What was described, by name."""
    return [one[name] for one in answer[member]]


# --- log groups ---


@says("DescribeLogGroups", "The results are ASCII-sorted by log group name.")
@says(f"{GROUPS}.limit", "If you don't specify a value, the default is up to 50 items.")
@says("DescribeLimit", "min: 1 max: 50")
def test_log_groups_come_sorted_and_in_pages_of_50(account, logs):
    """The stack's own among them, each once; a page that has all of them is the last."""
    few = logs.describe_log_groups(limit=len(account.rules.groups))
    assert (5, False) == (len(names(few)), "nextToken" in few)
    for number in range(70):
        account.groups.add(f"/x/{number:02}")
    first = logs.describe_log_groups()
    second = logs.describe_log_groups(nextToken=first["nextToken"])
    assert "nextToken" not in second
    found = names(first) + names(second)
    assert (50, 75) == (len(names(first)), len(found))
    assert sorted(found) == found
    assert {RECORDS_GROUP, ROLLUPS_GROUP} < set(found)
    assert INVALID == error_in(lambda: logs.describe_log_groups(limit=51))


@says("LogGroup.arn", "This version of the ARN includes a trailing :*")
@says("LogGroup.logGroupArn", "This version of the ARN doesn't include a trailing :*")
def test_a_log_group_has_two_arns(logs):
    """One for policies on its streams, one for itself; a prefix may be that of a longer name."""
    (found,) = logs.describe_log_groups(logGroupNamePrefix=RECORDS_GROUP[:-1])["logGroups"]
    expected = f"arn:aws:logs:us-west-2:123456789012:log-group:{RECORDS_GROUP}"
    assert (f"{expected}:*", expected) == (found["arn"], found["logGroupArn"])
    assert "STANDARD" == found["logGroupClass"]
    assert 0 < found["retentionInDays"]


# --- around them ---


@says("DescribeSubscriptionFilters", "The results are ASCII-sorted by filter name.")
def test_the_subscription_is_the_stacks(logs):
    """With the pattern of the template, to the function that ingests."""
    group = {"logGroupName": RECORDS_GROUP}
    (found,) = logs.describe_subscription_filters(**group)["subscriptionFilters"]
    assert ("neuron-emf-minutes", '"CoveredSeconds"') == (
        found["filterName"],
        found["filterPattern"],
    )
    assert ":function:neuron-emf-IngestFunction-" in found["destinationArn"]
    other = {"logGroupName": ROLLUPS_GROUP}
    assert [] == logs.describe_subscription_filters(**other)["subscriptionFilters"]
    assert NOT_FOUND == error_in(lambda: logs.describe_subscription_filters(logGroupName="/other"))
    assert INVALID == error_in(logs.describe_subscription_filters)


def test_a_stream_may_stand_between_subscription_and_function():
    """In the mode that delivers to Kinesis, with a role and by log stream."""
    with AccountDouble(lambda: NOW_S, Mode="kinesis") as account:
        (found,) = account.subscriptions
    assert ":stream/neuron-emf-RecordsStream-" in found["destinationArn"]
    assert {"roleArn", "distribution"} < found.keys()


@says(
    "DescribeAccountPoliciesRequest.policyType",
    "limit the returned policies to only the policies that match the policy type",
)
def test_policies_are_those_of_a_type(account, logs):
    """None in a right account; the type is required, and one of those that there are."""
    kind = {"policyType": "METRIC_EXTRACTION_POLICY"}
    assert [] == logs.describe_account_policies(**kind)["accountPolicies"]
    account.policies += [policy("a", None), policy("b", 'LogGroupName IN ["/x"]')]
    found = logs.describe_account_policies(**kind)["accountPolicies"]
    assert [None, 'LogGroupName IN ["/x"]'] == [one.get("selectionCriteria") for one in found]
    other = {"policyType": "TRANSFORMER_POLICY"}
    assert [] == logs.describe_account_policies(**other)["accountPolicies"]
    assert INVALID == error_in(lambda: logs.describe_account_policies(policyType="EMF"))
    assert INVALID == error_in(logs.describe_account_policies)


@says(
    "DescribeQueryDefinitionsRequest.queryDefinitionNamePrefix",
    "the query definitions that have names that start with the prefix you specify",
)
def test_saved_queries_are_those_of_the_template(logs, repository):
    """Under the name of the stack."""
    template = (repository / "template.yaml").read_text(encoding="utf-8")
    expected = template.count("Type: AWS::Logs::QueryDefinition")
    found = logs.describe_query_definitions()["queryDefinitions"]
    assert expected == len(found) == len({one["queryDefinitionId"] for one in found})
    assert all(one["name"].startswith("neuron-emf/") for one in found)
    idle = logs.describe_query_definitions(queryDefinitionNamePrefix="neuron-emf/idle-")
    assert 0 < len(idle["queryDefinitions"]) < expected
    assert "Parameters" not in idle["queryDefinitions"][0]["queryString"]
