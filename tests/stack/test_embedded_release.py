"""
`neuron-emf deploy` on the embedded AWS: deploy, change, upgrade, delete, adopt, and replace `sam
deploy`. An omitted parameter keeps its value each time.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner

from local.alarms.template import load
from local.rehearsal.rehearsal_stack import overrides
from neuron_emf.deploy import command, package
from neuron_emf.deploy import stack as stack_of
from neuron_emitter.errors import SourceError
from proof.factories.records import RECORDS_GROUP
from tests.stack.stack_template import carry_release

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.proof,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel"),
]


@pytest.fixture(scope="module")
def release(sam_build, tmp_path_factory):
    """Return the content of a wheel of this tree."""
    functions = sam_build.template.parent / "IngestFunction"
    return package.carried(carry_release(functions, tmp_path_factory.mktemp("carried")))


@pytest.fixture
def deploy(aws, release, monkeypatch):
    """
    Return a function that runs the command with these words and returns the stack's parameters, or
    None after a deletion.
    """
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(stack_of, "STACK_POLL_S", 0.2)

    def deploy_with(*named, name="released", of=release, said="", code=0):
        monkeypatch.setattr(package, "carried", lambda **_: of)
        answer = ["--yes"] if not said else []
        words = ["--stack-name", name, *answer, *named]
        ended = CliRunner().invoke(command.command, words, input=said, standalone_mode=False)
        if isinstance(ended.exception, SourceError):
            raise ended.exception
        assert ended.exception is None, ended.output
        assert code == ended.return_value, ended.output
        return None if "--delete" in named else parameters(aws, name)

    return deploy_with


def parameters(aws, name):
    """Return the stack's parameters."""
    (stack,) = aws.client("cloudformation").describe_stacks(StackName=name)["Stacks"]
    return {
        parameter["ParameterKey"]: parameter["ParameterValue"] for parameter in stack["Parameters"]
    }


def resources(aws, name):
    """Return logical IDs and types of a stack's resources."""
    rows = aws.client("cloudformation").describe_stack_resources(StackName=name)["StackResources"]
    return {(row["LogicalResourceId"], row["ResourceType"]) for row in rows}


def test_a_release_is_deployed_changed_upgraded_deleted_and_adopted(aws, deploy, release):
    """An omitted parameter keeps its value, and without a confirmation nothing changes."""
    local = [f"{name}={value}" for name, value in overrides(load(release.source)).items()]
    parameters_of_stack = deploy(
        *local, "Mode=kinesis", "AlarmEmail=ops@example.org", "IdleAfterMinutes=20"
    )
    assert "kinesis" == parameters_of_stack["Mode"]
    assert "ops@example.org" == parameters_of_stack["AlarmEmail"]
    assert "20" == parameters_of_stack["IdleAfterMinutes"]
    assert parameters_of_stack == deploy(
        "IdleAfterMinutes=30", said="n\n", code=command.EXIT_NOT_CONFIRMED
    )
    changed = deploy("IdleAfterMinutes=30")
    assert {**parameters_of_stack, "IdleAfterMinutes": "30"} == changed
    assert changed == deploy()  # nothing to change
    source = release.source.replace("Closes the minutes that are due.", "Closes what is due.")
    next_release = replace(release, source=source)
    assert changed == deploy(of=next_release)
    with pytest.raises(SourceError, match="not deployed: it is in UPDATE_ROLLBACK_COMPLETE"):
        deploy("Mode=direct")
    assert changed == parameters(aws, "released")

    bucket = stack_of.Stack.describe(aws.client("cloudformation"), "neuron-emf-deploy").outputs
    keys = aws.client("s3").list_objects_v2(Bucket=bucket["BucketName"])["Contents"]
    assert release.functions_key in {key["Key"] for key in keys}

    deploy("--delete")
    groups = aws.client("logs").describe_log_groups(logGroupNamePrefix=RECORDS_GROUP)["logGroups"]
    assert [RECORDS_GROUP] == [group["logGroupName"] for group in groups]
    adopted = deploy(*local, "AdoptLogGroup=true")
    assert "true" == adopted["AdoptLogGroup"]
    assert "direct" == adopted["Mode"]
    deploy("--delete")


def test_emitters_alone_are_deployed_and_their_lines_outlive_them(aws, deploy, repository):
    """
    Emitters alone are deployed without a bucket; the emulator has no metric math, so one of three
    alarms is missing.
    """
    emitters = package.Package((repository / package.EMITTERS).read_text("utf-8"))
    named = ("ClusterName=research", "LogGroupName=/alone/records")
    assert "research" == deploy(*named, name="alone", of=emitters)["ClusterName"]
    alarms = {
        name
        for name, resource_type in resources(aws, "alone")
        if resource_type == "AWS::CloudWatch::Alarm"
    }
    assert {"ExecutionErrorsAlarm", "NoLinesAlarm"} == alarms
    deploy("--delete", name="alone", of=emitters)
    groups = aws.client("logs").describe_log_groups(logGroupNamePrefix="/alone/")["logGroups"]
    assert ["/alone/records"] == [group["logGroupName"] for group in groups]


def test_a_stack_of_sam_is_upgraded_by_the_command(aws, deploy, sam_build, template):
    """
    An upgrade of `sam deploy`'s stack by the command keeps its resources and each parameter except
    the processor, which the release sets.
    """
    asked = {**overrides(template), "AdoptLogGroup": "true", "IdleAfterMinutes": "20"}
    logs = aws.client("logs")
    if not logs.describe_log_groups(logGroupNamePrefix=RECORDS_GROUP)["logGroups"]:
        logs.create_log_group(logGroupName=RECORDS_GROUP)
    sam_build.sam.deploy(sam_build.template, "of-sam", asked, aws)
    before = parameters(aws, "of-sam")
    of_sam = resources(aws, "of-sam")
    assert "Architecture" in before
    del before["Architecture"]
    assert before == deploy(name="of-sam")
    assert of_sam == resources(aws, "of-sam")
