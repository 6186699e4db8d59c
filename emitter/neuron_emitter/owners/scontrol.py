"""
Ask slurmctld about one job with `scontrol show job`, and read the answer.

With `-d` the answer has the generic resources of each node, and slurmctld also sends its whole
table of nodes; without `-d` the answer is 2 KB.

Users choose names, comments and commands of jobs, which may contain line breaks, so a member is
read only at its place: the user, the account and the state are on three consecutive lines, and the
nodes are between these and `MinCPUsNode`, where users cannot write. An answer with these lines
twice is rejected. From https://slurm.schedmd.com/scontrol.html and Slurm's src/scontrol/info_job.c;
the form of a GRES is that of its src/interfaces/gres.c.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from re import IGNORECASE, MULTILINE
from stat import S_IWGRP, S_IWOTH
from subprocess import DEVNULL, PIPE
from threading import Timer
from typing import IO, TYPE_CHECKING, Final

from neuron_emitter.children import start_child
from neuron_emitter.instance.machine import read_text
from neuron_emitter.owners.assignments import UnknownAssignmentsError
from neuron_emitter.owners.membership import SLUID_MARK
from neuron_wire.holders import printable_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from neuron_emitter.owners.assignments import Text
    from neuron_emitter.owners.places import Places

PREFIXES: Final = (
    "opt/slurm",  # ParallelCluster and HyperPod
    "usr",
    "usr/local",
    "opt/aws/pcs/scheduler/slurm-*",
)
CONFIGURATION_VARIABLE: Final = "SLURM_CONF"
SCONTROL_TIMEOUT_S: Final = 5.0
# enough for a job of thousands of nodes with different assignments
MAX_SCONTROL_BYTES: Final = 1 << 20
MAX_INDEX: Final = 1 << 16
MAX_REASON_BYTES: Final = 4096
_MAX_REASON_CHARS: Final = 160
# States in which a job runs nowhere; a job that waits again was requeued.
_ENDED_STATE: Final = re.compile(
    r"BOOT_FAIL|CANCELLED|COMPLETED|DEADLINE|FAILED|LAUNCH_FAILED|NODE_FAIL|OUT_OF_MEMORY|PENDING"
    r"|PREEMPTED|REQUEUED|REQUEUE_HOLD|REVOKED|SPECIAL_EXIT|TIMEOUT"
)
_SPAN: Final = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_JOB_HEADER: Final = re.compile(
    r"^(?:   SLUID=(\S+)\n)?"
    r"   UserId=([^\n]*)\(([0-9]{1,10})\) GroupId=[^\n]*\n"
    r"   Priority=[0-9]+ Nice=\S+ Account=(\S+) [^\n]*\n"
    r"   JobState=([A-Z_]+)\b",
    MULTILINE,
)
_SEVERAL_JOBS: Final = re.compile(r"JobId=[0-9]+ (?:Array|Het)JobId=")
_END: Final = re.compile(r"^   MinCPUsNode=", MULTILINE)
_NODE_LINE: Final = re.compile(r"^ +Nodes=(\S+) CPU_IDs=\S+ Mem=[0-9]+ GRES=(\S*)$", MULTILINE)
_GRES_ITEM: Final = re.compile(
    r"(?:^|,)([\w.-]+)(?::[^:,(]+)??(?::([0-9]{1,9}))?((?:\([^)]*\))*)(?=,|$)"
)
_GRES_INDEXES: Final = re.compile(r"\((IDX|CNT):([0-9,-]+)\)")
_PRIVATE_DATA: Final = re.compile(r"^PrivateData +=(.*)$", MULTILINE)
_PRIVATE_LABELS: Final = re.compile(r"^MCSParameters +=.*privatedata", MULTILINE)
_PING: Final = "Check with `scontrol ping` that slurmctld answers"
_HIDDEN_JOBS: Final = (
    "PrivateData in slurm.conf may hide the jobs of other users: make the emitter's user an "
    "operator of Slurm (sacctmgr modify user neuron-emf set adminlevel=operator)"
)
_OTHER_NODES: Final = (
    "Give the nodes of a job the same devices, for example with --exclusive; NodeName then does "
    "not have to be the host name, which AWS PCS does not allow"
)
# Pairs of scontrol's words and the advice; the first match counts. From Slurm's
# src/common/slurm_errno.c.
_UNKNOWN_JOB: Final = re.compile(r"invalid job id", IGNORECASE)
_SCONTROL_REMEDIES: Final = (
    (re.compile(r"munge", IGNORECASE), "Start munge, and give this node the cluster's key"),
    (re.compile(r"invalid job id|denied", IGNORECASE), _HIDDEN_JOBS),
    (
        re.compile(r"configuration|slurm\.conf|resolve", IGNORECASE),
        f"Set {CONFIGURATION_VARIABLE} to the slurm.conf of this node",
    ),
    (re.compile(r"controller|connect|timed out", IGNORECASE), _PING),
)


class UnknownJobError(UnknownAssignmentsError):
    """slurmctld has no such job, or hides it."""


@dataclass(frozen=True, slots=True)
class Gres:
    """
    One generic resource that a job has on this node.

    Attributes:
        name: `gpu`, `neuroncore` and so on; its type is left out.

        indexes: Positions in the list of the resource's files, from 0; empty if unknown.

        count: Number of units.
    """

    name: str
    indexes: frozenset[int] = frozenset()
    count: int = 0


@dataclass(frozen=True, slots=True)
class JobRecord:
    """
    One job in slurmctld's answer.

    Attributes:
        number: Job ID.

        user_id: User ID of its user.

        user: Name of that user; empty if scontrol does not know it.

        account: None if the job has none.

        has_ended: True if the job runs nowhere.

        gres: Its resources on this node; None if they were not requested.
    """

    number: int
    user_id: int
    user: str = ""
    account: Text = None
    has_ended: bool = False
    gres: Sequence[Gres] | None = None


def show_job(job: str, places: Places, *, with_devices: bool) -> JobRecord:
    """
    Ask slurmctld about *job*, a job ID or a SLUID with its mark.

    Raises:
        UnknownJobError: If slurmctld does not know the job, or hides it.
        UnknownAssignmentsError: If slurmctld did not answer, or the answer cannot be read.
    """
    details = ["-d"] if with_devices else []
    text = _ask(places, "show", "job", *details, job.removeprefix(SLUID_MARK))
    node = read_text(places.proc / "sys/kernel/hostname") or ""
    return parse_job(text, job, node, with_devices=with_devices)


def hides_jobs(places: Places) -> bool:
    """Return True unless slurmctld's configuration shows that every user sees all jobs."""
    try:
        text = _ask(places, "show", "config")
    except UnknownAssignmentsError:
        return True
    private = _PRIVATE_DATA.search(text)
    return private is None or "jobs" in private[1] or _PRIVATE_LABELS.search(text) is not None


