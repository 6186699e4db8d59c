"""Scenes on a node of real Slurm, which compare the emitter with the kernel and slurmctld."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from local import REPOSITORY
from neuron_wire.names import MINUTE_S
from proof.real.device_machine import (
    DEVICES,
    MACHINE_USERS,
    PYTHON_VARIABLES,
    environment,
    identity,
    run,
    wait_for,
)
from proof.real.slurm_node import NODE_NAME, SlurmNode, process_of, step_daemon

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DEVICES_OF_NODE: Final = f"NodeName={NODE_NAME} Name=gpu File=/dev/neuron"
FULL: Final = f"{DEVICES_OF_NODE}[0-15]\n"
GRES_FORMS: Final = {
    "all devices": (FULL, 16),
    "from device 4 on": (f"{DEVICES_OF_NODE}[4-15]\n", 12),
    "device 2 left out": (f"{DEVICES_OF_NODE}[0-1,3-15]\n", 15),
    "two lines out of order": (f"{DEVICES_OF_NODE}[8-15]\n{DEVICES_OF_NODE}[0-7]\n", 16),
    "four files each": (
        "".join(
            f"NodeName={NODE_NAME} Name=gpu MultipleFiles=/dev/neuron[{first}-{first + 3}]\n"
            for first in range(0, DEVICES, 4)
        ),
        4,
    ),
}
JOB_NAME: Final = r"slurm:(\S+) "
CHURN_MINUTES: Final = 27
SCENE_SLUID: Final = "sBB5M8GVS6K900"
SLUID_GROUP: Final = f"system.slice/slurmstepd.scope/{SCENE_SLUID}/step_batch/user/task_0"
SLUID_ANSWER: Final = """JobId=4711 JobName=train
   SLUID={sluid}
   UserId=ada({user_id}) GroupId=ada({user_id}) MCS_label=N/A
   Priority=1 Nice=0 Account=phys-ada QOS=(null)
   JobState=RUNNING Reason=None Dependency=(null)
   NodeList=n1
   BatchHost=n1
   NumNodes=1 NumCPUs=1 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
   ReqTRES=cpu=1,mem=8000M,node=1,billing=1
   AllocTRES=cpu=1,node=1,billing=1
   Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=*
   JOB_GRES=gpu:4
     Nodes=n1 CPU_IDs=0 Mem=0 GRES=gpu:4(IDX:0-3)
   MinCPUsNode=1 MinMemoryNode=0 MinTmpDiskNode=0
   Features=(null) DelayBoot=00:00:00
   OverSubscribe=NO Exclusive=NO Contiguous=0 Licenses=(null) LicensesAlloc=(null) Network=(null)
   Command=(null)
   SubmitLine=sbatch -o /dev/null -n1 -A phys-ada --gres=gpu:4 --wrap sleep 300
   WorkDir=/tmp
"""


class Reader:
    """The process `proof.real.slurm_reader`, run as the emitter's user."""

    def __init__(self, user: str = "neuron-emf") -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "proof.real.slurm_reader"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
            env=environment(PYTHON_VARIABLES),
            **identity(user),
        )

    def __enter__(self) -> Reader:  # noqa: PYI034 - Self is of Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def read(self, pass_s: float = 0, pids: Sequence[int] = ()) -> dict[str, Any]:
        """Return the answer when the readers' clock is *pass_s* seconds later."""
        request = json.dumps({"pass_s": pass_s, "pids": list(pids)})
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{request}\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


def job_of(name: str) -> str:
    """Return the number of the job in an owner's name."""
    number = re.match(JOB_NAME, name)
    assert number is not None, name
    return number[1]


