"""
A real systemd as PID 1 of namespaces of its own, over a throw-away copy of this machine's root.

It needs root, cgroup v2 somewhere, overlay file systems and a systemd; what is missing is said.
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
    """What this machine lacks for it, None when nothing."""
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
    """Where cgroup v2 is mounted, if it may be written."""
    for line in Path("/proc/self/mounts").read_text("utf-8").splitlines():
        _, place, kind, *_ = line.split()
        if kind == "cgroup2" and os.access(place, os.W_OK):
            return Path(place)
    return None


class BootedMachine:
    """A booted systemd; commands run inside of it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def run(self, *words: str) -> str:
        """What a command printed in there."""
        inside = ["nsenter", "-t", str(self.pid), "-m", "-p", "-C", "-r", "-w", *words]
        ended = subprocess.run(inside, capture_output=True, text=True, check=False, timeout=60)
        return ended.stdout

    def shows(self, name: str) -> str:
        """One property of the service."""
        return self.run("systemctl", "show", "neuron-emf", "--value", f"--property={name}").strip()

    def journal(self) -> str:
        """What the service said, without times."""
        return self.run("journalctl", "--unit=neuron-emf", "--output=cat", "--no-pager")

    def outside_pid(self) -> int:
        """The service's main process as this machine numbers it."""
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
    """A machine with what is in *installed* and *files*; its end takes all with it."""
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
    with log.open("wb") as said:
        process = subprocess.Popen(
            list(map(str, words)), stdin=subprocess.DEVNULL, stdout=said, stderr=said
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
    """PID 1 of the namespace once it is systemd and answers."""
    found: list[int] = []

    def is_up() -> bool:
        assert process.poll() is None, log.read_text("utf-8")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii")
        found[:] = [int(pid) for pid in children.split()]
        with suppress(OSError, IndexError):
            is_systemd = Path(f"/proc/{found[0]}/comm").read_text("utf-8") == "systemd\n"
            return is_systemd and BootedMachine(found[0]).shows("ActiveState") == "active"
        return False

    wait_until(is_up, BOOTS_WITHIN_S)
    return found[0]


def _members(cgroup: Path) -> list[int]:
    """Every process in a cgroup and below."""
    return [
        int(pid)
        for file in cgroup.rglob("cgroup.procs")
        for pid in file.read_text("ascii").split()
        if pid != "0"  # one of a namespace that we do not see
    ]
