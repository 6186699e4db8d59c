"""The content of a release, its requests to AWS, and the reasons to refuse a deployment."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from botocore.exceptions import ConnectionClosedError
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from local.alarms.template import Template, load
from neuron_emf.deploy import command, package
from neuron_emf.deploy.package import ReleaseBucket
from neuron_emf.deploy.plan import count_resources
from neuron_emf.deploy.stack import NEW, Stack, given_parameters, require_one_step, shard_steps
from neuron_emitter.errors import SettingsError
from neuron_emitter.settings.options import SYSTEM_FILE
from neuron_wire.catalogue import ALARMED
from tests.docs.shown_blocks import tomllib
from tests.neuron_emf.deploy.fake_cloudformation import FakeCloudFormation
from tests.programs import run_program
from tests.stack.stack_template import write_zip

OWNER = "111122223333"


# --- the package ---


def test_the_same_files_give_the_same_zip(tmp_path):
    """Equal files give an equal zip, for any times, order and permissions, without bytecode."""
    contents = {"b/module.py": "one", "a.py": "two", "b/__pycache__/module.pyc": "three"}
    zips = []
    for number, names in enumerate([sorted(contents), sorted(contents, reverse=True)]):
        folder = tmp_path / str(number)
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(contents[name])
            os.utime(folder / name, (number * 1e9, number * 1e9))
            (folder / name).chmod(0o600 + number * 0o44)
        write_zip(folder, tmp_path / f"{number}.zip")
        zips.append((tmp_path / f"{number}.zip").read_bytes())
    assert zips[0] == zips[1]
    assert b"module.pyc" not in zips[0]


def test_files_for_another_tool_are_written(release, tmp_path, monkeypatch):
    """Without an account, deploy writes the template, its zip and the required capabilities."""
    monkeypatch.setattr(command, "carried", lambda **_: release)
    ended = CliRunner().invoke(command.command, ["--write-template", str(tmp_path / "out")])
    assert {"template.yaml", release.functions_key} == {
        path.name for path in (tmp_path / "out").iterdir()
    }
    assert "CAPABILITY_IAM CAPABILITY_AUTO_EXPAND" in ended.output


# --- what keeps its value ---


def stack(status="UPDATE_COMPLETE"):
    """Return a stack that was deployed with two parameters."""
    return Stack("neuron-emf", status, {"Mode": "kinesis", "Gone": "1"}, {})


def test_an_installation_from_a_clone_names_the_wheel(tmp_path):
    """An installation from a clone has no stack; its error names `make wheel`."""
    with pytest.raises(SettingsError, match="`make wheel` puts into dist/"):
        package.carried(tmp_path)


def test_a_parameter_without_a_value_keeps_the_value_of_the_stack():
    """A deployed parameter keeps its value. A removed parameter is not sent."""
    declared = ("Mode", "IdleAfterMinutes", "New")
    assert [
        {"ParameterKey": "Mode", "UsePreviousValue": True},
        {"ParameterKey": "IdleAfterMinutes", "ParameterValue": "20"},
    ] == given_parameters(declared, {"IdleAfterMinutes": "20"}, stack())
    for nothing in (Stack("neuron-emf", "", {}, {}), stack(NEW)):
        assert [] == given_parameters(declared, {}, nothing)


# --- shards ---


@given(now=st.integers(1, 500), wanted=st.integers(1, 500))
def test_every_number_of_shards_is_reached_by_steps_that_kinesis_takes(now, wanted):
    """Every number of shards is reached in steps of at least half and at most double."""
    numbers = [now, *shard_steps(now, wanted)]
    assert wanted == numbers[-1]
    assert all(2 * first >= then and 2 * then >= first for first, then in pairwise(numbers))
    assert len(numbers) <= 10


@pytest.mark.parametrize(
    ("before", "named", "is_taken"),
    [
        ({"Mode": "kinesis", "StreamShards": "1"}, {"StreamShards": "5"}, False),
        ({"Mode": "kinesis", "StreamShards": "1"}, {"StreamShards": "2"}, True),
        ({"Mode": "drain", "StreamShards": "5"}, {"StreamShards": "1"}, False),
        ({"Mode": "drain", "StreamShards": "5"}, {"StreamShards": "1", "Mode": "direct"}, True),
        ({"Mode": "direct", "StreamShards": "1"}, {"StreamShards": "5", "Mode": "kinesis"}, True),
        ({"Mode": "kinesis", "StreamShards": "0"}, {"StreamShards": "5"}, True),
    ],
)
def test_a_number_of_shards_that_kinesis_refuses_is_refused(before, named, is_taken):
    """Deploy refuses a number of shards that Kinesis refuses; a new stream takes any number."""
    if is_taken:
        require_one_step(before, named)
        return
    with pytest.raises(SettingsError, match=r"Deploy StreamShards=[23], then"):
        require_one_step(before, named)


# --- the bucket ---


def test_every_call_names_the_owner_of_the_bucket():
    """Every call names the bucket's owner. A release is sent again only if its content differs."""
    fake = FakeCloudFormation()
    bucket = ReleaseBucket("bucket", OWNER, fake.client("s3"))
    assert [True, False] == [bucket.put_object("k.zip", b"zip") for _ in range(2)]
    fake.checksums["k.zip"] = "of another owner"
    assert bucket.put_object("k.zip", b"zip")
    assert 5 == len(fake.calls)
    assert {OWNER} == {asked["ExpectedBucketOwner"] for _, asked in fake.calls}


