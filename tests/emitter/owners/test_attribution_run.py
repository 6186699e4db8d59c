"""The emitter names real processes: reports of a fake monitor, the /proc of this very machine."""

from __future__ import annotations

import json
import os
import subprocess
import time
import uuid
from pathlib import Path

import pytest
from neuron_reports import written
from played_machines import CONTAINER, POD, PlayedMachine, reports_of

from proof.emitter_process import environment
from tests.emitter.emitter_command import COMMAND

pytestmark = [pytest.mark.proof]
PATIENCE_S = 300.0
OPEN_S = (1.0, 3.0, 9.0)  # how long an input stays open; a busy machine needs more
CGROUPS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))


def lines_of(tmp_path, pids, *options, before=(), open_s=0.0):
    """
    What `neuron-emf run` prints of runtimes with these pids, and what it says.

    Its input stays open for *open_s*.
    """
    ending = subprocess.Popen(
        [
            *(*before, *COMMAND, "run", "--cluster", "blue", "--output", "stdout"),
            *("--runtime-lines", "all", "--input", "-", *options),
        ],
        env=environment(tmp_path, NEURON_EMF_ATTRIBUTION="auto"),
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with ending as process:
        process.stdin.write((written(reports_of(*pids)) + b"\n") * 2)
        process.stdin.flush()
        time.sleep(open_s)
        said, errors = process.communicate(timeout=PATIENCE_S)
    assert 3 == process.returncode, errors  # so a pipe that ends is told
    return [json.loads(line) for line in said.splitlines()], errors.decode()


def owners_in(tmp_path, pids, *options, before=()):
    """
    The owners in runtime lines, by pid; the input stays open until all are found, or for long.
    """
    found = {}
    for open_s in OPEN_S:
        lines, _ = lines_of(tmp_path, pids, *options, before=before, open_s=open_s)
        found = {one["Pid"]: one.get("Owner") for one in lines if one["Kind"] == "runtime"}
        if all(found.values()):
            break
    return found, lines


@pytest.fixture
def runtimes():
    """Three real processes that hold cores."""
    started = [subprocess.Popen(["sleep", "60"]) for _ in range(3)]
    yield started
    for one in started:
        one.kill()
        one.wait()


def control_group(path):
    """A real control group, made for a test; the hierarchy of version 2 wherever it is mounted."""
    for root in CGROUPS:
        if (root / "cgroup.procs").exists() and (root / "cgroup.controllers").exists():
            try:
                (root / path).mkdir(parents=True)
            except OSError as error:
                pytest.skip(f"this machine allows no control groups: {error}")
            return root, root / path
    pytest.skip("this machine has no control groups of version 2")
    return None  # not reached


@pytest.fixture
def group():
    """Make real control groups and remove them at the end, each below a folder of its own."""
    top = f"neuron-emf-{uuid.uuid4().hex}"
    roots = set()

    def make(path):
        root, folder = control_group(f"{top}/{path}")
        roots.add(root)
        return folder

    yield make
    for root in roots:
        for name, _, _ in os.walk(root / top, topdown=False):
            for pid in Path(name, "cgroup.procs").read_text().split():
                (root / "cgroup.procs").write_text(pid)
            Path(name).rmdir()


def test_a_line_names_the_real_processes(tmp_path, runtimes):
    """In the minute line for each idle core, in the runtime lines for each runtime."""
    pids = [one.pid for one in runtimes]
    owners, lines = owners_in(tmp_path, pids)
    (name,) = set(owners.values())
    assert name.startswith(("process:sleep ", "unit:", "container:", "slurm:", "pod:"))
    # Two where the run saw a minute end; the last may have no report.
    minutes = [one["Holders"] for one in lines if one["Kind"] == "minute" and "Holders" in one]
    assert minutes
    for holders in minutes:
        assert [(pid, name) for pid in pids] == [(one["Pid"], one["Name"]) for one in holders]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"kubepods-pod{POD.replace('-', '_')}.slice/cri-containerd-{CONTAINER}.scope",
         f"pod:{POD}"),
        ("system.slice/slurmstepd.scope/job_4711/step_0/user/task_0", "slurm:4711 "),
        ("system.slice/llama.service/worker", "unit:llama"),
        (f"docker/{CONTAINER}", f"container:{CONTAINER[:12]}"),
    ],
    ids=["pod", "job", "unit", "container"],
)  # fmt: skip
@pytest.mark.parametrize("seen_from", ["outside", "inside"])
def test_a_real_control_group_names_its_process(
    tmp_path, runtimes, group, *, path, expected, seen_from
):
    """As the kernel prints it, also for an emitter in a control-group namespace of its own."""
    (group(path) / "cgroup.procs").write_text(str(runtimes[0].pid))
    before = ()
    if seen_from == "inside":
        move = f'echo $$ > {group("emitter")}/cgroup.procs && exec unshare --cgroup "$@"'
        before = ("sh", "-c", move, "sh")
    owners, _ = owners_in(tmp_path, [runtimes[0].pid], before=before)
    assert (owners[runtimes[0].pid] or "").startswith(expected)


def test_a_hosts_proc_in_a_container_names_its_processes(tmp_path, closed_url):
    """--proc-dir, with the host's other files beside it."""
    host = PlayedMachine(tmp_path / "host", closed_url)
    host.process(4242, groups=f"0::/kubepods/pod{POD}/{CONTAINER}\n", ticks=1)
    host.file(f"var/log/containers/llama-0_search_server-{CONTAINER}.log", "")
    owners, _ = owners_in(tmp_path, [4242], "--proc-dir", str(host.proc))
    assert {4242: "search/llama-0/server"} == owners
