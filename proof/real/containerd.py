"""
Real containerd and runc: the emitter's reading of a container's groups, bundle and devices.

`python -m proof.real.containerd scene FOLDER` runs inside a mount namespace, and `python -m
proof.real.containerd read PID...` is the emitter's reading of processes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from local import REPOSITORY
from neuron_emitter.owners.assignments import UnknownAssignmentsError
from neuron_emitter.owners.container_devices import ContainerDevices
from neuron_emitter.owners.container_names import BUNDLES
from neuron_emitter.owners.lookup import OwnerLookup
from neuron_emitter.owners.places import FIRST_NAMESPACE, Places
from proof.real.device_machine import (
    PYTHON_VARIABLES,
    add_users,
    environment,
    identity,
    make_devices,
    open_ways,
    start_daemon,
    wait_for,
)
from proof.real.device_machine import (
    run as run_command,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLE: Final = "containerd and runc"
CLAIM: Final = (
    "Containers with the control group and annotations of a pod, with devices, and privileged; the "
    "emitter as root and as a user without rights."
)
POD_UID: Final = "0a1b2c3d-0000-4000-8000-0123456789ab"
ANNOTATIONS: Final = {
    "io.kubernetes.cri.sandbox-namespace": "ml",
    "io.kubernetes.cri.sandbox-name": "train-0",
    "io.kubernetes.cri.container-name": "main",
}
WORK: Final = (
    "for path in /dev/neuron*; do (: <$path) 2>&1 | grep -q 'No such' && echo $path; done"
    " >/proof/opened; exec sleep 1200"
)


def missing() -> str | None:
    """Return why containerd cannot run here, None if it can."""
    lacking = [name for name in ("containerd", "ctr", "runc") if shutil.which(name) is None]
    if os.geteuid() != 0:
        return "it mounts and starts containers: run as root"
    if str(Path("/proc/self/ns/pid").readlink()) != FIRST_NAMESPACE:
        return "the emitter names no owners in a container: run on the machine itself"
    if lacking:
        return f"{', '.join(lacking)} not found: proof/real/install.sh containerd"
    return None


def versions() -> dict[str, str]:
    """Return the versions of containerd and runc."""
    return {
        "containerd": run_command(["containerd", "--version"]).split()[2].partition("~")[0],
        "runc": run_command(["runc", "--version"]).split()[2].partition("+")[0],
    }


def run(folder: Path) -> list[str]:
    """Run the scene in a mount namespace; raise AssertionError with the difference."""
    command = [
        *("unshare", "--mount", "--fork", "--kill-child", sys.executable),
        *("-m", "proof.real.containerd", "scene", str(folder)),
    ]
    ended = subprocess.run(command, cwd=REPOSITORY, check=False, capture_output=True, text=True)
    sys.stderr.write(ended.stderr)
    assert ended.returncode == 0, ended.stderr.strip().rpartition("\n")[2]
    return ended.stdout.splitlines()


def scene(state: Path) -> Iterator[str]:
    """Start three containers and compare the emitter's readings with the requested containers."""
    state.chmod(0o755)
    add_users()
    make_devices(state / "dev")
    open_ways(state)
    for folder in ("/run", "/var/lib", "/var/log"):
        run_command(["mount", "-t", "tmpfs", "-o", "mode=755", "proof", folder])
    Path("/var/lib/ecs").mkdir()  # the sign of an ECS agent
    Path("/var/log/pods", f"ml_train-0_{POD_UID}", "main").mkdir(parents=True)
    server = start_daemon(
        ["containerd", "--root", str(state / "containerd"), "--log-level", "error"],
        state / "errors",
    )
    try:
        wait_for(Path("/run/containerd/containerd.sock").exists, "a socket of containerd")
        with ExitStack() as stack:
            yield from _compare(stack, state)
        answer = read("root", [])
        assert answer["allocations"] == [], f"all containers ended: {answer}"
    finally:
        server.terminate()
        server.wait()


