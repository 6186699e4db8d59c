"""
Kinds of histories: what each does to a world in which the instance may be given back.

`OF_LINES` and `OF_ACCOUNT` may never be given back, each with the guards that must hold it back;
`CLEAN` always may; of `OWNED` it is known who is asked. Each is played under every manager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from neuron_emf.check.aws_client import ACCESS, Answer
from tests.neuron_emf.findings.world import (
    CLUSTER,
    INSTANCE,
    JOB,
    MEMBER,
    MINUTE_MS,
    ZONE,
    World,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

OTHER = "i-0fedcba9876543210"
LONG_AGO = -9999
REFUSALS = (
    Answer("a:B", reason=ACCESS, words="ExplicitDeny"),
    Answer("a:B", reason="refused", words="UnauthorizedOperation: no"),
    Answer("a:B", reason="no_connection"),
    {},
)
NEWER = {"Schema": 2, "Seq": 9000}
OF_EC2 = (
    "host-cpu running same-instance launched keep-tag purchase manager instance-store "
    "placement-group ultraserver"
)


class Kind(NamedTuple):
    """What a history does, and the guards that hold the instance back then."""

    held_back_by: str
    spoil: Callable[[World], object]


def _minute(w: World, first: int = 0, last: int = 60) -> int:
    return w.rng.randrange(first, last)


def _at(w: World, **changes: Any) -> None:
    """Change one minute of the hour."""
    at = _minute(w)
    w.change(at, at + 1, **changes)


def _beside(w: World, own: dict[str, Any], **other: Any) -> None:
    """Change one minute of the hour, and have another line of it."""
    at = _minute(w)
    w.change(at, at + 1, **own)
    w.say(at, **other)


def _any(w: World, names: str) -> str:
    return w.rng.choice(names.split())


def _cut(w: World, text: str, beyond: str) -> str:
    """What is left of a line that broke off behind a word."""
    return text[: _minute(w, text.index(beyond) + len(beyond) + 1, len(text))]


def _no_rollup(w: World, text: Callable[[str], str] = str, **changes: Any) -> None:
    """Damage a rollup of the hour so that no reader can take it."""
    at = _minute(w, 20, 58)
    w.forget_rollups(at, at + 1)
    w.publish(at, text(text_of(w.rollup(at, **changes))))


def _rollup(w: World, **changes: Any) -> None:
    at = _minute(w, 0, 58)
    w.cluster(at, at + 1, **changes)


def _fewer_cores(w: World, first: int, last: int) -> None:
    count = w.cores - 1
    w.change(first, last, CoreState="u" * count, NeuronCoreUtilization=[0] * count)
    for at in range(first, last):
        w.change(at, at + 1, CoreIdleMinutes=[at - w.since + 1] * count)


def _type(w: World, name: str | None) -> None:
    w.change(0, InstanceType=name)
    w.instance["InstanceType"] = name or w.type


def _fallen_since(w: World, first: int, last: int) -> None:
    w.fall(w.since + _minute(w, first, last))


def _two_steps(w: World) -> None:
    """Nine minutes apart, so that only the minute before the first and the last tell."""
    first = w.since - _minute(w, 1, 9)
    w.fall(first, first + 9)


def _late_count(w: World, *, is_fleet: bool) -> None:
    """Minutes that were not whole count for nothing: it is idle for longer than it says."""
    w.begin(60)
    lost = _minute(w, 12, 30)
    for at in range(w.since + 1, 60):
        w.change(at, at + 1, CoreIdleMinutes=[max(1, at - w.since + 1 - lost)] * w.cores)
    w.change(w.since + 1, w.since + 1 + lost, CoveredSeconds=40)
    if is_fleet:
        w.fall(w.since)


def _reported_later(w: World) -> None:
    """The fleet's lines came an hour late; only what was published then knows that it worked."""
    w.begin(99)
    w.fall(w.since)
    for at in range(w.since - 11, w.since):
        w.cluster(at, at + 1, BusyCores=0)
        w.publish(at, late=90, Publication=2)


