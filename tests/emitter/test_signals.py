"""A stop and a reload are asked for by signals, also as the first process of a container."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from emitter.run.signals import Signals
from proof.emitter_process import environment


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_stays_asked_for(number):
    """It does not reset when it is read."""
    with Signals() as signals:
        assert not signals.is_stopping()
        signal.raise_signal(number)
        assert signals.is_stopping()
        assert signals.is_stopping()
        assert not signals.take_reload()


def test_a_reload_is_taken_once():
    """However often it was asked for before."""
    with Signals() as signals:
        assert not signals.take_reload()
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGHUP)
        assert signals.take_reload()
        assert not signals.take_reload()
        assert not signals.is_stopping()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("module", ["neuron_emf", "emitter"])
def test_a_stop_in_the_first_seconds_is_a_planned_one(module, number, tmp_path):
    """While the cluster is looked for nothing has begun: exit code 0, and not a word."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        variables = environment(tmp_path) | {
            "AWS_EC2_METADATA_DISABLED": "false",
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": f"http://127.0.0.1:{silent.getsockname()[1]}",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", module, "run", "--output", "stdout"],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        asking, _ = silent.accept()
        process.send_signal(number)
        with asking:
            assert (b"", None) == process.communicate(timeout=300)
    assert 0 == process.returncode


@functools.cache
def namespace():
    """The command that starts another as the first process of a namespace; empty where none can."""
    unshare = shutil.which("unshare")
    for more in ([], ["--user", "--map-root-user"]):
        command = [unshare or "unshare", *more, "--pid", "--fork", "--kill-child"]
        if unshare and 0 == subprocess.run([*command, "true"], capture_output=True).returncode:  # noqa: PLW1510
            return command
    return []


@pytest.fixture
def first(tmp_path):
    """Start a program as the first process; give its Popen."""
    if not namespace():
        pytest.skip("no PID namespace can be made here: unshare needs root or user namespaces")
    started = []

    def start(program):
        whole = f"import os\nassert 1 == os.getpid()\n{program}"
        started.append(
            subprocess.Popen(
                [*namespace(), sys.executable, "-c", whole],
                env=environment(tmp_path),
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.communicate()


def inner(process):
    """The pid of the first process, as we see it."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii")
    return int(children.split()[0])


@pytest.mark.proof
def test_a_stop_while_the_cluster_is_looked_for_is_heard(first):
    """
    The kernel would keep it from a first process without a handler, and whoever stops the
    container would wait for ten seconds and kill it.
    """
    process = first(
        "import time\n"
        "import sys\n"
        "from neuron_emf.__main__ import main\n"
        "import emitter.run.service as service\n"
        "def find(*_a, **_k):\n"
        "    print('looks', flush=True)\n"
        "    time.sleep(60)\n"
        "service.find_cluster = find\n"
        "sys.argv = ['neuron-emf', 'run']\n"
        "main()\n"
    )
    assert "looks\n" == process.stdout.readline()
    os.kill(inner(process), signal.SIGTERM)
    assert 0 == process.wait(8)


@pytest.mark.proof
def test_what_a_stopped_monitor_leaves_behind_is_reaped(first):
    """
    A program beside it in its group becomes ours when it ends; unreaped ones would take a pid each.
    """
    process = first(
        "from emitter.reports.child import Child\n"
        "child = Child(['/bin/sh', '-c', 'sleep 60 & echo started; exec sleep 60'])\n"
        "while not child.read(1.0): pass\n"
        "child.stop()\n"
        "try:\n"
        "    print(os.waitpid(-1, os.WNOHANG))\n"
        "except ChildProcessError:\n"
        "    print('nobody')\n"
    )
    assert ("nobody\n", None) == process.communicate(timeout=300)


def test_a_second_stop_is_not_waited_for(tmp_path):
    """Ctrl-C twice ends a process that hangs in its stop."""
    program = (
        "import signal\n"
        "from emitter.run.signals import Signals\n"
        "with Signals():\n"
        "    signal.raise_signal(signal.SIGTERM)\n"
        "    signal.raise_signal(signal.SIGTERM)\n"
        "print('survived')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment(tmp_path), capture_output=True, check=False
    )
    assert (-signal.SIGTERM, b"") == (ended.returncode, ended.stdout)
