"""
What says whose a process is: its files in `/proc`, the engines' files, folders of logs, services.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from emitter.owners import ecs
from emitter.owners.container import BUNDLE_FILES, DOCKER_FILE, bundle_annotations, docker_container
from emitter.owners.endpoint import Endpoint
from emitter.owners.kubernetes import CONTAINER_LOGS, POD_LOGS, pod_name
from emitter.owners.membership import membership
from emitter.owners.naming import Naming, Owner
from emitter.owners.places import Places
from emitter.owners.process import MAX_VALUE_BYTES, ProcessGoneError, open_process, started_s
from emitter.owners.reach import reach
from emitter.owners.users import MAX_USER_CHARS, user_name
from neuron_wire.holders import MAX_NAME_CHARS, printable
from proof.fuzz import broken_json
from proof.fuzz.answers import answered, answering, changed_answer
from proof.fuzz.target import Target, reworded

if TYPE_CHECKING:
    import random

PID: Final = 42
CONTAINER: Final = "4f0c1a5e6b7d8c9fa0b1c2d3e4f5061728394a5b6c7d8e9f0a1b2c3d4e5f6071"
POD: Final = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
_FOLDER: Final = tempfile.TemporaryDirectory(prefix="neuron-emf-fuzz-")
ROOT: Final = Path(_FOLDER.name) / "root"
PLACES: Final = Places.beside(ROOT / "proc")
_METADATA: Final = "/v4/6ad1b1a5-5b3c-4d5e-8f90-123456789abc"

IN_A_TASK: Final = b"0::/ecstasks.slice/ecstasks-9781c2480edd.slice/docker-%b.scope\n" % (
    CONTAINER.encode()
)
IN_A_POD: Final = b"0::/kubepods.slice/kubepods-pod%b.slice/cri-containerd-%b.scope\n" % (
    POD.replace("-", "_").encode(),
    CONTAINER.encode(),
)
_IN_DOCKER: Final = b"0::/system.slice/docker-%b.scope\n" % CONTAINER.encode()
_STAT: Final = b"42 (python3) S " + b"0 " * 18 + b"1000 " + b"0 " * 30 + b"\n"
_STATUS: Final = b"Name:\tpython3\nUid:\t1000\t0\t0\t0\nCapEff:\t0000000000080000\n"
_PASSWD: Final = b"root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n"
_ENVIRON: Final = b"PATH=/bin\0%b=http://169.254.170.2%b\0" % (
    ecs.VARIABLE.encode(),
    _METADATA.encode(),
)
_BETWEEN: Final = b"\n--\n"
_PARTS: Final = ("stat", "status", "environ", "../../etc/passwd")


def _write(path: str, content: bytes) -> None:
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
        _write(f"proc/{PID}/{name}", content)
    _write("etc/passwd", _PASSWD)


def owner() -> Owner | None:
    """
    Whose the process is; None when its files are no such files. A name is short and printable.
    """
    try:
        with open_process(PLACES.proc, PID) as process:
            command, _ = process.command_and_start()
            named = Naming(PLACES).owner(process, command)
    except ProcessGoneError:
        return None
    assert 0 < len(named.name) <= MAX_NAME_CHARS
    assert named.name.isprintable()
    assert named.name == printable(named.name)
    return named


def names_by_control_groups(content: bytes) -> None:
    """
    Whatever the path is: ids have their form, the name is short, and it is the same next time.
    """
    machine(content)
    with open_process(PLACES.proc, PID) as process:
        groups = process.control_groups()
    member = membership(groups)
    assert member == membership(reversed(groups)) or len(groups) > 1
    for text, form in (
        (member.job, "[1-9][0-9]{0,9}"),
        (member.container, "[0-9a-f]{64}"),
        (member.pod, "[0-9a-f-]{32,36}"),
        (member.unit, r"[!-~]{1,208}"),
    ):
        assert text is None or re.fullmatch(form, text)
    assert member.container or not (member.pod or member.is_ecs or member.is_rootless)
    with answering(b""):
        named = owner()
        assert named is not None
        assert named == owner()


def names_by_a_process(content: bytes) -> None:
    """Its stat, its status, its environment and the passwd, one after the other in the input."""
    parts = content.split(_BETWEEN, len(_PARTS) - 1)
    stat = parts[0]
    for groups in (b"0::/system.slice/slurmstepd.scope/job_7/step_0\n", b"0::/\n", IN_A_TASK):
        machine(groups)
        for name, part in zip(_PARTS, parts, strict=False):
            _write(f"proc/{PID}/{name}", part)
        with answering(b""):
            owner()
    with open_process(PLACES.proc, PID) as process:
        found = process.variables("SLURM_JOB_ID", ecs.VARIABLE)
        assert found.keys() <= {"SLURM_JOB_ID", ecs.VARIABLE}
        assert all(len(value) <= MAX_VALUE_BYTES for value in found.values())
        path = ecs.metadata_path(found)
        assert path is None or re.fullmatch("/v4/[0-9A-Za-z-]{16,80}/task", path)
        user_id = process.user_id()
        assert user_id is None or 0 <= user_id < 10**20
        assert 0 < len(user_name(user_id, PLACES)) <= MAX_USER_CHARS
        try:
            began_s = process.command_and_start()[1]
        except ProcessGoneError:
            began_s = None
    if len(stat) < 4096:
        assert began_s == started_s(PLACES.proc, PID)
    for own in (ROOT / "proc" / str(PID), ROOT / "nowhere"):
        here = reach(PLACES, own=own)
        assert here.why_not or not here.limits or here.advice


def names_by_container_files(content: bytes) -> None:
    """The same bytes in the file of each engine: names and labels are texts, or there are none."""
    for groups in (_IN_DOCKER, IN_A_POD, IN_A_TASK):
        machine(groups)
        for path in (DOCKER_FILE, *BUNDLE_FILES):
            _write(path.format(id=CONTAINER), content)
        with answering(b""):
            owner()
    name, labels = docker_container(CONTAINER, ROOT)
    assert name is None or name
    for texts in (labels, bundle_annotations(CONTAINER, ROOT)):
        assert all(isinstance(one, str) for pair in texts.items() for one in pair)
    for path in (DOCKER_FILE, *BUNDLE_FILES):
        (ROOT / path.format(id=CONTAINER)).unlink()


def names_by_log_folders(content: bytes) -> None:
    """Each line is a name in every folder of logs: whose it is stands in one that has the form."""
    machine(IN_A_POD)
    for folder in (POD_LOGS, CONTAINER_LOGS):
        shutil.rmtree(ROOT / folder, ignore_errors=True)
    names = [line for line in content.split(b"\n")[:30] if b"\0" not in line and b"/" not in line]
    for folder in (POD_LOGS, CONTAINER_LOGS):
        for name in names:
            if 0 < len(name) <= 255 and name not in (b".", b".."):
                path = bytes(ROOT / folder) + b"/" + name
                Path(path.decode(errors="surrogateescape")).mkdir(parents=True, exist_ok=True)
    pods = list((ROOT / POD_LOGS).glob(f"*_{POD}")) if names else []
    for name in names:
        for pod in pods[:1]:
            if 0 < len(name) <= 255 and name not in (b".", b".."):
                (pod / name.decode(errors="surrogateescape")).mkdir(exist_ok=True)
    with answering(b""):
        owner()
        found = pod_name(CONTAINER, POD, ROOT, Endpoint(PLACES.kubelet_url))
    if found is not None:
        for part in (found.namespace, found.pod, *([found.container] if found.container else ())):
            assert re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,252}", part)


def names_by_services(content: bytes) -> None:
    """
    Whatever the ECS agent, a task's metadata and the kubelet answer: a name in its form, or none.
    """
    with answering(content):
        for groups in (IN_A_TASK, IN_A_POD):
            machine(groups)
            owner()
        agent = Endpoint(PLACES.ecs_agent_url)
        for task in (
            ecs.by_agent(CONTAINER, agent),
            ecs.by_metadata(CONTAINER, _METADATA, Endpoint(PLACES.ecs_metadata_url)),
        ):
            assert task is None or re.fullmatch("ecs:([A-Za-z0-9_-]{1,255}/?){2,3}", task.text)
        pod = pod_name(CONTAINER, POD, ROOT, Endpoint(PLACES.kubelet_url))
        assert pod is None or re.fullmatch("[a-z0-9.-]+/[a-z0-9.-]+(/[a-z0-9.-]+)?", pod.text)
        assert ecs.by_agent(CONTAINER, agent) is None or not agent.is_resting


def _changed_path(content: bytes, chance: random.Random) -> bytes:
    """One part of one path replaced by another that means something, else a word."""
    if chance.random() < 0.4:
        return reworded(content, chance)
    parts = content.split(b"/")
    place = chance.randrange(len(parts))
    put = [chance.choice(_PATH_PARTS), *([parts[place]] if chance.random() < 0.5 else ())]
    parts[place : place + 1] = put
    return b"/".join(parts)


def _changed_parts(content: bytes, chance: random.Random) -> bytes:
    """One of the files reworded."""
    parts = content.split(_BETWEEN)
    place = chance.randrange(len(parts))
    parts[place] = reworded(parts[place], chance)
    return _BETWEEN.join(parts)


def _changed_names(content: bytes, chance: random.Random) -> bytes:
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


def _groups() -> list[bytes]:
    return [
        IN_A_TASK,
        IN_A_POD,
        _IN_DOCKER,
        b"11:freezer:/slurm/uid_1000/job_4711/step_0\n1:name=systemd:/system.slice/slurmd.service\n",
        b"0::/system.slice/node-3_slurmstepd.scope/job_4711/step_batch/user/task_0\n",
        b"0::/user.slice/user-1000.slice/user@1000.service/app.slice/notebook.service\n",
        b"0::/../../../kubepods/besteffort/pod%b/%b (deleted)\n" % (
            POD.encode(), CONTAINER.encode()
        ),
    ]  # fmt: skip


def _processes() -> list[bytes]:
    wide = b"42 (a) b (\x1b[2J) S " + b"0 " * 18 + b"9" * 20 + b" 0\n"
    with_job = b"SLURM_JOB_ID=4711\0" + _ENVIRON
    return [
        _BETWEEN.join([_STAT, _STATUS, _ENVIRON, _PASSWD]),
        _BETWEEN.join([wide, b"Uid:\t1000\n", with_job, b"\x1b[2J:x:1000:1\n"]),
    ]


def _container_files() -> list[bytes]:
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


def _answers() -> list[bytes]:
    one = {"DockerId": CONTAINER, "Name": "server"}
    task = {"Family": "llama", "ServiceName": "search", "Containers": [one]}
    status = {"name": "server", "containerID": f"containerd://{CONTAINER}"}
    metadata = {"name": "llama-0", "namespace": "search", "uid": POD, "annotations": {"a": "b"}}
    pods = {"items": [{"metadata": metadata, "status": {"containerStatuses": [status]}}]}
    return [answered(json.dumps(body).encode()) for body in (task, pods)]


_LOG_NAMES: Final = [
    f"search_llama-0_{POD}\nllama-0_search_server-{CONTAINER}.log\nserver".encode(),
    f"search_llama-0_{POD}\nserver\nsidecar".encode(),
]

GROUPS: Final = Target("control groups", names_by_control_groups, _groups, _changed_path)
PROCESSES: Final = Target("processes", names_by_a_process, _processes, _changed_parts)
CONTAINERS: Final = Target(
    "container files", names_by_container_files, _container_files, broken_json.broken
)
LOG_FOLDERS: Final = Target("log folders", names_by_log_folders, lambda: _LOG_NAMES, _changed_names)
SERVICES: Final = Target("services that name owners", names_by_services, _answers, changed_answer)
