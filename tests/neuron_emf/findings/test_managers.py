"""Who manages an instance, and how it is given back."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.findings.managers import Manager, hyperpod_manager, manager_of

if TYPE_CHECKING:
    from collections.abc import Sequence

ID = "i-06f58c76ba1c4c2e7"
ARN = "arn:aws:ecs:us-west-2:123456789012:container-instance/search/" + "0a" * 16
BATCH_ARN = ARN.replace("search", "train_Batch_2f0a3c1e-7f0e-3b0a-9b0e-1f2a3b4c5d6e")
OLD_ARN = ARN.replace("search/", "")
GROUP = {"aws:autoscaling:groupName": "train"}
FLEET = {"aws:ec2:fleet-id": "fleet-1"}
NODE = {"kubernetes.io/cluster/prod": "owned", "aws:eks:cluster-name": "prod"}
NODE_GROUP = {**NODE, **GROUP, "eks:nodegroup-name": "trn"}
KARPENTER = {**NODE, **FLEET, "karpenter.sh/nodepool": "trn", "eks:eks-cluster-name": "prod"}

FIND = f"neuron-emf findings {ID} --region us-west-2"
STOP = f"aws ec2 stop-instances --instance-ids {ID} --region us-west-2"
SHRINK = (
    f"aws autoscaling terminate-instance-in-auto-scaling-group --instance-id {ID} "
    "--should-decrement-desired-capacity --region us-west-2"
)
CORDON = (
    "node=$(kubectl get nodes -o jsonpath='{.items[?(@.spec.providerID=="
    f'"aws:///us-west-2a/{ID}")].metadata.name}}\') && kubectl cordon "${{node:?}}"'
)
DRAIN = 'kubectl drain "${node:?}" --ignore-daemonsets && '
DRAINING = (
    f"aws ecs update-container-instances-state --cluster search --container-instances {ARN} "
    "--status DRAINING --region us-west-2"
)
DELETE = (
    "aws sagemaker batch-delete-cluster-nodes --cluster-name pod-1 "
    f"--node-ids {ID} --region us-west-2"
)


NAMES = (ID, "us-west-2", "us-west-2a", "pod-1", "ip-10-1-57-141", ARN)
LETTERS = f"{string.ascii_letters}{string.digits}-_"


_of = manager_of


@pytest.mark.parametrize(
    ("manager", "kind", "commands"),
    [
        (_of(NODE_GROUP, group="eks-trn-1"), "EKS managed node group",
         (CORDON, FIND, DRAIN + SHRINK)),
        (_of(NODE | GROUP, group="train"), "Kubernetes", (CORDON, FIND, DRAIN + SHRINK)),
        (_of(KARPENTER), "Karpenter", (CORDON, FIND, DRAIN + 'kubectl delete node "${node:?}"')),
        (_of({}, operator="eks.amazonaws.com"), "EKS Auto Mode",
         (CORDON, FIND, DRAIN + 'kubectl delete node "${node:?}"')),
        (hyperpod_manager("pod-1"), "HyperPod", (f"kubectl cordon hyperpod-{ID}", FIND, DELETE)),
        (hyperpod_manager("pod-1", "ip-10-1-57-141"), "HyperPod",
         ("sudo scontrol update NodeName=ip-10-1-57-141 State=DRAIN Reason=neuron-emf",
          FIND, DELETE)),
        (_of(GROUP | FLEET, group="train", container_instances=[ARN]), "ECS",
         (DRAINING, FIND, SHRINK)),
        (_of({}, container_instances=[ARN]), "ECS", (DRAINING, FIND, STOP)),
        (_of(GROUP | FLEET, group="train"), "Auto Scaling group", (SHRINK,)),
        (_of({"aws:cloudformation:stack-name": "dev", "Name": "x"}), "alone", (STOP,)),
    ],
)  # fmt: skip
def test_commands_by_manager(manager: Manager, kind: str, commands: tuple[str, ...]) -> None:
    """Placement is stopped, it is asked again, and whoever started the instance removes it."""
    assert (kind, commands) == (manager.kind, manager.commands(ID, "us-west-2", "us-west-2a"))


@pytest.mark.parametrize(
    ("manager", "kind", "lower"),
    [
        (_of({"aws:pcs:compute-node-group-id": "pcs_1"}), "AWS PCS", "minInstanceCount"),
        (_of({"parallelcluster:node-type": "Compute"}), "ParallelCluster", "MinCount"),
        (_of({"AWSBatchServiceTag": "batch"} | NODE | GROUP, group="x"), "AWS Batch", "minvCpus"),
        (_of(GROUP, group="AWSBatch-train-asg-1"), "AWS Batch", "minvCpus"),
        (_of({}, container_instances=[BATCH_ARN]), "AWS Batch", "minvCpus"),
        (_of({"aws:ecs:containerInstanceId": "1"} | FLEET, container_instances=[ARN]),
         "ECS Managed Instances", "scaleInAfter"),
        (_of({}, operator="ecs.amazonaws.com"), "ECS Managed Instances", "scaleInAfter"),
        (_of({}, operator="new.amazonaws.com"), "unknown", "minimum"),
        (_of(NODE), "Kubernetes", "replicas"),
        (_of(NODE_GROUP), "EKS managed node group", "replicas"),
        (_of(FLEET, container_instances=[ARN]), "EC2 Fleet", "target capacity"),
        (_of({"aws:ec2spot:fleet-request-id": "sfr-1"}), "Spot Fleet", "target capacity"),
        (_of(GROUP), "unknown", "minimum"),  # of a group that Auto Scaling does not know
        (_of({"aws:elasticmapreduce:job-flow-id": "j-1"}), "unknown", "minimum"),
        (_of(KARPENTER, container_instances=[ARN]), "unknown", "minimum"),
        (_of({}, container_instances=[ARN, OLD_ARN]), "unknown", "minimum"),
    ],
)  # fmt: skip
def test_what_is_left_alone(manager: Manager, kind: str, lower: str) -> None:
    """Whoever would start another is told, and what to lower; there is no command."""
    assert (kind, True, ()) == (
        manager.kind,
        lower in manager.leave,
        manager.commands(ID, "us-west-2", "us-west-2a"),
    )


def _all_commands(names: Sequence[str]) -> list[tuple[str, ...]]:
    managers = (
        hyperpod_manager(*names[3:5]),
        manager_of(KARPENTER),
        manager_of({names[0]: names[1]}, container_instances=names[5:]),
    )
    return [manager.commands(*names[:3]) for manager in managers]


@given(
    st.sampled_from(range(len(NAMES))),
    st.characters(exclude_characters=LETTERS),
    st.integers(0, 99),
)
def test_names_of_no_form_make_no_command(place: int, odd: str, at: int) -> None:
    """A name with a character that is not of its kind is in no command; no name, no command."""
    name = NAMES[place]
    at %= len(name) + 1
    names = [*NAMES[:place], name[:at] + odd + name[at:], *NAMES[place + 1 :]]
    for good, others in zip(_all_commands(NAMES), _all_commands(names), strict=True):
        assert others == (() if name in " ".join(good) else good)


def test_a_spot_instance_alone_is_terminated() -> None:
    """EC2 stops no spot instance that it was asked for once."""
    assert (STOP.replace("stop-", "terminate-"),) == _of({}).commands(ID, "us-west-2", is_spot=True)
