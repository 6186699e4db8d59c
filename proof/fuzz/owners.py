"""
What says whose a process is: its files in `/proc`, the engines' files, folders of logs, services.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final

from emitter.owners import ecs
from emitter.owners.container import BUNDLE_FILES, DOCKER_FILE, bundle_annotations, docker_container
from emitter.owners.endpoint import Endpoint
from emitter.owners.kubernetes import CONTAINER_LOGS, POD_LOGS, pod_name
from emitter.owners.membership import membership
from emitter.owners.naming import Naming, Owner
from emitter.owners.process import MAX_VALUE_BYTES, ProcessGoneError, open_process, started_s
from emitter.owners.reach import reach
from emitter.owners.users import MAX_USER_CHARS, user_name
from neuron_wire.holders import MAX_NAME_CHARS, printable
from proof.fuzz import broken_json
from proof.fuzz.answers import answering, changed_answer
from proof.fuzz.owner_inputs import (
    BETWEEN,
    CONTAINER,
    IN_A_POD,
    IN_A_TASK,
    IN_DOCKER,
    LOG_NAMES,
    METADATA,
    PARTS,
    PID,
    PLACES,
    POD,
    ROOT,
    changed_names,
    changed_parts,
    changed_path,
    container_files,
    control_groups,
    machine,
    process_inputs,
    service_answers,
    write,
)
from proof.fuzz.target import Target


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
    parts = content.split(BETWEEN, len(PARTS) - 1)
    stat = parts[0]
    for groups in (b"0::/system.slice/slurmstepd.scope/job_7/step_0\n", b"0::/\n", IN_A_TASK):
        machine(groups)
        for name, part in zip(PARTS, parts, strict=False):
            write(f"proc/{PID}/{name}", part)
        with answering(b""):
            owner()
    with open_process(PLACES.proc, PID) as process:
        found = process.variables("SLURM_JOB_ID", ecs.VARIABLE)
        assert found.keys() <= {"SLURM_JOB_ID", ecs.VARIABLE}
        assert all(len(value) <= MAX_VALUE_BYTES for value in found.values())
        path = ecs.metadata_path(found)
        assert path is None or re.fullmatch("/v4/[0-9A-Za-z-]{16,80}", path)
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
    for groups in (IN_DOCKER, IN_A_POD, IN_A_TASK):
        machine(groups)
        for path in (DOCKER_FILE, *BUNDLE_FILES):
            write(path.format(id=CONTAINER), content)
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
            ecs.by_metadata(CONTAINER, METADATA, Endpoint(PLACES.ecs_metadata_url)),
        ):
            assert task is None or re.fullmatch("ecs:([A-Za-z0-9_-]{1,255}/?){2,3}", task.text)
        pod = pod_name(CONTAINER, POD, ROOT, Endpoint(PLACES.kubelet_url))
        assert pod is None or re.fullmatch("[a-z0-9.-]+/[a-z0-9.-]+(/[a-z0-9.-]+)?", pod.text)
        assert ecs.by_agent(CONTAINER, agent) is None or not agent.is_resting


GROUPS: Final = Target("control groups", names_by_control_groups, control_groups, changed_path)
PROCESSES: Final = Target("processes", names_by_a_process, process_inputs, changed_parts)
CONTAINERS: Final = Target(
    "container files", names_by_container_files, container_files, broken_json.broken
)
LOG_FOLDERS: Final = Target("log folders", names_by_log_folders, lambda: LOG_NAMES, changed_names)
SERVICES: Final = Target(
    "services that name owners", names_by_services, service_answers, changed_answer
)
