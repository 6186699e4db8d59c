"""
The template of the daemon services on the embedded AWS, and what its ECS has registered.

What the emulator does not do: it runs no task here, places none, checks no permission, and loses
some of what a template says on its way to its own ECS (devices, health check, scheduling strategy).
"""

from __future__ import annotations

import sys
import time

import pytest

from local.embedded_aws import EmbeddedAws
from neuron_wire.instance_types import INSTANCE_TYPES
from tests.deploy.ecs.conftest import GIVEN

COUNTS = sorted({row.devices for row in INSTANCE_TYPES.values()})
STACK = "emitters"
PATIENCE_S = 60.0

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.slow,
    pytest.mark.timeout(180),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel"),
]


@pytest.fixture(scope="module")
def ecs_aws(programs, tmp_path_factory):
    """An emulator with the ECS cluster of the parameters."""
    embedded = EmbeddedAws(programs[0], tmp_path_factory.mktemp("ecs"))
    embedded.start()
    embedded.client("ecs").create_cluster(clusterName=GIVEN["Cluster"])
    yield embedded
    embedded.stop()


def wait_for(aws, wanted):
    """Until the stack is as wanted."""
    cloudformation = aws.client("cloudformation")
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        (stack,) = cloudformation.describe_stacks(StackName=STACK)["Stacks"]
        if not stack["StackStatus"].endswith("_IN_PROGRESS"):
            assert wanted == stack["StackStatus"], stack.get("StackStatusReason")
            return stack
        time.sleep(0.2)
    pytest.fail(f"the stack was not {wanted} within {PATIENCE_S:.0f} s")


def test_the_template_makes_a_daemon_for_each_number_of_devices(ecs_aws, ecs_folder):
    """
    Five services of the cluster, each with a task definition of the role that the outputs name.
    """
    ecs_aws.client("cloudformation").create_stack(
        StackName=STACK,
        TemplateBody=(ecs_folder / "service.yaml").read_text("utf-8"),
        Parameters=[{"ParameterKey": key, "ParameterValue": one} for key, one in GIVEN.items()],
        Capabilities=["CAPABILITY_IAM"],
    )
    stack = wait_for(ecs_aws, "CREATE_COMPLETE")
    ecs = ecs_aws.client("ecs")
    arns = ecs.list_services(cluster=GIVEN["Cluster"])["serviceArns"]
    services = ecs.describe_services(cluster=GIVEN["Cluster"], services=arns)["services"]
    tasks = [
        ecs.describe_task_definition(taskDefinition=one["taskDefinition"])["taskDefinition"]
        for one in services
    ]
    assert {f"{STACK}-{count}" for count in COUNTS} == {one["family"] for one in tasks}
    outputs = {one["OutputKey"]: one["OutputValue"] for one in stack["Outputs"]}
    assert {outputs["TaskRoleArn"]} == {one["taskRoleArn"] for one in tasks}
    groups = ecs_aws.client("logs").describe_log_groups()["logGroups"]
    assert outputs["EmitterLogGroupName"] in {one["logGroupName"] for one in groups}
    containers = [one["containerDefinitions"][0] for one in tasks]
    written = {one["logConfiguration"]["options"]["awslogs-group"] for one in containers}
    assert {outputs["EmitterLogGroupName"]} == written
