"""
The managers of instances, and how each releases an instance.

Pure. The manager is known from tags, the operator that EC2 names, Auto Scaling, ECS and SageMaker.
A command contains a name only in the form of its kind, and never the value of a tag. Nodes of
Kubernetes are found by the instance's own ID. None of this has been run on AWS. The tags and
commands in `managers.toml` are those of

* https://docs.aws.amazon.com/eks/latest/userguide/eks-using-tags.html (node groups)
* https://docs.aws.amazon.com/eks/latest/userguide/automode-learn-instances.html
* https://karpenter.sh/docs/concepts/nodeclasses/ and https://karpenter.sh/docs/concepts/disruption/
* https://docs.aws.amazon.com/AmazonECS/latest/developerguide/instance-details-tags-managed-instances.html
* https://docs.aws.amazon.com/AmazonECS/latest/developerguide/container-instance-draining.html
* https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-scale-down.html (HyperPod)
* https://docs.aws.amazon.com/parallelcluster/latest/ug/tags-v3.html
* https://docs.aws.amazon.com/pcs/latest/userguide/working-with_compute-instances.html
* https://docs.aws.amazon.com/batch/latest/userguide/security-iam-awsmanpol.html
* https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html (only AWS sets `aws:` tags)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from neuron_emf.cost.tariff import read_toml
from neuron_wire.names import AWS_REGION, EC2_INSTANCE_ID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_wire.line_members import Texts

MANAGER_TABLES: Final = read_toml(Path(__file__).with_name("managers.toml"))
"""The table of each manager in `managers.toml`, by the manager's name."""

_ID_FORMS: Final = {
    "instance": EC2_INSTANCE_ID,
    "region": AWS_REGION,
    "zone": re.compile(AWS_REGION.pattern + "(?:-[a-z]{3,4}-[0-9])?[a-z]"),
    "stop": re.compile(r"(?:stop|terminate)-instances"),
    "ecs_cluster": re.compile(r"[a-zA-Z0-9_-]{1,255}"),
    "container_instance": re.compile(
        r"arn:aws[a-z-]{0,10}:ecs:[a-z0-9-]{6,20}:[0-9]{12}:container-instance/[a-zA-Z0-9_-]{1,255}/[0-9a-f]{32}"
    ),
    "hyperpod_cluster": re.compile(r"[a-zA-Z0-9](?:-?[a-zA-Z0-9]){0,62}"),
    "slurm_node": re.compile(r"ip(?:-[0-9]{1,3}){4}"),
}
_STARTS_NOTHING: Final = (
    "aws:cloudformation:",
    "aws:ec2launchtemplate:",
    "aws:createdby",
    "aws:servicecatalog:",
)
_BATCH_NAME: Final = re.compile(r"AWSBatch-.*|.+_Batch_[0-9a-f-]{36}")
_COMMAND_WORD: Final = re.compile(r"[a-zA-Z0-9_.:/-]{1,128}")


@dataclass(frozen=True, slots=True)
class Manager:
    """
    The manager of an instance.

    Attributes:
        kind: Its name for people, a key of `MANAGER_TABLES`.

        sign: The evidence, such as `tag eks:nodegroup-name`; empty if there is no manager.

        leave: Why the instance is kept and what to reduce; empty if it can be released.

        steps: Commands with placeholders for names.

        names: Names that the manager provides.
    """

    kind: str
    sign: str = ""
    leave: str = ""
    steps: tuple[str, ...] = ()
    names: Texts = field(default_factory=dict)

    @property
    def places_work(self) -> bool:
        """True if it is a scheduler: the first command stops its placement."""
        return len(self.steps) > 1

    def commands(
        self, instance: str, region: str, zone: str = "", *, is_spot: bool = False
    ) -> tuple[str, ...]:
        """
        Return the commands that release *instance*, in order, for one shell and five minutes.

        Those of Kubernetes run where kubectl reaches its cluster. None if the instance is kept, or
        if a name does not have the form of its kind.
        """
        # EC2 does not stop such spot instances
        stop = "terminate-instances" if is_spot else "stop-instances"
        names = {**self.names, "instance": instance, "region": region, "zone": zone, "stop": stop}
        formed = {key: name for key, name in names.items() if _ID_FORMS[key].fullmatch(name)}
        try:
            return tuple(step.format_map(formed) for step in self.steps)
        except KeyError:
            return ()


