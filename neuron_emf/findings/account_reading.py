"""
What the account says of an instance, asked with the credentials of whoever types.

Each question is one action of a policy. One that is denied, or not answered, is `Untold`:
the others are asked all the same, and what nobody told never passes a guard.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

from neuron_emf.check.aws_client import ACCESS, Answer, AwsClient
from neuron_emf.findings.facts import AccountFacts, Ec2Facts, GroupFacts, Told, Untold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ACTIONS: Final = (
    "autoscaling:DescribeAutoScalingGroups",
    "autoscaling:DescribeAutoScalingInstances",
    "ec2:DescribeInstanceAttribute",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeInstances",
    "ecs:DescribeContainerInstances",
    "ecs:ListClusters",
    "ecs:ListContainerInstances",
    "ssm:DescribeSessions",
)
"""What a policy allows for it, all of it reading."""

_DENIED: Final = ("AccessDenied", "UnauthorizedOperation")
_MALFORMED: Final = (AttributeError, LookupError, TypeError, ValueError)
_UNDOCUMENTED: Final = "unexpected response"
_TOKENS: Final = ("nextToken", "NextToken")
_Value = TypeVar("_Value")


def read_account_facts(aws: AwsClient, instance_id: str) -> AccountFacts:
    """
    Ask what there is to know of *instance_id*.

    Raises:
        SettingsError: If no region is known.
    """
    ec2 = _ec2(aws, instance_id)
    return AccountFacts(
        ec2=ec2,
        has_stop_protection=_attribute(aws, instance_id, "disableApiStop"),
        has_termination_protection=_attribute(aws, instance_id, "disableApiTermination"),
        has_instance_store=ec2 if isinstance(ec2, Untold) else _store(aws, ec2.instance_type),
        group=_group(aws, instance_id),
        ecs_clusters=_ecs_clusters(aws, instance_id),
        sessions=_sessions(aws, instance_id),
    )


def _why(answer: Answer) -> Untold:
    if answer.reason == ACCESS or answer.words.startswith(_DENIED):
        return Untold(f"{answer.action} is denied")
    return Untold(f"{answer.action}: {answer.words or answer.reason}")


def _read(answer: Answer, reader: Callable[[Mapping[str, Any]], _Value]) -> Told[_Value]:
    """What *reader* takes from *answer*; a refusal or another form than documented is untold."""
    if answer.reason:
        return _why(answer)
    try:
        return reader(answer.response)
    except _MALFORMED:
        return Untold(f"{answer.action}: {_UNDOCUMENTED}")


def _refuse_others(said: str, asked: str) -> None:
    """An answer about another than the one that was asked for is no answer."""
    if said != asked:
        raise ValueError(said)


def _all(
    aws: AwsClient, service: str, operation: str, member: str, **asked: object
) -> tuple[Answer, Sequence[Any]]:
    """The last answer and all entries; what is no whole list counts as a refusal."""
    answer, entries = aws.ask_all(service, operation, member, **asked)
    if answer.reason:
        return answer, ()
    if any(answer.response.get(name) for name in _TOKENS):
        return Answer(answer.action, reason="too many pages"), ()
    if member not in answer.response:  # an empty list would say more than was told
        return Answer(answer.action, reason=_UNDOCUMENTED), ()
    return answer, entries


def _ec2(aws: AwsClient, instance_id: str) -> Told[Ec2Facts]:
    def read(response: Mapping[str, Any]) -> Ec2Facts:
        ((instance,),) = (one["Instances"] for one in response["Reservations"])
        launched = instance["LaunchTime"]
        if not isinstance(launched, datetime):
            raise TypeError(type(launched).__name__)
        _refuse_others(instance["InstanceId"], instance_id)
        operator, placement = instance.get("Operator", {}), instance["Placement"]
        return Ec2Facts(
            state=instance["State"]["Name"],
            instance_type=instance["InstanceType"],
            availability_zone=placement["AvailabilityZone"],
            account_id=response["Reservations"][0]["OwnerId"],
            launched_ms=round(launched.timestamp() * 1000),
            lifecycle=instance.get("InstanceLifecycle"),
            capacity_reservation_id=instance.get("CapacityReservationId")
            or instance.get("CapacityBlockId"),
            placement_group=placement.get("GroupName") or placement.get("GroupId", ""),
            managed_by=operator.get("Principal", "a service") if operator.get("Managed") else "",
            tags={tag["Key"]: tag["Value"] for tag in instance.get("Tags", ())},
        )

    return _read(aws.ask("ec2", "describe_instances", InstanceIds=[instance_id]), read)


def _attribute(aws: AwsClient, instance_id: str, name: str) -> Told[bool]:
    member = name[0].upper() + name[1:]
    answer = aws.ask("ec2", "describe_instance_attribute", InstanceId=instance_id, Attribute=name)
    return _read(answer, lambda response: bool(response[member]["Value"]))


def _store(aws: AwsClient, instance_type: str) -> Told[bool]:
    answer = aws.ask("ec2", "describe_instance_types", InstanceTypes=[instance_type])
    return _read(
        answer, lambda response: bool(response["InstanceTypes"][0]["InstanceStorageSupported"])
    )


def _group(aws: AwsClient, instance_id: str) -> Told[GroupFacts | None]:
    answer, members = _all(
        aws,
        "autoscaling",
        "describe_auto_scaling_instances",
        "AutoScalingInstances",
        InstanceIds=[instance_id],
    )
    if answer.reason:
        return _why(answer)
    if not members:
        return None
    name = str(members[0]["AutoScalingGroupName"])
    answer = aws.ask("autoscaling", "describe_auto_scaling_groups", AutoScalingGroupNames=[name])

    def read(response: Mapping[str, Any]) -> GroupFacts:
        (member,), (group,) = members, response["AutoScalingGroups"]
        _refuse_others(member["InstanceId"], instance_id)
        _refuse_others(group["AutoScalingGroupName"], name)
        return GroupFacts(
            name=name,
            state=str(member["LifecycleState"]),
            is_protected=bool(member["ProtectedFromScaleIn"]),
            minimum=int(group["MinSize"]),
            desired=int(group["DesiredCapacity"]),
        )

    return _read(answer, read)


def _ecs_clusters(aws: AwsClient, instance_id: str) -> Told[tuple[str, ...]]:
    """Names of the clusters; each is asked for itself, and the answer is looked at again."""
    answer, clusters = _all(aws, "ecs", "list_clusters", "clusterArns")
    if answer.reason:
        return _why(answer)
    found = []
    for cluster in clusters:
        answer, members = _all(
            aws,
            "ecs",
            "list_container_instances",
            "containerInstanceArns",
            cluster=cluster,
            filter=f"ec2InstanceId == {instance_id}",
        )
        if answer.reason:
            return _why(answer)
        if not members:
            continue
        answer = aws.ask(
            "ecs",
            "describe_container_instances",
            cluster=cluster,
            containerInstances=list(members)[:100],
        )
        ids = _read(
            answer, lambda said: [one["ec2InstanceId"] for one in said["containerInstances"]]
        )
        if isinstance(ids, Untold):
            return ids
        if answer.response.get("failures") or len(ids) != len(members):
            return Untold(f"{answer.action}: {len(ids)} of {len(members)} described")
        if instance_id in ids:
            found.append(str(cluster).rpartition("/")[2])
    return tuple(found)


def _sessions(aws: AwsClient, instance_id: str) -> Told[int]:
    target = {"key": "Target", "value": instance_id}
    answer, sessions = _all(
        aws, "ssm", "describe_sessions", "Sessions", State="Active", Filters=[target]
    )
    return _why(answer) if answer.reason else len(sessions)
