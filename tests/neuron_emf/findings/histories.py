"""
Histories of instances that must never be stopped: one that may be, with one change each.

    world = idle_world()          an instance that has been idle for two hours, and may be stopped
    HISTORIES[name].spoil(world)  the same as it must never be stopped
    world.verdict(guards)         what guards say of it
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from neuron_emf.findings.facts import AccountFacts, Ec2Facts, GroupFacts, Untold, line_facts
from neuron_emf.findings.guards import GUARDS
from neuron_emf.findings.verdict import verdict
from neuron_wire import MinuteRecord, encode
from neuron_wire.holders import Holder
from neuron_wire.owners import Owner
from neuron_wire.phrases import iso_minute

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from neuron_emf.findings.guards import Guard
    from neuron_emf.findings.verdict import Verdict

MINUTE_MS = 60_000
START_MS = 1_763_625_600_000  # 2025-11-20T08:00:00Z
INSTANCE = "i-0123456789abcdef0"
TYPE = "inf2.48xlarge"
CORES = 24
ZONE = "us-west-2d"
ACCOUNT = "123456789012"
DENIED = Untold("the action is denied")


def idle_minute(index: int, **changes: Any) -> MinuteRecord:
    """A whole minute of a wholly idle instance that nobody holds, *index* minutes after START."""
    values: dict[str, Any] = {
        "cluster": "research",
        "instance_id": INSTANCE,
        "boot": "b1",
        "seq": index + 1,
        "minute_ms": START_MS + index * MINUTE_MS,
        "covered_seconds": 60.0,
        "reports": 4,
        "core_state": "u" * CORES,
        "utilization_percent": (0.0,) * CORES,
        "idle_minutes": (61 + index,) * CORES,
        "instance_type": TYPE,
        "region": "us-west-2",
        "availability_zone": ZONE,
        "account_id": ACCOUNT,
        "lifecycle": "on-demand",
        "readings": {"HostCpuPercent": 1.2},
    }
    return MinuteRecord(**{**values, **changes})


def rollup(index: int, **changes: Any) -> dict[str, Any]:
    """What close prints of the cluster: 8 instances, 96 of 192 cores busy."""
    return {
        "Schema": 1,
        "Kind": "rollup",
        "ClusterName": "research",
        "RollupId": f"research@{index}#1",
        "Minute": iso_minute(START_MS // MINUTE_MS + index),
        "Publication": 1,
        "CoveragePercent": 100,
        "NeuronCores": 192,
        "BusyCores": 96,
        **changes,
    }


def idle_account() -> AccountFacts:
    """On demand, without anything that keeps it."""
    return AccountFacts(
        ec2=Ec2Facts(
            state="running",
            instance_type=TYPE,
            availability_zone=ZONE,
            account_id=ACCOUNT,
            launched_ms=START_MS - 24 * 60 * MINUTE_MS,
            tags={"Name": "worker-7"},
        ),
        has_stop_protection=False,
        has_termination_protection=False,
        has_instance_store=False,
        group=GroupFacts("workers", "InService", is_protected=False, minimum=2, desired=8),
        ecs_clusters=(),
        sessions=0,
    )


@dataclass
class World:
    """
    Lines and account facts of one instance, and when they are looked at.

    Attributes:
        records: Its minutes; the 60 from `START_MS` on, unless somebody changes them.

        rollups: Lines of its cluster, two minutes behind.
    """

    records: list[MinuteRecord] = field(
        default_factory=lambda: [idle_minute(index) for index in range(60)]
    )
    rollups: list[dict[str, Any]] = field(
        default_factory=lambda: [rollup(index) for index in range(58)]
    )
    account: AccountFacts = field(default_factory=idle_account)
    now_ms: int = START_MS + 61 * MINUTE_MS
    paid_by_type: dict[str, str] = field(default_factory=dict)

    def minutes(self, first: int, last: int = 60, **changes: Any) -> None:
        """Change the minutes from *first* to before *last*."""
        self.records[first:last] = [replace(one, **changes) for one in self.records[first:last]]

    def cluster(self, first: int, last: int = 60, **changes: Any) -> None:
        """Change the rollups from *first* to before *last*."""
        self.rollups[first:last] = [{**one, **changes} for one in self.rollups[first:last]]

    def ec2(self, **changes: Any) -> None:
        """Change what EC2 says."""
        self.account = replace(self.account, ec2=replace(self.account.ec2, **changes))

    def tag(self, key: str, value: str = "") -> None:
        """Add a tag."""
        self.ec2(tags={**self.account.ec2.tags, key: value})

    def told(self, **changes: Any) -> None:
        """Change what else the account says."""
        self.account = replace(self.account, **changes)

    def group(self, **changes: Any) -> None:
        """Change its auto-scaling group."""
        self.told(group=replace(self.account.group, **changes))

    @property
    def lines(self) -> list[str]:
        """The records as the emitter wrote them."""
        return [encode({"Timestamp": one.minute_ms, **one.members()}) for one in self.records]

    def verdict(self, guards: Sequence[Guard] = GUARDS) -> Verdict:
        """What *guards* say."""
        rollups = [json.dumps(one) for one in self.rollups]
        lines = line_facts(self.lines, rollups, INSTANCE, self.now_ms, self.paid_by_type)
        return verdict(lines, self.account, guards)


def idle_world() -> World:
    """An instance that may be stopped."""
    return World()


def cores(letter: str, core: int = 3) -> dict[str, Any]:
    """One core is in another state."""
    percent = {"b": 40.0, "?": None}.get(letter, 0.0)
    return {
        "core_state": "u" * core + letter + "u" * (CORES - core - 1),
        "utilization_percent": (0.0,) * core + (percent,) + (0.0,) * (CORES - core - 1),
    }


HELD = {
    **cores("a"),
    "holders": (Holder("3", name="ml/llama-0", pid=71, tag="1"),),
    "owners": (Owner("3", "ml/llama-0"),),
}
BUSY_CPU = {"readings": {"HostCpuPercent": 61.5}}


def _second_emitter(world: World) -> None:
    world.records += [idle_minute(index, boot="b2") for index in range(50, 60)]


def _forged(world: World) -> None:
    """Its own emitter says that cores are busy, and another machine's lines cover more."""
    world.minutes(0, covered_seconds=50.0, **cores("b"))
    world.records += [idle_minute(index, boot="b0") for index in range(60)]