def _launched_into(w: World) -> None:
    """With a new cluster, whose first rollup is that of its first minute."""
    w.launch(w.since - 3)
    w.forget(LONG_AGO, w.since)
    w.forget_rollups(LONG_AGO, w.since)


def _without_member(w: World) -> None:
    w.leave_group()
    w.tag("aws:autoscaling:groupName", "workers")


def _protected(w: World, name: str) -> None:
    w.answers["describe_instance_attribute"][name] = {"Value": True}


def _refused(w: World, operation: str) -> None:
    if operation == "describe_auto_scaling_groups":
        w.join_group()
    if "list_container_instances" not in w.answers:
        w.join_ecs(OTHER)
    w.answers[operation] = REFUSALS[(len(operation) + _minute(w)) % len(REFUSALS)]


def _nobody_manages(w: World, given: str) -> None:
    w.leave_group()
    w.join_ecs(OTHER)
    w.change(0, Given=given)


def store(w: World) -> None:
    """Its type has instance store."""
    (kind,) = w.answers["describe_instance_types"]["InstanceTypes"]
    kind["InstanceStorageSupported"] = True


COMPILING: dict[str, Callable[[World], object]] = {
    "one of its vCPUs compiles": lambda w: _at(w, HostCpuPercent=100 / w.vcpus),
    "half of a vCPU works": lambda w: _at(w, HostCpuPercent=50 / w.vcpus),
    "compiling before a restart": lambda w: w.restart(
        _minute(w), {"HostCpuPercent": 104 / w.vcpus}),
    "no host CPU": lambda w: w.change(_minute(w), HostCpuPercent=None),
}  # fmt: skip
"""Whatever places work on it is stopped before, so it holds back where nothing does."""

