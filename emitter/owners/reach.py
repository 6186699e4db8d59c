"""
Whether owners can be named here at all, and what cannot be.

The pids of reports are those that the machine itself counts by. In another
process namespace the same number is another process, and a name of that one
would be wrong: there nothing is named. pid_namespaces(7), proc(5).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emitter.instance.machine import read_text
from emitter.owners.membership import membership
from emitter.owners.process import ProcessGoneError, open_process

if TYPE_CHECKING:
    from emitter.owners.places import Places

FIRST_NAMESPACE: Final = "pid:[4026531836]"
"""PROC_PID_INIT_INO of the kernel: the namespace that all others are in."""

CAP_SYS_PTRACE: Final = 19  # its bit, from capability.h


@dataclass(frozen=True, slots=True)
class Reach:
    """
    What can be named.

    Attributes:
        why_not: Why nobody can be named; empty where somebody can.

        advice: What to do about that, or about the limits.

        limits: What cannot be named although others can.
    """

    why_not: str = ""
    advice: str = ""
    limits: tuple[str, ...] = ()


def reach(places: Places, *, own: Path = Path("/proc/self")) -> Reach:
    """What can be named of the machine at *places*; *own* is the folder of this very process."""
    if places.is_own:
        if _namespace(own) != FIRST_NAMESPACE:
            return Reach(
                "this process runs in its own PID namespace, and reports have the host's "
                "process IDs",
                "Share the host's PID namespace (hostPID: true, pidMode: host), or mount "
                "its /proc and use --proc-dir",
            )
    elif read_text(places.proc / "1" / "stat") is None:
        return Reach(
            f"no processes in {places.proc}",
            "Use --proc-dir with the folder where the host's /proc is mounted",
        )
    if read_text(places.proc / "1" / "stat") is None:
        return Reach(
            limits=("the hidden processes of other users",),
            advice=(
                "Mount /proc without hidepid, set ProtectProc=default in the unit, or run as root"
            ),
        )
    if not _may_read_environments(own):
        return Reach(
            limits=("ECS services", "Slurm jobs whose control group has no job number"),
            advice=(
                "Their names are in the environment of other users' processes: run as "
                "root (CAP_SYS_PTRACE)"
            ),
        )
    return Reach()


def sees_sluids(places: Places) -> bool:
    """Whether Slurm runs a job here in a control group without the job's number."""
    try:
        with os.scandir(places.proc) as entries:
            pids = [int(entry.name) for entry in entries if entry.name.isdecimal()]
    except OSError:
        return False
    return any(_has_sluid(places.proc, pid) for pid in pids)


def _has_sluid(proc: Path, pid: int) -> bool:
    try:
        with open_process(proc, pid) as process:
            return membership(process.control_groups()).sluid is not None
    except (ProcessGoneError, PermissionError):
        return False


def _namespace(own: Path) -> str:
    try:
        return str((own / "ns" / "pid").readlink())
    except OSError:
        return ""


def _may_read_environments(own: Path) -> bool:
    """Whether this process has CAP_SYS_PTRACE, as proc(5) shows it."""
    for line in (read_text(own / "status") or "").splitlines():
        name, _, value = line.partition(":")
        if name == "CapEff":
            try:
                return bool(int(value.strip(), 16) >> CAP_SYS_PTRACE & 1)
            except ValueError:
                return False
    return False