def parse_job(text: str, job: str, node: str, *, with_devices: bool = True) -> JobRecord:
    """
    Parse the answer *text* about *job*, for the host *node*.

    If all nodes of the job have the same resources, no name is needed. Otherwise the host name is
    compared with the names of nodes, and then its first label: both forms are usual.

    Raises:
        UnknownAssignmentsError: If it does not show the job and the node exactly once.
    """
    if not text.startswith("JobId="):
        msg = f"it does not show job {job}, which has a control group here"
        raise UnknownAssignmentsError(msg, _HIDDEN_JOBS)
    is_several = _SEVERAL_JOBS.match(text) is not None
    records = re.split(r"^(?=JobId=)", text, flags=MULTILINE) if is_several else [text]
    headers = [header for record in records for header in _JOB_HEADER.finditer(record)]
    own = [header for header in headers if job in {_number(header), f"{SLUID_MARK}{header[1]}"}]
    users = {header[3] for header in headers}
    if len(own) != 1 or len(users) != 1 or not _number(own[0]).isdigit():
        msg = f"its record of job {job} cannot be read"
        raise UnknownAssignmentsError(msg, "Remove line breaks from the job's name and comment")
    (header,) = own
    has_ended = _ENDED_STATE.fullmatch(header[5]) is not None
    return JobRecord(
        number=int(_number(header)),
        user_id=int(header[3]),
        user=header[2],
        account=None if header[4] == "(null)" else header[4],
        has_ended=has_ended,
        gres=_own_gres(header, node) if with_devices and not has_ended else None,
    )


def _number(header: re.Match[str]) -> str:
    return header.string.removeprefix("JobId=").partition(" ")[0]


def _own_gres(header: re.Match[str], node: str) -> tuple[Gres, ...]:
    """Return the resources on the host *node* of the job with *header*."""
    end = _END.search(header.string, header.end())
    entries = _NODE_LINE.findall(header.string, header.end(), end.start() if end else header.end())
    own = list({gres for _, gres in entries})
    if len(own) > 1:
        names = (node, node.partition(".")[0])
        matching = ([gres for nodes, gres in entries if names_node(nodes, name)] for name in names)
        own = next(filter(None, matching), [])
    if len(own) != 1:
        msg = f"no node of the job has the host name {node}"
        raise UnknownAssignmentsError(msg, _OTHER_NODES)
    return tuple(_gres(*found) for found in _GRES_ITEM.findall(own[0]))


