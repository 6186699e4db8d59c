"""The stack in an account with others: adopted groups and buckets, a key, limits, topics."""

from __future__ import annotations

import json
import re

import pytest

from local.alarms.template import Template
from tests.stack.stack_template import of_type

KMS_KEY = "arn:aws:kms:eu-west-1:111122223333:key/0"
IN_VPC = {"SubnetIds": "subnet-1,subnet-2", "SecurityGroupIds": "sg-1"}
FUNCTION_STEMS = ["Ingest", "Close", "Departure", "Explain", "Settle", "Digest"]

# --- the log group of an earlier stack ---


def test_an_adopted_group_is_used_like_a_made_one(deployed):
    """A stack that adopts a log group differs only in the log group."""
    own = deployed()
    adopted = deployed(AdoptLogGroup="true")
    group = own.pop("RecordsLogGroup")["Properties"]["LogGroupName"]
    for name in ("RecordsSubscription", "LinesCounter"):
        assert own[name]["Properties"].pop("LogGroupName") == "<RecordsLogGroup>"
        assert adopted[name]["Properties"].pop("LogGroupName") == group
    assert own == adopted
    # An adopted group has no logical ID for a reference.
    assert "RecordsLogGroup" not in json.dumps(deployed(AdoptLogGroup="true", Mode="drain"))


# --- the ledger's bucket and its catalog ---


def test_an_adopted_bucket_is_used_like_a_made_one(deployed):
    """
    An adopted bucket changes only the bucket and its policy, so a new stack continues the ledger.
    """
    own = deployed(Athena="true")
    adopted = deployed(Athena="true", LedgerBucketName="history")
    assert {"LedgerBucket", "LedgerBucketPolicy"} == own.keys() - adopted.keys()
    del own["LedgerBucket"], own["LedgerBucketPolicy"]
    assert adopted == json.loads(json.dumps(own).replace("<LedgerBucket>", "history"))
    assert "history" not in json.dumps(deployed(Ledger="false", LedgerBucketName="history"))


# --- a key of one's own ---


def test_roles_use_the_key_only_through_the_services_that_hold_the_data(deployed):
    """A role can use the key only through a service that it may call."""
    resources = deployed(KmsKeyArn=KMS_KEY, Mode="kinesis")
    properties = resources["KeyPolicy"]["Properties"]
    roles = {f"<{name}Role>" for name in [*FUNCTION_STEMS, "Schedule"]}
    assert roles == set(properties["Roles"])
    through, variables = properties["PolicyDocument"]["Statement"]
    services = {
        service.partition(".")[0]
        for service in through["Condition"]["StringEquals"]["kms:ViaService"]
    }
    assert {"dynamodb", "kinesis", "s3", "sns", "sqs"} == services
    assert {"kms:Decrypt", "kms:GenerateDataKey"} == set(through["Action"])
    assert "kms:Decrypt" == variables["Action"]
    (functions,) = variables["Condition"]["ArnLike"].values()
    assert [f"<{name}Function.Arn>" for name in FUNCTION_STEMS] == functions
    assert KMS_KEY == through["Resource"] == variables["Resource"]
    (policy,) = resources["SubscriptionRole"]["Properties"]["Policies"]
    writing = policy["PolicyDocument"]["Statement"][1]
    assert "kms:GenerateDataKey" == writing["Action"]
    assert KMS_KEY == writing["Resource"]
    assert "kms:ViaService" in writing["Condition"]["StringEquals"]


# --- organizations that allow less ---


def test_every_role_is_bounded_and_under_the_path(deployed):
    """Every role has the permissions boundary and the path that an organization requires."""
    bound = "arn:aws:iam::111122223333:policy/bound"
    asked = deployed(PermissionsBoundaryArn=bound, RolePath="/team/", Mode="kinesis", **IN_VPC)
    roles = of_type(asked, "AWS::IAM::Role")
    assert 9 == len(roles)
    assert {(bound, "/team/")} == {
        (role["PermissionsBoundary"], role["Path"]) for role in roles.values()
    }
    policies = of_type(asked, "AWS::IAM::ManagedPolicy")
    assert {"/team/"} == {policy["Path"] for policy in policies.values()}
    usual = of_type(deployed(), "AWS::IAM::Role").values()
    assert not [
        role for role in usual if "PermissionsBoundary" in role or "ManagedPolicyArns" in role
    ]