OF_LINES = {
    name: Kind(guards, spoil)
    for name, guards, spoil in [
        # the lines are of another time
        ("newest line six minutes old", "newest-line",
         lambda w: setattr(w, "now_ms", w.lines[-1][0] + 7 * MINUTE_MS)),
        ("clock half an hour ahead", "newest-line",
         lambda w: setattr(w, "now_ms", w.now_ms - 30 * MINUTE_MS)),
        ("emitter shut down", "newest-line", lambda w: w.change(59, Bye=True)),
        # the hour is not known whole
        ("44 seconds", "whole-hour", lambda w: _at(w, CoveredSeconds=44)),
        ("lines since twenty minutes", "whole-hour", lambda w: w.forget(LONG_AGO, 40)),
        # a line that names it cannot be read
        ("line of a newer schema", "readable",
         lambda w: w.say(_minute(w), **NEWER, **w.core("b"))),
        ("line cut off", "readable",
         lambda w: w.say(_minute(w), _cut(w, text_of(w.line(0)), f'"{INSTANCE}"'))),
        ("line without a member", "readable",
         lambda w: w.say(_minute(w), Seq=9000, **{_any(w, "Boot Reports ClusterName"): None})),
        ("rollup of a newer schema", "readable", lambda w: _no_rollup(w, Schema=2)),
        ("rollup cut off", "readable",
         lambda w: _no_rollup(w, lambda text: _cut(w, text, f'"{CLUSTER}"'))),
        # cores are not known
        ("core unknown", "known-cores", lambda w: _at(w, **w.core("?"))),
        ("core unknown before a restart", "known-cores",
         lambda w: w.restart(_minute(w), w.core("?"))),
        ("emitter that sees fewer cores", "known-cores", lambda w: _fewer_cores(w, 0, 60)),
        ("minute with fewer cores", "known-cores", lambda w: _fewer_cores(w, 30, 31)),
        ("no number of cores", "idle-cores known-cores",
         lambda w: (w.begin(10), w.change(0, CoreState=None, NeuronCoreUtilization=None,
                                          CoreIdleMinutes=None))),
        # cores work
        ("core busy for a minute", "idle-cores", lambda w: _at(w, **w.core("b"))),
        ("core busy before a restart", "idle-cores",
         lambda w: w.restart(_minute(w), w.core("b"))),
        ("execution between samples", "idle-cores", lambda w: _at(w, Executions=1)),
        ("burst too short for the mean", "idle-cores",
         lambda w: (w.begin(10), w.change(59, CoreIdleMinutes=[70] * (w.cores - 1) + [0]))),
        ("idle for 59 minutes", "idle-cores",
         lambda w: w.change(59, CoreIdleMinutes=[59] * w.cores)),
        # somebody holds cores
        ("held in a minute", "no-holder", lambda w: _at(w, **w.held())),
        ("held by a process without a name", "no-holder", lambda w: _at(w, **w.core("a"))),
        ("held before a restart", "no-holder", lambda w: w.restart(_minute(w), w.held())),
        ("holders that a line leaves out", "no-holder", lambda w: _at(w, HoldersMore=1)),
        ("owners that a line leaves out", "no-holder no-reservation",
         lambda w: _at(w, OwnersMore="1")),
        ("owner of idle cores", "no-holder",
         lambda w: _at(w, Owners=[{"Cores": "0-1", "Name": JOB}])),
        # somebody may want them
        ("reserved in a minute", "no-reservation",
         lambda w: _at(w, Owners=[{"Reserved": "0-1", "Name": "ml/llama-0"}])),
        ("reservations unread in a minute", "given-read", lambda w: _at(w, Given="unread")),
        ("emitter that knows none", "given-read", lambda w: w.change(0, Given=None)),
        # the host works
        *((name, "host-cpu", spoil) for name, spoil in COMPILING.items()),
        # it is paid for
        ("capacity block by its lines", "not-sunk",
         lambda w: w.change(0, Lifecycle="capacity-block")),
        ("run --paid sunk", "not-sunk", lambda w: w.change(0, Paid="sunk")),
        ("--paid-by-type says sunk", "not-sunk",
         lambda w: w.words.extend(["--paid-by-type", f"{w.type}=sunk"])),
        # who writes the lines
        ("busy line behind one of its identity", "idle-cores one-emitter",
         lambda w: _beside(w, w.core("b"))),
        ("two lines of one identity", "one-emitter", lambda w: _beside(w, {}, Reports=5)),
        ("identity of a line before the hour", "one-emitter",
         lambda w: w.say(-5, Seq=_minute(w, 500, 560))),
        ("two minutes of one Boot", "one-emitter",
         lambda w: _beside(w, {}, Seq=9000, CoveredSeconds=6.01)),
        ("two emitters", "one-emitter", lambda w: _beside(w, {}, Boot="b0")),
        ("rollup names it", "one-emitter",
         lambda w: _rollup(w, DuplicateEmitters=2, DuplicateEmitterInstances=[INSTANCE, OTHER])),
        ("rollup names not all", "one-emitter",
         lambda w: _rollup(w, DuplicateEmitters=2, DuplicateEmitterInstances=[OTHER])),
        ("guessed InstanceId", "same-instance", lambda w: w.change(0, IdentityGuessed=True)),
        # its cluster
        ("fleet silent early in the hour", "coverage",
         lambda w: w.cluster(_minute(w, 0, 30), 35, CoveragePercent=90)),
        ("coverage not told", "coverage", lambda w: _rollup(w, CoveragePercent=None)),
        ("no rollups", "coverage no-fleet-change", lambda w: w.forget_rollups(LONG_AGO)),
        ("gap of rollups", "no-fleet-change", lambda w: w.forget_rollups(20, 40)),
        ("cores that nobody counts", "no-fleet-change", lambda w: w.cluster(0, NeuronCores=None)),
        ("fleet fell in the hour", "no-fleet-change", lambda w: w.fall(_minute(w, 1, 58))),
        ("fleet fell with it", "no-fleet-change", lambda w: _fallen_since(w, 0, 1)),
        ("fleet fell just before it", "no-fleet-change", lambda w: _fallen_since(w, -10, 0)),
        ("fleet fell just after it", "no-fleet-change", lambda w: _fallen_since(w, 1, 12)),
        ("fleet fell in two steps", "no-fleet-change", _two_steps),
        ("fleet fell, its lines came late", "no-fleet-change", _reported_later),
        ("fleet fell, the count is short", "no-fleet-change",
         lambda w: _late_count(w, is_fleet=True)),
        ("two that fell together", "no-fleet-change",
         lambda w: (w.begin(_minute(w), others=1), w.fall(w.since, left=0))),
        ("no rollups before it fell", "no-fleet-change",
         lambda w: w.forget_rollups(LONG_AGO, w.since)),
        ("a rollup missing as it fell", "no-fleet-change",
         lambda w: w.forget_rollups(w.since - 1, w.since + 1)),
        ("UltraServer", "ultraserver", lambda w: w.change(0, UltraServerId="us-0123456789abcdef0")),
    ]
}  # fmt: skip

