"""
Files and services of the machine that have names, and whether owners can be named at all.

The pids of reports are those of the machine itself. In another process namespace the same number is
another process and its name would be wrong, so nothing is named there. pid_namespaces(7), proc(5).
The addresses are those of
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4.html and
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-agent-introspection.html
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import json

from neuron_emitter.instance.local_http import (
    ECS_AGENT_URL,
    MAX_BODY_BYTES,
    LocalHttpError,
    exchange,
)
from neuron_emitter.instance.machine import read_text

if TYPE_CHECKING:
    from typing import TypeVar

    _T = TypeVar("_T")

OWN_PROC: Final = Path("/proc")
ECS_METADATA_URL: Final = "http://169.254.170.2"
# In a volume that two containers of a pod share; `python -m neuron_emitter.owners` writes it.
HANDED_OVER: Final = Path("/run/neuron-emf/reservations.json")
ECS_AGENT_TIMEOUT_S: Final = 1.0
# Seconds for which a service that did not answer is not asked: without the service, one try a
# minute.
REST_S: Final = 60.0
# PROC_PID_INIT_INO of the kernel: the namespace that contains all others.
FIRST_NAMESPACE: Final = "pid:[4026531836]"
CAP_SYS_PTRACE: Final = 19  # its bit number, from capability.h


@dataclass(frozen=True, slots=True)
class Places:
    """
    The places to search for names.

    Attributes:
        proc: The `/proc` of the machine that the pids belong to.

        root: The root of that machine's files.

        ecs_agent_url: The address of the ECS agent; empty for none, as with the others.

        ecs_metadata_url: The address of the task metadata service for one container.

        handed_over: The file to which another container writes the kubelet's answer.

        is_saved: True if these are files of a machine that is not here: no service or command is
            used.
    """

    proc: Path = OWN_PROC
    root: Path = Path("/")
    ecs_agent_url: str = ECS_AGENT_URL
    ecs_metadata_url: str = ECS_METADATA_URL
    handed_over: Path = HANDED_OVER
    is_saved: bool = False

    @classmethod
    def around(cls, proc: Path) -> Places:
        """
        Return the places of the machine with this `/proc`: the folder around it is its root.

        `/host/proc` belongs to a host whose files are in `/host`.
        """
        proc = proc.absolute()
        return cls(proc=proc, root=proc.parent)

    @classmethod
    def saved_around(cls, proc: Path) -> Places:
        """Return the places of a machine whose `/proc` was saved: its services are not here."""
        return replace(cls.around(proc), ecs_agent_url="", ecs_metadata_url="", is_saved=True)


class Endpoint:
    """A service of this machine that is not asked for a while after it did not answer."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._rests_until_s = 0.0

    @property
    def is_resting(self) -> bool:
        """Return True if it did not answer a short while ago, or does not exist."""
        return not self._url or time.monotonic() < self._rests_until_s

    def ask_json(
        self, path: str, reply_type: type[_T], *, max_bytes: int = MAX_BODY_BYTES
    ) -> _T | None:
        """Return the JSON at *path* as *reply_type*; None without such an answer."""
        if self.is_resting:
            return None
        reply = None
        with suppress(LocalHttpError):
            ends_at_s = time.monotonic() + ECS_AGENT_TIMEOUT_S
            reply = exchange(f"{self._url}{path}", ends_at_s=ends_at_s, max_bytes=max_bytes)
        if reply is None or reply.status >= 500:
            self._rests_until_s = time.monotonic() + REST_S
        elif reply.status == 200:
            with suppress(ValueError, RecursionError):
                return json.decode(reply.body, type=reply_type)
        return None


@dataclass(frozen=True, slots=True)
class Reach:
    """
    Which owners can be named here.

    Attributes:
        why_not: The reason why no owner can be named; empty if some can.

        advice: Advice about that, or about the limits.

        limits: Owners that cannot be named although others can.
    """

    why_not: str = ""
    advice: str = ""
    limits: tuple[str, ...] = ()


def reach(places: Places, *, own: Path = Path("/proc/self")) -> Reach:
    """Return which owners at *places* can be named; *own* is this process's own folder."""
    if places.proc == OWN_PROC:
        namespace = ""
        with suppress(OSError):
            namespace = str((own / "ns" / "pid").readlink())
        if namespace != FIRST_NAMESPACE:
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
            limits=("ECS services", "Slurm jobs without a control group"),
            advice=(
                "Their names are in the environment of other users' processes: run as "
                "root (CAP_SYS_PTRACE)"
            ),
        )
    return Reach()


def _may_read_environments(own: Path) -> bool:
    """Return True if this process has CAP_SYS_PTRACE, as in proc(5)."""
    lines = (read_text(own / "status") or "").splitlines()
    capabilities = dict(line.partition(":")[::2] for line in lines).get("CapEff", "")
    with suppress(ValueError):
        return bool(int(capabilities, 16) >> CAP_SYS_PTRACE & 1)
    return False
