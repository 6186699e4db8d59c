"""
What stands in the account, described: groups, streams, subscriptions, policies, saved queries.
"""

from __future__ import annotations

import pytest

from proof.account.account import AccountDouble
from proof.account.account_faults import policy
from proof.logs.asking import INVALID, NOT_FOUND, NOW_MS, NOW_S, error_in
from proof.logs.documentation import quotes_in, says, text_at
from proof.logs.forms import ServiceError
from proof.logs.rules import RECORDS_GROUP

ROLLUPS_GROUP = "/neuron-emf/neuron-emf/rollups"
QUOTA = "https://docs.aws.amazon.com/general/latest/gr/cwl_region.html"
GROUPS = "DescribeLogGroupsRequest"
STREAMS = "DescribeLogStreamsRequest"


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


@says(f"{GROUPS}.logGroupNamePrefix", "logGroupNamePrefix and logGroupNamePattern are mutually")
@says(
    f"{GROUPS}.logGroupNamePattern",
    "then only arn , creationTime , and logGroupName are included in the response.",
)
def test_a_log_group_is_found_by_prefix_or_by_a_part(logs):
    """A prefix may be that of a longer name; a part brings less to know."""
    by_prefix = logs.describe_log_groups(logGroupNamePrefix=RECORDS_GROUP)
    assert [RECORDS_GROUP] == names(by_prefix)
    assert "STANDARD" == by_prefix["logGroups"][0]["logGroupClass"]
    assert 0 < by_prefix["logGroups"][0]["retentionInDays"]
    by_part = logs.describe_log_groups(logGroupNamePattern="rollups")
    assert {"arn", "creationTime", "logGroupName"} == by_part["logGroups"][0].keys()
    both = {"logGroupNamePrefix": "/x", "logGroupNamePattern": "y"}
    assert INVALID == error_in(lambda: logs.describe_log_groups(**both))


@says("LogGroup.arn", "This version of the ARN includes a trailing :*")
@says("LogGroup.logGroupArn", "This version of the ARN doesn't include a trailing :*")
def test_a_log_group_has_two_arns(logs):
    """One for policies on its streams, one for itself."""
    (found,) = logs.describe_log_groups(logGroupNamePrefix=RECORDS_GROUP)["logGroups"]
    expected = f"arn:aws:logs:us-west-2:123456789012:log-group:{RECORDS_GROUP}"
    assert (f"{expected}:*", expected) == (found["arn"], found["logGroupArn"])


@says(
    f"{GROUPS}.logGroupClass",
    "If you specify either INFREQUENT_ACCESS or ESSENTIALS , the results include log groups in",
)
@says(
    f"{GROUPS}.logGroupIdentifiers",
    "If you specify this parameter, the only other filter that you can choose to specify is",
)
def test_log_groups_are_chosen_by_class_or_by_name(account, logs):
    """A class that is none is refused, and so is a second choice beside names."""
    account.groups.add("/less", "ESSENTIALS")
    for wanted in ("INFREQUENT_ACCESS", "ESSENTIALS"):
        assert ["/less"] == names(logs.describe_log_groups(logGroupClass=wanted))
    assert "/less" not in names(logs.describe_log_groups(logGroupClass="STANDARD"))
    assert INVALID == error_in(lambda: logs.describe_log_groups(logGroupClass="CHEAP"))
    named = {"logGroupIdentifiers": [RECORDS_GROUP, "/none"]}
    assert [RECORDS_GROUP] == names(logs.describe_log_groups(**named))
    assert INVALID == error_in(lambda: logs.describe_log_groups(**named, limit=5))


# --- log streams ---


@says(f"{STREAMS}.orderBy", "The default value is LogStreamName .")
@says("LogStream.lastEventTimestamp", "The time of the most recent log event in the log stream")
def test_streams_come_by_name_or_by_their_last_event(account, logs):
    """In either direction; one without events has no times."""
    for stream, at_ms in (("i-1", NOW_MS - 9), ("i-2", NOW_MS), ("i-0", NOW_MS - 5)):
        account.put(RECORDS_GROUP, stream, [(at_ms - 1, "x"), (at_ms, "y")])
    account.put(RECORDS_GROUP, "j", [])

    def streams(**asked):
        return logs.describe_log_streams(logGroupName=RECORDS_GROUP, **asked)["logStreams"]

    assert ["i-0", "i-1", "i-2", "j"] == [one["logStreamName"] for one in streams()]
    by_time = [one["logStreamName"] for one in streams(orderBy="LastEventTime", descending=True)]
    assert ["i-2", "i-0", "i-1", "j"] == by_time
    first, *_, last = streams()
    assert (NOW_MS - 6, NOW_MS - 5) == (first["firstEventTimestamp"], first["lastEventTimestamp"])
    assert "lastEventTimestamp" not in last