def test_the_bucket_is_private_encrypted_versioned_and_tls_only():
    """The bucket is private, encrypted, versioned, TLS-only and retained."""
    path = Path(sys.modules[ReleaseBucket.__module__].__file__).with_name("bucket.yaml")
    resources = load(path.read_text("utf-8"))["Resources"]
    bucket = resources["Bucket"]
    assert "RetainExceptOnCreate" == bucket["DeletionPolicy"]
    properties = bucket["Properties"]
    assert "BucketName" not in properties
    assert {True} == set(properties["PublicAccessBlockConfiguration"].values())
    assert {"Status": "Enabled"} == properties["VersioningConfiguration"]
    assert properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    (statement,) = resources["BucketPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    assert "Deny" == statement["Effect"]
    assert "*" == statement["Principal"]
    assert {"Bool": {"aws:SecureTransport": "false"}} == statement["Condition"]


# --- a deployment ---


def test_a_failed_call_has_a_message_and_leaves_no_change_set(deploy):
    """
    Every call that fails has a message, and no change set remains.

    The last call removes the change set unless it was executed. If it was executed, CloudFormation
    continues, and the message reports that.
    """
    whole = FakeCloudFormation()
    assert 0 == deploy(whole)[0]
    created, executed = (
        whole.operations.index(f"{name}_change_set") for name in ("create", "execute")
    )
    for number, operation in enumerate(whole.operations):
        fake = FakeCloudFormation()
        fake.raises[number + 1] = ConnectionClosedError(endpoint_url="https://example.com")
        code, _, err = deploy(fake)
        called = operation.replace("_", "").replace("head", "get")
        assert 3 == code
        assert f":{called} failed (connectionclosederror): " in err.lower(), err
        is_removed = "delete_change_set" == fake.operations[-1]
        assert (created <= number <= executed) == is_removed
        assert (number > executed) == ("continues with the stack neuron-emf:" in err)


def test_a_change_set_without_a_status_is_not_waited_for(deploy):
    """A change set without a status is an unexpected response."""
    fake = FakeCloudFormation()
    fake.change_set = {"Status": None}
    code, _, err = deploy(fake)
    assert 3 == code
    assert "delete_change_set" == fake.operations[-1]
    assert "Unexpected response to cloudformation:DescribeChangeSet" in err


def test_a_bucket_stack_without_a_bucket_is_refused_with_its_next_step(deploy):
    """A bucket stack without a bucket is refused: its change set was never executed."""
    fake = FakeCloudFormation(neuron_emf_deploy=["REVIEW_IN_PROGRESS"])
    code, _, err = deploy(fake)
    assert 2 == code
    assert "The stack neuron-emf-deploy is REVIEW_IN_PROGRESS and has no bucket" in err
    assert "aws cloudformation delete-stack --stack-name neuron-emf-deploy" in err


def event(resource, status, reason="", kind="AWS::Logs::LogGroup"):
    """Return an event of a stack as CloudFormation describes it."""
    return {
        "LogicalResourceId": resource,
        "ResourceType": kind,
        "ResourceStatus": status,
        "ResourceStatusReason": reason,
    }


def test_the_first_failure_is_found_behind_all_that_was_rolled_back(deploy):
    """The first failure of this deployment is reported, not one of an older deployment."""
    fake = FakeCloudFormation()
    fake.ends = "ROLLBACK_COMPLETE"
    fake.events = [
        *[event(f"Resource{number}", "DELETE_COMPLETE") for number in range(250)],
        event("Table", "CREATE_FAILED", "Resource creation cancelled"),
        event("RecordsGroup", "CREATE_FAILED", "/neuron-emf/records\nalready exists"),
        event("neuron-emf", "CREATE_IN_PROGRESS", kind="AWS::CloudFormation::Stack"),
        event("Queue", "CREATE_FAILED", "of an older deployment"),
    ]
    code, _, err = deploy(fake)
    _, failure, said = err.splitlines()
    assert 3 == code
    assert "RecordsGroup (AWS::Logs::LogGroup): /neuron-emf/records already exists" == failure
    assert "it is in ROLLBACK_COMPLETE. Correct the first failure above, delete the" in said


def test_cloudformation_continues_after_ctrl_c(deploy):
    """After Ctrl-C, a message says that CloudFormation continues."""
    fake = FakeCloudFormation(neuron_emf_deploy=["CREATE_COMPLETE"])
    fake.raises[11] = KeyboardInterrupt()
    code, _, err = deploy(fake)
    sentence = "CloudFormation continues with the stack neuron-emf: see its events."
    assert 130 == code
    assert sentence == err.strip().splitlines()[-1]
    assert "execute_change_set" == fake.operations[-2]


def test_a_misspelt_parameter_is_found_before_anything_is_asked(deploy):
    """A misspelled parameter is refused with the most similar name, before any call."""
    fake = FakeCloudFormation()
    code, _, err = deploy(fake, "AlarmMail=you@example.org")
    assert 2 == code
    assert [] == fake.calls
    assert "has no parameter AlarmMail. Did you mean AlarmEmail?" in err


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        (",".join([*ALARMED, "IdleCors"]), "has no metric IdleCors. Did you mean IdleCores?"),
        (
            ",".join(["NeuronCores", *ALARMED[1:]]),
            f"Metrics leaves out {ALARMED[0]}, which alarms need. Add them.",
        ),
        (",".join(ALARMED), ""),
        ("", ""),
    ],
)
def test_metrics_are_known_and_those_that_alarms_need_are_among_them(deploy, metrics, said):
    """An unknown metric is refused, and so is a list without the metrics that alarms need."""
    fake = FakeCloudFormation()
    code, _, err = deploy(fake, f"Metrics={metrics}")
    assert (2 if said else 0) == code
    assert said in err
    assert bool(said) == (not fake.calls)


