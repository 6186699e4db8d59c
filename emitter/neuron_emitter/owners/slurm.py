"""
The devices and cores that Slurm has assigned to the jobs of this node.

Control groups show the jobs, and listing them costs nothing. slurmctld, which a thousand nodes
share, supplies the rest. For new jobs the emitter asks it about devices, at most every ten minutes
and not from all nodes of a job at once. About known jobs it asks every ten minutes, without
devices, because a process can outlive its job. The knowledge about one job does not depend on the
answers about others. If nodes have no generic resources, a job that has every CPU has every device;
any other job may use any core, so nothing is reserved for it. From
https://slurm.schedmd.com/gres.html, https://slurm.schedmd.com/cgroup.conf.html and
https://docs.kernel.org/admin-guide/cgroup-v2.html
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from neuron_emitter.instance.machine import read_text
from neuron_emitter.owners.assignments import Allocation, UnknownAssignmentsError
from neuron_emitter.owners.gres_files import CORES_GRES, device_numbers, read_gres_files
from neuron_emitter.owners.membership import Presence
from neuron_emitter.owners.naming import Naming, user_name
from neuron_emitter.owners.process import ProcessGoneError, open_process
from neuron_emitter.owners.scontrol import (
    SCONTROL_TIMEOUT_S,
    JobRecord,
    UnknownJobError,
    hides_jobs,
    index_list,
    show_job,
)
from neuron_wire.names import MAX_CORES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from neuron_emitter.logs import Clock
    from neuron_emitter.owners.assignments import Allocations, Text
    from neuron_emitter.owners.gres_files import Units
    from neuron_emitter.owners.places import Places

SLURMD: Final = (
    "sys/fs/cgroup/system.slice/slurmd.service",
    "sys/fs/cgroup/systemd/system.slice/slurmd.service",
    "run/slurmd.pid",
    "run/slurm/slurmd.pid",
)
ASKED_EVERY_S: Final = 600.0
# The nodes of one job ask within this time: a thousand nodes ask 17 times a second.
JOB_SPREAD_S: Final = 60.0
MAX_JOBS: Final = 32  # in one round of questions
_NOT_ASKED: Final = UnknownAssignmentsError(
    "scontrol has not run since a new job started",
    f"Wait: it runs at most every {round(ASKED_EVERY_S / 60)} min, for {MAX_JOBS} jobs",
)


def is_here(places: Places) -> bool:
    """Return True if slurmd runs on this machine."""
    runs = any(os.path.exists(places.root / sign) for sign in SLURMD)  # noqa: PTH110 - never raises
    return runs or Presence(places.root).job_groups() is not None


@dataclass(slots=True)
class KnownJob:
    """
    The knowledge about one job that has a control group here.

    Attributes:
        record: The last answer with the job's devices; None if unknown.

        has_ended: True if the job runs nowhere: its processes are left over.

        failure: Why the job is unknown.

        asked_at_s: Time of the last question; None before the first.
    """

    record: JobRecord | None = None
    has_ended: bool = False
    failure: UnknownAssignmentsError = _NOT_ASKED
    asked_at_s: float | None = None

    @property
    def is_known(self) -> bool:
        """Return True if the job has ended, or its devices are known."""
        return self.has_ended or (self.record is not None and self.record.gres is not None)


class SlurmJobs:
    """
    The assignments of Slurm; *clock* is in seconds, *jitter* a number from 0 to 1.

    Jobs of the first reading are asked about at once: emitters start at different moments.
    """

    name = "scontrol"

    def __init__(
        self,
        places: Places,
        *,
        clock: Clock = time.monotonic,
        jitter: Clock = random.random,
    ) -> None:
        self._places = places
        self._clock = clock
        self._jitter = jitter
        self._naming = Naming(places)
        self._jobs: dict[str, KnownJob] = {}
        self._asked_at_s = -ASKED_EVERY_S  # time of the last question about new jobs
        self._ask_at_s: float | None = clock()
        self._check_at_s = clock()  # time of the next check that known jobs still run

    def read_allocations(self) -> Allocations:
        """
        Return the assignments of this node's jobs, including jobs without cores.

        Raises:
            UnknownAssignmentsError: If jobs cannot be listed, or one with a process is unknown.
        """
        folders = Presence(self._places.root).jobs
        if folders is None:
            msg = "Slurm's control groups cannot be listed"
            raise UnknownAssignmentsError(msg, "Set ProctrackType=proctrack/cgroup in slurm.conf")
        self._jobs = {job: self._jobs.get(job, KnownJob()) for job in folders}
        running = {job for job in folders if any(_processes(folders[job]))}
        self._ask(running)
        allocations = self._by_gres()
        here = [
            job
            for job, known in self._jobs.items()
            if not known.has_ended and (job in running or known.record is not None)
        ]
        unknown = [
            known for job, known in self._jobs.items() if job in running and not known.is_known
        ]
        if len(here) == 1 and self._covers_machine(folders[here[0]]):
            (only,) = here
            if not any(found.cores or found.devices for found in allocations):
                name, team = self._owner(only, folders[only])
                devices = frozenset(device_numbers(self._places.root))
                every = Allocation(name, team, devices=devices, is_exact=True, job=only)
                return [*(found for found in allocations if found.job != only), every]
        if unknown:
            failure = unknown[0].failure
            raise UnknownAssignmentsError(str(failure), failure.remedy, allocations)
        return allocations

    def _ask(self, running: Collection[str]) -> None:
        """Ask about the jobs that are due; jobs without a process come last."""
        now_s = self._clock()
        new = {job for job, known in self._jobs.items() if known.asked_at_s is None}
        if not new:
            self._ask_at_s = None
        elif self._ask_at_s is None:
            spread_s = JOB_SPREAD_S * self._jitter()
            self._ask_at_s = max(now_s + spread_s, self._asked_at_s + ASKED_EVERY_S)
        is_asked = self._ask_at_s is not None and now_s >= self._ask_at_s
        if is_asked:
            self._asked_at_s = now_s
            self._ask_at_s = None
        elif now_s < self._check_at_s:
            return
        self._check_at_s = now_s + ASKED_EVERY_S + JOB_SPREAD_S * self._jitter()
        due = self._jobs if is_asked else self._jobs.keys() - new
        waiting = [(job not in running, self._jobs[job].asked_at_s or 0.0, job) for job in due]
        self._ask_each([job for _, _, job in sorted(waiting)[:MAX_JOBS]], running)

    def _ask_each(self, jobs: Iterable[str], running: Collection[str]) -> None:
        """
        Ask about *jobs* until one question has used its whole time.

        slurmctld also reports a hidden job as unknown. An unknown job has ended only if slurmctld
        hides no jobs, or has just shown a job of another user.
        """
        started_s = self._clock()
        own_user_id = os.geteuid()
        sees_all = own_user_id == 0
        missing = []
        for job in jobs:
            known = self._jobs[job]
            known.asked_at_s = started_s
            is_job = job in running or known.record is not None
            with_devices = is_job and not known.is_known
            try:
                record = show_job(job, self._places, with_devices=with_devices)
            except UnknownJobError as error:
                known.failure = error
                missing.append(known)
            except UnknownAssignmentsError as error:
                known.failure = error
            else:
                sees_all |= record.user_id != own_user_id
                if known.record is not None and not (with_devices or record.has_ended):
                    record = replace(record, gres=known.record.gres)
                known.record = record
                known.has_ended = record.has_ended
            if self._clock() - started_s > SCONTROL_TIMEOUT_S:
                break
        if missing:
            sees_all = sees_all or not hides_jobs(self._places)
        for known in missing:
            known.has_ended = sees_all
            if known.record is not None:
                known.record = replace(known.record, gres=None)

    def _by_gres(self) -> list[Allocation]:
        """
        Return each job's assignment from its resources, no index twice.

        If only a number is known, it is that number of the lowest free indexes.
        """
        root = self._places.root
        node = read_text(self._places.proc / "sys/kernel/hostname") or ""
        files = read_gres_files(root, node)
        of_devices = {"gpu", "neuron", *files.devices}
        records = {
            job: known.record
            for job, known in self._jobs.items()
            if known.record is not None and not known.has_ended
        }
        pool = device_numbers(root)
        devices, odd = _shared_out(records, pool, of_devices, files.devices)
        cores, more_odd = _shared_out(
            records, range(MAX_CORES), {CORES_GRES} - of_devices, files.cores
        )
        return [
            Allocation(
                *self._owner(job),
                cores[job],
                devices[job],
                odd_ids=odd[job] + more_odd[job],
                job=job,
                has_ended=known.has_ended,
            )
            for job, known in self._jobs.items()
            if known.record is not None or known.has_ended
        ]

    def _owner(self, job: str, folders: Iterable[Path] = ()) -> tuple[str, Text]:
        """Return name and team of *job*, from its record, otherwise from a process of the job."""
        record = self._jobs[job].record
        if record is not None:
            user = user_name(record.user_id, self._places)
            if user.isdigit() and record.user:  # a directory service that only Slurm can ask
                user = record.user
            return f"slurm:{record.number} {user}", record.account
        for pid in _processes(folders):
            with (
                suppress(ProcessGoneError, PermissionError, ValueError),
                open_process(self._places.proc, int(pid)) as process,
            ):
                if process.user_id():
                    owner = self._naming.name_owner(process, "")
                    return owner.name or "", owner.team
        return f"slurm:{job} {user_name(None, self._places)}" if folders else "", None

    def _covers_machine(self, folders: Sequence[Path]) -> bool:
        online = _indexes(self._places.root / "sys/devices/system/cpu/online")
        return bool(online) and any(online <= _indexes(each / "cpuset.cpus") for each in folders)


def _processes(folders: Iterable[Path]) -> Iterator[str]:
    """Yield the PIDs in the control groups *folders*, and a `?` for each that cannot be read."""
    for folder in folders:
        for group, _, files in os.walk(folder):
            if "cgroup.procs" in files:
                text = read_text(Path(group, "cgroup.procs"))
                yield from ["?"] if text is None else text.split()


def _indexes(file: Path) -> set[int]:
    return set(index_list(read_text(file) or ""))


def _shared_out(
    records: Mapping[str, JobRecord],
    pool: Sequence[int],
    names: Collection[str],
    units: Units,
) -> tuple[Mapping[str, frozenset[int]], Mapping[str, int]]:
    """
    Assign numbers out of *pool* to jobs, for the resources in *names*.

    *units* has the numbers behind each index; the second value counts indexes beyond them.
    """
    free = set(pool)
    taken: defaultdict[str, frozenset[int]] = defaultdict(frozenset)
    odd: Counter[str] = Counter()
    every = [
        (not (gres.indexes and units.get(gres.name)), record.number, job, gres)
        for job, record in records.items()
        for gres in record.gres or ()
        if gres.name in names
    ]
    for is_counted, _, job, gres in sorted(every, key=itemgetter(0, 1)):
        if is_counted:
            ids = set(sorted(free)[: gres.count])
        else:
            listed = units[gres.name]
            inside = [listed[index] for index in gres.indexes if index < len(listed)]
            odd[job] += len(gres.indexes) - len(inside)
            ids = free.intersection(*[frozenset().union(*inside)])
        free -= ids
        taken[job] |= ids
    return taken, odd
