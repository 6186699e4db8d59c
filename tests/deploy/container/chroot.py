"""
A container without an engine: the image's files under chroot, with namespaces of its own.

The root is read-only, the spool is a mount of its own, processes have the image's user and
variables, and the first of them is the image's command: as the strictest way people run it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.programs import run_program

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from tests.deploy.container.image import Image

_PREPARE = """
mount --bind "$0" "$0"
mount --types proc none "$0/proc"
mount --types tmpfs none "$0/dev"
: > "$0/dev/null"
mount --bind /dev/null "$0/dev/null"
mount --types tmpfs --options mode=0700,uid=$1,gid=$2 none "$0$3"
mount --options remount,ro,bind "$0"
root=$0
shift 3
exec chroot --userspec="$USERSPEC" "$root" /usr/bin/env --ignore-environment "$@"
"""


class Container:
    """One that runs, until it is stopped or the block ends."""

    def __init__(self, image: Image, lines: Path, *command: str, **variables: str) -> None:
        config = image.config
        self._root = str(image.rootfs)
        self._userspec = config["User"]
        self._inside = [
            f"--chdir={config['WorkingDir']}",
            *config["Env"],
            *(f"{name}={value}" for name, value in variables.items()),
        ]
        self._health = config["Healthcheck"]["Test"]
        self._spool = config["WorkingDir"]
        self._command = [*config["Entrypoint"], *(command or config["Cmd"])]
        self._lines = lines
        self.said = lines.with_suffix(".err")

    def __enter__(self) -> Self:
        uid, _, gid = self._userspec.partition(":")
        with self._lines.open("wb") as lines, self.said.open("wb") as said:
            self._process = subprocess.Popen(
                [
                    *("unshare", "--pid", "--fork", "--kill-child", "--mount", "--ipc", "--uts"),
                    *("/bin/sh", "-euc", _PREPARE, self._root, uid, gid, self._spool),
                    *self._inside,
                    *self._command,
                ],
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "USERSPEC": self._userspec},
                stdin=subprocess.DEVNULL,
                stdout=lines,
                stderr=said,
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The change of user has undone `--kill-child`, so the first process is killed by name.
        with suppress(IndexError, FileNotFoundError, ProcessLookupError):
            os.kill(self.first, signal.SIGKILL)
        self._process.kill()
        self._process.wait()

    def lines(self) -> list[dict[str, Any]]:
        """What it has printed, whole lines only."""
        text = self._lines.read_text("utf-8")
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    @property
    def first(self) -> int:
        """The pid of its first process, as we see it."""
        return children_of(self._process.pid)[0]

    def tree(self) -> list[dict[str, str]]:
        """Its processes below the first one, as /proc/PID/status has them."""
        return [status_of(pid) for pid in children_of(self.first)]

    def health(self) -> subprocess.CompletedProcess[str]:
        """What the health check of the image says."""
        kind, *command = self._health
        assert "CMD" == kind
        return run_program(
            [
                *("nsenter", f"--target={self.first}", "--pid", "--mount"),
                *("chroot", f"--userspec={self._userspec}", self._root),
                *("/usr/bin/env", "--ignore-environment", *self._inside, *command),
            ]
        )

    def stop(self, within_s: float) -> int:
        """SIGTERM to the first process, as an engine does; its exit code."""
        os.kill(self.first, signal.SIGTERM)
        return self._process.wait(within_s)


def children_of(pid: int) -> list[int]:
    """The pids of the children of a process of one thread, or of all its threads."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += map(int, (task / "children").read_text("ascii").split())
    return found


def status_of(pid: int) -> dict[str, str]:
    """The members of /proc/PID/status."""
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
