"""
The auto-scaling group of this instance, as the name of a cluster that has no other.

EC2 Auto Scaling tags each instance that it starts; nobody can set or change a
tag that begins with `aws:`. From
https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-tagging.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.instance.cluster_source import FoundCluster, NotFound, Surroundings
from emitter.instance.instance_tags import TagsUnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping

TAG: Final = "aws:autoscaling:groupName"


def auto_scaling(around: Surroundings, /) -> FoundCluster | NotFound:
    """The name of the group, from the tags that the metadata service has."""
    try:
        found = group_in_tags(around.tags.read())
    except TagsUnavailableError as error:
        return NotFound(f"cannot read instance tags: {error}")
    return found or NotFound(f"the instance has no tag {TAG}")


def group_in_tags(tags: Mapping[str, str]) -> FoundCluster | None:
    """The group that *tags* name."""
    name = tags.get(TAG, "").strip()
    return FoundCluster(name, f"the tag {TAG}") if name else None