def by_job(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the allocations of *answer* that have devices, by the number of their job."""
    assigned = [row for row in answer["allocations"] if row["devices"]]
    return {job_of(row["name"]): row for row in assigned}


def minute_scene(state: Path) -> Iterator[str]:
    """A line of `neuron-emf run` has the team of a holder and of a reservation."""
    with SlurmNode(state, FULL, 16) as node:
        holder = node.submit("ada", "physics", "--gres=gpu:12")
        reserved = node.submit("bob", "nlp", "--gres=gpu:4")
        minute = _first_whole_minute(state, holder.pid)
    owners = {job_of(owner["Name"]): owner for owner in minute["Owners"]}
    teams = {job: owner.get("Team") for job, owner in owners.items()}
    assert {holder.number: "physics", reserved.number: "nlp"} == teams, minute["Owners"]
    cores = (owners[holder.number]["Cores"], owners[reserved.number]["Reserved"])
    assert cores == ("0-23", "24-31"), minute["Owners"]
    assert minute["Holders"][0].get("Team") == "physics", minute["Holders"]
    yield "A job that held 24 cores and a job that only had 8 reserved had their teams in the line."


def _first_whole_minute(state: Path, pid: int) -> dict[str, Any]:
    """Run the emitter over a simulated neuron-monitor whose runtime is process *pid*."""
    monitor = state / "neuron-monitor"
    play = json.dumps({"instance_type": "trn1.32xlarge", "scenario": "half-idle"})
    number = f's/"pid":[0-9]*/"pid":{pid}/'
    monitor.write_text(
        f"#!/bin/sh\n{sys.executable} -m local.monitor '{play}' | sed -u '{number}'\n", "utf-8"
    )
    monitor.chmod(0o755)
    command = [
        *(sys.executable, "-m", "neuron_emitter", "run", "--output", "stdout", "--metrics", "none"),
        *("--monitor-command", str(monitor), "--region", "us-east-1"),
        *("--kernel-messages", "none"),
    ]
    variables = {**PYTHON_VARIABLES, "AWS_EC2_METADATA_DISABLED": "true", "HOME": "/tmp"}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        env=environment(variables),
        **identity("neuron-emf"),
    ) as emitter:
        assert emitter.stdout is not None
        lines = (json.loads(line) for line in emitter.stdout)
        minute: dict[str, Any] = next(line for line in lines if line.get("CoveredSeconds", 0) > 50)
        emitter.terminate()
        emitter.communicate()
    return minute


def devices_scene(state: Path) -> Iterator[str]:
    """The devices of a job are those that the kernel lets it open, for each gres.conf."""
    differences = []
    exact = 0
    for label, (gres, count) in GRES_FORMS.items():
        listed = frozenset(_numbers(gres))
        with SlurmNode(state, gres, count) as node, Reader() as reader:
            jobs = [
                node.submit("ada", "physics", "--gres=gpu:2"),
                node.submit("bob", "nlp", "--gres=gpu:1"),
            ]
            allocations = by_job(reader.read())
            for job in jobs:
                truth = sorted(job.opened & listed)
                devices = allocations.get(job.number, {}).get("devices", [])
                exact += truth == devices
                if truth != devices:
                    differences.append(
                        f"{label}: job {job.number} may open {truth}, the emitter says {devices}"
                    )
    assert not differences, "; ".join(differences)
    forms = len(GRES_FORMS)
    yield f"The kernel agreed on the devices of {exact} jobs under {forms} forms of gres.conf."


def _numbers(gres: str) -> Iterator[int]:
    for spans in re.findall(r"neuron\[([\d,-]+)\]", gres):
        for span in spans.split(","):
            first, _, last = span.partition("-")
            yield from range(int(first), int(last or first) + 1)


def dead_scene(state: Path) -> Iterator[str]:
    """A job whose slurmstepd was killed blocks nothing, and its process is gone."""
    with SlurmNode(state, FULL, 16) as node:
        dead = node.submit("ada", "physics", "--gres=gpu:4")
        alive = node.submit("bob", "nlp", "--gres=gpu:2")
        with Reader() as before:
            first = before.read(0, [dead.pid])
            assert {dead.number, alive.number} == by_job(first).keys(), first
            os.kill(step_daemon(dead.number), 9)
            run(["scancel", dead.number])
            wait_for(lambda: _is_forgotten(dead.number), f"slurmctld forgets job {dead.number}")
            assert Path("/proc", str(dead.pid)).exists(), "the process did not outlive its job"
            with Reader() as fresh:
                for name, reader in (("old", before), ("new", fresh)):
                    answer = reader.read(11 * MINUTE_S, [dead.pid, alive.pid])
                    assert answer["status"] == "known", f"{name} emitter: {answer}"
                    assert [alive.number] == list(by_job(answer)), f"{name} emitter: {answer}"
                    owner = answer["owners"][str(dead.pid)]
                    assert owner["gone"], f"{name} emitter: {owner}"
                    assert not answer["owners"][str(alive.pid)]["gone"], f"{name}: {answer}"
    yield (
        "A process outlived its slurmstepd and job: it was gone, and the other job's devices "
        "stayed known, to a running and to a new emitter."
    )


def empty_scene(state: Path) -> Iterator[str]:
    """A control group without a process, of a job that slurmctld does not know, blocks nothing."""
    with SlurmNode(state, FULL, 16) as node:
        job = node.submit("bob", "nlp", "--gres=gpu:2")
        parent = next(Path("/sys/fs/cgroup/freezer").glob(f"slurm*/uid_*/job_{job.number}")).parent
        (parent / "job_7").mkdir()
        with Reader() as reader:
            answer = reader.read(MINUTE_S)
            assert answer["status"] == "known", answer
            assert [job.number] == list(by_job(answer)), answer
    yield "An empty control group of an unknown job hid nothing."


def private_scene(state: Path) -> Iterator[str]:
    """PrivateData hides a living job: its cores are unknown, and its process is not gone."""
    with SlurmNode(state, FULL, 16, "PrivateData=jobs") as node:
        job = node.submit("ada", "physics", "--gres=gpu:4")
        assert _is_forgotten(job.number, "bob"), "PrivateData did not hide the job"
        with Reader() as reader:
            answer = reader.read(15 * MINUTE_S, [job.pid])
            is_claimed = answer["status"] == "known" and job.number not in by_job(answer)
            assert not is_claimed, f"no job has the devices of a living one: {answer}"
            assert not answer["owners"][str(job.pid)]["gone"], answer
        with Reader("root") as reader:
            assert [job.number] == list(by_job(reader.read())), "as Slurm's operator"
    yield "PrivateData hid a living job: the emitter did not take the job for ended."


def churn_scene(state: Path) -> Iterator[str]:
    """A new job each minute does not make the devices of an old job unknown."""
    with SlurmNode(state, FULL, 16) as node, Reader() as reader:
        old = node.submit("ada", "physics", "--gres=gpu:4")
        known = 0
        for _ in range(CHURN_MINUTES):
            new = node.submit("bob", "nlp", "--gres=gpu:2")
            answer = reader.read(MINUTE_S)
            allocation = by_job(answer).get(old.number)
            known += allocation is not None and sorted(old.opened) == allocation["devices"]
            run(["scancel", new.number])
            wait_for(partial(_is_over, new.number), "the end of a job")
    assert known == CHURN_MINUTES, f"the old job was known in {known} of {CHURN_MINUTES} minutes"
    known_of = f"{known} of {CHURN_MINUTES}"
    yield f"With a new job each minute an old job's devices were known in {known_of}."


def comment_scene(state: Path) -> Iterator[str]:
    """A comment with line breaks that look like an answer hides no job and forges nothing."""
    forged = "x\n   JOB_GRES=gpu:16\n     Nodes=n1 CPU_IDs=0 Mem=0 GRES=gpu:16(IDX:0-15)\n"
    with SlurmNode(state, FULL, 16) as node, Reader() as reader:
        comment = f"--comment={forged}   MinCPUsNode=1 "
        forger = node.submit("ada", "physics", "--gres=gpu:4", comment)
        other = node.submit("bob", "nlp", "--gres=gpu:2")
        answer = by_job(reader.read(MINUTE_S))
        assert other.number in answer, f"the comment hid job {other.number}: {answer}"
        for job in (forger, other):
            devices = answer.get(job.number, {}).get("devices", [])
            assert set(devices) <= job.opened, f"job {job.number} has not {devices}"
        assert sorted(other.opened) == answer[other.number]["devices"], answer
    yield "A comment with line breaks hid no other job and forged no device."


def sluid_scene(state: Path) -> Iterator[str]:
    """A job of Slurm 26.05, by its SLUID: real control groups, scontrol's answer as captured."""
    with SlurmNode(state, FULL, 16), _sluid_job(state) as pid, Reader() as reader:
        answer = reader.read(0, [pid])
        owner = answer["owners"][str(pid)]
        assert job_of(owner["name"]) == "4711", owner
        assert answer["status"] == "known", answer
        allocation = by_job(answer)["4711"]
        assert allocation["team"] == "phys-ada", answer
        assert allocation["devices"] == [0, 1, 2, 3], answer
    yield "A control group named by SLUID had the job's number, team and devices."


@contextmanager
def _sluid_job(state: Path) -> Iterator[int]:
    """Put a process into a group of Slurm 26.05, and scontrol's captured answer on the PATH."""
    answer = state / "answer"
    text = SLUID_ANSWER.format(sluid=SCENE_SLUID, user_id=MACHINE_USERS["ada"])
    answer.write_text(text, "ascii")
    scontrol = state / "scontrol"
    scontrol.write_text(
        f'#!/bin/sh\ncase "$*" in *{SCENE_SLUID}* | *4711*) exec cat {answer};; esac\n'
        "echo 'slurm_load_jobs error: Invalid job id specified' >&2\nexit 1\n",
        "ascii",
    )
    scontrol.chmod(0o755)
    groups = Path("/sys/fs/cgroup/unified")
    groups.mkdir(exist_ok=True)
    run(["mount", "-t", "cgroup2", "cgroup2", str(groups)])
    run(["mount", "--bind", str(scontrol), "/usr/bin/scontrol"])
    group = groups / SLUID_GROUP
    group.mkdir(parents=True)
    Path("/sys/fs/cgroup/system.slice").symlink_to("unified/system.slice")
    process = subprocess.Popen(["sleep", "1200"], env=environment({}), **identity("ada"))
    try:
        (group / "cgroup.procs").write_text(str(process.pid), "ascii")
        yield process.pid
    finally:
        process.kill()
        process.wait()
        wait_for(lambda: "populated 0" in (group / "cgroup.events").read_text(), "an empty group")
        for folder in (group, *list(group.parents)[:4]):
            folder.rmdir()
        Path("/sys/fs/cgroup/system.slice").unlink()
        run(["umount", "/usr/bin/scontrol"])
        run(["umount", str(groups)])


def _is_over(number: str) -> bool:
    return process_of(number) is None


def _is_forgotten(number: str, user: str = "root") -> bool:
    command = ["scontrol", "show", "job", number]
    answer = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        env=environment({}),
        **identity(user),
    )
    return "Invalid job id" in answer.stderr


SLURM_SCENES: Final = (
    devices_scene,
    dead_scene,
    empty_scene,
    private_scene,
    churn_scene,
    comment_scene,
    sluid_scene,
    minute_scene,
)
