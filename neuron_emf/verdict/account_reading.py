"""
Facts about an instance from AWS, read with the operator's credentials.

Each question is one action of a policy. An action that is denied or not answered is `Unknown`: the
other questions are still asked, and an unknown fact never passes a guard.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from neuron_accounts.payment import SPOT
from neuron_emf.account import MALFORMED_ERRORS
from neuron_emf.check.aws_client import ACCESS, TOKENS
from neuron_emf.check_results import UnknownFactError
from neuron_emf.verdict.managers import Manager, hyperpod_manager, manager_of
from neuron_emf.verdict.verdict_facts import (
    AccountFacts,
    Ec2Facts,
    GroupFacts,
    Known,
    TypeFacts,
    Unknown,
    require_known,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from neuron_emf.check.aws_client import Answer, AwsClient
    from neuron_wire.line_members import JsonObject

_Value = TypeVar("_Value")


def read_account_facts(aws: AwsClient, instance_id: str) -> AccountFacts:
    """
    Read the facts about *instance_id* from EC2, or from SageMaker if EC2 does not know it.

    Raises:
        SettingsError: If no region is known.
    """
    account = _Questions(aws, instance_id)
    ec2 = account.read(account.ec2)
    if isinstance(ec2, Unknown) and "InvalidInstanceID.NotFound" in ec2.why:
        node = account.read(account.hyperpod_node)
        if isinstance(node, AccountFacts):
            return node
        ec2 = node or ec2
    group = account.read(account.group)
    members = account.read(account.container_instances)

    def manager() -> Manager:
        known = require_known(ec2)
        starter = require_known(group)
        name = starter.name if starter else None
        return manager_of(known.tags, known.operator, name, require_known(members))

    return AccountFacts(
        ec2=ec2,
        type_facts=account.read(lambda: account.type_facts(require_known(ec2).instance_type)),
        manager=account.read(manager),
        has_stop_protection=account.read(lambda: account.attribute("DisableApiStop")),
        has_termination_protection=account.read(lambda: account.attribute("DisableApiTermination")),
        group=group,
        sessions=account.read(lambda: account.sessions(instance_id)),
    )


def _refuse_others(said: str, asked: str) -> None:
    """Reject an answer about another resource than the requested one."""
    if said != asked:
        raise ValueError(said)


def _epoch_ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


class _Questions:
    """The questions about one instance."""

    def __init__(self, aws: AwsClient, instance_id: str) -> None:
        self._aws = aws
        self._id = instance_id
        self._action = ""  # the last action

    def read(self, look: Callable[[], _Value]) -> Known[_Value]:
        """Return the result of *look*; `Unknown` if AWS refuses or answers in another form."""
        try:
            return look()
        except UnknownFactError as error:
            return Unknown(str(error))
        except MALFORMED_ERRORS:
            return Unknown(f"{self._action}: unexpected response")

    def ec2(self) -> Ec2Facts:
        """Return the facts of the instance."""
        answer = self._ask("ec2", "describe_instances", InstanceIds=[self._id])
        (reservation,) = answer["Reservations"]
        (instance,) = reservation["Instances"]
        _refuse_others(instance["InstanceId"], self._id)
        operator = instance.get("Operator", {})
        placement = instance["Placement"]
        return Ec2Facts(
            state=instance["State"]["Name"],
            instance_type=instance["InstanceType"],
            availability_zone=placement["AvailabilityZone"],
            account_id=reservation["OwnerId"],
            launched_ms=_epoch_ms(instance["LaunchTime"]),
            lifecycle=instance.get("InstanceLifecycle"),
            reservation=instance.get("CapacityReservationId") or instance.get("CapacityBlockId"),
            placement_group=placement.get("GroupName") or placement.get("GroupId", ""),
            operator=operator.get("Principal", "a service") if operator.get("Managed") else "",
            tags={tag["Key"]: tag["Value"] for tag in instance.get("Tags", ())},
        )

    def attribute(self, name: str) -> bool:
        """Return True if the attribute *name* is set."""
        answer = self._ask(
            "ec2",
            "describe_instance_attribute",
            InstanceId=self._id,
            Attribute=f"d{name[1:]}",
        )
        return bool(answer[name]["Value"])

    def type_facts(self, name: str) -> TypeFacts:
        """Return the facts of its type."""
        answer = self._ask("ec2", "describe_instance_types", InstanceTypes=[name])
        (found,) = answer["InstanceTypes"]
        return TypeFacts(
            vcpus=int(found["VCpuInfo"]["DefaultVCpus"]),
            has_instance_store=bool(found["InstanceStorageSupported"]),
        )

    def group(self) -> GroupFacts | None:
        """Return its auto-scaling group."""
        members = self._all(
            "autoscaling",
            "describe_auto_scaling_instances",
            "AutoScalingInstances",
            InstanceIds=[self._id],
        )
        if not members:
            return None
        (member,) = members
        name = str(member["AutoScalingGroupName"])
        answer = self._ask(
            "autoscaling", "describe_auto_scaling_groups", AutoScalingGroupNames=[name]
        )
        (group,) = answer["AutoScalingGroups"]
        _refuse_others(member["InstanceId"], self._id)
        _refuse_others(group["AutoScalingGroupName"], name)
        return GroupFacts(
            name=name,
            state=str(member["LifecycleState"]),
            is_protected=bool(member["ProtectedFromScaleIn"]),
            minimum=int(group["MinSize"]),
            desired=int(group["DesiredCapacity"]),
        )

    def container_instances(self) -> tuple[str, ...]:
        """Return the ARNs by which ECS knows it; each cluster is asked, and its answer checked."""
        found: list[str] = []
        for cluster in self._all("ecs", "list_clusters", "clusterArns"):
            arns = self._all(
                "ecs",
                "list_container_instances",
                "containerInstanceArns",
                cluster=cluster,
                filter=f"ec2InstanceId == {self._id}",
            )
            if not arns:
                continue
            answer = self._ask(
                "ecs",
                "describe_container_instances",
                cluster=cluster,
                containerInstances=arns[:100],
            )
            ids = {
                str(member["containerInstanceArn"]): member["ec2InstanceId"]
                for member in answer["containerInstances"]
            }
            if answer.get("failures") or ids.keys() != set(arns):
                msg = f"{self._action}: {len(ids)} of {len(arns)} described"
                raise UnknownFactError(msg)
            found += [arn for arn, ec2_id in ids.items() if ec2_id == self._id]
        return tuple(found)

    def sessions(self, target: str) -> int:
        """Return the number of open Session Manager sessions on *target*."""
        sessions = self._all(
            "ssm",
            "describe_sessions",
            "Sessions",
            State="Active",
            Filters=[{"key": "Target", "value": target}],
        )
        return len(sessions)

    def hyperpod_node(self) -> AccountFacts | None:
        """Return SageMaker's facts about a HyperPod node, which no other service describes."""
        for listed in self._all("sagemaker", "list_clusters", "ClusterSummaries"):
            name = str(listed["ClusterName"])
            answer = self._aws.ask(
                "sagemaker", "describe_cluster_node", ClusterName=name, NodeId=self._id
            )
            if not answer.words.startswith(("ResourceNotFound", "ValidationException")):
                return self._node_facts(name, self._response(answer)["NodeDetails"])
        return None

    def _node_facts(self, name: str, node: JsonObject) -> AccountFacts:
        cluster = self._ask("sagemaker", "describe_cluster", ClusterName=name)
        _refuse_others(node["InstanceId"], self._id)
        place = node["InstanceGroupName"]
        number = cluster["ClusterArn"].split("/")[1]
        (group,) = (row for row in cluster["InstanceGroups"] if row["InstanceGroupName"] == place)
        is_eks = "Eks" in cluster.get("Orchestrator", {})
        slurm_node = "" if is_eks else f"ip-{node['PrivatePrimaryIp'].replace('.', '-')}"
        ec2 = Ec2Facts(
            state=str(node["InstanceStatus"]["Status"]).lower(),
            instance_type=node["InstanceType"].removeprefix("ml."),
            availability_zone=node["Placement"]["AvailabilityZone"],
            account_id=None,
            launched_ms=_epoch_ms(node["LaunchTime"]),
            lifecycle=SPOT if node.get("CapacityType") == "Spot" else None,
            reservation=group.get("TrainingPlanArn"),
        )
        minimum = int(group.get("MinCount", 0))
        desired = int(group["TargetCount"])
        return AccountFacts(
            ec2=ec2,
            type_facts=self.read(lambda: self.type_facts(ec2.instance_type)),
            manager=hyperpod_manager(name, slurm_node),
            has_stop_protection=False,  # EC2's attribute; EC2 does not know the node
            has_termination_protection=False,
            group=GroupFacts(place, group["Status"], minimum, desired),
            sessions=self.read(
                lambda: self.sessions(f"sagemaker-cluster:{number}_{place}-{self._id}")
            ),
        )

    def _ask(self, service: str, operation: str, **asked: object) -> JsonObject:
        return self._response(self._aws.ask(service, operation, **asked))

    def _response(self, answer: Answer) -> JsonObject:
        self._action = answer.action
        if not answer.reason:
            return answer.response
        reason = f"{answer.action}: {answer.words or answer.reason}"
        if answer.reason == ACCESS or answer.words.startswith(
            ("AccessDenied", "UnauthorizedOperation")
        ):
            reason = f"{answer.action} is denied"
        raise UnknownFactError(reason)

    def _all(self, service: str, operation: str, member: str, **asked: object) -> list[Any]:
        """Return all entries; an incomplete list counts as a refusal."""
        answer, entries = self._aws.ask_all(service, operation, member, **asked)
        response = self._response(answer)
        if any(response.get(name) for name in TOKENS):
            msg = f"{answer.action}: too many pages"
            raise UnknownFactError(msg)
        if member not in response:  # an empty list would be a claim
            raise KeyError(member)
        return entries