OF_ACCOUNT = {
    name: Kind(guards, spoil)
    for name, guards, spoil in [
        ("type that nobody knows", "known-cores", lambda w: _type(w, "trn9.48xlarge")),
        ("type that no line tells", "known-cores same-instance", lambda w: _type(w, None)),
        ("capacity block by EC2", "purchase",
         lambda w: w.instance.update(InstanceLifecycle="capacity-block")),
        ("in a reservation", "purchase",
         lambda w: w.instance.update(CapacityReservationId="cr-0123456789abcdef0")),
        ("lines of another type", "same-instance",
         lambda w: w.instance.update(InstanceType="inf2.8xlarge")),
        ("lines of another account", "same-instance", lambda w: w.change(0, AccountId="2" * 12)),
        ("launched in the hour", "launched", lambda w: w.launch(_minute(w, 1))),
        # somebody keeps it
        ("keep tag", "keep-tag", lambda w: w.tag("neuron-emf:keep", _any(w, "x false"))),
        ("stop protection", "stop-protection", lambda w: _protected(w, "DisableApiStop")),
        ("termination protection", "termination-protection",
         lambda w: _protected(w, "DisableApiTermination")),
        ("group at its minimum", "group-minimum", lambda w: w.join_group(DesiredCapacity=2)),
        ("group that launches it", "group-minimum",
         lambda w: w.join_group(LifecycleState="Pending")),
        ("protected from scale-in", "group-protection",
         lambda w: w.join_group(ProtectedFromScaleIn=True)),
        ("group without a member", "group-minimum group-protection manager", _without_member),
        ("member of another group", "group-minimum group-protection",
         lambda w: (w.join_group(), w.tag("aws:autoscaling:groupName", "others"))),
        ("member that is another instance", "group-minimum group-protection manager",
         lambda w: w.join_group(InstanceId=OTHER)),
        # who manages it would start another, or is not known
        ("ParallelCluster", "manager", lambda w: w.tag("parallelcluster:node-type")),
        ("PCS", "manager", lambda w: w.tag("aws:pcs:cluster-id", "pcs_1")),
        ("Batch", "manager", lambda w: w.tag("AWSBatchServiceTag", "batch")),
        ("node in no group", "manager",
         lambda w: (w.leave_group(), w.tag("aws:eks:cluster-name", "prod"))),
        ("scheduler that no tag names", "manager", lambda w: _nobody_manages(w, "read")),
        ("scheduler that the emitter does not see", "manager",
         lambda w: (w.join_node_group(), w.change(0, Given="none"))),
        ("ECS failures", "manager",
         lambda w: w.join_ecs(failures=[{"arn": MEMBER, "reason": "MISSING"}])),
        ("ECS describes less than it lists", "manager", World.join_ecs),
        ("operated by a service", "manager",
         lambda w: w.instance.update(Operator={"Managed": True, "Principal": "x.amazonaws.com"})),
        ("open session", "sessions",
         lambda w: w.answers.update(describe_sessions={"Sessions": [{"Target": INSTANCE}]})),
        ("stopping", "running", lambda w: w.instance.update(State={"Name": "stopping"})),
        # the account does not say
        ("EC2 tells of another instance", OF_EC2, lambda w: w.instance.update(InstanceId=OTHER)),
        *((f"{operation} refused", guards, lambda w, name=operation: _refused(w, name))
          for operation, guards in {
              "describe_instances": OF_EC2,
              "describe_instance_attribute": "stop-protection termination-protection",
              "describe_instance_types": "host-cpu instance-store",
              "describe_auto_scaling_instances": "group-minimum group-protection manager",
              "describe_auto_scaling_groups": "group-minimum group-protection manager",
              "list_clusters": "manager",
              "list_container_instances": "manager",
              "describe_container_instances": "manager",
              "describe_sessions": "sessions",
          }.items()),
    ]
}  # fmt: skip