def _compare(stack: ExitStack, state: Path) -> Iterator[str]:
    identifiers = [character * 64 for character in "abcd"]
    pod, docker, plain, privileged = identifiers
    group = f"kubepods/burstable/pod{POD_UID}/{pod}"
    notes = [f"--annotation={name}={value}" for name, value in ANNOTATIONS.items()]
    pids = [
        stack.enter_context(container(state, "k8s.io", pod, f"--cgroup={group}", *notes)),
        stack.enter_context(container(state, "moby", docker, *_devices(3, 4))),
        stack.enter_context(container(state, "default", plain, *_devices(9))),
        stack.enter_context(container(state, "default", privileged, "--privileged")),
    ]
    names = ["ml/train-0/main", *(f"container:{name[:12]}" for name in identifiers[1:])]
    by_user = {user: read(user, pids) for user in ("root", "neuron-emf")}
    for user, answer in by_user.items():
        assert names == answer["names"], f"as {user}: {answer}"
    pods = by_user["root"]["pods"]
    assert [POD_UID, None, None, None] == pods, pods
    yield "A pod's container was named by pod, three others by id, as root and as another user."

    given = dict(by_user["root"]["allocations"])
    opened = {names[1]: _opened(state, docker), names[2]: _opened(state, plain)}
    assert {names[1]: [3, 4], names[2]: [9]} == given, given
    assert opened == given, f"the kernel let them open {opened}, the emitter says {given}"
    assert "ermission denied" in by_user["neuron-emf"]["problem"], by_user["neuron-emf"]
    yield "The kernel agreed on the devices of two containers; a privileged one had none assigned."


def _devices(*numbers: int) -> list[str]:
    return [f"--device=/dev/neuron{number}" for number in numbers]


def _opened(state: Path, identifier: str) -> list[int]:
    text = (state / identifier / "proof" / "opened").read_text("ascii")
    return [int(line.removeprefix("/dev/neuron")) for line in text.split()]


@contextmanager
def container(state: Path, namespace: str, identifier: str, *options: str) -> Iterator[int]:
    """Run a container of this machine's programs and yield the process ID of its first process."""
    root = state / identifier
    for folder in ("usr", "proc", "dev", "sys", "tmp", "proof"):
        (root / folder).mkdir(parents=True)
    for folder in ("bin", "sbin", "lib", "lib64"):
        (root / folder).symlink_to(f"usr/{folder}")
    ctr = ["ctr", "--namespace", namespace]
    command = ["--rootfs", *options, str(root), identifier, "/bin/sh", "-c", WORK]
    programs = "--mount=type=bind,src=/usr,dst=/usr,options=rbind:ro"
    path = "--env=PATH=/usr/bin"
    run_command([*ctr, "run", "--detach", "--null-io", path, programs, *command])
    bundle = Path("/", BUNDLES, namespace, identifier)
    try:
        wait_for((root / "proof" / "opened").exists, f"container {identifier[:12]} at work")
        wait_for(lambda: _is_sleeping(bundle), f"container {identifier[:12]} asleep")
        yield int((bundle / "init.pid").read_text("ascii"))
    finally:
        run_command([*ctr, "task", "delete", "--force", identifier])
        run_command([*ctr, "container", "delete", identifier])


def _is_sleeping(bundle: Path) -> bool:
    pid = (bundle / "init.pid").read_text("ascii")
    return Path("/proc", pid, "comm").read_text("ascii") == "sleep\n"


def read(user: str, pids: list[int]) -> dict[str, Any]:
    """Return the emitter's reading of the processes and bundles as *user*."""
    command = [sys.executable, "-m", "proof.real.containerd", "read", *map(str, pids)]
    ended = subprocess.run(
        command,
        cwd=REPOSITORY,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(PYTHON_VARIABLES),
        **identity(user),
    )
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


def read_here(pids: list[int]) -> dict[str, Any]:
    """Return owners of *pids* and allocations, as this process sees them."""
    places = Places.around(Path("/proc"))
    lookup = OwnerLookup(places, is_background=False)
    lookup.note_pids(pids)
    lookup.look_up_pending()
    owners = [lookup.owner_of(pid) for pid in pids]
    answer = {
        "names": [owner and owner.name for owner in owners],
        "pods": [owner and owner.pod for owner in owners],
    }
    try:
        allocations = ContainerDevices(places).read_allocations()
    except UnknownAssignmentsError as error:
        return {**answer, "allocations": [], "problem": str(error)}
    return {**answer, "allocations": [[row.name, sorted(row.devices)] for row in allocations]}


if __name__ == "__main__":
    if sys.argv[1] == "scene":
        for sentence in scene(Path(sys.argv[2])):
            print(sentence, flush=True)  # noqa: T201 - the result
    else:
        print(json.dumps(read_here(list(map(int, sys.argv[2:])))))  # noqa: T201 - the answer
