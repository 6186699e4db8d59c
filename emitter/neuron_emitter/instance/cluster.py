"""
Find the name of the cluster that this instance belongs to, in the first source that has one.

The order is from certain to likely: the settings, the orchestrator that started the emitter, the
orchestrator that runs the host, the group that the instance is in. No two sources read the same
place, so a name never depends on which source was faster. Each source has a time limit and raises
nothing.

Sources:
  ECS: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4-response.html
    https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-agent-introspection.html
    https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-agent-config.html
  EKS: https://docs.aws.amazon.com/eks/latest/userguide/worker.html
  ParallelCluster (the tag, and the file that custom actions read):
    https://docs.aws.amazon.com/parallelcluster/latest/ug/
  Slurm: https://slurm.schedmd.com/slurm.conf.html
  Auto Scaling: https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-tagging.html
"""

from __future__ import annotations

import logging
import os
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from neuron_emitter import VARIABLE_PREFIX
from neuron_emitter.errors import SettingsError
from neuron_emitter.instance.instance_facts import find_instance
from neuron_emitter.instance.instance_tags import (
    TagsUnavailableError,
    describe_tags,
    read_metadata_tags,
)
from neuron_emitter.instance.local_http import ECS_AGENT_URL, LocalHttpError, exchange
from neuron_emitter.instance.machine import (
    POD_MARK,
    TASK_MARK,
    assignments,
    board_instance_id,
    read_text,
)
from neuron_emitter.instance.metadata_service import MetadataService
from neuron_emitter.settings.minute_settings import NO_CLUSTER, require_cluster
from neuron_wire.names import region_of_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from neuron_emitter.instance.instance_tags import Tags

CLUSTER_OPTION: Final = "--cluster"

ECS_TASK_WAITS_S: Final = (0.25, 1.0)  # the agent behind the endpoint may be restarting
ECS_AGENT_FILE: Final = "etc/ecs/ecs.config"

# EKS gives a pod no cluster name of its own: a person sets these variables.
EKS_VARIABLE: Final = "EKS_CLUSTER_NAME"
POD_VARIABLE: Final = "CLUSTER_NAME"  # outside a pod, a variable of this name may mean anything
# EKS's own on managed nodes, Karpenter's, and eksctl's.
EKS_NAME_TAGS: Final = (
    "aws:eks:cluster-name",
    "eks:cluster-name",
    "eks:eks-cluster-name",
    "alpha.eksctl.io/cluster-name",
)
# followed by the name; the value is `owned` or `shared`
EKS_OWNER_TAG: Final = "kubernetes.io/cluster/"

PARALLELCLUSTER_FILE: Final = "etc/parallelcluster/cfnconfig"
PARALLELCLUSTER_TAG: Final = "parallelcluster:cluster-name"
SLURM_VARIABLE: Final = "SLURM_CLUSTER_NAME"  # set in the environment of every job
SLURM_CONF_FILES: Final = (
    "etc/slurm/slurm.conf",
    "opt/slurm/etc/slurm.conf",
    "etc/slurm-llnl/slurm.conf",
    "run/slurm/conf/slurm.conf",  # the place of slurmd if there is no file
)
# ParallelCluster gives every Slurm cluster this name, so it identifies none.
PARALLELCLUSTER_SLURM_NAME: Final = "parallelcluster"

AUTO_SCALING_TAG: Final = "aws:autoscaling:groupName"  # set on each instance of a group
WANTED_TAGS: Final = (*EKS_NAME_TAGS, PARALLELCLUSTER_TAG, AUTO_SCALING_TAG)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FoundCluster:
    """A cluster's name and its source, in words such as `the tag eks:cluster-name`."""

    name: str
    where: str


@dataclass(frozen=True, slots=True)
class NotFound:
    """
    The reason why a source has no name.

    Attributes:
        why: A few words for people, without the payload.

        is_final: True if this source certainly manages the machine. A later source would have
            another cluster's name, and weeks of records would go there because one answer was late.
    """

    why: str
    is_final: bool = False


_Answer = FoundCluster | NotFound


