"""
The simulated instance's `/proc`, and the files next to it that show a process's owner.

The caller sets an owner by the name that people read, in one of the forms below. This module writes
the files in which a reader finds that name:

* `slurm:JOB USER`           a Slurm job
* `ecs:FAMILY/CONTAINER`     a container of an ECS task; only the agent knows the service, and no
                             agent is simulated
* `unit:NAME`                a systemd service
* `process:COMMAND USER`     a program that a user started in a session
* `NAMESPACE/POD/CONTAINER`  a pod
* one of these, then ` (gone)`: its control group and the folder of its pod have been removed,
  and the process is still alive

Paths have the kernel's form for control groups of version 2; the files are those of the kubelet,
containerd, Docker, slurmstepd and systemd. It shares no code with the emitter, which reads them.
The assignment of a pod is in the kubelet's checkpoint, and the pod has a process that opens no
device.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from local.monitor.simulated_instance import SimulatedInstance

GONE_SUFFIX: Final = " (gone)"
_FIRST_USER_ID: Final = 1000
_FIRST_WAITING_PID: Final = 100  # below the process IDs of runtimes
_CHECKPOINT: Final = "var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
_START_TICKS: Final = 100  # a second after the boot: before any report
_SIMULATED_BOOT_S: Final = 1_795_158_000  # 2026-11-20T07:00Z, the same for every instance


@dataclass(slots=True)
class _Process:
    """
    One process: the files in its folder, and the files that others keep about it.

    Attributes:
        group: Path of its control group.

        files: Files by path below the machine's root.

        removed: The files that are removed before the process has ended.
    """

    group: str
    command: str = "python3"
    user: str = "root"
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    removed: Mapping[str, str] = field(default_factory=dict)


def name_of(owner: str) -> str:
    """Return the name that people read for an owner."""
    return owner.removesuffix(GONE_SUFFIX)


def write_processes(
    root: Path, instance: SimulatedInstance, owners: Sequence[str], assigned: Sequence[str] = ()
) -> None:
    """
    Write the files of *instance* below *root*, its `/proc` in `proc`.

    *owners* are those of its runtimes, in their order; *assigned* names pods and their cores.

    Raises:
        ValueError: If there are more or fewer owners than runtimes, or one has another form.
    """
    processes = {1: _Process("/init.scope", command="systemd")}
    files = {
        "sys/devices/virtual/dmi/id/board_asset_tag": f"{instance.instance_id}\n",
        "sys/devices/virtual/dmi/id/product_name": f"{instance.host.hardware.name}\n",
        "proc/stat": f"btime {_SIMULATED_BOOT_S}\n",
    }
    for runtime, owner in zip(instance.runtimes, owners, strict=True):
        process = _process(name_of(owner), f"{instance.instance_id}/{runtime.pid}")
        processes[runtime.pid] = process
        files |= process.files
        if not owner.endswith(GONE_SUFFIX):
            files |= {**process.removed, f"sys/fs/cgroup{process.group}/cgroup.procs": ""}
    pods = [reservation.partition("=")[::2] for reservation in assigned]
    for place, (pod, _) in enumerate(pods):
        waiting = _process(pod, f"{instance.instance_id}/{pod}")
        processes[_FIRST_WAITING_PID + place] = waiting
        files |= {**waiting.files, **waiting.removed}
    if pods:
        files[_CHECKPOINT] = _checkpoint(instance.instance_id, pods)
    users = sorted({process.user for process in processes.values()} - {"root"})
    ids = {"root": 0, **{user: _FIRST_USER_ID + index for index, user in enumerate(users)}}
    files["etc/passwd"] = "".join(f"{user}:x:{number}:100::/:\n" for user, number in ids.items())
    for pid, process in processes.items():
        files |= _folder(pid, process, ids[process.user])
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


def _checkpoint(instance_id: str, pods: Sequence[Sequence[str]]) -> str:
    entries = [
        {
            "PodUID": _uid(_digest(f"{instance_id}/{pod}")),
            "ContainerName": pod.split("/")[2],
            "ResourceName": "aws.amazon.com/neuroncore",
            "DeviceIDs": {"-1": cores.split(",")},
            "AllocResp": "",
        }
        for pod, cores in pods
    ]
    return json.dumps({"Data": {"PodDeviceEntries": entries}, "Checksum": 0})


def _folder(pid: int, process: _Process, user_id: int) -> dict[str, str]:
    rest = " ".join(["S", *["0"] * 18, str(_START_TICKS), *["0"] * 30])
    variables = "".join(f"{name}={value}\0" for name, value in process.variables.items())
    return {
        f"proc/{pid}/stat": f"{pid} ({process.command}) {rest}\n",
        f"proc/{pid}/status": f"Name:\t{process.command}\nUid:" + 4 * f"\t{user_id}" + "\n",
        f"proc/{pid}/cgroup": f"0::{process.group}\n",
        f"proc/{pid}/environ": variables,
    }


def _digest(seed: str) -> str:
    return hashlib.sha256(seed.encode()).hexdigest()


def _uid(digest: str) -> str:
    return str(uuid.UUID(digest[:32]))


def _process(name: str, seed: str) -> _Process:
    digest = _digest(seed)
    kind, _, owner = name.rpartition(":")
    if kind == "slurm":
        job, user = owner.split(" ")
        return _of_job(job, user)
    if kind == "ecs":
        family, container = owner.split("/")
        return _of_task(family, container, digest)
    if kind == "unit":
        return _Process(f"/system.slice/{owner}.service")
    if kind == "process":
        command, user = owner.split(" ")
        return _Process("/user.slice/user-1000.slice/session-12.scope", command, user)
    namespace, pod, container = name.split("/")
    return _of_pod(namespace, pod, container, digest)


def _of_job(job: str, user: str) -> _Process:
    return _Process(
        f"/system.slice/slurmstepd.scope/job_{job}/step_batch/user/task_0",
        user=user,
        variables={
            "SLURM_JOB_ID": job,
            "SLURM_JOB_USER": user,
            "SLURM_JOB_ACCOUNT": user.partition("-")[0],
        },
    )


def _of_task(family: str, container: str, container_id: str) -> _Process:
    task_id = container_id[:32]
    document = {
        "Name": f"/ecs-{family}-1-{container}-{container_id[:20]}",
        "Config": {
            "Labels": {
                "com.amazonaws.ecs.container-name": container,
                "com.amazonaws.ecs.task-definition-family": family,
                "com.amazonaws.ecs.task-definition-version": "1",
            }
        },
    }
    return _Process(
        f"/ecstasks.slice/ecstasks-{task_id}.slice/docker-{container_id}.scope",
        files={f"var/lib/docker/containers/{container_id}/config.v2.json": json.dumps(document)},
    )


def _of_pod(namespace: str, pod: str, container: str, container_id: str) -> _Process:
    uid = _uid(container_id)
    slices = f"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{uid}.slice"
    bundle = {
        "annotations": {
            "io.kubernetes.cri.sandbox-namespace": namespace,
            "io.kubernetes.cri.sandbox-name": pod,
            "io.kubernetes.cri.container-name": container,
        }
    }
    folder = f"run/containerd/io.containerd.runtime.v2.task/k8s.io/{container_id}"
    return _Process(
        f"/{slices.replace(uid, uid.replace('-', '_'))}/cri-containerd-{container_id}.scope",
        files={f"{folder}/config.json": json.dumps(bundle)},
        removed={
            f"var/log/containers/{pod}_{namespace}_{container}-{container_id}.log": "",
            f"var/log/pods/{namespace}_{pod}_{uid}/{container}/0.log": "",
        },
    )