def test_tags_and_role_are_those_of_both_stacks(deploy):
    """Tags and role apply to both stacks; without them CloudFormation keeps those of the stack."""
    role = "arn:aws:iam::111122223333:role/deployer"
    fake = FakeCloudFormation()
    plain = FakeCloudFormation()
    assert 0 == deploy(fake, "--tags", "Team=ml,Cost=a=b", "--role-arn", role)[0]
    assert 0 == deploy(plain)[0]
    tags = [{"Key": "Team", "Value": "ml"}, {"Key": "Cost", "Value": "a=b"}]
    for operation in ("create_stack", "create_change_set"):
        (asked,) = fake.requests(operation)
        assert tags == asked["Tags"]
        assert role == asked["RoleARN"]
        assert not {"Tags", "RoleARN"} & plain.requests(operation)[0].keys()


# --- emitters only ---


def test_emitters_only_are_deployed_in_one_request(deploy, emitters):
    """A deployment of emitters only is one request, without a bucket or an upload."""
    fake = FakeCloudFormation()
    fake.parameters = {"ClusterName": "research"}
    code, out, _ = deploy(fake, "--emitters-only", "ClusterName=research")
    assert 0 == code
    assert not {"put_object", "create_stack"} & set(fake.operations)
    (asked,) = fake.requests("create_change_set")
    assert "neuron-emf-emitters" == asked["StackName"]
    assert ["CAPABILITY_IAM"] == asked["Capabilities"]
    assert emitters.source == asked["TemplateBody"]
    assert len(emitters.source.encode()) <= 51_200  # the limit of a request
    settings = tomllib.loads(out.partition(f"{SYSTEM_FILE}:\n")[2])
    assert {
        "log-group": "/neuron-emf/records",
        "region": "us-west-2",
        "metrics": "cluster",
        "cluster": "research",
    } == settings


