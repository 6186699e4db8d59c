"""
The real template on the embedded AWS: changed in every way that docs/how-to/deploying.md promises.

What the emulator does not do: it delivers nothing to a stream and asks for no permission.
"""

from __future__ import annotations

import sys
import time

import pytest

from local.embedded_aws.processes import EmbeddedAwsError
from local.rehearsal.stack import overrides

GROUP = "/neuron-emf/records"
STACK = "changing"
PATIENCE_S = 60.0

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.proof,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel"),
]


@pytest.fixture(scope="module")
def deploy(aws, sam_build):
    """`sam deploy` of what `sam build` made, with these parameters and no others."""

    def deploy_with(**parameters):
        return sam_build.sam.deploy(sam_build.template, STACK, parameters, aws)

    return deploy_with


def parameters(aws):
    """What the stack holds."""
    (stack,) = aws.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
    return {one["ParameterKey"]: one["ParameterValue"] for one in stack["Parameters"]}


def delete(aws):
    """Delete the stack and wait until it is gone."""
    cloudformation = aws.client("cloudformation")
    cloudformation.delete_stack(StackName=STACK)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        pages = cloudformation.get_paginator("list_stacks").paginate()
        rows = [row for page in pages for row in page["StackSummaries"]]
        states = {row["StackStatus"] for row in rows if row["StackName"] == STACK}
        if states <= {"DELETE_COMPLETE"}:
            # the emulator makes a group anew for a tick of close that was under way
            if (rollups := f"/neuron-emf/{STACK}/rollups") in groups(aws):
                aws.client("logs").delete_log_group(logGroupName=rollups)
            return
        time.sleep(0.2)
    pytest.fail(f"the stack was not deleted within {PATIENCE_S:.0f} s, its states are {states}")


def destination(aws):
    """The service that the one subscription of the log group delivers to."""
    logs = aws.client("logs")
    (one,) = logs.describe_subscription_filters(logGroupName=GROUP)["subscriptionFilters"]
    assert one["filterName"] == f"{STACK}-minutes"
    return one["destinationArn"].split(":")[2]


def groups(aws):
    """Every log group, but those that the emulator makes for functions that may not write."""
    names = {one["logGroupName"] for one in aws.client("logs").describe_log_groups()["logGroups"]}
    return {name for name in names if not name.startswith("/aws/lambda/")}


def test_the_stack_changes_its_mode_and_is_deployed_again_on_its_lines(aws, deploy, template):
    """
    Kinesis, upgraded, drain, direct; deleted; deployed again on the log group that it left, lines
    and all. What a deployment does not name keeps its value, and direct without drain is refused.
    """
    local = overrides(template)
    made = deploy(**local, Mode="kinesis", AlarmEmail="ops@example.org", IdleAfterMinutes="20")
    chosen = parameters(aws)
    deploy()
    assert chosen == parameters(aws)
    with pytest.raises(EmbeddedAwsError, match="sam deploy failed"):
        deploy(Mode="direct")
    assert chosen == parameters(aws)
    assert "RecordsStreamArn" in made.outputs
    assert destination(aws) == "kinesis"
    logs = aws.client("logs")
    logs.create_log_stream(logGroupName=GROUP, logStreamName="i-0")
    line = {"timestamp": int(time.time() * 1000), "message": "kept"}
    logs.put_log_events(logGroupName=GROUP, logStreamName="i-0", logEvents=[line])

    drained = deploy(Mode="drain")
    assert {**chosen, "Mode": "drain"} == parameters(aws)
    assert destination(aws) == "lambda"
    assert drained.outputs["RecordsStreamArn"] == made.outputs["RecordsStreamArn"]
    direct = deploy(Mode="direct")
    assert destination(aws) == "lambda"
    assert "RecordsStreamArn" not in direct.outputs
    assert [] == aws.client("kinesis").list_streams()["StreamNames"]

    delete(aws)
    assert {GROUP} == groups(aws)
    adopted = deploy(**local, AdoptLogGroup="true")
    assert "RecordsLogGroup" not in adopted.resources
    assert adopted.outputs["EmitterLogGroupName"] == GROUP
    assert destination(aws) == "lambda"
    delete(aws)
    assert {GROUP} == groups(aws)
    (event,) = logs.get_log_events(logGroupName=GROUP, logStreamName="i-0")["events"]
    assert event["message"] == "kept"
