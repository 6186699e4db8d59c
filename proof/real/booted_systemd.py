"""
A real systemd as PID 1 of its own namespaces, over a temporary copy of this machine's root.

It needs root, a writable cgroup v2, overlay file systems and a systemd; `missing` returns what the
machine lacks.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from proof.emitter_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

SYSTEMD_FOLDER = Path(__file__).resolve().parent
BOOTS_WITHIN_S = 90.0
SYSTEMD_PROGRAM = "/lib/systemd/systemd"
NEEDED_PROGRAMS = (
    "unshare",
    "nsenter",
    "pivot_root",
    "systemd-sysusers",
    "systemctl",
    SYSTEMD_PROGRAM,
)


def missing() -> str | None:
    """Return why the machine cannot run it, or None if it can."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "root on Linux is needed to make namespaces"
    for name in NEEDED_PROGRAMS:
        if shutil.which(name) is None:
            return f"{name} is missing"
    if _unified() is None:
        return "cgroup v2 is mounted nowhere"
    words = ["unshare", "--mount", "--pid", "--fork", "--cgroup", "true"]
    tried = subprocess.run(words, capture_output=True, text=True, check=False)
    return tried.stderr.strip() or None


def _unified() -> Path | None:
    """Return the mount point of cgroup v2, or None if none can be written."""
    for line in Path("/proc/self/mounts").read_text("utf-8").splitlines():
        _, place, file_system, *_ = line.split()
        if file_system == "cgroup2" and os.access(place, os.W_OK):
            return Path(place)
    return None


class BootedMachine:
    """A booted systemd, and commands that run inside it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def run(self, *words: str) -> str:
        """Return the output of a command that runs inside the machine."""
        inside = ["nsenter", "-t", str(self.pid), "-m", "-p", "-C", "-r", "-w", *words]
        ended = subprocess.run(inside, capture_output=True, text=True, check=False, timeout=60)
        return ended.stdout

    def shows(self, name: str) -> str:
        """Return one property of the service."""
        return self.run("systemctl", "show", "neuron-emf", "--value", f"--property={name}").strip()

    def journal(self) -> str:
        """Return the service's journal, without times."""
        return self.run("journalctl", "--unit=neuron-emf", "--output=cat", "--no-pager")

    def outside_pid(self) -> int:
        """Return the process ID of the service's main process on this machine."""
        inside = self.shows("MainPID")
        for status in Path("/proc").glob("[0-9]*/status"):
            with suppress(OSError):
                line = next(
                    line for line in status.read_text("utf-8").splitlines() if "NSpid" in line
                )
                is_of_there = Path(f"/proc/{self.pid}/ns/pid").samefile(status.parent / "ns/pid")
                if is_of_there and line.split()[-1] == inside:
                    return int(status.parent.name)
        msg = f"no process is {inside} in there"
        raise AssertionError(msg)


@contextmanager
def booted(installed: Path, files: Path, work: Path) -> Iterator[BootedMachine]:
    """Yield a machine with the files of *installed* and *files*, and remove it afterwards."""
    unified = _unified()
    assert unified is not None
    cgroup = unified / f"neuron-emf-test-{os.getpid()}"
    cgroup.mkdir()
    log = work / "boot.log"
    root = work / "machine"
    root.mkdir()
    words = [
        "unshare",
        "--mount",
        "bash",
        SYSTEMD_FOLDER / "systemd_prepare.sh",
        root,
        installed,
        files,
        cgroup,
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(
            list(map(str, words)), stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        first = _first_process(process, log)
        yield BootedMachine(first)
    finally:
        for pid in _members(cgroup):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.kill()
        process.wait()
        wait_until(lambda: not _members(cgroup))
        for folder in sorted(cgroup.rglob("*"), reverse=True):
            if folder.is_dir():
                folder.rmdir()
        cgroup.rmdir()


def _first_process(process: subprocess.Popen[bytes], log: Path) -> int:
    """Return PID 1 of the namespace when it is a systemd that answers."""
    children_pids: list[int] = []

    def is_up() -> bool:
        assert process.poll() is None, log.read_text("utf-8")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii")
        children_pids[:] = [int(pid) for pid in children.split()]
        with suppress(OSError, IndexError):
            is_systemd = Path(f"/proc/{children_pids[0]}/comm").read_text("utf-8") == "systemd\n"
            return is_systemd and BootedMachine(children_pids[0]).shows("ActiveState") == "active"
        return False

    wait_until(is_up, BOOTS_WITHIN_S)
    return children_pids[0]


def _members(cgroup: Path) -> list[int]:
    """Return every process in a cgroup and its children."""
    return [
        int(pid)
        for file in cgroup.rglob("cgroup.procs")
        for pid in file.read_text("ascii").split()
        if pid != "0"  # 0: a process of a namespace that is not visible here
    ]
