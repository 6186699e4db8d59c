"""
The pod, task, job, container or unit of a process, from its control group, and its presence.

The kubelet, a container engine, slurmstepd or systemd named the group. A reader in its own
control-group namespace sees the path relative to it, such as `/../../x` (cgroup_namespaces(7)), so
the parts are read and not the whole. A user can choose the names of groups that the user's own
systemd manages, so such a name is not evidence of a pod, task or job.

A process can outlive its pod or job: it is stuck in the driver, or it left its job. The folders of
the kubelet and slurmstepd show which pods and jobs are here. If no folder can be listed, nothing is
missing.

The forms are those of https://kubernetes.io/docs/concepts/architecture/cgroups/,
https://kubernetes.io/docs/concepts/cluster-administration/logging/,
https://kubernetes.io/docs/reference/node/kubelet-files/, https://slurm.schedmd.com/cgroup_v2.html,
systemd.slice(5) and systemd-run(1), and those that the engines' own processes show.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from neuron_emitter.owners.assignments import Text

_CONTAINER_ID: Final = "[0-9a-f]{64}"
_CONTAINER_CGROUP: Final = re.compile(
    rf"(?:(?:cri-containerd|containerd|nerdctl|docker|crio|libpod)-)?({_CONTAINER_ID})(?:\.scope)?"
    rf"|.{{1,200}}:cri-containerd:({_CONTAINER_ID})"  # containerd below a slice of another manager
)
_POD_CGROUP: Final = re.compile(
    r"(?:kubepods(?:-besteffort|-burstable)?-)?"
    r"pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})"
    r"(?:\.slice)?(?::cri-containerd:[0-9a-f]{64})?"
)
_ECS_CGROUP: Final = re.compile(r"ecs|ecstasks\.slice|ecstasks-[0-9a-f-]{1,64}\.slice")
JOB_GROUP: Final = re.compile(r"job_([1-9][0-9]{0,9})")
# From Slurm 26.05: 64 bits in Crockford's base 32, which has no I, L, O and U.
SLUID_FORMAT: Final = re.compile(r"s[0-9A-HJKMNP-TV-Z]{13}")
SLUID_MARK: Final = "sluid="  # marks a job without the number that squeue and people use
_JOB_USER: Final = re.compile(r"uid_(0|[1-9][0-9]{0,9})")
STEPS_SCOPE: Final = "slurmstepd.scope"  # with several slurmds on a node: NODENAME_slurmstepd.scope
_USER_MANAGER: Final = re.compile(r"user@(0|[1-9][0-9]{0,9})\.service")
_UNIT_CGROUP: Final = re.compile(r"[A-Za-z0-9:_.\\@-]{1,200}\.(?:service|scope)")
# Units in which users start any program: the unit does not identify the program.
_OTHERS: Final = re.compile(
    r"session-.*|(?:.*_)?slurmstepd\.scope|init\.scope|run-(?:[0-9]+|u[0-9]+|r[0-9a-f]+|p[0-9]+-i[0-9]+)\..*"
    r"|(?:amazon-ssm-agent|snap\.amazon-ssm-agent\.amazon-ssm-agent|sshd?|sshd?@.*|crond?|atd"
    r"|slurmd|docker|containerd|crio|podman|kubelet|ecs)\.(?:service|scope)"
)
_SYSTEMD: Final = ("", "name=systemd")
_MAX_PARTS: Final = 64
POD_LOGS: Final = "var/log/pods"
MAX_CGROUP_ENTRIES: Final = 10_000  # entries of a folder
POD_VOLUMES: Final = "var/lib/kubelet/pods"
CGROUP_ROOT: Final = "sys/fs/cgroup"
SCOPES: Final = f"{CGROUP_ROOT}/system.slice"
# Hierarchies of version 1 in which Slurm makes groups; its configuration decides which.
CONTROLLERS: Final = ("freezer", "memory", "cpuset", "devices", "cpu,cpuacct")


Parts = Sequence[str]


@dataclass(frozen=True, slots=True)
class Membership:
    """
    The pod, job, container or unit of a process; each None if its control group does not name it.

    Attributes:
        job: Number of a Slurm job, or `sluid=` and Slurm's own ID if the group has no number.

        job_user_id: The job's user, if the path has the ID.

        container: ID of a container, 64 hexadecimal digits.

        pod: ID of the container's pod.

        is_ecs: True if the ECS agent made the group.

        is_rootless: True if a user's own engine runs the container.

        unit: Name of a systemd unit.

        unit_user_id: The user whose own systemd runs that unit.
    """

    job: Text = None
    job_user_id: int | None = None
    container: Text = None
    pod: Text = None
    is_ecs: bool = False
    is_rootless: bool = False
    unit: Text = None
    unit_user_id: int | None = None


def membership(groups: Iterable[tuple[str, str]]) -> Membership:
    """
    Return the membership from *groups*: controllers and path of each hierarchy.

    With several hierarchies (version 1) the most specific one counts: not every controller has a
    group for everything.

    >>> unit = "/system.slice/jupyter-ada.service"
    >>> membership([("", unit)]).unit
    'jupyter-ada.service'
    """
    members = []
    for controllers, path in groups:
        parts = [part for part in path.split("/") if part][-_MAX_PARTS:]
        members.append(_of_path(parts, is_systemd=controllers in _SYSTEMD))
    return max(members, key=_weight, default=Membership())


def _weight(member: Membership) -> tuple[bool, ...]:
    ranked = (member.job, member.container, member.pod, member.is_ecs, member.unit)
    return tuple(map(bool, ranked))


def _of_path(parts: Parts, *, is_systemd: bool) -> Membership:
    manager = next((at for at, part in enumerate(parts) if _USER_MANAGER.fullmatch(part)), None)
    if manager is not None:
        return _of_user(parts, manager, is_systemd=is_systemd)
    job, job_user_id = _job(parts)
    container, at = _container(parts)
    pod = next(filter(None, map(_POD_CGROUP.fullmatch, parts[: at + 1])), None)
    is_ecs = any(_ECS_CGROUP.fullmatch(part) for part in parts[:at])
    unit = _unit(parts) if is_systemd and not (container or job) else None
    return Membership(
        job=job,
        job_user_id=job_user_id,
        container=container,
        pod=pod[1].replace("_", "-") if pod and container else None,
        is_ecs=is_ecs and container is not None,
        unit=unit,
    )


def _of_user(parts: Parts, manager: int, *, is_systemd: bool) -> Membership:
    below = parts[manager + 1 :]
    container, _ = _container(below)
    if container is not None:
        return Membership(container=container, is_rootless=True)
    # A scope below a user's systemd is an application that the user opened.
    unit = _unit(below) if is_systemd else None
    if unit is None or unit.endswith(".scope"):
        return Membership()
    user_id = int(parts[manager].partition("@")[2].partition(".")[0])
    return Membership(unit=unit, unit_user_id=user_id)


def _job(parts: Parts) -> tuple[Text, int | None]:
    """Return the innermost job, and its user if the path has the ID."""
    for at in range(len(parts) - 1, -1, -1):
        job = JOB_GROUP.fullmatch(parts[at])
        user = at and _JOB_USER.fullmatch(parts[at - 1])
        if job and user:
            return job[1], int(user[1])
        if (name := job_of_group(parts[at])) and _is_of_slurm(parts, at):
            return name, None
    return None, None


def job_of_group(name: str) -> Text:
    """Return the number of the job whose group has that *name*, or its SLUID with a mark."""
    if job := JOB_GROUP.fullmatch(name):
        return job[1]
    return f"{SLUID_MARK}{name}" if SLUID_FORMAT.fullmatch(name) else None


def _is_of_slurm(parts: Parts, at: int) -> bool:
    """Return True if slurmstepd made the group at *at* for a job."""
    above = parts[at - 1] if at else ""
    is_near = above == ".." and at + 1 < len(parts) and parts[at + 1].startswith("step_")
    return is_near or above == STEPS_SCOPE or above.endswith(f"_{STEPS_SCOPE}")


def _container(parts: Parts) -> tuple[Text, int]:
    """Return the innermost container and its place; -1 if there is none."""
    for at in range(len(parts) - 1, -1, -1):
        if found := _CONTAINER_CGROUP.fullmatch(parts[at]):
            return found[1] or found[2], at
    return None, -1


def _unit(parts: Parts) -> Text:
    """Return the innermost unit; a group below a unit belongs to the unit."""
    for part in reversed(parts):
        if _UNIT_CGROUP.fullmatch(part):
            return None if _OTHERS.fullmatch(part) else part
    return None


class Presence:
    """The pods and Slurm jobs of the machine at *root*, each listed on first use."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def is_missing(self, *, job: Text, pod: Text) -> bool:
        """
        Return True if the job, or the pod of a process without a job, is certainly not here.

        A job number is not evidence about groups that have SLUIDs.
        """
        if job is not None:
            jobs = self.jobs
            is_number_known = SLUID_MARK in job or SLUID_MARK not in "".join(jobs or ())
            return jobs is not None and is_number_known and job not in jobs
        return pod is not None and self.pods is not None and pod not in self.pods

    @cached_property
    def pods(self) -> frozenset[str] | None:
        """
        The IDs of pods in either folder; only both together are complete.

        None if there are none: a node always has some pods of its own.
        """
        logs, volumes = (list_folder(self._root / folder) for folder in (POD_LOGS, POD_VOLUMES))
        ids = {name.rpartition("_")[2] for name in logs or ()} | set(volumes or ())
        return frozenset(ids) or None

    @cached_property
    def jobs(self) -> Mapping[str, Sequence[Path]] | None:
        """The group folders of each job, by `job_of_group`; None if they cannot be listed."""
        groups = self.job_groups()
        if groups is None:
            return None
        jobs = {job_of_group(name): folders for name, folders in groups.items()}
        return {job: folders for job, folders in jobs.items() if job is not None}

    def job_groups(self) -> Mapping[str, Sequence[Path]] | None:
        """
        The group folders below Slurm's own, of jobs and others, by their names.

        None if there are no groups of Slurm, or some are hidden.
        """
        parents = _below(self._root / SCOPES, STEPS_SCOPE)
        for controller in CONTROLLERS:
            for slurm in _below(self._root / CGROUP_ROOT / controller, "slurm"):
                users = list_folder(slurm)
                if users is None:
                    return None
                parents += [slurm, *(slurm / user for user in users if user.startswith("uid_"))]
        groups: dict[str, list[Path]] = {}
        for parent in parents:
            names = list_folder(parent)
            if names is None:
                return None
            for name in names:
                groups.setdefault(name, []).append(parent / name)
        return groups if parents else None


def _below(folder: Path, part: str) -> list[Path]:
    return [folder / name for name in list_folder(folder) or () if part in name]


def list_folder(folder: Path, *, may_be_cut: bool = False) -> list[str] | None:
    """
    Return the names in *folder*; None if it cannot be listed completely, unless it *may_be_cut*.

    A partial list would show existing pods and jobs as gone, so a search for missing ones rejects
    it. A search for the name of an ID uses the first `MAX_CGROUP_ENTRIES`: a name found there is
    right, and owners keep their names on a node that never cleans up.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        names = [entry.name for entry in islice(entries, MAX_CGROUP_ENTRIES + 1)]
        return (
            names[:MAX_CGROUP_ENTRIES] if may_be_cut or len(names) <= MAX_CGROUP_ENTRIES else None
        )
    return None
