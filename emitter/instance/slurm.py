"""
The cluster of this ParallelCluster or Slurm node.

ParallelCluster calls every Slurm cluster `parallelcluster`, so that name names
none: its own file and its own tag are asked first. From
https://docs.aws.amazon.com/parallelcluster/latest/ug/ (the tag, and the file that
custom actions read) and https://slurm.schedmd.com/slurm.conf.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.instance.cluster_source import FoundCluster, NotFound, Surroundings, cluster_in_tag
from emitter.instance.instance_tags import TagsUnavailableError
from emitter.instance.small_files import assignments, read_text

if TYPE_CHECKING:
    from pathlib import Path

PARALLELCLUSTER_FILE: Final = "etc/parallelcluster/cfnconfig"
PARALLELCLUSTER_TAG: Final = "parallelcluster:cluster-name"
VARIABLE: Final = "SLURM_CLUSTER_NAME"  # in the environment of every job
FILE_VARIABLE: Final = "SLURM_CONF"
CONFIGURATION_FILES: Final = (
    "etc/slurm/slurm.conf",
    "opt/slurm/etc/slurm.conf",
    "etc/slurm-llnl/slurm.conf",
    "run/slurm/conf/slurm.conf",  # where slurmd keeps it when there is no file
)
NAME_OF_ALL: Final = "parallelcluster"


def slurm(around: Surroundings, /) -> FoundCluster | NotFound:
    """The name that ParallelCluster gave the cluster, else the one that Slurm has for it."""
    written = dict(assignments(read_text(around.root / PARALLELCLUSTER_FILE) or ""))
    if name := written.get("stack_name"):
        return FoundCluster(name, f"stack_name in /{PARALLELCLUSTER_FILE}")
    try:
        tagged = cluster_in_tag(around.tags.read(), PARALLELCLUSTER_TAG)
        tags = f"no tag {PARALLELCLUSTER_TAG}"
    except TagsUnavailableError as error:
        tagged, tags = None, f"cannot read instance tags: {error}"
    if tagged:
        return tagged
    if (name := around.environ.get(VARIABLE, "").strip()) and name != NAME_OF_ALL:
        return FoundCluster(name, f"the variable {VARIABLE}")
    for path in _configuration_files(around):
        name = _configured(path)
        if name and name != NAME_OF_ALL:
            return FoundCluster(name, f"ClusterName in {path}")
    return NotFound(
        f"/{PARALLELCLUSTER_FILE} has no stack_name; {tags}; neither {VARIABLE} nor slurm.conf "
        "has a name"
    )


def _configuration_files(around: Surroundings) -> list[Path]:
    given = around.environ.get(FILE_VARIABLE, "").strip()
    paths = [around.root / path for path in CONFIGURATION_FILES]
    return [around.root / given.lstrip("/"), *paths] if given else paths


def _configured(path: Path) -> str:
    """ClusterName of one file: its keys are written in any case (slurm.conf(5))."""
    for key, value in assignments(read_text(path) or ""):
        if key.lower() == "clustername":
            return value
    return ""