OF_HYPERPOD = {
    name: Kind(guards, spoil)
    for name, guards, spoil in [
        ("node that pends", "running",
         lambda w: w.node.update(InstanceStatus={"Status": "Pending"})),
        ("of another type", "same-instance",
         lambda w: w.node.update(InstanceType="ml.trn2.48xlarge")),
        ("of another instance", OF_EC2, lambda w: w.node.update(InstanceId=OTHER)),
        ("in a training plan", "purchase", lambda w: w.nodes.update(
            TrainingPlanArn="arn:aws:sagemaker:us-west-2:123456789012:training-plan/t")),
        ("at its minimum", "group-minimum", lambda w: w.nodes.update(MinCount=3)),
        ("session on a node", "sessions", lambda w: w.answers.update(
            describe_sessions={"Sessions": [{"SessionId": "ada-1"}]})),
        ("of an odd cluster", "manager", lambda w: w.answers["sagemaker.list_clusters"][
            "ClusterSummaries"][0].update(ClusterName="a;b")),
        *((f"{operation} refused", OF_EC2, lambda w, name=operation: w.answers.update(
            {name: REFUSALS[_minute(w) % 3]}))
          for operation in (
              "sagemaker.list_clusters", "describe_cluster", "describe_cluster_node")),
    ]
}  # fmt: skip
"""Of a node that EC2 does not know."""

CLEAN: dict[str, Callable[[World], object]] = {
    "nothing else": lambda _: None,
    "spot": lambda w: (w.instance.update(InstanceLifecycle="spot"), w.change(0, Lifecycle="spot")),
    "tags of other things": lambda w: (w.tag("team", "eks"), w.tag("weeks:left", "4")),
    "in a placement group": lambda w: w.instance["Placement"].update(GroupName="ring"),
    "in one by its id": lambda w: w.instance.update(
        Placement={"AvailabilityZone": ZONE, "GroupId": "pg-1"}),
    "copies": lambda w: (w.lines.extend(w.lines[20:]), w.rollups.extend(w.rollups[20:])),
    "restart": lambda w: w.restart(_minute(w), {}),
    "restart with a straddling report": lambda w: w.restart(_minute(w), {}, seconds=(30, 36)),
    "restart that knew nothing yet": lambda w: w.restart(
        _minute(w), {}, {**w.core("?", w.cores), "HostCpuPercent": None}, seconds=(58, 0)),
    "every bound": lambda w: (
        setattr(w, "now_ms", w.lines[-1][0] + 6 * MINUTE_MS), w.begin(0, others=9),
        w.launch(0), w.change(0, CoveredSeconds=45, HostCpuPercent=49.9 / w.vcpus),
        w.cluster(0, CoveragePercent=95)),
    "clock a minute behind": lambda w: setattr(w, "now_ms", w.lines[-1][0]),
    "other kinds of lines": lambda w: [
        w.say(_minute(w), Kind=kind, Seq=7000 + index, CoveredSeconds=None)
        for index, kind in enumerate(("more", "runtime", "event", "of a later release"))],
    "another instance's bad lines": lambda w: [
        w.say(_minute(w), InstanceId=OTHER, Message=INSTANCE, **NEWER),
        w.say(_minute(w), text_of(w.line(0, InstanceId=OTHER))[:-9])],
    "another cluster's bad rollups": lambda w: [
        w.publish(_minute(w), ClusterName=f"{CLUSTER}-2", Schema=2),
        w.publish(_minute(w), text_of(w.rollup(0, ClusterName=f"{CLUSTER}-2", RollupId=""))[:-9]),
        w.publish(30, ClusterName="dev", NeuronCores=8, BusyCores=8),
        w.publish(31, ClusterName="dev", NeuronCores=8, BusyCores=0)],
    "other lines about its cluster": lambda w: [
        w.publish(_minute(w), Kind="message"), w.publish(_minute(w), Kind=None, Schema=None)],
    "another instance's two emitters": lambda w: _rollup(
        w, DuplicateEmitters=1, DuplicateEmitterInstances=[OTHER]),
    "published again": lambda w: [
        w.cluster(30, 31, CoveragePercent=50, BusyCores=0), w.publish(30, Publication=2, late=9)],
    "rollups missing for nine minutes": lambda w: (w.begin(40), w.forget_rollups(20, 29)),
    "less than half fell with it": lambda w: w.fall(w.since, left=0.6),
    "less than half fell in the hour": lambda w: w.fall(30, left=0.6),
    "fleet fell twelve minutes before it": lambda w: w.fall(w.since - 11),
    "fleet fell between it and the hour": lambda w: (
        w.begin(60), w.fall(w.since + _minute(w, 12, 50))),
    "fleet began to work": lambda w: (
        w.cluster(LONG_AGO, 30, BusyCores=0) if w.since > -11 else None),
    "one alone": lambda w: w.begin(_minute(w), others=0),
    "one of two": lambda w: w.begin(_minute(w), others=1),
    "the count is short": lambda w: _late_count(w, is_fleet=False),
    "launched into a new cluster": _launched_into,
}  # fmt: skip


