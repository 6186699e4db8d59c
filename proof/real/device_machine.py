"""
A machine for a proof: users, plain device files of Neuron, and processes of any user.

The caller has a mount namespace of its own, so no change here is visible outside.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from local import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MACHINE_USERS: Final = {"ada": 31101, "bob": 31102, "neuron-emf": 31103}
DEVICES: Final = 16
DEVICE_MAJOR: Final = 245  # no driver: a permitted open ends with ENODEV or ENXIO
PARTS_OF_DEV: Final = ("full", "null", "random", "tty", "urandom", "zero")
DAEMONS_WITHIN_S: Final = 60.0
PYTHON_VARIABLES: Final = {"PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'lambda'}"}


def add_users() -> None:
    """Add the users of the proofs to this namespace's passwd."""
    with Path("/etc/passwd").open("a") as passwd, Path("/etc/group").open("a") as group:
        for name, number in MACHINE_USERS.items():
            passwd.write(f"{name}:x:{number}:{number}::/tmp:/bin/sh\n")
            group.write(f"{name}:x:{number}:\n")


def run(command: list[str], user: str = "root", **variables: str) -> str:
    """Run *command* as *user* and return its output; raise AssertionError with its message."""
    ended: subprocess.CompletedProcess[str]
    ended = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        cwd="/tmp",
        env=environment(variables),
        **identity(user),
    )
    assert ended.returncode == 0, f"{' '.join(command)}: {ended.stderr.strip()}"
    return ended.stdout


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a process on the node."""
    return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", **variables}


def identity(user: str) -> dict[str, Any]:
    """Return the arguments of subprocess for a process of *user* without further groups."""
    if user == "root":
        return {}
    return {"user": MACHINE_USERS[user], "group": MACHINE_USERS[user], "extra_groups": []}


def wait_for(is_so: Callable[[], object], what: str) -> object:
    """Return the first true value of *is_so*; raise AssertionError if *what* does not happen."""
    deadline_s = time.monotonic() + DAEMONS_WITHIN_S
    while not (value := is_so()):
        assert time.monotonic() < deadline_s, f"{what}: not within {DAEMONS_WITHIN_S:.0f} s"
        time.sleep(0.1)
    return value


def start_daemon(command: list[str], errors: Path) -> subprocess.Popen[bytes]:
    """Start a daemon in the foreground that ends with this process at the latest."""
    with errors.open("wb") as output:
        return subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *command],
            stdout=output,
            stderr=output,
            env=environment({}),
        )


def make_devices(folder: Path) -> None:
    """Mount a /dev with plain device files of Neuron over this namespace's."""
    folder.mkdir(parents=True)
    run(["mount", "-t", "tmpfs", "-o", "mode=755", "proof", str(folder)])
    for name in PARTS_OF_DEV:
        run(["cp", "-a", f"/dev/{name}", str(folder)])
    (folder / "fd").symlink_to("/proc/self/fd")
    (folder / "shm").mkdir()
    (folder / "shm").chmod(0o1777)
    for number in range(DEVICES):
        path = folder / f"neuron{number}"
        os.mknod(path, 0o20666, os.makedev(DEVICE_MAJOR, number))
        path.chmod(0o666)
    run(["mount", "--rbind", str(folder), "/dev"])


def open_ways(state: Path) -> None:
    """Permit any user to run this Python and to read this tree."""
    for path in (Path(sys.base_prefix), REPOSITORY):
        _open_way(path, state)


def _open_way(path: Path, state: Path) -> None:
    """
    Permit any user to reach *path*: replace each closed folder above it by a folder with only
    *path*.
    """
    closed = next((part for part in reversed(path.parents) if not part.stat().st_mode & 1), None)
    if closed is None:
        return
    kept = state / "kept" / path.name
    kept.mkdir(parents=True)
    run(["mount", "--bind", str(path), str(kept)])
    run(["mount", "-t", "tmpfs", "-o", "mode=755", "proof", str(closed)])
    path.mkdir(parents=True)
    run(["mount", "--bind", str(kept), str(path)])
