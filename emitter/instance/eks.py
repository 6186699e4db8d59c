"""
The EKS cluster of this node.

Nothing that EKS runs tells a pod its cluster, so variables are what the person
who deployed us set. Then the tags that nodes carry: EKS's own on managed nodes,
Karpenter's, eksctl's, and the one that every node of a cluster must have, from
https://docs.aws.amazon.com/eks/latest/userguide/worker.html. The metadata
service cannot have those with a slash, nor any others beside them; the EC2 API has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.instance.cluster_source import FoundCluster, NotFound, Surroundings, name_in
from emitter.instance.instance_tags import TagsUnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE: Final = "EKS_CLUSTER_NAME"
POD_VARIABLE: Final = "CLUSTER_NAME"  # too common a name to mean this outside a pod
IN_A_POD: Final = "KUBERNETES_SERVICE_HOST"  # set by Kubernetes in every container

NAME_TAGS: Final = (
    "aws:eks:cluster-name", "eks:cluster-name", "eks:eks-cluster-name",
    "alpha.eksctl.io/cluster-name",
)  # fmt: skip
OWNER_TAG: Final = "kubernetes.io/cluster/"  # and the name; the value is `owned` or `shared`


def eks(around: Surroundings, /) -> FoundCluster | NotFound:
    """The name in a variable, else in a tag that the metadata service has."""
    variables = (VARIABLE, POD_VARIABLE) if around.environ.get(IN_A_POD) else (VARIABLE,)
    for variable in variables:
        if name := name_in(around.environ.get(variable)):
            return FoundCluster(name, f"the variable {variable}")
    unset = " and ".join(variables) + (" are" if len(variables) > 1 else " is") + " not set"
    try:
        found = eks_in_tags(around.tags.read())
    except TagsUnavailableError as error:
        return NotFound(f"{unset}; cannot read instance tags: {error}")
    return found or NotFound(f"{unset}; the instance has no EKS tag")


def eks_in_tags(tags: Mapping[str, str]) -> FoundCluster | None:
    """The one cluster that *tags* name."""
    for tag in NAME_TAGS:
        if name := name_in(tags.get(tag)):
            return FoundCluster(name, f"the tag {tag}")
    for wanted in ("owned", "shared"):
        names = [
            key.removeprefix(OWNER_TAG)
            for key, value in tags.items()
            if key.startswith(OWNER_TAG) and value == wanted
        ]
        if len(names) == 1:
            return FoundCluster(names[0], f"the tag {OWNER_TAG}{names[0]}")
    return None
