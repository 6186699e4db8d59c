"""
The name of the cluster this instance belongs to: the first source that has one.

The order is from what a person said to what is only likely: the settings, the
orchestrator that started us, the one that runs the host, the group that the
instance is in. No source reads what the next one would, so a name never
depends on which of them was faster.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emitter import VARIABLE_PREFIX
from emitter.errors import SettingsError
from emitter.instance.cluster_source import (
    ClusterSource,
    FoundCluster,
    NotFound,
    Surroundings,
    cluster_in_tag,
)
from emitter.instance.ecs_cluster import AGENT_URL, ecs_agent, ecs_task
from emitter.instance.eks import NAME_TAGS, eks, eks_in_tags
from emitter.instance.identity import find_instance
from emitter.instance.instance_tags import InstanceTags, TagsUnavailableError
from emitter.instance.instance_tags_api import describe_tags
from emitter.instance.machine import board_instance_id
from emitter.instance.metadata_service import MetadataService
from emitter.instance.slurm import PARALLELCLUSTER_TAG, slurm
from emitter.settings import require_cluster
from emitter.settings.names import NO_CLUSTER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GIVEN: Final = "--cluster"
OTHERWISE: Final = "no source"
# EC2 Auto Scaling tags each instance that it starts; nobody can set or change a tag that begins
# with `aws:`. From
# https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-tagging.html
AUTO_SCALING_TAG: Final = "aws:autoscaling:groupName"
WANTED_TAGS: Final = (*NAME_TAGS, PARALLELCLUSTER_TAG, AUTO_SCALING_TAG)

_log = logging.getLogger(__name__)


def auto_scaling(around: Surroundings, /) -> FoundCluster | NotFound:
    """The name of the group, from the tags that the metadata service has."""
    try:
        found = cluster_in_tag(around.tags.read(), AUTO_SCALING_TAG)
    except TagsUnavailableError as error:
        return NotFound(f"cannot read instance tags: {error}")
    return found or NotFound(f"the instance has no tag {AUTO_SCALING_TAG}")


def tags_by_api(around: Surroundings, /) -> FoundCluster | NotFound:
    """The tags once more, by the EC2 API: for instances that keep them from their metadata."""
    instance_id = board_instance_id(around.root)
    region = around.region or around.environ.get("AWS_REGION")
    if instance_id is None or region is None:
        facts = find_instance(around.service, root=around.root)
        instance_id, region = facts.instance_id, region or facts.region
    if instance_id is None:
        return NotFound("not tried: the instance ID is unknown")
    try:
        tags = describe_tags(instance_id, region, environ=around.environ)
    except TagsUnavailableError as error:
        return NotFound(str(error))
    found = eks_in_tags(tags) or cluster_in_tag(tags, PARALLELCLUSTER_TAG)
    found = found or cluster_in_tag(tags, AUTO_SCALING_TAG)
    return found or NotFound("the instance has no tag with a cluster name")


SOURCES: Final[Sequence[tuple[str, ClusterSource]]] = (
    ("ECS task metadata", ecs_task),
    ("ECS agent", ecs_agent),
    ("EKS", eks),
    ("ParallelCluster and Slurm", slurm),
    ("auto-scaling group", auto_scaling),
    ("ec2:DescribeTags", tags_by_api),
)


def find_cluster(
    given: str = "",
    *,
    otherwise: str = "",
    region: str | None = None,
    environ: Mapping[str, str] | None = None,
    root: Path = Path("/"),
    agent_url: str = AGENT_URL,
) -> FoundCluster:
    """
    The cluster to write records for, within seconds.

    Args:
        given: What the flag, the variable or the configuration file says.

        otherwise: The name where no source has one; empty for none.

        region: The region that was given; for the EC2 API.

        environ: The variables of the process.

        root: Where the files of the machine are.

        agent_url: Where the ECS agent listens.

    Raises:
        SettingsError: If no source has a name, nor *otherwise*; or the one that has it gives a
            name that cannot be a CloudWatch dimension.
    """
    if given.strip():
        return FoundCluster(require_cluster(given), GIVEN)
    variables = os.environ if environ is None else environ
    service = MetadataService.from_environment(variables)
    around = Surroundings(
        variables, root, agent_url, service, InstanceTags(service, WANTED_TAGS), region
    )
    tried = [(f"{GIVEN}, {VARIABLE_PREFIX}_CLUSTER, configuration file", "not given")]
    for label, source in SOURCES:
        answer = source(around)
        if isinstance(answer, FoundCluster):
            _require_name(answer)
            _log.info("cluster found", extra={"cluster": answer.name, "where": answer.where})
            return answer
        tried.append((label, answer.why))
        if answer.is_final:
            break
    if otherwise:
        _log.warning(
            "No cluster name found: using %s. Set %s_CLUSTER to change it.",
            otherwise,
            VARIABLE_PREFIX,
        )
        return FoundCluster(otherwise, OTHERWISE)
    lines = "".join(f"\n  {label}: {why}" for label, why in tried)
    msg = f"{NO_CLUSTER} Tried, in this order:{lines}"
    raise SettingsError(msg)


def _require_name(cluster: FoundCluster) -> None:
    try:
        require_cluster(cluster.name)
    except SettingsError as error:
        msg = f"{cluster.where} has an unusable cluster name. {error}"
        raise SettingsError(msg) from error
