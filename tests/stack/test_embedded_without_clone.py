"""
The quick start without a clone: a fresh environment, the wheel of a release, a stack, a rollup.

The environment is made and filled as pipx would, from the package index; nothing of this tree
is on its path. Only neuron-monitor is the simulated one, with an interpreter of its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import venv
from types import SimpleNamespace

import pytest

import emitter
from local.alarms.template import load
from local.rehearsal.stack import DeployedStack, overrides
from tests.deploy.release.release_scripts import artefacts
from tests.programs import run_program
from tests.stack.stack_template import release_template

CLUSTER = "quick-start"
PATIENCE_S = 240.0

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.bench,  # asks the package index, and waits for the end of a minute
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel"),
]


@pytest.fixture
def neuron_emf(aws, repository, tmp_path):
    """The installed command, in a folder with nothing in it; variables of the embedded AWS."""
    made = tmp_path / "made"
    made.mkdir()
    artefacts.distributions(made)
    (wheel,) = made.glob("*.whl")
    home = tmp_path / "environment"
    venv.create(home, with_pip=True)
    pip = [home / "bin/python", "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", wheel], check=True)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "neuron-monitor").symlink_to(repository / "local/monitor/neuron-monitor")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    variables = {
        name: value for name, value in aws.environment().items() if not name.startswith("PYTHON")
    }
    variables.update(
        HOME=str(elsewhere),
        NEURON_SIM='{"instance_type": "inf2.xlarge", "scenario": "idle"}',  # of two cores
        NEURON_SIM_PYTHON=sys.executable,
        PATH=f"{home / 'bin'}:{programs}:{os.environ['PATH']}",
    )
    return SimpleNamespace(
        program=home / "bin/neuron-emf", python=home / "bin/python", folder=elsewhere, env=variables
    )


def run(neuron_emf, *words):
    """One command to its end; what it printed."""
    ended = run_program([neuron_emf.program, *words], cwd=neuron_emf.folder, env=neuron_emf.env)
    assert 0 == ended.returncode, ended.stdout + ended.stderr
    return ended.stdout


def until(condition, what):
    """Ask again until it holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {PATIENCE_S:.0f} s"
        time.sleep(1)


def test_a_wheel_alone_deploys_runs_and_has_rollups(aws, neuron_emf, repository):
    """Three commands, no clone: the cores that the monitor reports are in the cluster's rollup."""
    where = run_program(
        [neuron_emf.python, "-c", "import sys, emitter; print(emitter.__file__, *sys.path)"],
        cwd=neuron_emf.folder,
        env=neuron_emf.env,
    )
    assert str(artefacts.ROOT) not in where.stdout, where.stdout
    assert emitter.__version__ in run(neuron_emf, "--version")

    since_ms = int(time.time() * 1000) - 60_000
    release = load(release_template(repository / "template.yaml"))
    local = [f"{name}={value}" for name, value in overrides(release).items()]
    run(neuron_emf, "deploy", "--region", "us-east-1", "--yes", *local, "GraceSeconds=45")
    (held,) = aws.client("cloudformation").describe_stacks(StackName="neuron-emf")["Stacks"]
    outputs = {one["OutputKey"]: one["OutputValue"] for one in held["Outputs"]}
    deployed = SimpleNamespace(outputs=outputs, resources={}, stack_name="neuron-emf")
    stack = DeployedStack(aws, deployed, since_ms)

    words = [neuron_emf.program, "run", "--cluster", CLUSTER, "--region", "us-east-1"]
    quiet = ["--spool-dir", neuron_emf.folder / "spool", "--kernel-messages", "none"]
    with (neuron_emf.folder / "log").open("w") as log:
        emitting = subprocess.Popen(
            [*words, *quiet, "--attribution", "none"],
            cwd=neuron_emf.folder,
            env=neuron_emf.env,
            stderr=log,
        )
        try:
            until(lambda: stack.stored_records() or emitting.poll() is not None, "a minute stored")
        finally:
            emitting.send_signal(signal.SIGTERM)
            code = emitting.wait(30)
    assert 0 == code, (neuron_emf.folder / "log").read_text("utf-8")

    def closed():
        stack.close_minutes()
        stack.read_new_rollups()
        return any(cluster == CLUSTER for cluster, _ in stack.rollups.minutes)

    until(closed, "a rollup")
    rollups = [minute for (name, _), minute in stack.rollups.minutes.items() if name == CLUSTER]
    assert {2} == {int(rollup.gauge("NeuronCores")) for rollup in rollups}