def _gone(w: World, **more: str) -> None:
    holder = {"Cores": "0", "Name": "ml/a-0", "Pid": 7, "Tag": "1", "Gone": True}
    w.own("ml/a-0")
    w.change(59, Holders=[{**holder, **more}])


OWNED: dict[str, tuple[str, str | None, str, Callable[[World], object]]] = {
    "held": ("ask", JOB, "scontrol show job 4711", World.own),
    "idle for 20 minutes": ("ask", JOB, "for 20 min", lambda w: (w.begin(-40), w.own(quiet=20))),
    "reserved": ("ask", "ml/a-0/main", "kubectl describe pod a-0 -n ml",
                 lambda w: w.own("ml/a-0/main", Cores=None, Reserved=f"0-{w.cores - 1}")),
    "account that says nothing": ("ask", JOB, "sstat -a -j 4711", lambda w: (
        w.own(), w.answers.update(dict.fromkeys(w.answers, REFUSALS[0])))),
    "no rollups": ("ask", JOB, "scontrol", lambda w: (w.own(), w.forget_rollups(LONG_AGO))),
    "unnamed": ("ask", None, "aws ec2 describe-tags", lambda w: w.own("[unnamed]")),
    "pod that is gone": ("ask", None, "kubectl get pod a-0 -n ml", _gone),
    "holds what was given to another": ("ask", "ml/b-0", "kubectl describe pod b-0 -n ml",
                                        lambda w: _gone(w, GivenTo="ml/b-0")),
    "name of no form": ("ask", "ml/a;reboot", "aws ec2 describe-tags",
                        lambda w: w.own("ml/a;reboot")),
    "busy elsewhere": ("leave", None, "uses 16 of 48",
                       lambda w: w.own(row={"HeldCores": 48, "BusyCores": 16})),
    "executes elsewhere": ("leave", None, "executes", lambda w: w.own(row={"Executions": 80})),
    "rank that waits": ("leave", None, "3 of 4 work",
                        lambda w: w.own("ml/a-3", row={"Siblings": 4, "IdleSiblings": 1})),
    "little used": ("leave", None, "something executed",
                    lambda w: (w.own(QuietMinutes=None), w.change(59, Executions=80))),
    "executions unread": ("leave", None, f"{JOB} held cores", lambda w: w.own(QuietMinutes=None)),
    "just started": ("leave", None, f"{JOB} held cores", lambda w: w.own(quiet=3)),
    "uses part": ("leave", None, "a core was busy",
                  lambda w: (w.own(Cores="0"), w.change(59, **w.core("b")))),
    "emitter that is gone": ("leave", None, "14 min old", lambda w: (
        w.own(), setattr(w, "now_ms", w.lines[-1][0] + 15 * MINUTE_MS))),
    "kept": ("leave", None, "tag neuron-emf:keep", lambda w: (w.own(), w.tag("neuron-emf:keep"))),
}  # fmt: skip
"""The answer, who is asked, and what it says."""
