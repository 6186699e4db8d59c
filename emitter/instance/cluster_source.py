"""
What a source of the cluster's name is: a function that gives a name, or says why not.

Why not is for the person who reads that no source had one: a few words, no payload.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from emitter.instance.instance_tags import InstanceTags
    from emitter.instance.metadata_service import MetadataService


@dataclass(frozen=True, slots=True)
class FoundCluster:
    """
    A name and who gave it.

    Attributes:
        name: Cluster name, as found.

        where: Who gave it, for people, such as `the tag eks:cluster-name`.
    """

    name: str
    where: str


@dataclass(frozen=True, slots=True)
class NotFound:
    """
    Why a source has no name.

    Attributes:
        why: A few words for people.

        is_final: Whether the machine is this source's without doubt. A later
            source would then name another cluster, and the records of weeks
            would go there because one answer was late.
    """

    why: str
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """
    What a source may look at.

    Attributes:
        environ: The variables of the process.

        root: Where the files of the machine are.

        agent_url: Where the ECS agent listens.

        service: The instance metadata service.

        tags: The instance's tags as the metadata service has them.

        region: The region that was given, None when none was.
    """

    environ: Mapping[str, str]
    root: Path
    agent_url: str
    service: MetadataService
    tags: InstanceTags
    region: str | None = None


class ClusterSource(Protocol):
    """One way to learn the cluster's name; bounded in time, raises nothing."""

    def __call__(self, around: Surroundings, /) -> FoundCluster | NotFound:
        """The name, or why there is none."""
        ...


def cluster_in_tag(tags: Mapping[str, str], tag: str) -> FoundCluster | None:
    """The cluster that one of *tags* names."""
    name = tags.get(tag, "").strip()
    return FoundCluster(name, f"the tag {tag}") if name else None


def name_in(value: object) -> str:
    """
    The cluster's name out of a name or an ARN, empty when *value* is neither.

    `arn:aws:ecs:us-east-1:123456789012:cluster/training` is `training`.
    """
    if not isinstance(value, str):
        return ""
    text = value.strip()
    return text.rpartition("/")[2] if text.startswith("arn:") else text