class ClusterSearch:
    """
    The sources of a cluster's name.

    Without variables and files, each source reports why it has no name.

    Args:
        environ: The variables of the process.

        root: The folder with the machine's files.

        agent_url: The address of the ECS agent.

        region: The configured region; for the EC2 API.
    """

    def __init__(
        self,
        environ: Mapping[str, str] | None = None,
        root: Path = Path("/"),
        agent_url: str = ECS_AGENT_URL,
        region: str | None = None,
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._root = root
        self._agent_url = agent_url
        self._region = region
        self._service = MetadataService.from_environment(self._environ)

    def ask_ecs_task(self) -> _Answer:
        """Return the name in the task's metadata, given as a name or an ARN."""
        uri = self._environ.get(TASK_MARK, "").strip()
        if not uri:
            return NotFound(f"{TASK_MARK} is not set")
        why = ""
        for wait_s in (0.0, *ECS_TASK_WAITS_S):
            time.sleep(wait_s)
            name, why = _ask_ecs(f"{uri.rstrip('/')}/task")
            if name:
                return FoundCluster(name, "the ECS task metadata endpoint")
        return NotFound(f"{why} (in an ECS task no other source is tried)", is_final=True)

    def ask_ecs_agent(self) -> _Answer:
        """Return the name from the agent, otherwise its configured name: the agent may be down."""
        name, why = _ask_ecs(f"{self._agent_url}/v1/metadata")
        if name:
            return FoundCluster(name, "the ECS agent")
        if name := name_in(dict(self._assignments(ECS_AGENT_FILE)).get("ECS_CLUSTER")):
            return FoundCluster(name, f"ECS_CLUSTER in /{ECS_AGENT_FILE}")
        return NotFound(f"{why}, and /{ECS_AGENT_FILE} has no ECS_CLUSTER")

    def find_eks_cluster(self) -> _Answer:
        """Return the name in a variable, otherwise in a tag from the metadata service."""
        is_pod = bool(self._environ.get(POD_MARK))
        variables = (EKS_VARIABLE, POD_VARIABLE) if is_pod else (EKS_VARIABLE,)
        for variable in variables:
            if name := name_in(self._environ.get(variable)):
                return FoundCluster(name, f"the variable {variable}")
        unset = " and ".join(variables) + (" are" if is_pod else " is") + " not set"
        tags, why = self._tags
        return eks_in_tags(tags) or NotFound(f"{unset}; {why or 'the instance has no EKS tag'}")

    def find_slurm_cluster(self) -> _Answer:
        """Return the name of the ParallelCluster cluster, otherwise Slurm's name."""
        if name := dict(self._assignments(PARALLELCLUSTER_FILE)).get("stack_name"):
            return FoundCluster(name, f"stack_name in /{PARALLELCLUSTER_FILE}")
        tags, why = self._tags
        if tagged := cluster_in_tag(tags, PARALLELCLUSTER_TAG):
            return tagged
        name = self._environ.get(SLURM_VARIABLE, "").strip()
        if name and name != PARALLELCLUSTER_SLURM_NAME:
            return FoundCluster(name, f"the variable {SLURM_VARIABLE}")
        given = self._environ.get("SLURM_CONF", "").strip().lstrip("/")
        for file in (given, *SLURM_CONF_FILES) if given else SLURM_CONF_FILES:
            # Slurm accepts its keys in any case (slurm.conf(5)); the first one counts.
            pairs = self._assignments(file)
            name = next((value for key, value in pairs if key.lower() == "clustername"), "")
            if name and name != PARALLELCLUSTER_SLURM_NAME:
                return FoundCluster(name, f"ClusterName in {self._root / file}")
        return NotFound(
            f"/{PARALLELCLUSTER_FILE} has no stack_name; {why or f'no tag {PARALLELCLUSTER_TAG}'}; "
            f"neither {SLURM_VARIABLE} nor slurm.conf has a name"
        )

    def find_auto_scaling_group(self) -> _Answer:
        """Return the group's name from the tags of the metadata service."""
        tags, why = self._tags
        reason = why or f"the instance has no tag {AUTO_SCALING_TAG}"
        return cluster_in_tag(tags, AUTO_SCALING_TAG) or NotFound(reason)

    def describe_tags(self) -> _Answer:
        """Return the cluster tag from the EC2 API, for instances without tags in their metadata."""
        instance_id = board_instance_id(self._root)
        region = self._region or region_of_variables(self._environ)
        if instance_id is None or region is None:
            facts = find_instance(self._service, root=self._root)
            instance_id = facts.instance_id
            region = region or facts.region
        if instance_id is None:
            return NotFound("not tried: the instance ID is unknown")
        try:
            tags = describe_tags(instance_id, region, environ=self._environ)
        except TagsUnavailableError as error:
            return NotFound(str(error))
        return (
            eks_in_tags(tags)
            or cluster_in_tag(tags, PARALLELCLUSTER_TAG)
            or cluster_in_tag(tags, AUTO_SCALING_TAG)
            or NotFound("the instance has no tag with a cluster name")
        )

    @cached_property
    def _tags(self) -> tuple[Tags, str]:
        """Return the tags from the metadata service, and why there are none."""
        try:
            return read_metadata_tags(self._service, WANTED_TAGS), ""
        except TagsUnavailableError as error:
            return {}, f"cannot read instance tags: {error}"

    def _assignments(self, file: str) -> Sequence[tuple[str, str]]:
        return list(assignments(read_text(self._root / file) or ""))


SOURCES: Final[Sequence[tuple[str, Callable[[ClusterSearch], _Answer]]]] = (
    ("ECS task metadata", ClusterSearch.ask_ecs_task),
    ("ECS agent", ClusterSearch.ask_ecs_agent),
    ("EKS", ClusterSearch.find_eks_cluster),
    ("ParallelCluster and Slurm", ClusterSearch.find_slurm_cluster),
    ("auto-scaling group", ClusterSearch.find_auto_scaling_group),
    ("ec2:DescribeTags", ClusterSearch.describe_tags),
)


def find_cluster(given: str, search: ClusterSearch, *, otherwise: str = "") -> FoundCluster:
    """
    Return the cluster to write records for, within seconds.

    Args:
        given: The cluster from the flag, the variable or the configuration file.

        search: The sources to search if no cluster is set.

        otherwise: The name if no source has one; empty for none.

    Raises:
        SettingsError: If neither a source nor *otherwise* has a name, or if a source has a name
            that cannot be a CloudWatch dimension.
    """
    if given.strip():
        return FoundCluster(require_cluster(given), CLUSTER_OPTION)
    tried = [(f"{CLUSTER_OPTION}, {VARIABLE_PREFIX}_CLUSTER, configuration file", "not given")]
    for label, source in SOURCES:
        answer = source(search)
        if isinstance(answer, FoundCluster):
            try:
                require_cluster(answer.name)
            except SettingsError as error:
                msg = f"{answer.where} has an unusable cluster name. {error}"
                raise SettingsError(msg) from error
            _log.info("cluster found", extra={"cluster": answer.name, "where": answer.where})
            return answer
        tried.append((label, answer.why))
        if answer.is_final:
            break
    if otherwise:
        said = "No cluster name found: using %s. Set %s_CLUSTER to change it."
        _log.warning(said, otherwise, VARIABLE_PREFIX)
        return FoundCluster(otherwise, "no source")
    lines = "".join(f"\n  {label}: {why}" for label, why in tried)
    msg = f"{NO_CLUSTER} Tried, in this order:{lines}"
    raise SettingsError(msg)


def eks_in_tags(tags: Tags) -> FoundCluster | None:
    """Return the EKS cluster in *tags*; None if they name none or more than one."""
    for tag in EKS_NAME_TAGS:
        if name := name_in(tags.get(tag)):
            return FoundCluster(name, f"the tag {tag}")
    for wanted in ("owned", "shared"):
        keys = [key for key, value in tags.items() if value == wanted]
        keys = [key for key in keys if key.startswith(EKS_OWNER_TAG)]
        if len(keys) == 1:
            return FoundCluster(keys[0].removeprefix(EKS_OWNER_TAG), f"the tag {keys[0]}")
    return None


def cluster_in_tag(tags: Tags, tag: str) -> FoundCluster | None:
    """Return the cluster in the value of *tag*."""
    name = tags.get(tag, "").strip()
    return FoundCluster(name, f"the tag {tag}") if name else None


def name_in(value: object) -> str:
    """
    Return the cluster's name from a name or an ARN; empty if *value* is neither.

    `arn:aws:ecs:us-east-1:123456789012:cluster/training` is `training`.

    >>> name_in("arn:aws:ecs:us-east-1:123456789012:cluster/training")
    'training'
    """
    if not isinstance(value, str):
        return ""
    text = value.strip()
    return text.rpartition("/")[2] if text.startswith("arn:") else text


def _ask_ecs(url: str) -> tuple[str, str]:
    """Return the cluster's name in the response of *url*, or an empty name and the reason."""
    try:
        reply = exchange(url)
        if reply.status != 200:
            return "", f"status {reply.status}"
        name = name_in(reply.json_object().get("Cluster"))
    except LocalHttpError as error:
        return "", str(error)
    return name, "" if name else "no cluster in its response"
