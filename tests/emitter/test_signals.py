"""A stop and a reload are asked for by signals, and taken when the loop looks."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

import pytest

from emitter.run.signals import Signals
from proof.emitter_process import environment


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_stays_asked_for(number):
    """Whoever looks later sees it too."""
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


def test_what_signals_did_before_comes_back():
    """Whoever calls us keeps its own handlers."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(one) for one in numbers]
    with Signals():
        assert all(
            signal.getsignal(one) is not was for one, was in zip(numbers, before, strict=True)
        )
    assert before == [signal.getsignal(one) for one in numbers]


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
