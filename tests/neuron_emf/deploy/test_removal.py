"""`deploy --delete` on an account that refuses as AWS does, and `--bind-role`."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from moto import mock_aws

from local.alarms.template import load
from neuron_emf.deploy.removal import RETAINED_RESOURCES

REMOVED_STACK = "neuron-emf"
OTHER_STACKS = {
    "sam": ("UPDATE_COMPLETE", {"AdoptLogGroup": "false", "Mode": "direct"}),
    "in-review": ("REVIEW_IN_PROGRESS", {}),
    "emitters": ("CREATE_COMPLETE", {"AdoptLogGroup": "false"}),
    "of-another-tool": ("CREATE_COMPLETE", {"Mode": "direct"}),
}
STACKS_WITH_RELEASE = {"sam", "in-review"}
REMOVED_RELEASE = f"{'0' * 64}.zip"

FAILED_EVENTS = [
    {
        "LogicalResourceId": "EmitterPolicy",
        "ResourceType": "AWS::IAM::ManagedPolicy",
        "ResourceStatus": "DELETE_FAILED",
        "ResourceStatusReason": "Cannot delete an attached policy",
    },
    {
        "LogicalResourceId": REMOVED_STACK,
        "ResourceType": "AWS::CloudFormation::Stack",
        "ResourceStatus": "DELETE_IN_PROGRESS",
    },
    {
        "LogicalResourceId": "Table",
        "ResourceType": "AWS::DynamoDB::Table",
        "ResourceStatus": "CREATE_FAILED",
        "ResourceStatusReason": "of an older operation",
    },
]


class Region:
    """
    A Region whose CloudFormation has these stacks; IAM, S3 and CloudWatch Logs are moto's.

    CloudFormation refuses to delete a protected stack, and IAM an attached policy. Resources that a
    template retains remain.

    Attributes:
        stacks: DescribeStacks's answer for each stack, by name.

        resources: Type and name of each resource of the stack NAME, by logical ID.
    """

    def __init__(self, others=(), roles=(), **parameters):
        """Deploy NAME with these *parameters*, and the *others*; bind its policy to *roles*."""
        self.aws = {name: boto3.client(name, "us-west-2") for name in ("iam", "s3", "logs", "sts")}
        given_parameters = {
            "AdoptLogGroup": "false",
            "LogGroupName": "/neuron-emf/records",
            "LedgerBucketName": "",
            "LedgerDays": "400",
            "Mode": "direct",
            **parameters,
        }
        self.stacks = {}
        self.add(REMOVED_STACK, "UPDATE_COMPLETE", given_parameters)
        self.add("neuron-emf-deploy", "CREATE_COMPLETE", {}, BucketName="releases-a1")
        for name in others:
            self.add(name, *OTHER_STACKS[name])
        statement = {"Effect": "Allow", "Action": "logs:PutLogEvents", "Resource": "*"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        policy = self.aws["iam"].create_policy(PolicyName="emitter", PolicyDocument=document)
        self.policy = policy["Policy"]["Arn"]
        self.stacks[REMOVED_STACK]["Outputs"] += [pair("Output", "EmitterPolicyArn", self.policy)]
        for role in ("mine", "other"):
            self.aws["iam"].create_role(RoleName=role, AssumeRolePolicyDocument=document)
        for role in roles:
            self.aws["iam"].attach_role_policy(RoleName=role, PolicyArn=self.policy)
        self.aws["logs"].create_log_group(logGroupName="/neuron-emf/records")
        s3 = self.aws["s3"]
        for bucket, key in (("releases-a1", REMOVED_RELEASE), ("ledger-b2", "ledger/hour.gz")):
            place = {"LocationConstraint": "us-west-2"}
            s3.create_bucket(Bucket=bucket, CreateBucketConfiguration=place)
            s3.put_object(Bucket=bucket, Key=key, Body=b"content")
        s3.put_bucket_versioning(
            Bucket="releases-a1", VersioningConfiguration={"Status": "Enabled"}
        )
        s3.put_object(Bucket="releases-a1", Key=REMOVED_RELEASE, Body=b"again")
        self.resources = {
            "EmitterPolicy": ("AWS::IAM::ManagedPolicy", self.policy),
            "RollupsLogGroup": ("AWS::Logs::LogGroup", "/neuron-emf/neuron-emf/rollups"),
        }
        if given_parameters["AdoptLogGroup"] == "false":
            self.resources["RecordsLogGroup"] = ("AWS::Logs::LogGroup", "/neuron-emf/records")
        if not given_parameters["LedgerBucketName"]:
            self.resources["LedgerBucket"] = ("AWS::S3::Bucket", "ledger-b2")

    def add(self, name, status, parameters, **outputs):
        """Add a stack."""
        self.stacks[name] = {
            "StackName": name,
            "StackStatus": status,
            "Parameters": [pair("Parameter", *item) for item in parameters.items()],
            "Outputs": [pair("Output", *item) for item in outputs.items()],
        }

    def client(self, service):
        """Return a client, as `Account` does."""
        pages: dict[str, Any] = {
            "describe_stacks": lambda: {"Stacks": list(self.stacks.values())},
            "describe_stack_events": lambda **_: {"StackEvents": FAILED_EVENTS},
            "list_stack_resources": self._resources,
        }
        return self.aws.get(service) or SimpleNamespace(
            meta=SimpleNamespace(region_name="us-west-2"),
            delete_stack=self._delete,
            describe_stacks=self._describe,
            get_paginator=lambda name: SimpleNamespace(paginate=lambda **of: [pages[name](**of)]),
        )

    def buckets(self):
        """Return the names of all buckets."""
        return {bucket["Name"] for bucket in self.aws["s3"].list_buckets()["Buckets"]}

    def attached(self):
        """Return the roles that have the policy."""
        entities = self.aws["iam"].list_entities_for_policy(PolicyArn=self.policy)
        return {role["RoleName"] for role in entities["PolicyRoles"]}

    def _describe(self, StackName):  # noqa: N803 - boto3's names
        if StackName not in self.stacks:
            message = f"Stack with id {StackName} does not exist"
            raise refused(message)
        return {"Stacks": [self.stacks[StackName]]}

    def _resources(self, StackName):  # noqa: N803
        assert StackName == REMOVED_STACK
        return {
            "StackResourceSummaries": [
                {
                    "LogicalResourceId": name,
                    "ResourceType": kind,
                    "PhysicalResourceId": physical_id,
                    "ResourceStatus": "CREATE_COMPLETE",
                }
                for name, (kind, physical_id) in self.resources.items()
            ]
        }

    def _delete(self, StackName):  # noqa: N803
        stack = self.stacks[StackName]
        if stack.get("EnableTerminationProtection"):
            message = "TerminationProtection is enabled"
            raise refused(message)
        policy = self.aws["iam"].get_policy(PolicyArn=self.policy)["Policy"]
        if StackName == REMOVED_STACK and policy["AttachmentCount"]:
            stack["StackStatus"] = "DELETE_FAILED"
            return
        del self.stacks[StackName]


def pair(kind, name, value):
    """Return a parameter or an output as CloudFormation describes it."""
    return {f"{kind}Key": name, f"{kind}Value": value}


def refused(message):
    """Return the error of a call that CloudFormation refused."""
    return ClientError({"Error": {"Code": "ValidationError", "Message": message}}, "Operation")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Set credentials without an account, and an input that has ended."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setattr("sys.stdin", io.StringIO())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=8)
@given(
    others=st.sets(st.sampled_from(sorted(OTHER_STACKS))),
    roles=st.sets(st.sampled_from(["mine", "other"])),
    adopts_group=st.booleans(),
    adopts_bucket=st.booleans(),
)
@example(others={"in-review"}, roles=set(), adopts_group=False, adopts_bucket=False)
def test_a_removal_touches_only_the_stack_and_releases_without_users(
    deploy, others, roles, adopts_group, adopts_bucket
):
    """A removal deletes only the stack and releases without users, and detaches its policy."""
    with mock_aws():
        region = Region(
            others,
            roles,
            AdoptLogGroup=str(adopts_group).lower(),
            LedgerBucketName="ledger-b2" if adopts_bucket else "",
        )
        code, out, err = deploy(region, "--delete")
        assert 0 == code, err
        keeps_releases = bool(others & STACKS_WITH_RELEASE)
        assert others | ({"neuron-emf-deploy"} if keeps_releases else set()) == set(region.stacks)
        assert {"ledger-b2"} | ({"releases-a1"} if keeps_releases else set()) == region.buckets()
        assert set() == region.attached()
        assert 2 == len(region.aws["iam"].list_roles()["Roles"])
        assert 1 == len(region.aws["logs"].describe_log_groups()["logGroups"])
        for bucket in region.buckets():
            assert 1 == region.aws["s3"].list_objects_v2(Bucket=bucket)["KeyCount"]
        stays = out.partition("Stays\n")[2]
        assert [True, True] == [
            f"│ {name} " in stays for name in ("/neuron-emf/records", "ledger-b2")
        ]
        assert 1 == stays.count("│ 0.00 ")
        assert 1 == stays.count("│ under 0.01 ")
        assert adopts_group + adopts_bucket == stays.count("adopted")


def stack_is(**members):
    """Return a change of the Region: members of the stack NAME."""
    return lambda region: region.stacks[REMOVED_STACK].update(members)


def nothing(region):
    """Change nothing."""


@pytest.mark.parametrize(
    ("change", "words", "code", "sentence"),
    [
        (nothing, ["--stack-name", "typo"], 2, "us-west-2 has no stack typo. Check --stack-name"),
        (stack_is(Parameters=[]), [], 2, "is not a deployed stack of neuron-emf: it has no"),
        (stack_is(EnableTerminationProtection=True), [], 2, "has termination protection. Turn it"),
        (stack_is(StackStatus="UPDATE_IN_PROGRESS"), [], 3, "is in UPDATE_IN_PROGRESS. Wait until"),
        (stack_is(StackStatus="DELETE_IN_PROGRESS"), [], 3, "is in DELETE_IN_PROGRESS. Wait until"),
        (nothing, ["Mode=direct"], 2, "take no NAME=VALUE"),
        (nothing, ["--json"], 2, "no --json"),
        (nothing, [], 1, "Nothing was changed."),
        (nothing, ["--plan"], 0, ""),
    ],
)
def test_nothing_changes_before_a_yes_or_after_a_refusal(deploy, change, words, code, sentence):
    """Nothing changes before a confirmation, and a refusal has its exit code and the next step."""
    with mock_aws():
        region = Region(roles=["mine"])
        change(region)
        before = {**region.stacks}
        ended, _, err = deploy(region, "--delete", *words, asks=code == 1)
        assert code == ended
        assert sentence in err
        assert before == region.stacks
        assert {"mine"} == region.attached()
        assert {"releases-a1", "ledger-b2"} == region.buckets()


def test_a_deletion_that_failed_names_the_first_failure_and_is_repeated(deploy):
    """A failed deletion names the first failure. A repeated one continues."""
    with mock_aws():
        region = Region()
        iam = region.aws["iam"]
        s3 = region.aws["s3"]
        iam.create_user(UserName="ops")
        iam.attach_user_policy(UserName="ops", PolicyArn=region.policy)
        code, _, err = deploy(region, "--delete")
        assert 3 == code
        assert "EmitterPolicy (AWS::IAM::ManagedPolicy): Cannot delete an attached policy" in err
        assert "was not deleted: it is in DELETE_FAILED. Correct the first failure above" in err
        assert "releases-a1" in region.buckets()
        iam.detach_user_policy(UserName="ops", PolicyArn=region.policy)
        s3.put_object(Bucket="releases-a1", Key="notes.txt", Body=b"mine")
        code, _, err = deploy(region, "--delete")
        assert 2 == code
        assert {"neuron-emf-deploy"} == set(region.stacks)
        assert "has 'notes.txt', which is not a release. Move it." in err
        for version in s3.list_object_versions(Bucket="releases-a1", Prefix="notes")["Versions"]:
            s3.delete_object(Bucket="releases-a1", Key="notes.txt", VersionId=version["VersionId"])
        assert 0 == deploy(region, "--delete")[0]
        assert {} == region.stacks
        assert {"ledger-b2"} == region.buckets()


def test_retained_resources_remain(release, emitters):
    """Resources that the templates retain are the ones that the command names."""
    for package, kept in ((release, RETAINED_RESOURCES), (emitters, {"RecordsLogGroup"})):
        assert kept == {
            name
            for name, resource in load(package.source)["Resources"].items()
            if resource.get("DeletionPolicy", "Delete") != "Delete"
        }


def test_one_command_binds_a_role(deploy, monkeypatch):
    """`--bind-role` attaches the stack's policy to the role, also if it is repeated."""
    monkeypatch.setattr(Region, "stack_name", REMOVED_STACK, raising=False)
    with mock_aws():
        region = Region()
        for _ in range(2):
            assert 0 == deploy(region, "--bind-role", "arn:aws:iam::111122223333:role/path/mine")[0]
        assert {"mine"} == region.attached()
        code, _, err = deploy(region, "--bind-role", "no-role")
        assert 3 == code
        assert "iam:AttachRolePolicy failed (NoSuchEntity): " in err
