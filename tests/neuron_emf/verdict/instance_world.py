"""
An instance that can be released, as raw lines and answers of AWS, with ways to spoil it.

No product code writes or judges these lines. Their members are written as a person would write
them, so that the author of a history knows without the product that it cannot be released.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from random import Random
from typing import TYPE_CHECKING, Any

from neuron_emf.check.aws_client import Answer
from neuron_wire.names import MINUTE_MS
from proof.factories.records import AN_INSTANCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from proof.account.account_double import AccountDouble

LAUNCHED = datetime(2025, 11, 20, 8, tzinfo=timezone.utc)


def bare_instance(instance_id: str, instance_type: str, zone: str, vcpus: int) -> dict[str, Any]:
    """Return AWS's answers about a running on-demand instance that can be released."""
    instance = {
        "InstanceId": instance_id,
        "InstanceType": instance_type,
        "LaunchTime": LAUNCHED,
        "State": {"Name": "running"},
        "Placement": {"AvailabilityZone": zone},
        "Tags": [{"Key": "Name", "Value": "worker-7"}],
    }
    described = {"OwnerId": "123456789012", "Instances": [instance]}
    return {
        "describe_instances": {"Reservations": [described]},
        "describe_instance_attribute": {
            "InstanceId": instance_id,
            "DisableApiStop": {"Value": False},
            "DisableApiTermination": {"Value": False},
        },
        "describe_instance_types": {
            "InstanceTypes": [
                {"InstanceStorageSupported": False, "VCpuInfo": {"DefaultVCpus": vcpus}}
            ]
        },
        "describe_auto_scaling_instances": {"AutoScalingInstances": []},
        "list_clusters": {"clusterArns": []},
        "describe_sessions": {"Sessions": []},
    }


WORLD_START_MS = 1_763_625_600_000  # 2025-11-20T08:00:00Z, the first minute of the hour
CORES_AND_VCPUS = {  # cores, vCPUs
    "inf2.xlarge": (2, 4),
    "inf2.24xlarge": (12, 96),
    "inf2.48xlarge": (24, 192),
    "trn1.32xlarge": (32, 128),
}
WORLD_CLUSTER = "research"
ZONE = "us-west-2d"
ECS_ARN = "arn:aws:ecs:us-west-2:123456789012"
MEMBER = f"{ECS_ARN}:container-instance/prod/{'0a' * 16}"
WORLD_JOB = "slurm:4711 ada"

Line = dict[str, Any]