def _gres(name: str, count: str, marks: str) -> Gres:
    numbers = dict(_GRES_INDEXES.findall(marks))
    indexes = frozenset(index_list(numbers.get("IDX", "")))
    return Gres(name, indexes, int(numbers.get("CNT") or count or len(indexes)))


def index_list(text: str) -> list[int]:
    """
    Return the numbers of a list such as `0-3,7`, as Slurm and the kernel write them.

    >>> index_list("0-3,7")
    [0, 1, 2, 3, 7]
    """
    spans = (span for part in text.split(",") if (span := _SPAN.fullmatch(part.strip())))
    pairs = ((int(span[1]), int(span[2] or span[1])) for span in spans)
    return [index for first, last in pairs for index in range(first, min(last, MAX_INDEX) + 1)]


def names_node(nodes: str, node: str) -> bool:
    """
    Return True if *node* is in a list such as `trn1-st-[1-4,7]`; numbers may have zeros.

    >>> names_node("trn1-st-[1-4,7]", "trn1-st-3")
    True
    """
    for pattern in re.split(r",(?![^\[]*\])", nodes):
        texts = re.split(r"\[([0-9,-]+)\]", pattern)
        form = "([0-9]+)".join(map(re.escape, texts[::2]))
        numbers = re.fullmatch(form, node)
        if numbers is not None:
            pairs = zip(numbers.groups(), texts[1::2], strict=True)
            if all(int(number) in index_list(allowed) for number, allowed in pairs):
                return True
    return False


def _command(root: Path) -> str:
    """Return the path of scontrol: one of its usual places, writable only by its owner."""
    for prefix in PREFIXES:
        for path in sorted(root.glob(f"{prefix}/bin/scontrol"), reverse=True):
            if path.is_file() and not path.stat().st_mode & (S_IWGRP | S_IWOTH):
                return str(path.absolute())
    msg = "the command was not found"
    places = ", ".join(f"/{prefix}/bin" for prefix in PREFIXES)
    raise UnknownAssignmentsError(msg, f"Install it, or link it from one of {places}")


def _ask(places: Places, *words: str) -> str:
    if places.is_saved:
        msg = "no command runs on a saved machine"
        raise UnknownAssignmentsError(msg, "Run on the node itself")
    command = [_command(places.root), *words]
    variables = {"LC_ALL": "C"}
    if configuration := os.environ.get(CONFIGURATION_VARIABLE):
        variables[CONFIGURATION_VARIABLE] = configuration
    try:
        process = start_child(
            command,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            env=variables,
            cwd="/",
        )
    except OSError as error:
        msg = f"the command cannot run: {error.strerror}"
        raise UnknownAssignmentsError(
            msg, "Run the emitter where slurmd runs, not in a container"
        ) from error
    with process:
        timer = Timer(SCONTROL_TIMEOUT_S, process.kill)
        timer.start()
        text = process.stdout.read(MAX_SCONTROL_BYTES) if process.stdout else b""
        is_whole = len(text) < MAX_SCONTROL_BYTES
        exit_code = process.wait() if is_whole else 0
        is_late = not timer.is_alive()
        timer.cancel()
        process.kill()
        reason = _first_line(process.stderr)
    if is_late:
        msg = f"it did not answer within {SCONTROL_TIMEOUT_S:.0f} s"
        raise UnknownAssignmentsError(msg, _PING)
    if exit_code:
        msg = f"it failed with exit code {exit_code}: {reason or 'no message'}"
        remedies = (remedy for words, remedy in _SCONTROL_REMEDIES if words.search(reason))
        error_type = UnknownJobError if _UNKNOWN_JOB.search(reason) else UnknownAssignmentsError
        raise error_type(msg, next(remedies, f"Try `{' '.join(command)}` as the emitter's user"))
    return text.decode("utf-8", errors="replace")


def _first_line(stream: IO[bytes] | None) -> str:
    """Return the first line that *stream* has now, with printable characters only."""
    if stream is None:
        return ""
    os.set_blocking(stream.fileno(), False)  # a child of the command may keep it open
    said = (stream.read(MAX_REASON_BYTES) or b"").decode("utf-8", errors="replace").strip()
    return printable_name(said.partition("\n")[0], _MAX_REASON_CHARS) or ""
