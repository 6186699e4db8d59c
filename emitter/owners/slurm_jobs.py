"""
What Slurm has given to the jobs of this node.

Jobs are known by their control groups, which cost nothing to list. What they have is asked of
slurmctld, which a thousand nodes share: once for each new job, at most every ten minutes, and
not by all nodes of a job at once. Where nodes have no generic resources, a job that has every CPU
has every device; any other job may use any core, so that nothing is reserved for it. From
https://slurm.schedmd.com/gres.html, https://slurm.schedmd.com/cgroup.conf.html and
https://docs.kernel.org/admin-guide/cgroup-v2.html
"""

from __future__ import annotations

import os
import random
import re
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from emitter.instance.machine import read_text
from emitter.owners.given import Allocation, UnreadError
from emitter.owners.membership import JOB_GROUP, SLUID_GROUP
from emitter.owners.naming import Naming, user_name
from emitter.owners.presence import Presence
from emitter.owners.process import ProcessGoneError, open_process
from emitter.owners.scontrol import indexes, show_job
from neuron_wire.names import MAX_CORES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from emitter.owners.places import Places
    from emitter.owners.scontrol import JobRecord

SLURMD: Final = (
    "sys/fs/cgroup/system.slice/slurmd.service",
    "sys/fs/cgroup/systemd/system.slice/slurmd.service",
    "run/slurmd.pid",
    "run/slurm/slurmd.pid",
)
GRES_FILES: Final = ("etc/slurm/gres.conf", "opt/slurm/etc/gres.conf", "run/slurm/conf/gres.conf")
CORES: Final = "neuroncore"  # that have no file, as devices have
ONLINE_CPUS: Final = "sys/devices/system/cpu/online"

ASKED_EVERY_S: Final = 600.0
SPREAD_S: Final = 60.0
"""The nodes of one job ask within this time, a thousand of them 17 times a second."""

MAX_JOBS: Final = 32
_DEVICE: Final = re.compile(r"neuron([0-9]{1,4})")
_GRES_OF_FILES: Final = re.compile(r"(?im)^[^#\n]*\bname=([\w.-]+)[^#\n]*\bfile=/dev/neuron")


def is_here(places: Places) -> bool:
    """Whether slurmd runs on this machine."""
    runs = any(os.path.exists(places.root / sign) for sign in SLURMD)  # noqa: PTH110 - never raises
    return runs or Presence(places.root).job_groups() is not None


