"""docs/how-to/cross-account.md makes by hand what the template would make."""

from __future__ import annotations

import json

import pytest

from tests.docs.aws_calls import ANSWER, calls_of
from tests.docs.shown_blocks import DOCS, files_of
from tests.stack.template_resources import of_type

PAGE = DOCS / "how-to" / "cross-account.md"
STACK, OTHER = "111122223333", "444455556666"


@pytest.fixture(scope="module")
def text():
    """The page as it is written."""
    return PAGE.read_text("utf-8")


@pytest.fixture(scope="module")
def statements():
    """The one statement of each document that the reader saves, by its name."""
    found = {}
    for name, document in files_of(PAGE).items():
        (found[name],) = json.loads(document)["Statement"]
    return found


def option(operation, name):
    """The value of an option in the one call of an operation."""
    (call,) = [call for call in calls_of(PAGE) if call[1] == operation]
    return call[call.index(name) + 1]


def test_the_destination_has_the_output_of_the_template(text, template):
    """The stream that a deployment in Mode kinesis has."""
    assert "OutputKey=='RecordsStreamArn'" in text
    assert "HasStream" == template["Outputs"]["RecordsStreamArn"]["Condition"]


def test_the_filter_lets_through_what_the_templates_own_does(deployed):
    """Minute lines and nothing else."""
    expected = deployed()["RecordsSubscription"]["Properties"]["FilterPattern"]
    assert expected == option("put-subscription-filter", "--filter-pattern")


def test_the_filter_is_made_and_deleted_under_one_name():
    """So is the destination."""
    for made, deleted, name in (
        ("put-subscription-filter", "delete-subscription-filter", "--filter-name"),
        ("put-destination", "delete-destination", "--destination-name"),
        ("create-role", "delete-role", "--role-name"),
    ):
        assert option(made, name) == option(deleted, name)


def test_the_trust_names_both_accounts(statements):
    """The sender's and the stack's own, and nobody but CloudWatch Logs."""
    trust = statements["trust.json"]
    assert {"Service": "logs.amazonaws.com"} == trust["Principal"]
    (arns,) = trust["Condition"]["StringLike"].values()
    assert {OTHER, STACK} == {arn.split(":")[4] for arn in arns}


def test_the_hand_made_role_may_do_what_the_stacks_own_may(deployed):
    """The same actions on the one stream."""
    (policy,) = deployed(Mode="kinesis")["SubscriptionRole"]["Properties"]["Policies"]
    expected = policy["PolicyDocument"]["Statement"][0]["Action"]
    (by_hand,) = json.loads(option("put-role-policy", "--policy-document"))["Statement"]
    assert sorted(expected) == sorted(by_hand["Action"])
    assert ANSWER == by_hand["Resource"]  # what $STREAM holds


def test_whoever_subscribes_is_the_other_account_on_this_destination(statements):
    """And on no other."""
    access = statements["access.json"]
    assert {"AWS": [OTHER]} == access["Principal"]
    assert "logs:PutSubscriptionFilter" == access["Action"]
    assert access["Resource"] == option("put-subscription-filter", "--destination-arn")


def test_the_instances_there_get_what_the_stacks_policy_gives(statements, deployed):
    """The same actions, on the log group that the steps make."""
    (policy,) = of_type(deployed(), "AWS::IAM::ManagedPolicy").values()
    (expected,) = policy["PolicyDocument"]["Statement"]
    by_hand = statements["emitter.json"]
    assert sorted(expected["Action"]) == sorted(by_hand["Action"])
    group = option("create-log-group", "--log-group-name")
    assert f"arn:aws:logs:us-east-1:{OTHER}:log-group:{group}:*" == by_hand["Resource"]


def test_the_group_keeps_lines_as_long_as_the_template_insists(template):
    """An emitter may hold a line for 13 days."""
    assert template["Parameters"]["RetentionDays"]["Default"] == int(
        option("put-retention-policy", "--retention-in-days")
    )
