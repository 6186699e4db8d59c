"""
What Slurm's own command says of one job: whose it is, and what it was given on this node.

Names, comments and commands of jobs are their users' text, in the same answer: what stands there
once is read where it stands only once. From https://slurm.schedmd.com/scontrol.html; the form of
the answer is that of Slurm's src/scontrol/info_job.c, of a GRES that of its src/interfaces/gres.c.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from dataclasses import dataclass
from threading import Timer
from typing import TYPE_CHECKING, Final

from emitter.instance.machine import read_text
from emitter.owners.given import UnreadError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from emitter.owners.places import Places

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
_NOT_TOLD: Final = (
    "PrivateData in slurm.conf may hide the jobs of other users: make the emitter's user an "
    "operator of Slurm (sacctmgr modify user neuron-emf set adminlevel=operator)"
)


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
        UnreadError: If it did not tell.
    """
    if places.is_saved:
        msg = "a saved machine runs no command"
        raise UnreadError(msg, "Run on the node itself")
    node = (read_text(places.proc / "sys/kernel/hostname") or "").partition(".")[0]
    return parse_job(_answer([_command(places.root), "show", "job", "-d", job]), job, node)


def parse_job(text: str, job: str, node: str) -> JobRecord:
    """
    What `scontrol show job -d` says in *text* of *job* on *node*.

    Raises:
        UnreadError: If it says nothing of the job or the node, or something twice.
    """
    records = re.split(r"^(?=JobId=)", text, flags=re.MULTILINE)
    records = [record for record in records if record.startswith(f"JobId={job} ")]
    if not records:
        msg = "it does not show a job that is here"
        raise UnreadError(msg, _NOT_TOLD)
    matches = [list(mark.finditer(records[0])) for mark in _MARKS]
    if len(records) > 1 or any(len(found) != 1 for found in matches):
        msg = "it shows a job in a form that cannot be read"
        raise UnreadError(msg, "Look for line breaks in the job's name and comment")
    (user,), (account,), (start,), (end,) = matches
    entries = _ENTRY.findall(records[0][start.end() : end.start()])
    own = [gres for nodes, gres in entries if len(entries) == 1 or _names_node(nodes, node)]
    if len(own) != 1:
        msg = "none of the nodes that it shows has this host name"
        raise UnreadError(msg, "Make NodeName in slurm.conf the node's host name")
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
        if numbers and all(map(_is_in, numbers.groups(), texts[1::2])):
            return True
    return False


def _is_in(number: str, text: str) -> bool:
    return int(number) in indexes(text)


def _command(root: Path) -> str:
    """The path of scontrol: one of its usual places, which nobody else can write to."""
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
        process = subprocess.Popen(  # noqa: S603 - a fixed path, and a number
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
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
        is_late = not timer.is_alive()
        timer.cancel()
        process.kill()
    if is_late:
        msg = f"it did not answer within {WITHIN_S:.0f} s"
        raise UnreadError(msg, "See with `scontrol ping` whether slurmctld answers")
    return text.decode("utf-8", errors="replace")