class SlurmJobs:
    """
    The source; *clock* is in seconds, *jitter* a number from 0 to 1.

    What runs at the first reading is asked about at once: emitters start at different moments.
    """

    name = "scontrol"

    def __init__(
        self,
        places: Places,
        *,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._places = places
        self._clock = clock
        self._jitter = jitter
        self._naming = Naming(places)
        self._records: dict[str, JobRecord] = {}
        self._failure: UnreadError | None = None
        self._asked_at_s = -ASKED_EVERY_S
        self._ask_at_s: float | None = clock()

    def read(self) -> Sequence[Allocation]:
        """
        What the jobs of this node have; none without jobs.

        Raises:
            UnreadError: If their folders do not name them, or it is not known what they have.
        """
        groups = Presence(self._places.root).job_groups()
        if groups is None:
            msg = "no control groups of Slurm can be listed"
            raise UnreadError(msg, "Set ProctrackType=proctrack/cgroup in slurm.conf")
        if any(map(SLUID_GROUP.fullmatch, groups)):
            msg = "the control groups of jobs do not have their numbers"
            raise UnreadError(msg, "Set CgroupJobIdPaths=yes in cgroup.conf")
        jobs = {job[1]: groups[name] for name in groups if (job := JOB_GROUP.fullmatch(name))}
        self._records = {job: record for job, record in self._records.items() if job in jobs}
        only = next(iter(jobs)) if len(jobs) == 1 else ""
        has_every_cpu = bool(only) and self._covers_machine(jobs[only])
        try:
            self._ask_about(jobs.keys() - self._records)
        except UnreadError:
            if not has_every_cpu:
                raise
            return (self._of_all_devices(self._by_process(only, jobs[only])),)
        allocations = self._by_gres()
        if has_every_cpu and not allocations:
            return (self._of_all_devices(self._owner(only)),)
        return allocations

    def _ask_about(self, new: Collection[str]) -> None:
        now_s = self._clock()
        if not new:
            self._ask_at_s = None
            return
        if self._ask_at_s is None:
            spread_s = SPREAD_S * self._jitter()
            self._ask_at_s = max(now_s + spread_s, self._asked_at_s + ASKED_EVERY_S)
            self._failure = None
        if now_s < self._ask_at_s:
            msg = "it was not asked yet about a new job"
            minutes = round(ASKED_EVERY_S / 60)
            raise self._failure or UnreadError(msg, f"Wait: it is asked each {minutes} min at most")
        if len(new) > MAX_JOBS:
            msg = f"more than {MAX_JOBS} new jobs"
            raise UnreadError(msg, "Give Neuron devices a GRES, so that fewer jobs share a node")
        self._asked_at_s = now_s
        self._ask_at_s = now_s + ASKED_EVERY_S
        try:
            for job in sorted(new, key=int):
                self._records[job] = show_job(job, self._places)
        except UnreadError as error:
            self._failure = error
            raise
        self._ask_at_s = None

    def _by_gres(self) -> list[Allocation]:
        """
        By the resources of each job, no index twice.

        Of a resource without files only a count is known: that many of the lowest free ones.
        """
        devices = _devices(self._places.root)
        pools = {"devices": devices, "cores": range(MAX_CORES)}
        free = {kind: set(pool) for kind, pool in pools.items()}
        taken = {job: dict.fromkeys(pools, frozenset[int]()) for job in self._records}
        odd: Counter[str] = Counter()
        of_files = {"gpu", "neuron", *_gres_of_files(self._places.root)}
        every = [(job, gres) for job, record in self._records.items() for gres in record.gres]
        for job, gres in sorted(every, key=lambda pair: (not pair[1].indexes, int(pair[0]))):
            kind = "devices" if gres.name in of_files else "cores"
            if kind == "cores" and gres.name != CORES:
                continue
            pool = pools[kind]
            ids = {pool[index] for index in gres.indexes if index < len(pool)}
            odd[job] += len(gres.indexes) - len(ids)
            ids = ids & free[kind] if gres.indexes else set(sorted(free[kind])[: gres.count])
            free[kind] -= ids
            taken[job][kind] |= ids
        return [
            Allocation(*self._owner(job), ids["cores"], ids["devices"], odd_ids=odd[job])
            for job, ids in taken.items()
            if any(ids.values())
        ]

    def _of_all_devices(self, owner: tuple[str, str | None]) -> Allocation:
        return Allocation(*owner, devices=frozenset(_devices(self._places.root)), is_exact=True)

    def _owner(self, job: str) -> tuple[str, str | None]:
        """Name and team, as of its processes."""
        record = self._records[job]
        return f"slurm:{job} {user_name(record.user_id, self._places)}", record.account

    def _by_process(self, job: str, folders: Sequence[Path]) -> tuple[str, str | None]:
        """The same by a process of the job that is not Slurm's own."""
        files = (file for folder in folders for file in folder.rglob("cgroup.procs"))
        for pid in (pid for file in files for pid in (read_text(file) or "").split()):
            with (
                suppress(ProcessGoneError, PermissionError, ValueError),
                open_process(self._places.proc, int(pid)) as process,
            ):
                if process.user_id():
                    owner = self._naming.owner(process, "")
                    return owner.name, owner.team
        return f"slurm:{job} {user_name(None, self._places)}", None

    def _covers_machine(self, folders: Sequence[Path]) -> bool:
        online = indexes(read_text(self._places.root / ONLINE_CPUS) or "")
        sets = (indexes(read_text(folder / "cpuset.cpus") or "") for folder in folders)
        return bool(online) and any(online <= cpus for cpus in sets)


def _devices(root: Path) -> list[int]:
    """Numbers of the device files, in the order in which Slurm counts them."""
    try:
        names = [_DEVICE.fullmatch(name) for name in os.listdir(root / "dev")]  # noqa: PTH208
    except OSError:
        return []
    return sorted(int(name[1]) for name in names if name)


def _gres_of_files(root: Path) -> set[str]:
    """Names of resources whose indexes are those of Neuron device files, also of `neuroncore`."""
    texts = (read_text(root / file) or "" for file in GRES_FILES)
    return {name for text in texts for name in _GRES_OF_FILES.findall(text)}
