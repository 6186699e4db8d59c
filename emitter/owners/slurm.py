"""
What Slurm has given to the jobs of this node.

Jobs are known by their control groups, which cost nothing to list. What they have is asked of
slurmctld, which a thousand nodes share: once for each new job, at most every ten minutes, and
not by all nodes of a job at once. Where nodes have no generic resources, a job that has every CPU
has every device; any other job may use any core, so that nothing is reserved for it. From
https://slurm.schedmd.com/gres.html, https://slurm.schedmd.com/cgroup.conf.html and
https://docs.kernel.org/admin-guide/cgroup-v2.html

Names, comments and commands of jobs are their users' text, in the same answer of scontrol: what
stands there once is read where it stands only once. From https://slurm.schedmd.com/scontrol.html;
the form of the answer is that of Slurm's src/scontrol/info_job.c, of a GRES that of its
src/interfaces/gres.c.
"""

from __future__ import annotations

import os
import random
import re
import stat
import subprocess
import time
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from threading import Timer
from typing import IO, TYPE_CHECKING, Final

from emitter.children import start_child
from emitter.instance.machine import read_text
from emitter.owners.given import Allocation, UnreadError
from emitter.owners.membership import JOB_GROUP, Presence, list_folder
from emitter.owners.naming import Naming, user_name
from emitter.owners.process import ProcessGoneError, open_process
from neuron_wire.holders import printable_name
from neuron_wire.names import MAX_CORES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from emitter.logs import Clock
    from emitter.owners.places import Places

SLURMD: Final = (
    "sys/fs/cgroup/system.slice/slurmd.service",
    "sys/fs/cgroup/systemd/system.slice/slurmd.service",
    "run/slurmd.pid",
    "run/slurm/slurmd.pid",
)
GRES_FILES: Final = ("etc/slurm/gres.conf", "opt/slurm/etc/gres.conf", "run/slurm/conf/gres.conf")
CORES: Final = "neuroncore"  # that have no file, as devices have
ASKED_EVERY_S: Final = 600.0
# The nodes of one job ask within this time, a thousand of them 17 times a second.
SPREAD_S: Final = 60.0
MAX_JOBS: Final = 32
_DEVICE: Final = re.compile(r"neuron([0-9]{1,4})")
_GRES_OF_FILES: Final = re.compile(r"(?im)^[^#\n]*\bname=([\w.-]+)[^#\n]*\bfile=/dev/neuron")
PREFIXES: Final = (
    "opt/slurm",  # ParallelCluster and HyperPod
    "usr",
    "usr/local",
    "opt/aws/pcs/scheduler/slurm-*",
)
CONFIGURATION_VARIABLE: Final = "SLURM_CONF"
WITHIN_S: Final = 5.0
MAX_ANSWER_BYTES: Final = 1 << 20  # a job of thousands of nodes that were given different things
MAX_INDEX: Final = 1 << 16
_SPAN: Final = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_GRES: Final = re.compile(r"(?:^|,)([\w.-]+)(?::[^,]*?)?\((IDX|CNT):([0-9,-]+)\)")
_MARKS: Final = tuple(
    re.compile(f"^ +{mark}", re.MULTILINE)
    for mark in (
        r"UserId=[^\n]*?\(([0-9]{1,10})\) GroupId=",
        r"Priority=[0-9]+ Nice=\S+ Account=(\S+) ",
        r"JOB_GRES=[^\n]*\n",
        r"MinCPUsNode=",
    )
)
_ENTRY: Final = re.compile(r"^ +Nodes=(\S+) CPU_IDs=\S+ Mem=[0-9]+ GRES=(\S*)$", re.MULTILINE)
_PING: Final = "See with `scontrol ping` whether slurmctld answers"
_HIDDEN_JOBS: Final = (
    "PrivateData in slurm.conf may hide the jobs of other users: make the emitter's user an "
    "operator of Slurm (sacctmgr modify user neuron-emf set adminlevel=operator)"
)


