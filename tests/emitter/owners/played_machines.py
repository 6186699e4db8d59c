"""
Machines as `/proc` shows them: trees of files, and the forms that control groups have on them.

The paths of control groups are written as the kernel prints them for each
runtime; ids are made up, and everything that is not read is left out.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from neuron_reports import counters, memory, report, runtime

from emitter.owners.naming import Naming, ProcessOwner
from emitter.owners.places import Places
from emitter.owners.process import open_process

if TYPE_CHECKING:
    from pathlib import Path

CONTAINER = "4f0c1a5e6b7d8c9fa0b1c2d3e4f5061728394a5b6c7d8e9f0a1b2c3d4e5f6071"
OTHER_CONTAINER = "b" * 64
POD = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
POD_IN_SLICES = POD.replace("-", "_")
STATIC_POD = "0123456789abcdef0123456789abcdef"
TASK = "9781c2480edd4cdb9a93f63cb662a5d3"
METADATA_ID = "6ad1b1a5-5b3c-4d5e-8f90-123456789abc"

V1_CONTROLLERS = (
    *("pids", "hugetlb", "net_cls,net_prio", "perf_event", "cpuset", "freezer", "memory"),
    *("cpu,cpuacct", "devices", "blkio", "name=systemd"),
)


def v1(path, *, only=V1_CONTROLLERS, others="/"):
    """The eleven hierarchies of Amazon Linux 2: the same path in those of *only*."""
    lines = [
        f"{len(V1_CONTROLLERS) - place}:{name}:{path if name in only else others}"
        for place, name in enumerate(V1_CONTROLLERS)
    ]
    return "\n".join(lines) + "\n"


def v2(path):
    """The one hierarchy of version 2."""
    return f"0::{path}\n"


ECS_V1 = v1(f"/ecs/{TASK}/{CONTAINER}")
ECS_V2 = v2(f"/ecstasks.slice/ecstasks-{TASK}.slice/docker-{CONTAINER}.scope")
EKS_SYSTEMD_V2 = v2(
    f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{POD_IN_SLICES}.slice"
    f"/cri-containerd-{CONTAINER}.scope"
)
EKS_GUARANTEED_V2 = v2(
    f"/kubepods.slice/kubepods-pod{POD_IN_SLICES}.slice/cri-containerd-{CONTAINER}.scope"
)
EKS_CGROUPFS_V1 = v1(f"/kubepods/besteffort/pod{POD}/{CONTAINER}")
EKS_MIXED_V1 = v1(
    f"/system.slice/containerd.service/kubepods-burstable-pod{POD_IN_SLICES}.slice"
    f":cri-containerd:{CONTAINER}"
)
EKS_SEEN_FROM_A_POD = v2(
    f"/../../../kubepods-besteffort.slice/kubepods-besteffort-pod{POD_IN_SLICES}.slice"
    f"/cri-containerd-{CONTAINER}.scope"
)
EKS_SEEN_FROM_THE_SAME_POD = v2(f"/../cri-containerd-{CONTAINER}.scope")
CRI_O = v2(
    f"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{POD_IN_SLICES}.slice"
    f"/crio-{CONTAINER}.scope/container"
)
STATIC_V2 = v2(
    f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{STATIC_POD}.slice"
    f"/cri-containerd-{CONTAINER}.scope"
)
DOCKER_V1 = v1(f"/docker/{CONTAINER}")
DOCKER_V2 = v2(f"/system.slice/docker-{CONTAINER}.scope")
PODMAN_V2 = v2(f"/machine.slice/libpod-{CONTAINER}.scope/container")
ROOTLESS = v2(
    f"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-{CONTAINER}.scope/container"
)
SLURM_V1 = v1(
    "/slurm/uid_1000/job_4711/step_0/task_0",
    only=("freezer", "memory", "cpuset", "devices"),
    others="/system.slice/slurmd.service",
)
SLURM_V1_OF_A_NODE = v1("/slurm_node-3/uid_1000/job_4711/step_batch", only=("freezer", "memory"))
# Slurm 25.11, and 26.05.2 with CgroupJobIdPaths=yes.
SLURM_V2 = v2("/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0")
SLURM_V2_OF_A_NODE = v2("/system.slice/node-3_slurmstepd.scope/job_4711/step_batch/user/task_0")
# Slurm 26.05: the group of a job has its SLUID.
SLUID = "s5K1KKYAYG5D00"
SLURM_26_05 = v2(f"/system.slice/slurmstepd.scope/{SLUID}/step_0/user/task_0")
SLURM_26_05_OF_A_NODE = v2(f"/system.slice/node-3_slurmstepd.scope/{SLUID}/step_batch/user/task_0")
SLURM_26_05_FROM_A_GROUP = v2(f"/../../../{SLUID}/step_0/user/task_0")
SLURM_WITHOUT_GROUPS = v2("/system.slice/slurmd.service")
UNIT = v2("/system.slice/llama.service")
UNIT_IN_SLICES = v2("/system.slice/system-llama.slice/llama@0.service/worker")
USER_UNIT = v2("/user.slice/user-1000.slice/user@1000.service/app.slice/notebook.service")
SESSION = v2("/user.slice/user-1000.slice/session-12.scope")
BARE = v2("/")


class PlayedMachine:
    """A root folder with a `/proc` in it, and services at addresses that a test may set."""

    def __init__(self, root: Path, nowhere: str) -> None:
        self.root = root
        self.proc = root / "proc"
        self.urls = {"ecs_agent_url": nowhere, "ecs_metadata_url": nowhere}
        self.process(1, command="systemd", groups=v2("/init.scope"), user_id=0)
        self.file("etc/passwd", "root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n")

    @property
    def places(self) -> Places:
        """Where to look on this machine."""
        handed_over = self.root / "run/neuron-emf/reservations.json"
        return Places(self.proc, self.root, handed_over=handed_over, **self.urls)

    def file(self, path: str, content: object) -> None:
        """Write a file below the root; what is no text becomes JSON."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, (bytes, str)):
            content = json.dumps(content)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def process(
        self, pid=42, *, groups=BARE, command="python3", user_id=1000, ticks=1000, variables=None
    ):
        """A process, in the place of one that had the pid before."""
        self.end(pid)
        if isinstance(command, str):
            command = command.encode()
        rest = " ".join(["S", *(["0"] * 18), str(ticks), *(["0"] * 30)])
        environ = b"".join(
            one if isinstance(one, bytes) else one.encode() + b"\0"
            for one in (variables or ["PATH=/bin", "HOME=/"])
        )
        self.file(f"proc/{pid}/stat", b"%d (%s) %s\n" % (pid, command, rest.encode()))
        self.file(f"proc/{pid}/status", f"Name:\tx\nUid:\t{user_id}\t0\t0\t0\nGid:\t1\t1\t1\t1\n")
        self.file(f"proc/{pid}/cgroup", groups)
        self.file(f"proc/{pid}/environ", environ)
        return pid

    def end(self, pid):
        """The process ends, and its parent has heard of it."""
        shutil.rmtree(self.proc / str(pid), ignore_errors=True)


def owner_of(played, pid=42):
    """Whose the process is, with nothing known before."""
    with open_process(played.proc, pid) as process:
        return Naming(played.places).name_owner(process, process.command_and_start()[0])


def told(played, pid=42):
    """Its name and whether that is the last word, as an `Owner` of nothing else."""
    owner = owner_of(played, pid)
    return ProcessOwner(owner.name, is_final=owner.is_final)


def name_of(played, pid=42):
    """The name alone."""
    return owner_of(played, pid).name


def reports_of(*pids):
    """A report in which each of *pids* holds a core and does nothing."""
    return report(
        *[
            runtime(counters([0] * len(pids)), memory({core: 1}), pid=pid, tag="1")
            for core, pid in enumerate(pids)
        ]
    )
