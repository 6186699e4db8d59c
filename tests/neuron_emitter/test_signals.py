"""Signals from operators, and what supervisors get: datagrams and exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.run import service
from neuron_emitter.run.signals import Supervisor
from neuron_emitter.settings import RunSettings
from proof.emitter_process import environment, wait_until
from tests.neuron_emitter.loop_rig import FakeClock
from tests.neuron_emitter.neuron_reports import GOOD_REPORT


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("module", ["neuron_emf", "neuron_emitter"])
def test_a_stop_in_the_first_seconds_is_a_planned_one(module, number, tmp_path):
    """A stop during the cluster lookup ends with exit code 0 and no output."""
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
            output, errors = process.communicate(timeout=300)
    assert b"" == output
    assert errors is None
    assert 0 == process.returncode


def test_a_second_stop_is_not_waited_for(tmp_path):
    """A second Ctrl-C ends a process that hangs while stopping."""
    program = (
        "import signal\n"
        "from neuron_emitter.run.signals import Signals\n"
        "with Signals():\n"
        "    signal.raise_signal(signal.SIGTERM)\n"
        "    signal.raise_signal(signal.SIGTERM)\n"
        "print('survived')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment(tmp_path), capture_output=True, check=False
    )
    assert -signal.SIGTERM == ended.returncode
    assert b"" == ended.stdout


@pytest.fixture
def listening(tmp_path):
    """Yield a supervisor's socket with an abstract name."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.settimeout(0)
        server.bind(f"\0neuron-emf-{os.getpid()}-{tmp_path.name}")
        yield server


def variables(server, **others):
    """Return the variables as systemd sets them for an abstract socket."""
    return {"NOTIFY_SOCKET": "@" + server.getsockname()[1:].decode(), **others}


def datagrams_of(server):
    """Return every datagram so far, as lists of assignments."""
    datagrams = []
    with contextlib.suppress(BlockingIOError):
        while True:
            datagrams.append(server.recv(4096).decode().split("\n"))
    return datagrams


def test_the_supervisors_variables_are_removed(listening):
    """The emitter removes the supervisor's variables, so that neuron-monitor does not notify it."""
    environ = variables(listening, WATCHDOG_USEC="1000000", WATCHDOG_PID="1", HOME="/home/x")
    Supervisor(environ)
    assert {"HOME": "/home/x"} == environ


@given(st.floats(0.01, 100), st.lists(st.floats(0, 30), max_size=30))
def test_no_heartbeat_is_late(period_s, waits_s):
    """Heartbeats are at most a quarter of the period and one turn of the loop apart."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.settimeout(0)
        server.bind("")  # the kernel chooses an abstract name
        clock = FakeClock()
        period_us = str(int(period_s * 1e6))
        supervisor = Supervisor(variables(server, WATCHDOG_USEC=period_us), monotonic=clock)
        beaten_s = None
        for wait_s in [0, *waits_s]:
            clock.now_s += wait_s
            supervisor.notify_watchdog()
            if datagrams_of(server):
                assert beaten_s is None or clock.now_s - beaten_s >= period_s / 4 - 1e-3
                beaten_s = clock.now_s
            assert beaten_s is not None
            assert clock.now_s - beaten_s <= period_s / 4


@pytest.mark.parametrize(
    ("period_us", "pid"),
    [(None, ""), ("", ""), ("0", ""), ("-5", ""), ("1e6", ""), ("٣", ""), ("1000000", "1")],
)
def test_without_a_watchdog_there_is_no_heartbeat(period_us, pid, listening):
    """No heartbeat is sent without a watchdog, or with an invalid or another process's watchdog."""
    watchdog = {} if period_us is None else {"WATCHDOG_USEC": period_us, "WATCHDOG_PID": pid}
    Supervisor(variables(listening, **watchdog)).notify_watchdog()
    assert [] == datagrams_of(listening)


class FakeService:
    """A service with a reload request in its first minute and two ends of minutes."""

    def __init__(self, *_):
        self.emitter = self.source = self
        self.reloads = []

    def read_until(self, is_stopping, between_minutes):
        """Request a reload and end two minutes."""
        signal.raise_signal(signal.SIGHUP)
        between_minutes()
        between_minutes()
        assert not is_stopping()
        return True

    def reload_settings(self, read_again):
        """Note the settings that were read."""
        self.reloads.append(read_again())

    def status_sentence(self):
        """Return the number of reloads."""
        return f"{len(self.reloads)} reloads"

    def close(self):
        """Do nothing: the service holds no resources."""

    def finish(self, *, input_ended):
        """Do nothing: no records are left."""


def test_a_reload_ends_with_ready(listening, monkeypatch):
    """A reload sends RELOADING=1 and then READY=1; other minutes update only the status."""
    for name, value in variables(listening).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(service, "Service", FakeService)
    settings: Any = "settings"
    service.serve(
        RunSettings(cluster="blue"), lambda: settings, is_input_given=True, unnamed_cluster=""
    )
    notified = [
        [part for part in parts if "MONOTONIC" not in part] for parts in datagrams_of(listening)
    ]
    assert [
        ["READY=1", "STATUS=0 reloads"],
        ["RELOADING=1"],
        ["READY=1", "STATUS=1 reloads"],
        ["STATUS=1 reloads"],
        ["STOPPING=1", "STATUS=delivering the remaining records"],
    ] == notified


MIGRATING_PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "migrating.md"


@pytest.mark.proof
def test_a_dead_pipe_is_started_again_and_a_stop_is_clean(program_of, tmp_path):
    """supervisord restarts the pipe after exit code 3, and its stop ends with CleanShutdown."""
    (tmp_path / "reports").write_bytes(GOOD_REPORT)
    variables = environment(tmp_path, NEURON_EMF_OUTPUT="stdout", NEURON_EMF_SPOOL_DIR="spool")
    path = variables.pop("PYTHONPATH")  # supervisord may run on another Python
    for name, program in {
        "neuron-monitor": "cat reports; sleep 1; [ -e again ] && exec sleep 60; >again; exit 1",
        "neuron-monitor-emf": f"PYTHONPATH={path} exec {sys.executable} -m "
        'neuron_emitter.drop_in "$@"'
        " >>lines",
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / name).chmod(0o755)
    shown = re.search(
        r"<!-- supervisord -->\n```ini\n(.*?)```", MIGRATING_PAGE.read_text("utf-8"), re.DOTALL
    )
    config = tmp_path / "supervisord.conf"
    config.write_text(f"[supervisord]\nnodaemon=true\npidfile=pid\nlogfile=log\n{shown[1]}")
    variables["PATH"] = f"{tmp_path}:{variables['PATH']}"
    with subprocess.Popen(
        [program_of(".venv-tools", "supervisord"), "-c", str(config)],
        env={**variables, "NEURON_EMF_CLUSTER": "blue"},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as supervisor:
        wait_until((tmp_path / "again").exists)
        log = tmp_path / "log"
        wait_until(lambda: 2 == log.read_text("utf-8").count("spawned: "))
        wait_until(lambda: 2 == log.read_text("utf-8").count("entered RUNNING"))
        supervisor.terminate()
    assert "(exit status 3; not expected)" in log.read_text("utf-8")
    lines = [json.loads(line) for line in (tmp_path / "lines").read_text("utf-8").splitlines()]
    minutes = [line.get("CleanShutdown", False) for line in lines if line["Kind"] == "minute"]
    assert [False, True] == [minutes[0], minutes[-1]]