@pytest.mark.parametrize(("words", "held"), [(["--emitters-only"], "Mode"), ([], "ClusterName")])
def test_a_stack_keeps_its_kind(deploy, words, held):
    """A stack cannot change between the full template and emitters only."""
    fake = FakeCloudFormation(of_old=["CREATE_COMPLETE"])
    fake.parameters = {held: "a"}
    code, _, err = deploy(fake, "--stack-name", "of-old", *words)
    assert 2 == code
    assert ["describe_stacks"] == fake.operations
    assert "a second stack, with another --stack-name and AdoptLogGroup=true." in err


# --- the plan ---


@pytest.mark.parametrize(
    "named", [{}, {"Mode": "kinesis"}, {"Athena": "true", "Dashboard": "false"}]
)
def test_the_plan_counts_the_resources_of_cloudformation(release, repository, named):
    """The plan has the resources that AWS's own SAM translator makes, with conditions resolved."""
    python = repository / ".venv-sam" / "bin" / "python"
    if not python.exists():
        pytest.skip(".venv-sam is missing: make venvs makes it")
    words = [f"{name}={value}" for name, value in named.items()]
    run = run_program(
        [python, "-B", "tests/stack/translation.py", "template.yaml", *words], cwd=repository
    )
    resolved = Template(load(release.source), {**named, "AWS::AccountId": OWNER})
    assert count_resources(release, named) == Counter(
        load["Type"]
        for load in json.loads(run.stdout)["Resources"].values()
        if "Condition" not in load or resolved.condition(load["Condition"])
    )


@pytest.mark.parametrize("words", [[], ["--emitters-only"]])
def test_a_plan_needs_no_account(deploy, words, follows_schema):
    """A plan without an account has resources, capabilities and the monthly cost of four fleets."""
    fake = FakeCloudFormation()
    code, out, _ = deploy(fake, "--plan", *words)
    assert "CAPABILITY_IAM" in out
    assert "Cost of one cluster, instances of 32 cores, list prices of us-east-1\n" in out
    _, printed, _ = deploy(fake, "--plan", "--json", *words)
    assert 0 == code
    assert [] == fake.calls
    document = json.loads(printed)
    follows_schema("deploy-plan", document)
    assert 0 < document["resources"]["AWS::CloudWatch::Alarm"]
    assert document["release_bucket"] is not bool(words)
    costs = document["cost"]["usd_a_month"]
    assert [f"{usd:,.2f}" for usd in costs.values()] == re.findall(
        r"│ +[\d,]+ +│ ([\d,.]+) +│", out
    )
    assert ["1", "10", "100", "1000"] == list(costs)
