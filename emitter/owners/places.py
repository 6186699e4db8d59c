"""
Where the names are: the files of the host and the addresses of its services.

The addresses are those of
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4.html,
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-agent-introspection.html and
https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

OWN_PROC: Final = Path("/proc")

ECS_METADATA_URL: Final = "http://169.254.170.2"
ECS_AGENT_URL: Final = "http://127.0.0.1:51678"

KUBELET_URL: Final = "http://127.0.0.1:10255"
"""The read-only port: closed on most nodes, and the one that needs no token."""


@dataclass(frozen=True, slots=True)
class Places:
    """
    Where to look.

    Attributes:
        proc: The `/proc` of the machine whose pids the reports have.

        root: The root of that machine's files.

        ecs_agent_url: Where the ECS agent answers; empty where nobody is asked, as with the others.

        ecs_metadata_url: Where it answers for the task of one container.

        kubelet_url: The read-only port of the kubelet.
    """

    proc: Path = OWN_PROC
    root: Path = Path("/")
    ecs_agent_url: str = ECS_AGENT_URL
    ecs_metadata_url: str = ECS_METADATA_URL
    kubelet_url: str = KUBELET_URL

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
        return replace(cls.beside(proc), ecs_agent_url="", ecs_metadata_url="", kubelet_url="")

    @property
    def is_own(self) -> bool:
        """Whether it is the `/proc` that every process has."""
        return self.proc == OWN_PROC
