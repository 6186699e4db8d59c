"""What `findings` asks an account, against moto and against botocore's models of the services."""

from __future__ import annotations

import pytest
from moto import mock_aws

from neuron_emf.account import AccountSettings, account
from neuron_emf.findings.account_reading import ACTIONS, read_account_facts
from neuron_emf.findings.facts import AccountFacts, Ec2Facts, GroupFacts, Untold
from tests.neuron_emf.findings.played_account import (
    LAUNCHED,
    REGION,
    ModelledAws,
    bare_instance,
)

INSTANCE = "i-0123456789abcdef0"
KEYS = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
AT_AWS = {
    **bare_instance(
        INSTANCE,
        "trn2.48xlarge",
        "us-west-2d",
        Placement={"AvailabilityZone": "us-west-2d", "GroupName": "ring"},
        InstanceLifecycle="capacity-block",
        CapacityReservationId="cr-1",
        Operator={"Managed": True, "Principal": "eks.amazonaws.com"},
        Tags=[{"Key": "neuron-emf:keep", "Value": ""}],
    ),
    "describe_instance_attribute": {
        "InstanceId": INSTANCE,
        "DisableApiStop": {"Value": True},
        "DisableApiTermination": {"Value": False},
    },
    "describe_instance_types": {"InstanceTypes": [{"InstanceStorageSupported": True}]},
    "describe_auto_scaling_instances": {
        "AutoScalingInstances": [
            {
                "InstanceId": INSTANCE,
                "AutoScalingGroupName": "workers",
                "AvailabilityZone": "us-west-2d",
                "LifecycleState": "InService",
                "HealthStatus": "HEALTHY",
                "ProtectedFromScaleIn": True,
            }
        ]
    },
    "describe_auto_scaling_groups": {
        "AutoScalingGroups": [
            {
                "AutoScalingGroupName": "workers",
                "MinSize": 2,
                "MaxSize": 9,
                "DesiredCapacity": 5,
                "DefaultCooldown": 300,
                "AvailabilityZones": ["us-west-2d"],
                "HealthCheckType": "EC2",
                "CreatedTime": LAUNCHED,
            }
        ]
    },
    "list_clusters": {"clusterArns": ["arn:aws:ecs:us-west-2:123456789012:cluster/prod"]},
    "list_container_instances": {"containerInstanceArns": ["arn:aws:ecs:container-instance/1"]},
    "describe_container_instances": {"containerInstances": [{"ec2InstanceId": INSTANCE}]},
    "describe_sessions": {"Sessions": [{"SessionId": "ops-1", "Target": INSTANCE}]},
}


def test_all_that_holds_an_instance_back_is_read():
    """Each fact from its own member, by the actions that the page names and no others."""
    aws = ModelledAws(AT_AWS)
    expected = AccountFacts(
        ec2=Ec2Facts(
            "running", "trn2.48xlarge", "us-west-2d", "123456789012",
            round(LAUNCHED.timestamp() * 1000), "capacity-block", "cr-1", "ring",
            "eks.amazonaws.com", {"neuron-emf:keep": ""},
        ),
        has_stop_protection=True,
        has_termination_protection=False,
        has_instance_store=True,
        group=GroupFacts("workers", "InService", is_protected=True, minimum=2, desired=5),
        ecs_clusters=("prod",),
        sessions=1,
    )  # fmt: skip
    assert expected == read_account_facts(aws, INSTANCE)
    assert list(ACTIONS) == sorted(set(aws.asked))


def test_a_list_without_an_end_is_untold():
    """Pages that never stop say nothing of what follows."""
    endless = {"Sessions": [], "NextToken": "more"}
    found = read_account_facts(ModelledAws({**AT_AWS, "describe_sessions": endless}), INSTANCE)
    assert Untold("ssm:DescribeSessions: too many pages") == found.sessions


@pytest.fixture
def moto_account(monkeypatch):
    """An account in this process, with one instance in a group."""
    for name, value in {**KEYS, "aws_default_region": REGION}.items():
        monkeypatch.setenv(name.upper(), value)
    with mock_aws():
        yield account(AccountSettings(region=REGION))


def test_moto_understands_and_is_understood(moto_account):
    """An instance of a group, registered in ECS, protected; Session Manager is played."""
    ec2, scaling = moto_account.client("ec2"), moto_account.client("autoscaling")
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    scaling.create_launch_configuration(
        LaunchConfigurationName="worker", ImageId=image, InstanceType="inf2.48xlarge"
    )
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="workers",
        LaunchConfigurationName="worker",
        MinSize=1,
        MaxSize=2,
        DesiredCapacity=2,
        AvailabilityZones=["us-west-2a"],
    )
    (created,) = scaling.describe_auto_scaling_groups()["AutoScalingGroups"]
    instance = created["Instances"][0]["InstanceId"]
    ec2.modify_instance_attribute(InstanceId=instance, DisableApiStop={"Value": True})
    ec2.create_tags(Resources=[instance], Tags=[{"Key": "neuron-emf:keep", "Value": "ada"}])
    moto_account.client("ecs").create_cluster(clusterName="prod")
    found = read_account_facts(ModelledAws({"describe_sessions": {"Sessions": []}}), instance)
    assert ("running", "inf2.48xlarge", None) == (
        found.ec2.state, found.ec2.instance_type, found.ec2.lifecycle,
    )  # fmt: skip
    assert "ada" == found.ec2.tags["neuron-emf:keep"]
    assert (True, False) == (found.has_stop_protection, found.has_termination_protection)
    group = GroupFacts("workers", "InService", is_protected=False, minimum=1, desired=2)
    assert (group, (), 0) == (found.group, found.ecs_clusters, found.sessions)
    assert found.has_instance_store is False


@pytest.mark.usefixtures("moto_account")
def test_an_instance_that_ec2_does_not_know_is_untold():
    """It says so, and no guard passes by it."""
    found = read_account_facts(ModelledAws({"describe_sessions": {"Sessions": []}}), INSTANCE)
    assert "InvalidInstanceID.NotFound" in found.ec2.why
    assert found.group is None
