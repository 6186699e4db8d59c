"""docs/how-to/deploying.md says what the template does."""

from __future__ import annotations

import json
import re

import pytest

from tests.stack.template_resources import of_type

KEY = "arn:aws:kms:us-east-1:111122223333:key/0"
EXAMPLE = {"AWS::AccountId": "111122223333", "AWS::Region": "us-east-1"}
RESOURCE_POLICIES = {"AWS::SNS::TopicPolicy": "Topics", "AWS::SQS::QueuePolicy": "Queues"}


@pytest.fixture(scope="module")
def page(repository):
    """The page as it is written."""
    return (repository / "docs" / "how-to" / "deploying.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def documents(page):
    """The JSON documents of the page: the key policy."""
    return [json.loads(text) for text in re.findall(r"```json\n(.+?)```", page, re.DOTALL)]


@pytest.fixture(scope="module")
def key_policy(documents):
    """The statements of the key's policy."""
    return documents[0]["Statement"]


def principals(statements):
    """The services that statements admit."""
    return {one["Principal"]["Service"] for one in statements if "Service" in one["Principal"]}


# --- parameters ---


def test_the_table_has_parameters_and_their_defaults(page, template):
    """As they are in the template."""
    rows = dict(re.findall(r"^\| `(\w+)` \| (?:`([^`]+)`|empty) \| ", page, re.MULTILINE))
    assert len(rows) > 10
    defaults = {name: str(template["Parameters"][name]["Default"]) for name in rows}
    assert defaults == rows


# --- the key ---


def test_the_key_admits_every_service_that_acts_on_its_own(key_policy, deployed):
    """CloudWatch Logs, which encrypts, and whoever may send to an encrypted topic or queue."""
    resources = deployed(KmsKeyArn=KEY, Mode="drain", **EXAMPLE)
    needed = set()
    for properties in of_type(resources, "AWS::Logs::LogGroup").values():
        needed |= (
            {f"logs.{EXAMPLE['AWS::Region']}.amazonaws.com"} if properties["KmsKeyId"] else set()
        )
    for resource_type, member in RESOURCE_POLICIES.items():
        for properties in of_type(resources, resource_type).values():
            for target in properties[member]:
                assert resources[target.strip("<>")]["Properties"]["KmsMasterKeyId"] == KEY
            needed |= principals(properties["PolicyDocument"]["Statement"])
    assert needed == principals(key_policy)


def test_the_key_admits_cloudwatch_logs_for_every_log_group_and_no_other(key_policy, deployed):
    """The two patterns match each group of the stack."""
    (statement,) = [one for one in key_policy if one["Sid"] == "CloudWatchLogsKeepsLines"]
    (patterns,) = statement["Condition"]["ArnLike"].values()
    groups = of_type(deployed(KmsKeyArn=KEY, **EXAMPLE), "AWS::Logs::LogGroup").values()
    for properties in groups:
        arn = f"arn:aws:logs:us-east-1:111122223333:log-group:{properties['LogGroupName']}"
        assert any(re.fullmatch(re.escape(one).replace(r"\*", ".*"), arn) for one in patterns), arn
    stranger = "arn:aws:logs:us-east-1:111122223333:log-group:/aws/lambda/other"
    assert not any(re.fullmatch(re.escape(one).replace(r"\*", ".*"), stranger) for one in patterns)


def test_the_key_admits_services_for_this_account_only(key_policy):
    """By the account, or by the log groups, whose names hold it."""
    for statement in key_policy:
        if "Service" in statement["Principal"]:
            assert "111122223333" in json.dumps(statement["Condition"]), statement["Sid"]


def test_what_the_key_admits_a_sender_for_is_what_sending_needs(key_policy):
    """A sender to an encrypted topic or queue gets a data key and checks it."""
    for name in ("AlarmsReachTheTopic", "RulesReachTheQueue"):
        (statement,) = [one for one in key_policy if one["Sid"] == name]
        assert statement["Action"] == ["kms:Decrypt", "kms:GenerateDataKey*"]