def test_every_function_is_in_the_network_and_its_role_may_be(template, deployed):
    """Every function, including ModeGuard's, is in the network, and its role permits that."""
    resources = deployed(**IN_VPC)
    network = {"SubnetIds": ["subnet-1", "subnet-2"], "SecurityGroupIds": ["sg-1"]}
    shared = Template(template, IN_VPC).resolve(template["Globals"]["Function"]["VpcConfig"])
    assert network == shared == resources["ModeGuardFunction"]["Properties"]["VpcConfig"]
    for name in [*FUNCTION_STEMS, "ModeGuard"]:
        assert ["<NetworkPolicy>"] == resources[f"{name}Role"]["Properties"]["ManagedPolicyArns"]
    assert "NetworkPolicy" not in deployed()
    assert "VpcConfig" not in deployed()["ModeGuardFunction"]["Properties"]


# --- recipients of alarms ---


def test_chat_has_its_own_topic_if_requested(deployed):
    """
    Chat has a topic of its own if it is requested, because Amazon Q drops the form of the alarm
    topic.
    """
    resources = deployed(Chat="true")
    explain = resources["ExplainFunction"]["Properties"]["Environment"]["Variables"]
    assert "<ChatTopic>" == explain["CHAT_TOPIC_ARN"]
    (policy,) = resources["ExplainRole"]["Properties"]["Policies"]
    statements = policy["PolicyDocument"]["Statement"]
    published = [
        statement["Resource"] for statement in statements if statement["Action"] == "sns:Publish"
    ]
    assert ["<AlarmTopic>", "<ChatTopic>"] == published
    without = deployed()
    assert not {"ChatTopic", "ChatTopicPolicy"} & without.keys()
    assert "ChatTopic" not in json.dumps(without)


PAGER = "arn:aws:sns:eu-west-1:111122223333:pager"
FINANCE = "arn:aws:sns:eu-west-1:111122223333:finance"


@pytest.mark.parametrize(("given", "finance"), [("", ""), (PAGER, ""), ("", FINANCE)])
def test_the_stack_makes_a_topic_unless_one_is_given(deployed, given, finance):
    """
    All publishers use the topic of the stack or the given one, the address subscribes to it, and
    finance may have its own digest.
    """
    resources = deployed(AlarmTopicArn=given, DigestTopicArn=finance, AlarmEmail="o@example.org")
    topic = given or "<AlarmTopic>"
    created = set() if given else {"AlarmTopic", "AlarmTopicPolicy"}
    assert created == {"AlarmTopic", "AlarmTopicPolicy"} & resources.keys()
    assert topic == resources["AlarmEmailSubscription"]["Properties"]["TopicArn"]
    for name, expected in (("Explain", topic), ("Digest", finance or topic)):
        environment = resources[f"{name}Function"]["Properties"]["Environment"]["Variables"]
        assert expected == environment["ALARM_TOPIC_ARN"]
        (policy,) = resources[f"{name}Role"]["Properties"]["Policies"]
        statements = policy["PolicyDocument"]["Statement"]
        assert [expected] == [
            statement["Resource"]
            for statement in statements
            if statement["Action"] == "sns:Publish"
        ]
    if not given:
        assert [topic] == resources["AlarmTopicPolicy"]["Properties"]["Topics"]
        assert "AlarmEmailSubscription" not in deployed()


EXAMPLE_ACCOUNT = {"AWS::AccountId": "111122223333", "AWS::Region": "us-east-1"}
RESOURCE_POLICIES = {"AWS::SNS::TopicPolicy": "Topics", "AWS::SQS::QueuePolicy": "Queues"}


@pytest.fixture(scope="module")
def page(repository):
    """Return the page's text."""
    return (repository / "docs" / "how-to" / "restricted.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def documents(page):
    """Return the JSON documents of the page: the key policy."""
    return [json.loads(text) for text in re.findall(r"```json\n(.+?)```", page, re.DOTALL)]


@pytest.fixture(scope="module")
def key_policy(documents):
    """Return the statements of the key's policy."""
    return documents[0]["Statement"]


def principals(statements):
    """Return the services that the statements permit."""
    return {
        statement["Principal"]["Service"]
        for statement in statements
        if "Service" in statement["Principal"]
    }


# --- the key ---


def test_the_key_admits_every_service_that_acts_on_its_own(key_policy, deployed):
    """
    The key permits CloudWatch Logs and every service that sends to an encrypted topic or queue.
    """
    resources = deployed(KmsKeyArn=KMS_KEY, Mode="drain", **EXAMPLE_ACCOUNT)
    needed = set()
    for properties in of_type(resources, "AWS::Logs::LogGroup").values():
        needed |= (
            {f"logs.{EXAMPLE_ACCOUNT['AWS::Region']}.amazonaws.com"}
            if properties["KmsKeyId"]
            else set()
        )
    for resource_type, member in RESOURCE_POLICIES.items():
        for properties in of_type(resources, resource_type).values():
            for target in properties[member]:
                assert resources[target.strip("<>")]["Properties"]["KmsMasterKeyId"] == KMS_KEY
            needed |= principals(properties["PolicyDocument"]["Statement"])
    assert needed == principals(key_policy)
