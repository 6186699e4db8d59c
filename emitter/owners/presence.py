"""
Whether the pod or the Slurm job of a process is still on the machine.

A process can outlive both: one stuck in the driver, or one that left its job.
What the kubelet and slurmstepd have for each of theirs is listed; where nothing
can be listed nobody knows, and nothing is missing. The folders are those of
https://kubernetes.io/docs/concepts/cluster-administration/logging/,
https://kubernetes.io/docs/reference/node/kubelet-files/ and
https://slurm.schedmd.com/cgroup_v2.html
"""

from __future__ import annotations

import os
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Final

from emitter.owners.kubernetes import MAX_ENTRIES, POD_LOGS
from emitter.owners.membership import JOB_GROUP, SLUID_GROUP, STEPS_SCOPE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from emitter.owners.naming import Owner

POD_VOLUMES: Final = "var/lib/kubelet/pods"
GROUPS: Final = "sys/fs/cgroup"
SCOPES: Final = f"{GROUPS}/system.slice"
CONTROLLERS: Final = ("freezer", "memory", "cpuset", "devices", "cpu,cpuacct")
"""Hierarchies of version 1 in which Slurm makes groups: which of them, its configuration says."""


class Presence:
    """What is on the machine whose files are below *root*, listed when it is first asked for."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def is_missing(self, owner: Owner) -> bool:
        """Whether the job or the pod of *owner* is surely not here."""
        if owner.job is not None:
            return self._jobs is not None and owner.job not in self._jobs
        if owner.pod is not None:
            return self.pods is not None and owner.pod not in self.pods
        return False

    @cached_property
    def pods(self) -> frozenset[str] | None:
        """Ids of pods; None where none can be seen, for a node has some of its own."""
        logs, volumes = (_names(self._root / folder) for folder in (POD_LOGS, POD_VOLUMES))
        ids = {name.rpartition("_")[2] for name in logs or ()} | set(volumes or ())
        return frozenset(ids) or None

    @cached_property
    def _jobs(self) -> frozenset[str] | None:
        """Numbers of jobs; None where Slurm makes no groups, or groups without numbers."""
        groups = self.job_groups()
        if groups is None or any(map(SLUID_GROUP.fullmatch, groups)):
            return None
        jobs = map(JOB_GROUP.fullmatch, groups)
        return frozenset(job[1] for job in jobs if job)

    def job_groups(self) -> Mapping[str, Sequence[Path]] | None:
        """
        Folders of the groups below Slurm's own, of jobs and others, by their names.

        None where there are no groups of Slurm, or some are hidden.
        """
        parents = self._below(self._root / SCOPES, STEPS_SCOPE)
        for controller in CONTROLLERS:
            for slurm in self._below(self._root / GROUPS / controller, "slurm"):
                users = _names(slurm)
                if users is None:
                    return None
                parents += [slurm, *(slurm / user for user in users if user.startswith("uid_"))]
        groups: dict[str, list[Path]] = {}
        for parent in parents:
            names = _names(parent)
            if names is None:
                return None
            for name in names:
                groups.setdefault(name, []).append(parent / name)
        return groups if parents else None

    def _below(self, folder: Path, part: str) -> list[Path]:
        return [folder / name for name in _names(folder) or () if part in name]


def _names(folder: Path) -> list[str] | None:
    """The names in *folder*; None where they cannot be listed, or are more than can be."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, MAX_ENTRIES + 1)]
    except OSError:
        return None
    return names if len(names) <= MAX_ENTRIES else None