@says(f"{STREAMS}.logStreamNamePrefix", "If orderBy is LastEventTime , you cannot specify this")
def test_streams_by_time_have_no_prefix(account, logs):
    """By name they may; pages are of 50."""
    group = {"logGroupName": RECORDS_GROUP}
    for number in range(60):
        account.put(RECORDS_GROUP, f"i-{number:02}", [])
    assert 50 == len(logs.describe_log_streams(**group)["logStreams"])
    assert 10 == len(logs.describe_log_streams(**group, logStreamNamePrefix="i-3")["logStreams"])
    asked = {"logStreamNamePrefix": "i-3", "orderBy": "LastEventTime"}
    assert INVALID == error_in(lambda: logs.describe_log_streams(**group, **asked))
    assert INVALID == error_in(lambda: logs.describe_log_streams(**group, orderBy="Size"))
    assert NOT_FOUND == error_in(lambda: logs.describe_log_streams(logGroupName="/other"))


@says(
    "DescribeLogStreams",
    "This operation has a limit of 25 transactions per second, after which transactions are",
)
@says(QUOTA, "DescribeLogGroups: 10 a second; StartQuery: 10 a second")
@pytest.mark.parametrize(
    ("operation", "calls"),
    [("DescribeLogStreams", 25), ("DescribeLogGroups", 10), ("StartQuery", 10)],
)
def test_more_than_so_many_calls_a_second_are_throttled(operation, calls, account):
    """Once somebody wants the quotas kept; by the service's clock, which stands still here."""
    asked = {"logGroupName": RECORDS_GROUP} if operation != "DescribeLogGroups" else {}
    if operation == "StartQuery":
        asked |= {"startTime": NOW_MS // 1000, "endTime": NOW_MS // 1000, "queryString": "limit 1"}
    account.keep_quotas()
    for _ in range(calls):
        account.rules.call(operation, asked)
    with pytest.raises(ServiceError, match="Throttling"):
        account.rules.call(operation, asked)


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
    prefix = {"filterNamePrefix": "other"}
    assert [] == logs.describe_subscription_filters(**group, **prefix)["subscriptionFilters"]
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
    named = logs.describe_account_policies(**kind, policyName="b")["accountPolicies"]
    assert ["b"] == [one["policyName"] for one in named]
    other = {"policyType": "TRANSFORMER_POLICY"}
    assert [] == logs.describe_account_policies(**other)["accountPolicies"]
    assert INVALID == error_in(lambda: logs.describe_account_policies(policyType="EMF"))
    assert INVALID == error_in(logs.describe_account_policies)


@says(
    "DescribeQueryDefinitionsRequest.queryDefinitionNamePrefix",
    "the query definitions that have names that start with the prefix you specify",
)
@says("QueryListMaxResults", "min: 1 max: 1000")
def test_saved_queries_are_those_of_the_template(logs, repository):
    """Under the name of the stack, in pages if asked for."""
    template = (repository / "template.yaml").read_text(encoding="utf-8")
    expected = template.count("Type: AWS::Logs::QueryDefinition")
    found = logs.describe_query_definitions()["queryDefinitions"]
    assert expected == len(found) == len({one["queryDefinitionId"] for one in found})
    assert all(one["name"].startswith("neuron-emf/") for one in found)
    idle = logs.describe_query_definitions(queryDefinitionNamePrefix="neuron-emf/idle-")
    assert 0 < len(idle["queryDefinitions"]) < expected
    assert "Parameters" not in idle["queryDefinitions"][0]["queryString"]
    first = logs.describe_query_definitions(maxResults=expected - 1)
    rest = logs.describe_query_definitions(nextToken=first["nextToken"])
    assert found == first["queryDefinitions"] + rest["queryDefinitions"]


@pytest.mark.parametrize(
    "quote", [one for one in quotes_in(globals()) if one.is_in_the_model], ids=str
)
def test_the_model_says_what_is_quoted_of_describing(quote):
    """Word for word, in the version of the SDK that is installed."""
    assert quote.words in text_at(quote.place)
