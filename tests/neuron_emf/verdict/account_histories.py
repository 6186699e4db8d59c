"""
Accounts of instances that cannot be released, and the owners of their cores.

`OF_ACCOUNT` has instances that EC2 knows, `OF_HYPERPOD` nodes that EC2 does not know, and `OWNED`
instances with owned cores: the verdict, the owner to ask, and a part of the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuron_emf.check.aws_client import ACCESS, Answer
from neuron_wire.names import MINUTE_MS
from proof.factories.records import AN_INSTANCE
from tests.neuron_emf.verdict.histories import LONG_AGO, OTHER_INSTANCE, Kind, minute
from tests.neuron_emf.verdict.instance_world import WORLD_JOB, InstanceWorld

if TYPE_CHECKING:
    from collections.abc import Callable

ACCOUNT_REFUSALS = (
    Answer("a:B", reason=ACCESS, words="ExplicitDeny"),
    Answer("a:B", reason="refused", words="UnauthorizedOperation: no"),
    Answer("a:B", reason="no_connection"),
    {},
)
GUARDS_OF_EC2 = (
    "host-cpu running same-instance launched keep-tag purchase manager instance-store "
    "placement-group ultraserver"
)


def _type(w: InstanceWorld, name: str | None) -> None:
    w.change(0, InstanceType=name)
    w.instance["InstanceType"] = name or w.type


def _without_member(w: InstanceWorld) -> None:
    w.leave_group()
    w.tag("aws:autoscaling:groupName", "workers")


def _protected(w: InstanceWorld, name: str) -> None:
    w.answers["describe_instance_attribute"][name] = {"Value": True}


def _refused(w: InstanceWorld, operation: str) -> None:
    if operation == "describe_auto_scaling_groups":
        w.join_group()
    if "list_container_instances" not in w.answers:
        w.join_ecs(OTHER_INSTANCE)
    w.answers[operation] = ACCOUNT_REFUSALS[(len(operation) + minute(w)) % len(ACCOUNT_REFUSALS)]


def store(w: InstanceWorld) -> None:
    """Give the instance type an instance store."""
    (kind,) = w.answers["describe_instance_types"]["InstanceTypes"]
    kind["InstanceStorageSupported"] = True


_OF_ACCOUNT: list[tuple[str, str, Callable[[InstanceWorld], object]]] = [
    ("unknown type", "known-cores", lambda w: _type(w, "trn9.48xlarge")),
    ("type that no line tells", "known-cores same-instance", lambda w: _type(w, None)),
    (
        "capacity block by EC2",
        "purchase",
        lambda w: w.instance.update(InstanceLifecycle="capacity-block"),
    ),
    (
        "in a reservation",
        "purchase",
        lambda w: w.instance.update(CapacityReservationId="cr-0123456789abcdef0"),
    ),
    (
        "lines of another type",
        "same-instance",
        lambda w: w.instance.update(InstanceType="inf2.8xlarge"),
    ),
    ("lines of another account", "same-instance", lambda w: w.change(0, AccountId="2" * 12)),
    ("launched in the hour", "launched", lambda w: w.launch(minute(w, 1))),
    # an operator keeps it
    ("keep tag", "keep-tag", lambda w: w.tag("neuron-emf:keep", w.rng.choice(["x", "false"]))),
    ("stop protection", "protections", lambda w: _protected(w, "DisableApiStop")),
    ("termination protection", "protections", lambda w: _protected(w, "DisableApiTermination")),
    ("group at its minimum", "group-minimum", lambda w: w.join_group(DesiredCapacity=2)),
    ("group that launches it", "group-minimum", lambda w: w.join_group(LifecycleState="Pending")),
    ("protected from scale-in", "protections", lambda w: w.join_group(ProtectedFromScaleIn=True)),
    ("group without a member", "group-minimum manager", _without_member),
    (
        "member of another group",
        "group-minimum",
        lambda w: (w.join_group(), w.tag("aws:autoscaling:groupName", "others")),
    ),
    (
        "member that is another instance",
        "group-minimum manager protections",
        lambda w: w.join_group(InstanceId=OTHER_INSTANCE),
    ),
    # its manager is unknown, or a service; test_managers has those that start another instance
    (
        "scheduler that no tag names",
        "manager",
        lambda w: (w.leave_group(), w.join_ecs(OTHER_INSTANCE), w.change(0, Reservations="known")),
    ),
    (
        "scheduler that the emitter does not see",
        "manager",
        lambda w: (w.join_node_group(), w.change(0, Reservations="none")),
    ),
    ("ECS describes less than it lists", "manager", InstanceWorld.join_ecs),
    (
        "operated by a service",
        "manager",
        lambda w: w.instance.update(Operator={"Managed": True, "Principal": "x.amazonaws.com"}),
    ),
    (
        "open session",
        "sessions",
        lambda w: w.answers.update(describe_sessions={"Sessions": [{"Target": AN_INSTANCE}]}),
    ),
    ("stopping", "running", lambda w: w.instance.update(State={"Name": "stopping"})),
    # the account does not answer
    (
        "EC2 describes another instance",
        GUARDS_OF_EC2,
        lambda w: w.instance.update(InstanceId=OTHER_INSTANCE),
    ),
    *(
        (f"{operation} refused", guards, lambda w, name=operation: _refused(w, name))
        for operation, guards in {
            "describe_instances": GUARDS_OF_EC2,
            "describe_instance_attribute": "protections",
            "describe_instance_types": "host-cpu instance-store",
            "describe_auto_scaling_instances": "group-minimum manager protections",
            "describe_auto_scaling_groups": "group-minimum manager protections",
            "list_clusters": "manager",
            "list_container_instances": "manager",
            "describe_container_instances": "manager",
            "describe_sessions": "sessions",
        }.items()
    ),
]
ACCOUNT_HISTORIES = {name: Kind(guards, spoil) for name, guards, spoil in _OF_ACCOUNT}

OF_HYPERPOD = {
    name: Kind(guards, spoil)
    for name, guards, spoil in [
        (
            "node that pends",
            "running",
            lambda w: w.node.update(InstanceStatus={"Status": "Pending"}),
        ),
        (
            "of another type",
            "same-instance",
            lambda w: w.node.update(InstanceType="ml.trn2.48xlarge"),
        ),
        ("of another instance", GUARDS_OF_EC2, lambda w: w.node.update(InstanceId=OTHER_INSTANCE)),
        (
            "in a training plan",
            "purchase",
            lambda w: w.nodes.update(
                TrainingPlanArn="arn:aws:sagemaker:us-west-2:123456789012:training-plan/t"
            ),
        ),
        ("at its minimum", "group-minimum", lambda w: w.nodes.update(MinCount=3)),
        (
            "session on a node",
            "sessions",
            lambda w: w.answers.update(describe_sessions={"Sessions": [{"SessionId": "ada-1"}]}),
        ),
        (
            "of an odd cluster",
            "manager",
            lambda w: w.answers["sagemaker.list_clusters"]["ClusterSummaries"][0].update(
                ClusterName="a;b"
            ),
        ),
        *(
            (
                f"{operation} refused",
                GUARDS_OF_EC2,
                lambda w, name=operation: w.answers.update({name: ACCOUNT_REFUSALS[minute(w) % 3]}),
            )
            for operation in (
                "sagemaker.list_clusters",
                "describe_cluster",
                "describe_cluster_node",
            )
        ),
    ]
}
"""Histories of a node that EC2 does not know."""


def _gone(w: InstanceWorld, **more: str) -> None:
    holder = {"Cores": "0", "Name": "ml/a-0", "Pid": 7, "Tag": "1", "Gone": True}
    w.own("ml/a-0")
    w.change(59, Holders=[{**holder, **more}])


OWNED_HISTORIES: dict[str, tuple[str, str | None, str, Callable[[InstanceWorld], object]]] = {
    "held": ("ask", WORLD_JOB, "scontrol show job 4711", InstanceWorld.own),
    "idle for 20 minutes": ("ask", WORLD_JOB, "for 20 min",
        lambda w: (w.begin(-40), w.own(quiet=20))),
    "reserved": ("ask", "ml/a-0/main", "kubectl describe pod a-0 -n ml",
                 lambda w: w.own("ml/a-0/main", Cores=None, Reserved=f"0-{w.cores - 1}")),
    "account without an answer": ("ask", WORLD_JOB, "sstat -a -j 4711", lambda w: (
        w.own(), w.answers.update(dict.fromkeys(w.answers, ACCOUNT_REFUSALS[0])))),
    "no rollups": ("ask", WORLD_JOB, "scontrol", lambda w: (w.own(), w.forget_rollups(LONG_AGO))),
    "unnamed": ("ask", None, "aws ec2 describe-tags", lambda w: w.own("[unnamed]")),
    "pod that is gone": ("ask", None, "kubectl get pod a-0 -n ml", _gone),
    "holds cores assigned to another": ("ask", "ml/b-0", "kubectl describe pod b-0 -n ml",
                                        lambda w: _gone(w, AssignedTo="ml/b-0")),
    "name of no form": ("ask", "ml/a;reboot", "aws ec2 describe-tags",
                        lambda w: w.own("ml/a;reboot")),
    "busy elsewhere": ("keep", None, "uses 16 of 48",
                       lambda w: w.own(row={"AllocatedCores": 48, "BusyCores": 16})),
    "executes elsewhere": ("keep", None, "executes", lambda w: w.own(row={"Executions": 80})),
    "rank that waits": ("keep", None, "3 of 4 work",
                        lambda w: w.own("ml/a-3", row={"Siblings": 4, "IdleSiblings": 1})),
    "low activity": ("keep", None, "something executed",
                    lambda w: (w.own(QuietMinutes=None), w.change(59, Executions=80))),
    "executions not read": ("keep", None, f"{WORLD_JOB} held cores",
        lambda w: w.own(QuietMinutes=None)),
    "just started": ("keep", None, f"{WORLD_JOB} held cores", lambda w: w.own(quiet=3)),
    "partly used": ("keep", None, "a core was busy",
                  lambda w: (w.own(Cores="0"), w.change(59, **w.core("b")))),
    "emitter that is gone": ("keep", None, "14 min old", lambda w: (
        w.own(), setattr(w, "now_ms", w.lines[-1][0] + 15 * MINUTE_MS))),
    "kept": ("keep", None, "tag neuron-emf:keep", lambda w: (w.own(), w.tag("neuron-emf:keep"))),
}  # fmt: skip