_OTHER_NODES: Final = (
    "Give the nodes of a job the same devices, for example with --exclusive; NodeName then does "
    "not have to be the host name, which AWS PCS does not allow"
)
# By the words of scontrol, the first that are there; Slurm's src/common/slurm_errno.c has them.
_REMEDIES: Final = (
    (re.compile(r"munge", re.IGNORECASE), "Start munge, and give this node the cluster's key"),
    (re.compile(r"invalid job id|denied", re.IGNORECASE), _HIDDEN_JOBS),
    (
        re.compile(r"configuration|slurm\.conf|resolve", re.IGNORECASE),
        f"Set {CONFIGURATION_VARIABLE} to the slurm.conf of this node",
    ),
    (re.compile(r"controller|connect|timed out", re.IGNORECASE), _PING),
)
MAX_REASON_BYTES: Final = 4096
_MAX_REASON_CHARS: Final = 160


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
        clock: Clock = time.monotonic,
        jitter: Clock = random.random,
    ) -> None:
        self._places = places
        self._clock = clock
        self._jitter = jitter
        self._naming = Naming(places)
        self._records: dict[str, JobRecord] = {}
        self._failure: UnreadError | None = None
        self._asked_at_s = -ASKED_EVERY_S
        self._ask_at_s: float | None = clock()

    def read_allocations(self) -> Sequence[Allocation]:
        """
        What the jobs of this node have; none without jobs.

        Raises:
            UnreadError: If their folders do not name them, or it is not known what they have.
        """
        presence = Presence(self._places.root)
        groups = presence.job_groups()
        if groups is None:
            msg = "no control groups of Slurm can be listed"
            raise UnreadError(msg, "Set ProctrackType=proctrack/cgroup in slurm.conf")
        if presence.has_sluids:
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
        records = self._records
        # Resources whose indexes are those of Neuron device files; `neuroncore` may be one.
        texts = (read_text(self._places.root / file) or "" for file in GRES_FILES)
        of_files = {"gpu", "neuron"}.union(*map(_GRES_OF_FILES.findall, texts))
        devices, odd = _shared_out(records, _devices(self._places.root), of_files)
        cores, more_odd = _shared_out(records, range(MAX_CORES), {CORES} - of_files)
        return [
            Allocation(
                *self._owner(job), cores[job], devices[job], odd_ids=odd[job] + more_odd[job]
            )
            for job in records
            if cores[job] or devices[job]
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
                    owner = self._naming.name_owner(process, "")
                    return owner.name or "", owner.team
        return f"slurm:{job} {user_name(None, self._places)}", None

    def _covers_machine(self, folders: Sequence[Path]) -> bool:
        online = indexes(read_text(self._places.root / "sys/devices/system/cpu/online") or "")
        sets = (indexes(read_text(folder / "cpuset.cpus") or "") for folder in folders)
        return bool(online) and any(online <= cpus for cpus in sets)


def _devices(root: Path) -> list[int]:
    """Numbers of the device files, in the order in which Slurm counts them."""
    names = map(_DEVICE.fullmatch, list_folder(root / "dev") or ())
    return sorted(int(name[1]) for name in names if name)


def _shared_out(
    records: Mapping[str, JobRecord], pool: Sequence[int], names: Collection[str]
) -> tuple[Mapping[str, frozenset[int]], Mapping[str, int]]:
    """Numbers out of *pool* by job, for its resources called *names*; and ids beyond the pool."""
    free = set(pool)
    taken: defaultdict[str, frozenset[int]] = defaultdict(frozenset)
    odd: Counter[str] = Counter()
    every = [(job, gres) for job, record in records.items() for gres in record.gres]
    for job, gres in sorted(every, key=lambda pair: (not pair[1].indexes, int(pair[0]))):
        if gres.name in names:
            ids = {pool[index] for index in gres.indexes if index < len(pool)}
            odd[job] += len(gres.indexes) - len(ids)
            ids = ids & free if gres.indexes else set(sorted(free)[: gres.count])
            free -= ids
            taken[job] |= ids
    return taken, odd


@dataclass(frozen=True, slots=True)
class Gres:
    """
    What a job has of one generic resource on this node.

    Attributes:
        name: `gpu`, `neuroncore` and so on; its type is left out.

        indexes: From 0, in the order of the resource's files.

        count: How many there are of a resource without files.
    """

    name: str
    indexes: frozenset[int] = frozenset()
    count: int = 0


@dataclass(frozen=True, slots=True)
class JobRecord:
    """
    One job.

    Attributes:
        account: None without one.

        gres: On this node.
    """

    user_id: int
    account: str | None
    gres: Sequence[Gres]


def show_job(job: str, places: Places) -> JobRecord:
    """
    Ask slurmctld for the job with the number *job*.

    Raises:
        UnreadError: If it did not answer.
    """
    if places.is_saved:
        msg = "a saved machine runs no command"
        raise UnreadError(msg, "Run on the node itself")
    node = read_text(places.proc / "sys/kernel/hostname") or ""
    return parse_job(_answer([_command(places.root), "show", "job", "-d", job]), job, node)


def parse_job(text: str, job: str, node: str) -> JobRecord:
    """
    Read what `scontrol show job -d` says in *text* of *job* on the host *node*.

    If all nodes of the job were given the same, no name is needed. Otherwise the host name is
    compared with the names of nodes, and then its first label: both forms are usual.

    Raises:
        UnreadError: If it says nothing of the job or the node, or something twice.
    """
    records = re.split(r"^(?=JobId=)", text, flags=re.MULTILINE)
    records = [record for record in records if record.startswith(f"JobId={job} ")]
    if not records:
        msg = "it does not show a job that is here"
        raise UnreadError(msg, _HIDDEN_JOBS)
    matches = [list(mark.finditer(records[0])) for mark in _MARKS]
    if len(records) > 1 or any(len(found) != 1 for found in matches):
        msg = "it shows a job in a form that cannot be read"
        raise UnreadError(msg, "Look for line breaks in the job's name and comment")
    (user,), (account,), (start,), (end,) = matches
    entries = _ENTRY.findall(records[0][start.end() : end.start()])
    own = list({gres for _, gres in entries})
    if len(own) > 1:
        names = (node, node.partition(".")[0])
        matching = ([gres for nodes, gres in entries if _names_node(nodes, name)] for name in names)
        own = next(filter(None, matching), [])
    if len(own) != 1:
        msg = f"none of the nodes that it shows has the host name {node}"
        raise UnreadError(msg, _OTHER_NODES)
    gres = tuple(
        Gres(name, indexes(numbers)) if kind == "IDX" else Gres(name, count=int(numbers))
        for name, kind, numbers in _GRES.findall(own[0])
    )
    return JobRecord(int(user[1]), None if account[1] == "(null)" else account[1], gres)


def indexes(text: str) -> frozenset[int]:
    """The numbers of a list such as `0-3,7`, as Slurm and the kernel write them."""
    spans = (found for part in text.split(",") if (found := _SPAN.fullmatch(part.strip())))
    pairs = ((int(span[1]), int(span[2] or span[1])) for span in spans)
    return frozenset(
        index for first, last in pairs for index in range(first, min(last, MAX_INDEX) + 1)
    )


def _names_node(nodes: str, node: str) -> bool:
    """Whether *node* is in a list such as `trn1-st-[1-4,7],login1`; numbers may have zeros."""
    for pattern in re.split(r",(?![^\[]*\])", nodes):
        texts = re.split(r"\[([0-9,-]+)\]", pattern)
        form = "([0-9]+)".join(map(re.escape, texts[::2]))
        numbers = re.fullmatch(form, node)
        ranges = map(indexes, texts[1::2])
        if numbers and all(map(frozenset.__contains__, ranges, map(int, numbers.groups()))):
            return True
    return False


def _command(root: Path) -> str:
    """The path of scontrol: one of its usual places, writable by its owner alone."""
    for prefix in PREFIXES:
        for path in sorted(root.glob(f"{prefix}/bin/scontrol"), reverse=True):
            if path.is_file() and not path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return str(path.absolute())
    msg = "it was not found"
    places = ", ".join(f"/{prefix}/bin" for prefix in PREFIXES)
    raise UnreadError(msg, f"Install it, or link it from one of {places}")


def _answer(command: Sequence[str]) -> str:
    variables = {"LC_ALL": "C"}
    if configuration := os.environ.get(CONFIGURATION_VARIABLE):
        variables[CONFIGURATION_VARIABLE] = configuration
    try:
        process = start_child(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=variables,
            cwd="/",
        )
    except OSError as error:
        msg = f"it cannot be run: {error.strerror}"
        raise UnreadError(msg, "Run the emitter where slurmd runs, not in a container") from error
    with process:
        timer = Timer(WITHIN_S, process.kill)
        timer.start()
        text = process.stdout.read(MAX_ANSWER_BYTES) if process.stdout else b""
        is_whole = len(text) < MAX_ANSWER_BYTES
        exit_code = process.wait() if is_whole else 0
        is_late = not timer.is_alive()
        timer.cancel()
        process.kill()
        reason = _first_line(process.stderr)
    if is_late:
        msg = f"it did not answer within {WITHIN_S:.0f} s"
        raise UnreadError(msg, _PING)
    if exit_code:
        msg = f"it failed with exit code {exit_code}: {reason or 'no message'}"
        remedies = (remedy for words, remedy in _REMEDIES if words.search(reason))
        raise UnreadError(msg, next(remedies, f"Try `{' '.join(command)}` as the emitter's user"))
    return text.decode("utf-8", errors="replace")


def _first_line(stream: IO[bytes] | None) -> str:
    """Return the first line of what *stream* has by now, without what does not print."""
    if stream is None:
        return ""
    os.set_blocking(stream.fileno(), False)  # a child of the command may keep it open
    said = (stream.read(MAX_REASON_BYTES) or b"").decode("utf-8", errors="replace").strip()
    return printable_name(said.partition("\n")[0], _MAX_REASON_CHARS) or ""
