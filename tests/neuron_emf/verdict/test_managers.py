"""The manager of an instance, and how it releases the instance."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.verdict.managers import hyperpod_manager, manager_of

if TYPE_CHECKING:
    from collections.abc import Sequence

ID = "i-06f58c76ba1c4c2e7"
CONTAINER_INSTANCE = "arn:aws:ecs:us-west-2:123456789012:container-instance/search/" + "0a" * 16
BATCH_ARN = CONTAINER_INSTANCE.replace("search", "train_Batch_2f0a3c1e-7f0e-3b0a-9b0e-1f2a3b4c5d6e")
OLD_ARN = CONTAINER_INSTANCE.replace("search/", "")
GROUP_TAGS = {"aws:autoscaling:groupName": "train"}
FLEET_MEMBER = {"aws:ec2:fleet-id": "fleet-1"}
NODE_TAGS = {"kubernetes.io/cluster/prod": "owned", "aws:eks:cluster-name": "prod"}
NODE_GROUP = {**NODE_TAGS, **GROUP_TAGS, "eks:nodegroup-name": "trn"}
KARPENTER = {
    **NODE_TAGS,
    **FLEET_MEMBER,
    "karpenter.sh/nodepool": "trn",
    "karpenter.k8s.aws/ec2nodeclass": "trn",
    "eks:eks-cluster-name": "prod",
}

COMMAND_NAMES = (ID, "us-west-2", "us-west-2a", "pod-1", "ip-10-1-57-141", CONTAINER_INSTANCE)
NAME_LETTERS = f"{string.ascii_letters}{string.digits}-_"


_of = manager_of
MANAGED_TAGS = (
    _of(NODE_GROUP, group="eks-trn-1"),
    _of(NODE_TAGS | GROUP_TAGS, group="train"),
    _of(KARPENTER),
    _of({}, operator="eks.amazonaws.com"),
    hyperpod_manager("pod-1"),
    hyperpod_manager("pod-1", "ip-10-1-57-141"),
    _of(GROUP_TAGS | FLEET_MEMBER, group="train", container_instances=[CONTAINER_INSTANCE]),
    _of({}, container_instances=[CONTAINER_INSTANCE]),
    _of(GROUP_TAGS | FLEET_MEMBER, group="train"),
    _of({"aws:cloudformation:stack-name": "dev", "Name": "x"}),
    # kept, because its manager would start another
    _of({"aws:pcs:compute-node-group-id": "pcs_1"}),
    _of({"parallelcluster:node-type": "Compute"}),
    _of({"AWSBatchServiceTag": "batch"} | NODE_TAGS | GROUP_TAGS, group="x"),
    _of(GROUP_TAGS, group="AWSBatch-train-asg-1"),
    _of({}, container_instances=[BATCH_ARN]),
    _of(
        {"aws:ecs:containerInstanceId": "1"} | FLEET_MEMBER,
        container_instances=[CONTAINER_INSTANCE],
    ),
    _of({"karpenter.sh/provisioner-name": "trn"}),
    _of({"karpenter.k8s.aws/ec2nodeclass": "trn", "kubernetes.io/cluster/prod": "owned"}),
    _of({"elasticbeanstalk:environment-id": "e-1"} | GROUP_TAGS, group="awseb-e-1"),
    _of({}, operator="ecs.amazonaws.com"),
    _of({}, operator="new.amazonaws.com"),
    _of(NODE_TAGS),
    _of(NODE_GROUP),
    _of(FLEET_MEMBER, container_instances=[CONTAINER_INSTANCE]),
    _of({"aws:ec2spot:fleet-request-id": "sfr-1"}),
    _of(GROUP_TAGS),  # of a group that Auto Scaling does not know
    _of({"aws:elasticmapreduce:job-flow-id": "j-1"}),
    _of(KARPENTER, container_instances=[CONTAINER_INSTANCE]),
    _of({}, container_instances=[CONTAINER_INSTANCE, OLD_ARN]),
)


def test_each_manager_has_its_commands_or_a_setting_to_lower(golden, repository) -> None:
    """Each manager has either commands that release the instance, or a setting to lower."""
    lines = []
    for manager in MANAGED_TAGS:
        commands = manager.commands(ID, "us-west-2", "us-west-2a")
        assert bool(commands) != bool(manager.leave)
        lines.append(f"{manager.kind} ({manager.sign})\n")
        lines += [f"  {step}\n" for step in commands or [manager.leave]]
    (stop,) = _of({}).commands(ID, "us-west-2", is_spot=True)
    assert stop.startswith("aws ec2 terminate-instances ")  # EC2 stops no Spot Instance
    golden(repository / "tests/data/shown/managers.txt", "".join(lines))


def _all_commands(names: Sequence[str]) -> list[tuple[str, ...]]:
    managers = (
        hyperpod_manager(*names[3:5]),
        manager_of(KARPENTER),
        manager_of({names[0]: names[1]}, container_instances=names[5:]),
    )
    return [manager.commands(*names[:3]) for manager in managers]


@given(
    st.sampled_from(range(len(COMMAND_NAMES))),
    st.characters(exclude_characters=NAME_LETTERS),
    st.integers(0, 99),
)
def test_names_of_no_form_make_no_command(place: int, odd: str, at: int) -> None:
    """A command contains no name with a forbidden character. Without a name there is no command."""
    name = COMMAND_NAMES[place]
    at %= len(name) + 1
    names = [*COMMAND_NAMES[:place], name[:at] + odd + name[at:], *COMMAND_NAMES[place + 1 :]]
    for good, others in zip(_all_commands(COMMAND_NAMES), _all_commands(names), strict=True):
        assert others == (() if name in " ".join(good) else good)