def _restart(world: World) -> None:
    world.minutes(30, 31, covered_seconds=12.0)
    world.minutes(31, 60, boot="b2")


def _clock_ahead(world: World) -> None:
    world.now_ms -= 3 * 60 * MINUTE_MS
    world.rollups = [rollup(index) for index in range(-180, 58)]
    world.ec2(launched_ms=START_MS - 24 * 60 * MINUTE_MS)


def _clock_back(world: World) -> None:
    """Ten minutes of reports went to one minute, and the labels in between are missing."""
    del world.records[20:30]


def _gap_of_rollups(world: World) -> None:
    del world.rollups[20:40]


def _a_day_later(world: World) -> None:
    world.now_ms += 24 * 60 * MINUTE_MS
    world.rollups = [rollup(index) for index in range(1500)]


def _replaced(name: str) -> Callable[[World], None]:
    return lambda world: world.told(**{name: DENIED})


OF_EC2 = (
    "running same-instance launched keep-tag purchase eks karpenter parallelcluster operator "
    "placement-group ultraserver"
)


class History(NamedTuple):
    """What is spoilt, and the guards that hold the instance back then."""

    spoil: Callable[[World], object]
    held_back_by: str


HISTORIES = {
    name: History(spoil, guards)
    for name, guards, spoil in [
        # the lines are of another time
        ("an event a day old", "newest-line", _a_day_later),
        ("the newest line six minutes old", "newest-line",
         lambda w: setattr(w, "now_ms", w.now_ms + 5 * MINUTE_MS)),
        ("a clock three hours ahead", "newest-line", _clock_ahead),
        ("the emitter shut down a minute ago", "newest-line", lambda w: w.minutes(59, bye=True)),
        # an hour is not known whole
        ("a telemetry gap", "whole-hour", lambda w: w.records.__delitem__(slice(40, 43))),
        ("a minute with 44 seconds", "whole-hour", lambda w: w.minutes(10, 11, covered_seconds=44)),
        ("a clock step back", "whole-hour", _clock_back),
        ("a restart of the emitter", "whole-hour", _restart),
        ("lines since twenty minutes", "whole-hour", lambda w: w.records.__delitem__(slice(40))),
        # cores are not known
        ("a core unknown for a minute", "known-cores", lambda w: w.minutes(7, 8, **cores("?"))),
        ("a tag filter hides cores", "known-cores",
         lambda w: w.minutes(0, core_state="u" * 20 + "?" * 4,
                             utilization_percent=(0.0,) * 20 + (None,) * 4)),
        ("an emitter that sees two of twelve devices", "known-cores",
         lambda w: w.minutes(0, core_state="uuuu", utilization_percent=(0.0,) * 4,
                             idle_minutes=(99,) * 4)),
        ("a minute with fewer cores", "known-cores",
         lambda w: w.minutes(30, 31, core_state="u" * 22, utilization_percent=(0.0,) * 22,
                             idle_minutes=(99,) * 22)),
        ("no number of cores", "known-cores idle-cores",
         lambda w: w.minutes(0, core_state="", utilization_percent=(), idle_minutes=())),
        ("a type that nobody knows", "known-cores",
         lambda w: (w.minutes(0, instance_type="trn9.48xlarge"),
                    w.ec2(instance_type="trn9.48xlarge"))),
        ("a type that no line tells", "known-cores same-instance",
         lambda w: w.minutes(0, instance_type=None)),
        # cores work
        ("one core busy", "idle-cores", lambda w: w.minutes(0, **cores("b"))),
        ("a run of one minute half an hour ago", "idle-cores",
         lambda w: w.minutes(30, 31, **cores("b"))),
        ("a step every hour", "idle-cores", lambda w: w.minutes(0, 1, **cores("b", 23))),
        ("a burst too short for the mean", "idle-cores",
         lambda w: w.minutes(59, idle_minutes=(*(120,) * 23, 0))),
        ("idle for 59 minutes", "idle-cores", lambda w: w.minutes(59, idle_minutes=(59,) * 24)),
        # somebody holds cores
        ("loading weights for 40 minutes", "no-holder", lambda w: w.minutes(20, **HELD)),
        ("loading weights, the disks busy too", "no-holder host-cpu",
         lambda w: w.minutes(20, **HELD, **BUSY_CPU)),
        ("checkpointing between two steps", "no-holder",
         lambda w: w.minutes(0, **HELD)),
        ("a job that starts between two looks", "no-holder", lambda w: w.minutes(59, **HELD)),
        ("a job that ended in the hour", "no-holder", lambda w: w.minutes(0, 10, **HELD)),
        ("a notebook that holds a core", "no-holder",
         lambda w: w.minutes(0, **{**HELD, "holders": (), "owners": ()})),
        ("a held core that no name is told of", "no-holder",
         lambda w: w.minutes(50, owners_more="5")),
        ("an owner beside the idle cores", "no-holder",
         lambda w: w.minutes(
             58, owners=(Owner("0-3", "slurm:4711 ml-user"), Owner("4-5", "slurm:9 ann")))),
        # the host works
        ("compiling on the CPU", "host-cpu", lambda w: w.minutes(45, **BUSY_CPU)),
        ("compiling in one minute", "host-cpu", lambda w: w.minutes(3, 4, **BUSY_CPU)),
        ("downloading at 5 percent", "host-cpu",
         lambda w: w.minutes(0, readings={"HostCpuPercent": 5.0})),
        ("no vCPU group", "host-cpu", lambda w: w.minutes(0, readings={})),
        ("the vCPU group missing in one minute", "host-cpu",
         lambda w: w.minutes(59, readings={})),
        # it is paid for
        ("a capacity block by its line", "not-sunk",
         lambda w: w.minutes(0, lifecycle="capacity-block")),
        ("run --paid sunk", "not-sunk", lambda w: w.minutes(0, paid="sunk")),
        ("PaidByType says sunk", "not-sunk", lambda w: w.paid_by_type.update({TYPE: "sunk"})),
        ("a capacity block by EC2", "purchase", lambda w: w.ec2(lifecycle="capacity-block")),
        ("an on-demand reservation", "purchase",
         lambda w: w.ec2(capacity_reservation_id="cr-0123456789abcdef0")),
        ("an interruptible reservation", "purchase",
         lambda w: w.ec2(lifecycle="interruptible-capacity-reservation")),
        # who writes the lines
        ("two emitters", "one-emitter", _second_emitter),
        ("lines forged beside its own emitter", "one-emitter", _forged),
        ("lines forged by another type", "same-instance",
         lambda w: w.ec2(instance_type="inf2.24xlarge")),
        ("lines of an instance in another zone", "same-instance",
         lambda w: w.ec2(availability_zone="us-west-2a")),
        ("lines of another account", "same-instance", lambda w: w.minutes(0, account_id="2" * 12)),
        ("a guessed InstanceId", "same-instance", lambda w: w.minutes(0, identity_guessed=True)),
        ("lines of an instance launched just now", "launched",
         lambda w: w.ec2(launched_ms=w.now_ms - 20 * MINUTE_MS)),
        # its cluster
        ("a fleet all silent at once", "coverage", lambda w: w.cluster(55, CoveragePercent=12.5)),
        ("a cluster with a silent tenth", "coverage", lambda w: w.cluster(0, CoveragePercent=90)),
        ("coverage that nobody tells", "coverage",
         lambda w: [one.pop("CoveragePercent") for one in w.rollups]),
        ("no rollups", "coverage no-fleet-change", lambda w: w.rollups.clear()),
        ("a gap of rollups", "no-fleet-change", _gap_of_rollups),
        ("half a fleet idle at once", "no-fleet-change", lambda w: w.cluster(40, BusyCores=0)),
        ("half a fleet idle after a minute without cores", "no-fleet-change",
         lambda w: (w.cluster(10, 11, NeuronCores=0), w.cluster(40, BusyCores=0))),
        ("half a fleet idle after the first minute", "no-fleet-change",
         lambda w: w.cluster(1, BusyCores=0)),
        ("half a fleet idle for a minute", "no-fleet-change",
         lambda w: w.cluster(1, 2, BusyCores=0)),
        ("a cluster whose cores nobody counts", "no-fleet-change",
         lambda w: [one.pop("NeuronCores") for one in w.rollups]),
        ("half a fleet idle within ten minutes", "no-fleet-change",
         lambda w: [w.cluster(40 + step, BusyCores=96 - 10 * step) for step in range(10)]
         and w.cluster(50, BusyCores=0)),
        # somebody keeps it
        ("a keep tag", "keep-tag", lambda w: w.tag("neuron-emf:keep")),
        ("a keep tag that says false", "keep-tag", lambda w: w.tag("neuron-emf:keep", "false")),
        ("stop protection", "stop-protection", lambda w: w.told(has_stop_protection=True)),
        ("termination protection", "termination-protection",
         lambda w: w.told(has_termination_protection=True)),
        ("a group at its minimum", "group-minimum", lambda w: w.group(desired=2)),
        ("a group that is about to launch it", "group-minimum", lambda w: w.group(state="Pending")),
        ("protection from scale-in", "group-protection", lambda w: w.group(is_protected=True)),
        ("an EKS node", "eks", lambda w: w.tag("kubernetes.io/cluster/prod", "owned")),
        ("a node of a managed node group", "eks",
         lambda w: (w.tag("kubernetes.io/cluster/prod"), w.tag("eks:nodegroup-name", "trn"))),
        ("a Karpenter node", "karpenter", lambda w: w.tag("karpenter.sh/nodepool", "trn")),
        ("a ParallelCluster node", "parallelcluster",
         lambda w: w.tag("parallelcluster:node-type", "Compute")),
        ("an ECS container instance", "ecs",
         lambda w: w.told(ecs_clusters=("prod", "test"))),
        ("an instance of EKS Auto Mode", "operator",
         lambda w: w.ec2(managed_by="eks.amazonaws.com")),
        ("instance store", "instance-store", lambda w: w.told(has_instance_store=True)),
        ("a placement group", "placement-group", lambda w: w.ec2(placement_group="ring")),
        ("an UltraServer member by its line", "ultraserver",
         lambda w: w.minutes(0, ultraserver_id="us-0123456789abcdef0")),
        ("an open session", "sessions", lambda w: w.told(sessions=1)),
        ("an instance that is stopping", "running", lambda w: w.ec2(state="stopping")),
        # the account does not say
        ("EC2 denied", OF_EC2, _replaced("ec2")),
        ("stop protection denied", "stop-protection", _replaced("has_stop_protection")),
        ("termination protection denied", "termination-protection",
         _replaced("has_termination_protection")),
        ("instance types denied", "instance-store", _replaced("has_instance_store")),
        ("Auto Scaling unreachable", "group-minimum group-protection", _replaced("group")),
        ("ECS denied", "ecs", _replaced("ecs_clusters")),
        ("sessions denied", "sessions", _replaced("sessions")),
    ]
}  # fmt: skip