def manager_of(
    tags: Texts,
    operator: str = "",
    group: str | None = None,
    container_instances: Sequence[str] = (),
) -> Manager:
    """
    Return the manager of an instance that EC2 describes.

    Args:
        tags: Its tags, by key.

        operator: The service that operates it by EC2's answer, empty for none.

        group: Name of its Auto Scaling group, by Auto Scaling's answer.

        container_instances: ARNs by which ECS knows it.
    """
    if operator:
        name = f" {operator}" if _COMMAND_WORD.fullmatch(operator) else ""
        kinds = (kind for kind, row in MANAGER_TABLES.items() if row.get("operator") == operator)
        return _manager(next(kinds, "unknown"), f"operator{name}")
    ecs = {arn: arn.split("/")[1] if arn.count("/") == 2 else "" for arn in container_instances}
    if any(map(_BATCH_NAME.fullmatch, (group or "", *ecs.values()))):
        return _manager("AWS Batch", "name of its group or ECS cluster")
    scheduler = _by_tags("tags", tags)
    if scheduler and scheduler.leave:
        return scheduler
    if len(ecs) + bool(scheduler) > 1:
        return _manager("unknown", "more than one scheduler")
    table = MANAGER_TABLES[scheduler.kind] if scheduler else {}
    if scheduler and group is None and "keep_without_group" in table:
        return replace(scheduler, leave=table["keep_without_group"], steps=())
    return scheduler or _without_tags_of_a_scheduler(tags, group, ecs)


def hyperpod_manager(cluster: str, slurm_node: str = "") -> Manager:
    """
    Return the manager of an instance that SageMaker lists in *cluster* and EC2 does not describe.

    The instance runs in an account of SageMaker. *slurm_node* is its name in Slurm, such as
    `ip-10-1-57-141`; empty with EKS, whose name is `hyperpod-` and the instance's ID.
    """
    steps = MANAGER_TABLES["HyperPod"]["slurm_commands" if slurm_node else "commands"]
    names = {"hyperpod_cluster": cluster, "slurm_node": slurm_node}
    return Manager("HyperPod", "SageMaker lists it", steps=tuple(steps), names=names)


def _without_tags_of_a_scheduler(tags: Texts, group: str | None, ecs: Texts) -> Manager:
    """Return the service that started it and would start another, where ECS drains it first."""
    starter = _by_tags("fleet_tags", tags) or _by_other_services(tags) or _manager("alone", "")
    if group is not None:
        starter = _manager("Auto Scaling group", "Auto Scaling lists it")
    for arn, cluster in () if starter.leave else ecs.items():
        steps = (*MANAGER_TABLES["ECS"]["commands"], *starter.steps)
        names = {"ecs_cluster": cluster, "container_instance": arn}
        return Manager("ECS", "ECS lists it", steps=steps, names=names)
    return starter


def _by_other_services(tags: Texts) -> Manager | None:
    others = [
        key
        for key in sorted(tags)
        if key.startswith("aws:") and not key.lower().startswith(_STARTS_NOTHING)
    ]
    return _manager("unknown", _tag(others[0])) if others else None


def _manager(kind: str, sign: str) -> Manager:
    row = MANAGER_TABLES[kind]
    return Manager(kind, sign, row.get("keep", ""), tuple(row.get("commands", ())))


def _by_tags(member: str, tags: Texts) -> Manager | None:
    """Return the first manager with a tag that contains a part in *member* of its table."""
    keys = {key: f":{key}".lower() for key in sorted(tags)}  # both eks: and aws:eks:
    for kind, row in MANAGER_TABLES.items():
        for key, text in keys.items():
            if any(part in text for part in row.get(member, ())):
                return _manager(kind, _tag(key))
    return None


def _tag(key: str) -> str:
    return f"tag {key}" if _COMMAND_WORD.fullmatch(key) else "a tag"
