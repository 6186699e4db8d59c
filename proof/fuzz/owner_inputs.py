"""What a search of owners begins with, the machine it is put on, and how an input is changed."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from emitter.owners import ecs
from emitter.owners.places import Places
from proof.fuzz.answers import answered
from proof.fuzz.target import reworded

if TYPE_CHECKING:
    import random

PID: Final = 42
CONTAINER: Final = "4f0c1a5e6b7d8c9fa0b1c2d3e4f5061728394a5b6c7d8e9f0a1b2c3d4e5f6071"
POD: Final = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
_FOLDER: Final = tempfile.TemporaryDirectory(prefix="neuron-emf-fuzz-")
ROOT: Final = Path(_FOLDER.name) / "root"
PLACES: Final = Places.beside(ROOT / "proc")
METADATA: Final = "/v4/6ad1b1a5-5b3c-4d5e-8f90-123456789abc"

IN_A_TASK: Final = b"0::/ecstasks.slice/ecstasks-9781c2480edd.slice/docker-%b.scope\n" % (
    CONTAINER.encode()
)
IN_A_POD: Final = b"0::/kubepods.slice/kubepods-pod%b.slice/cri-containerd-%b.scope\n" % (
    POD.replace("-", "_").encode(),
    CONTAINER.encode(),
)
IN_DOCKER: Final = b"0::/system.slice/docker-%b.scope\n" % CONTAINER.encode()
_STAT: Final = b"42 (python3) S " + b"0 " * 18 + b"1000 " + b"0 " * 30 + b"\n"
_STATUS: Final = b"Name:\tpython3\nUid:\t1000\t0\t0\t0\nCapEff:\t0000000000080000\n"
_PASSWD: Final = b"root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n"
_ENVIRON: Final = b"PATH=/bin\0%b=http://169.254.170.2%b\0" % (
    ecs.VARIABLE.encode(),
    METADATA.encode(),
)
BETWEEN: Final = b"\n--\n"
PARTS: Final = ("stat", "status", "environ", "../../etc/passwd")


def write(path: str, content: bytes) -> None:
    file = ROOT / path
    try:
        file.write_bytes(content)
    except FileNotFoundError:  # the first time; folders cost more than all that is read
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def machine(groups: bytes, **files: bytes) -> None:
    """A machine with one process in *groups*; *files* are others than those that it always has."""
    usual = {"stat": _STAT, "status": _STATUS, "environ": _ENVIRON, "cgroup": groups, **files}
    for name, content in usual.items():
        write(f"proc/{PID}/{name}", content)
    write("etc/passwd", _PASSWD)


def changed_path(content: bytes, chance: random.Random) -> bytes:
    """One part of one path replaced by another that means something, else a word."""
    if chance.random() < 0.4:
        return reworded(content, chance)
    parts = content.split(b"/")
    place = chance.randrange(len(parts))
    put = [chance.choice(_PATH_PARTS), *([parts[place]] if chance.random() < 0.5 else ())]
    parts[place : place + 1] = put
    return b"/".join(parts)


def changed_parts(content: bytes, chance: random.Random) -> bytes:
    """One of the files reworded."""
    parts = content.split(BETWEEN)
    place = chance.randrange(len(parts))
    parts[place] = reworded(parts[place], chance)
    return BETWEEN.join(parts)


def changed_names(content: bytes, chance: random.Random) -> bytes:
    """A piece of a name doubled, left out or replaced."""
    separator = chance.choice([b"\n", b"_", b"-", b"."])
    parts = content.split(separator)
    place = chance.randrange(len(parts))
    parts[place : place + 1] = chance.choice(
        [[], [parts[place]] * 2, [b"A"], [b"x" * 64], [b"\xff"], [b"\x1b[2J"], [b"-"], [b" "]]
    )
    return separator.join(parts)


_PATH_PARTS: Final = (
    b"..", b"job_7", b"uid_1000", b"uid_9999999999", b"job_99999999999", b"slurmstepd.scope",
    b"step_0", b"user@1000.service", b"user@99999999999.service", b"ecs", b"llama.service",
    b"\x1b[2J.service", b"session-1.scope", CONTAINER.encode(), CONTAINER.upper().encode(),
    b"pod" + POD.encode(), b"pod" + b"f" * 32, b"libpod-" + CONTAINER.encode() + b".scope",
    b"x:cri-containerd:" + CONTAINER.encode(), b"a" * 4000, b" (deleted)", "\u202e".encode(),
)  # fmt: skip


def control_groups() -> list[bytes]:
    return [
        IN_A_TASK,
        IN_A_POD,
        IN_DOCKER,
        b"11:freezer:/slurm/uid_1000/job_4711/step_0\n1:name=systemd:/system.slice/slurmd.service\n",
        b"0::/system.slice/node-3_slurmstepd.scope/job_4711/step_batch/user/task_0\n",
        b"0::/user.slice/user-1000.slice/user@1000.service/app.slice/notebook.service\n",
        b"0::/../../../kubepods/besteffort/pod%b/%b (deleted)\n" % (
            POD.encode(), CONTAINER.encode()
        ),
    ]  # fmt: skip


def process_inputs() -> list[bytes]:
    wide = b"42 (a) b (\x1b[2J) S " + b"0 " * 18 + b"9" * 20 + b" 0\n"
    with_job = b"SLURM_JOB_ID=4711\0" + _ENVIRON
    return [
        BETWEEN.join([_STAT, _STATUS, _ENVIRON, _PASSWD]),
        BETWEEN.join([wide, b"Uid:\t1000\n", with_job, b"\x1b[2J:x:1000:1\n"]),
    ]


def container_files() -> list[bytes]:
    ecs_names = {"task-definition-family": "llama", "container-name": "server"}
    labels = {f"com.amazonaws.ecs.{name}": value for name, value in ecs_names.items()}
    names = ("search", "llama-0", "server")
    in_cri = ("cri.sandbox-namespace", "cri.sandbox-name", "cri.container-name")
    in_kubelet = ("pod.namespace", "pod.name", "container.name")
    cri, kubelet = [
        {f"io.kubernetes.{key}": name for key, name in zip(keys, names, strict=True)}
        for keys in (in_cri, in_kubelet)
    ]
    documents: list[dict[str, Any]] = [
        {"Name": "/llama", "Config": {"Labels": labels, "Env": ["PASSWORD=x"]}},
        {"Name": "/k8s_x", "Config": {"Labels": kubelet}},
        {"ociVersion": "1.0.2", "process": {"env": ["A=b"]}, "annotations": cri},
        {"annotations": kubelet},
    ]
    return [json.dumps(one).encode() for one in documents]


def service_answers() -> list[bytes]:
    one = {"DockerId": CONTAINER, "Name": "server"}
    task = {"Family": "llama", "ServiceName": "search", "Containers": [one]}
    status = {"name": "server", "containerID": f"containerd://{CONTAINER}"}
    metadata = {"name": "llama-0", "namespace": "search", "uid": POD, "annotations": {"a": "b"}}
    pods = {"items": [{"metadata": metadata, "status": {"containerStatuses": [status]}}]}
    return [answered(json.dumps(body).encode()) for body in (task, pods)]


LOG_NAMES: Final = [
    f"search_llama-0_{POD}\nllama-0_search_server-{CONTAINER}.log\nserver".encode(),
    f"search_llama-0_{POD}\nserver\nsidecar".encode(),
]
