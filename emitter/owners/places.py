"""
Where the names are: the files of the host, and its services, which may be absent.

The addresses are those of
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4.html and
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-agent-introspection.html
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from emitter.instance.local_http import MAX_BODY_BYTES, LocalHttpError, exchange

if TYPE_CHECKING:
    from typing import TypeVar

    _T = TypeVar("_T")

OWN_PROC: Final = Path("/proc")

ECS_METADATA_URL: Final = "http://169.254.170.2"
ECS_AGENT_URL: Final = "http://127.0.0.1:51678"

HANDED_OVER: Final = Path("/run/neuron-emf/reservations.json")
"""In a volume that two containers of a pod share; `python -m emitter.owners` writes it."""

WITHIN_S: Final = 1.0
REST_S: Final = 60.0
"""How long nobody is asked who did not answer: without the service it costs a try a minute."""


@dataclass(frozen=True, slots=True)
class Places:
    """
    Where to look.

    Attributes:
        proc: The `/proc` of the machine whose pids the reports have.

        root: The root of that machine's files.

        ecs_agent_url: Where the ECS agent answers; empty where nobody is asked, as with the others.

        ecs_metadata_url: Where it answers for the task of one container.

        handed_over: What another container says that the kubelet has given.

        is_saved: These are files of a machine that is not here: no service or command is asked.
    """

    proc: Path = OWN_PROC
    root: Path = Path("/")
    ecs_agent_url: str = ECS_AGENT_URL
    ecs_metadata_url: str = ECS_METADATA_URL
    handed_over: Path = HANDED_OVER
    is_saved: bool = False

    @classmethod
    def beside(cls, proc: Path) -> Places:
        """
        Those of the machine whose `/proc` is *proc*: what is beside it is its root.

        `/host/proc` belongs to a host whose files are in `/host`.
        """
        proc = proc.absolute()
        return cls(proc=proc, root=proc.parent)

    @classmethod
    def saved_beside(cls, proc: Path) -> Places:
        """The files of a machine whose `/proc` was saved in *proc*: its services are not here."""
        return replace(cls.beside(proc), ecs_agent_url="", ecs_metadata_url="", is_saved=True)

    @property
    def is_own(self) -> bool:
        """Whether it is the `/proc` that every process has."""
        return self.proc == OWN_PROC


class Endpoint:
    """One address, and when it did not answer."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._rests_until_s = 0.0

    @property
    def is_resting(self) -> bool:
        """Whether it did not answer a short while ago, or there is none."""
        return not self._url or time.monotonic() < self._rests_until_s

    def ask(self, path: str, kind: type[_T], *, max_bytes: int = MAX_BODY_BYTES) -> _T | None:
        """What stands at *path*, as JSON of *kind*; None without an answer of that kind."""
        if self.is_resting:
            return None
        try:
            ends_at_s = time.monotonic() + WITHIN_S
            reply = exchange(f"{self._url}{path}", ends_at_s=ends_at_s, max_bytes=max_bytes)
        except LocalHttpError:
            reply = None
        if reply is None or reply.status >= 500:
            self._rests_until_s = time.monotonic() + REST_S
            return None
        try:
            return msgspec.json.decode(reply.body, type=kind) if reply.status == 200 else None
        except (ValueError, RecursionError):
            return None