class InstanceWorld:
    """
    Lines and answers about one instance of a cluster, varied by *seed*.

    The instance stopped working in minute `since`; the other instances work. Minutes are counted
    from the first of the hour: 59 is the newest, and the rollups are two minutes behind.

    Attributes:
        lines: Lines of the instance, each with the timestamp of its event.

        stream: Log stream of its lines.

        elsewhere: Lines of other log streams: name, timestamp and line.

        delay_ms: Time from the start of a minute until CloudWatch Logs receives its line.

        rollups: Rollups of its cluster, each with the timestamp of its event.

        answers: AWS's answers by operation.

        words: Arguments after the instance's ID.

        reservations: Value of Reservations in its lines.
    """

    def __init__(self, seed: int, manager: str = "alone") -> None:
        self.rng = Random(seed)
        self.type = self.rng.choice(list(CORES_AND_VCPUS))
        self.cores, self.vcpus = CORES_AND_VCPUS[self.type]
        self.now_ms = WORLD_START_MS + (60 + self.rng.randrange(5)) * MINUTE_MS
        self.words: list[str] = []
        self.stream = AN_INSTANCE
        self.elsewhere: list[tuple[str, int, Line | str]] = []
        self.delay_ms = MINUTE_MS + 1000
        self.answers = bare_instance(AN_INSTANCE, self.type, ZONE, self.vcpus)
        self.instance = self.answers["describe_instances"]["Reservations"][0]["Instances"][0]
        self.node: Line = {}
        self.reservations = "none" if manager in ("alone", "group") else "known"
        self.begin(self.rng.randrange(100), self.rng.randrange(7, 16))
        MANAGER_JOINS[manager](self)

    def begin(self, idle_before: int, others: int = 9) -> None:
        """
        Start the idle time *idle_before* minutes before the hour, with *others* busy instances.
        """
        self.since = -idle_before
        self.others = others
        self.busy = round(others * self.cores * self.rng.uniform(0.7, 1))
        self.lines: list[tuple[int, Line | str]] = []
        self.rollups: list[tuple[int, Line | str]] = []
        self.launch(self.since - 24 * 60)
        for at in range(self.since - 40, 60):
            self.say(at)
        for at in range(self.since - 40, 58):
            self.publish(at)

    def line(self, at: int, **changes: Any) -> Line:
        """Return its line of a minute, as its emitter writes it: busy until it becomes idle."""
        works = at < self.since
        return {
            "Timestamp": WORLD_START_MS + at * MINUTE_MS,
            "Schema": 1,
            "Kind": "minute",
            "Boot": "b1",
            "Seq": at + 500,
            "ClusterName": WORLD_CLUSTER,
            "InstanceId": AN_INSTANCE,
            "InstanceType": self.type,
            "Region": "us-west-2",
            "AvailabilityZone": ZONE,
            "AccountId": "123456789012",
            "Lifecycle": "on-demand",
            "CoveredSeconds": 60,
            "Reports": 4,
            "HostCpuPercent": 49 / self.vcpus,
            "Reservations": self.reservations,
            "CoreState": ("b" if works else "u") * self.cores,
            "NeuronCoreUtilization": [80 if works else 0] * self.cores,
            "CoreIdleMinutes": [max(0, at - self.since + 1)] * self.cores,
            **changes,
        }

    def rollup(self, at: int, **changes: Any) -> Line:
        """Return the rollup that close prints about its cluster."""
        minute = datetime.fromtimestamp(WORLD_START_MS / 1000 + at * 60, timezone.utc)
        return {
            "Timestamp": WORLD_START_MS + at * MINUTE_MS,
            "Schema": 1,
            "Kind": "rollup",
            "ClusterName": WORLD_CLUSTER,
            "RollupId": f"{WORLD_CLUSTER}@{at}#1",
            "Minute": minute.strftime("%Y-%m-%dT%H:%MZ"),
            "Publication": 1,
            "CoveragePercent": 100,
            "NeuronCores": (self.others + 1) * self.cores,
            "BusyCores": self.busy + self.cores * (at < self.since),
            **changes,
        }

    def say(self, at: int, text: str = "", **changes: Any) -> None:
        """Put its line of a minute, or another text, into the emitters' group."""
        self.lines.append((WORLD_START_MS + at * MINUTE_MS, text or self.line(at, **changes)))

    def say_in(self, stream: str, at: int, text: str = "", **changes: Any) -> None:
        """Put a line about a minute, or another text, into another log stream."""
        self.elsewhere.append(
            (stream, WORLD_START_MS + at * MINUTE_MS, text or self.line(at, **changes))
        )

    def put_into(self, account: AccountDouble) -> None:
        """Put all lines into both log groups of *account*, with equal moments in any order."""
        lines = [*((self.stream, *entry) for entry in self.lines), *self.elsewhere]
        self.rng.shuffle(lines)
        for stream, at_ms, line in lines:
            given = [(at_ms, text_of(line))]
            account.put(account.records_group, stream, given, self.delay_ms)
        rollups = [(at_ms, text_of(line)) for at_ms, line in self.rollups]
        self.rng.shuffle(rollups)
        account.put(account.rollups_group, "close", rollups)

    def publish(self, at: int, text: str = "", late: int = 2, **changes: Any) -> None:
        """Put the rollup of a minute, or another text, into its group, printed *late* later."""
        line = text or self.rollup(at, **changes)
        self.rollups.append((WORLD_START_MS + (at + late) * MINUTE_MS, line))

    def change(self, first: int, last: int = 60, **changes: Any) -> None:
        """Change members of its lines from *first* to before *last*; None removes a member."""
        _change(self.lines, first, last, changes)

    def cluster(self, first: int, last: int = 60, **changes: Any) -> None:
        """Change members of the rollups from *first* to before *last*."""
        _change(self.rollups, first, last, changes)

    def forget(self, first: int, last: int = 60) -> None:
        """Remove its lines from *first* to before *last*."""
        self.lines = [line for line in self.lines if not first <= _minute(line) < last]

    def forget_rollups(self, first: int, last: int = 60) -> None:
        """Remove rollups from *first* to before *last*."""
        self.rollups = [rollup for rollup in self.rollups if not first <= _minute(rollup) < last]

    def fall(self, first: int, last: int | None = None, left: float = 0.1) -> None:
        """End all but a share of the work in minute *first*, or in two steps until *last*."""
        half = self.busy * (1 + left) / 2 if last is not None else self.busy * left
        for at in range(first, 58):
            busy = self.busy * left if last is None or at >= last else half
            self.cluster(at, at + 1, BusyCores=int(busy) + self.cores * (at < self.since))

    def restart(
        self, at: int, before: Line, after: Line | None = None, seconds: tuple[int, int] = (30, 28)
    ) -> None:
        """Restart the emitter in a minute, so that the minute has two lines."""
        self.change(at, at + 1, CoveredSeconds=seconds[0], **before)
        for later in range(at + 1, 60):
            self.change(later, later + 1, Boot="b2", Seq=later - at + 1)
        self.say(at, Boot="b2", Seq=1, CoveredSeconds=seconds[1], **(after or {}))

    def core(self, letter: str, count: int = 1) -> Line:
        """Return members with some of its cores in another state."""
        first = self.rng.randrange(self.cores - count + 1)
        state = "u" * first + letter * count + "u" * (self.cores - first - count)
        percent = {"b": 40.0}.get(letter, 0.0)
        known = [percent if core == letter else 0.0 for core in state if core != "?"]
        return {"CoreState": state, "NeuronCoreUtilization": known}

    def held(self) -> Line:
        """Return members with a core that a process holds and does not use."""
        members = self.core("a")
        core = str(members["CoreState"].index("a"))
        return {**members, "Owners": [{"Cores": core, "Name": "ml/llama-0"}]}

    def own(
        self, name: str = WORLD_JOB, quiet: int = 60, row: Line | None = None, **more: Any
    ) -> None:
        """Give all cores to an owner, idle for the last *quiet* minutes; *row* is of a rollup."""
        owner = {"Cores": f"0-{self.cores - 1}", "Name": name, "QuietMinutes": quiet, **more}
        state = "a" if owner["Cores"] else "u"
        owned = {key: value for key, value in owner.items() if value is not None}
        self.change(60 - quiet, CoreState=state * self.cores, Owners=[owned])
        known = {"Owner": name, "Cores": self.cores, "AllocatedCores": self.cores, "BusyCores": 0}
        self.cluster(57, TopIdleOwners=[{**known, **(row or {})}])

    # --- the account ---

    def launch(self, at: int) -> None:
        """Launch it in a minute."""
        moment = datetime.fromtimestamp(WORLD_START_MS / 1000 + at * 60, timezone.utc)
        self.instance["LaunchTime"] = self.node["LaunchTime"] = moment

    def tag(self, key: str, value: str = "") -> None:
        """Add a tag."""
        self.instance["Tags"].append({"Key": key, "Value": value})

    def join_group(self, **changes: Any) -> None:
        """Put it into an Auto Scaling group above its minimum."""
        self.tag("aws:autoscaling:groupName", "workers")
        member = {
            "InstanceId": AN_INSTANCE,
            "AutoScalingGroupName": "workers",
            "AvailabilityZone": ZONE,
            "LifecycleState": "InService",
            "HealthStatus": "HEALTHY",
            "ProtectedFromScaleIn": False,
        }
        group = {
            "AutoScalingGroupName": "workers",
            "MinSize": 2,
            "MaxSize": 16,
            "DesiredCapacity": 3,
            "DefaultCooldown": 300,
            "AvailabilityZones": [ZONE],
            "HealthCheckType": "EC2",
            "CreatedTime": self.instance["LaunchTime"],
        }
        for part in (member, group):
            part.update({name: value for name, value in changes.items() if name in part})
        self.answers["describe_auto_scaling_instances"] = {"AutoScalingInstances": [member]}
        self.answers["describe_auto_scaling_groups"] = {"AutoScalingGroups": [group]}

    def leave_group(self) -> None:
        """Remove it from its group, with its tag."""
        self.instance["Tags"] = []
        self.answers["describe_auto_scaling_instances"] = {"AutoScalingInstances": []}

    def join_ecs(self, *ids: str) -> None:
        """List it in a cluster of ECS, which describes what it lists as *ids*."""
        self.answers["list_clusters"] = {"clusterArns": [f"{ECS_ARN}:cluster/prod"]}
        self.answers["list_container_instances"] = {"containerInstanceArns": [MEMBER]}
        described = [{"containerInstanceArn": MEMBER, "ec2InstanceId": ec2_id} for ec2_id in ids]
        self.answers["describe_container_instances"] = {"containerInstances": described}

    def join_hyperpod(self) -> None:
        """Make it a node of HyperPod, which EC2 does not know."""
        self.answers["describe_instances"] = Answer(
            "ec2:DescribeInstances", reason="refused", words="InvalidInstanceID.NotFound: none"
        )
        self.nodes: Line = {"InstanceGroupName": "workers", "Status": "InService", "TargetCount": 3}
        self.node |= {
            "InstanceId": AN_INSTANCE,
            "InstanceGroupName": "workers",
            "InstanceType": f"ml.{self.type}",
            "InstanceStatus": {"Status": "Running"},
            "Placement": {"AvailabilityZone": ZONE},
            "PrivatePrimaryIp": "10.1.57.141",
        }
        described = {
            "ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/0123456789ab",
            "ClusterName": "pod-1",
            "CreationTime": self.instance["LaunchTime"],
            "ClusterStatus": "InService",
        }
        self.answers["sagemaker.list_clusters"] = {"ClusterSummaries": [described]}
        self.answers["describe_cluster"] = {**described, "InstanceGroups": [self.nodes]}
        self.answers["describe_cluster_node"] = {"NodeDetails": self.node}

    def join_node_group(self) -> None:
        """Make it a node of a managed node group of EKS."""
        self.tag("eks:nodegroup-name", "trn")
        self.join_group()

    def join_ecs_group(self) -> None:
        """Put it into an ECS cluster and into the group of its capacity provider."""
        self.join_ecs(AN_INSTANCE)
        self.join_group()


MANAGER_JOINS: dict[str, Callable[[InstanceWorld], object]] = {
    "alone": lambda _: None,
    "group": InstanceWorld.join_group,
    "EKS node group": InstanceWorld.join_node_group,
    "Karpenter": lambda w: w.tag("karpenter.sh/nodepool", "trn"),
    "ECS": InstanceWorld.join_ecs_group,
    "HyperPod": InstanceWorld.join_hyperpod,
    "ParallelCluster": lambda w: w.tag("parallelcluster:node-type", "Compute"),
}


def text_of(line: Line | str) -> str:
    """Return a line as its group has it; a member with None is left out."""
    if isinstance(line, str):
        return line
    members = {name: value for name, value in line.items() if value is not None}
    return json.dumps(members, separators=(",", ":"))


def _minute(entry: tuple[int, Line | str]) -> int:
    line = entry[1]
    return -9999 if isinstance(line, str) else (line["Timestamp"] - WORLD_START_MS) // MINUTE_MS


def _change(entries: list[tuple[int, Line | str]], first: int, last: int, changes: Line) -> None:
    for entry in entries:
        if isinstance(entry[1], dict) and first <= _minute(entry) < last:
            entry[1].update(changes)
