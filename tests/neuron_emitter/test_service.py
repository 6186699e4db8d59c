"""The assembled emitter, also as a process: signals, exit codes, files that it leaves."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from neuron_emitter.reports.monitor_config import requested_config
from neuron_emitter.run import service
from neuron_emitter.settings import RunSettings, run_settings
from neuron_wire import parse
from proof.emitter_process import environment
from proof.factories.records import AN_INSTANCE
from tests.neuron_emitter.emitter_command import EMITTER_COMMAND, error_lines
from tests.neuron_emitter.fake_monitor import alive, write_script
from tests.neuron_emitter.loop_rig import busy, chunk, settings_of


@pytest.mark.parametrize(
    ("source", "interval", "expected"),
    [("monitor", None, 1.0), ("monitor", 15.0, 1.0), ("-", 15.0, None), ("-", None, None)],
)
def test_only_the_emitters_own_monitor_has_a_known_period(source, interval, expected):
    """
    The period and the groups are known only for the emitter's own neuron-monitor.

    `--interval`, of earlier releases, has no effect on it.
    """
    chosen = RunSettings(input=source, period=1, interval=interval)
    fold_settings = service._fold_settings(chosen, requested_config(chosen))
    assert expected == fold_settings.period_s
    assert (source == "monitor") == fold_settings.executions_asked
    fewer = RunSettings(input=source, groups=("neuroncore_counters",))
    assert not service._fold_settings(fewer, requested_config(fewer)).executions_asked


@pytest.mark.parametrize(
    ("changes", "system", "variables", "expected"),
    [
        ({"spool_dir": Path("/given")}, True, {}, "/given"),
        ({"spool_dir": Path("/given"), "output": "stdout"}, True, {}, "/given"),
        ({"output": "stdout"}, True, {}, None),
        ({}, True, {}, "SYSTEM"),
        ({}, False, {"XDG_STATE_HOME": "/state"}, "/state/neuron-emf"),
        ({}, False, {"HOME": "/home/x"}, "/home/x/.local/state/neuron-emf"),
        ({}, False, {"HOME": "/home/x", "XDG_STATE_HOME": ""}, "/home/x/.local/state/neuron-emf"),
    ],
)
def test_the_spool_directory_depends_on_output_and_rights(
    changes, system, variables, *, expected, tmp_path, monkeypatch
):
    """
    The spool is in the given folder, else the system's if writable, else the user's.

    For standard output it is in memory.
    """
    place = tmp_path / "var" / "neuron-emf" if system else Path("/proc/no-such/neuron-emf")
    place.parent.mkdir(parents=True, exist_ok=True) if system else None
    monkeypatch.setattr(run_settings, "SYSTEM_SPOOL", place)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    directory = run_settings.spool_directory(RunSettings(**changes))
    expected = str(place) if expected == "SYSTEM" else expected
    assert expected == (None if directory is None else str(directory))


@pytest.fixture
def monitor(tmp_path):
    """
    Return a fake neuron-monitor that writes a report and then its PID to a named pipe.

    It writes more empty lines than a pipe holds, so the PID comes after the report was read.
    """
    os.mkfifo(tmp_path / "pid")
    return write_script(
        tmp_path / "fake-monitor",
        f"""
        sys.stdout.write({chunk(busy()).decode()!r} + "\\n" * (1 << 18))
        sys.stdout.flush()
        with open({str(tmp_path / "pid")!r}, "w") as file:
            file.write(str(os.getpid()))
        signal.pause()
        """,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_child_and_closes_the_minute(number, monitor, tmp_path):
    """
    A signal ends the emitter with exit code 0 and CleanShutdown, and ends neuron-monitor.

    No file is left.
    """
    arguments = ["run", "--cluster", "blue", "--output", "stdout", "--monitor-command", monitor]
    process = subprocess.Popen(
        [*EMITTER_COMMAND, *arguments, "--runtime-lines", "none"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path, TMPDIR=str(tmp_path)),
    )
    child = int((tmp_path / "pid").read_text())
    process.send_signal(number)
    printed, errors = process.communicate(timeout=300)
    assert 0 == process.returncode
    assert [] == error_lines(errors.decode())
    minutes: list[Any] = [parse(line) for line in printed.decode().splitlines()]
    assert minutes[-1].is_clean_shutdown is True
    assert AN_INSTANCE == minutes[-1].instance_id
    assert 1 == sum(record.reports for record in minutes)
    assert not alive(child)
    assert [] == list(tmp_path.glob("neuron-emf-*"))


def printed_lines(capsys):
    """Return the members of each line on standard output."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture
def running(tmp_path, monkeypatch, request):
    """Yield a service that reads one report from a file and prints its lines, and its settings."""
    changes = getattr(request, "param", {})
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    reports = tmp_path / "reports"
    reports.write_bytes(chunk(busy(20.0)))
    chosen = settings_of(
        input=str(reports), output="stdout", spool_dir=tmp_path / "spool", **changes
    )
    with ExitStack() as stack:
        yield service.Service(chosen, stack), chosen


def ended(running_service):
    """Read to the end of the input and send all records."""
    assert running_service.emitter.read_until(lambda: False)
    running_service.source.close()
    running_service.emitter.finish(input_ended=True)


def test_a_reload_takes_the_settings_that_may_change(running, capsys, caplog):
    """
    A reload takes cluster, threshold, metrics and tags.

    It logs the settings that need a restart.
    """
    caplog.set_level(logging.INFO)
    running_service, chosen = running
    running_service.reload_settings(
        lambda: dataclasses.replace(
            chosen,
            cluster="green",
            idle_below_percent=30.0,
            metrics="none",
            tag=("team=search",),
            spool_max_mib=3,
            verbose=True,
        )
    )
    ended(running_service)
    (line,) = printed_lines(capsys)
    assert "green" == line["ClusterName"]
    assert "aaaa" == line["CoreState"]
    assert "search" == line["team"]
    assert "_aws" not in line
    (logged,) = [
        record for record in caplog.records if record.getMessage() == "configuration reloaded"
    ]
    assert "spool-max-mib,verbose" == logged.until_restart


@pytest.mark.parametrize(
    "change",
    [
        {"tag": ("Executions=1",)},
        {"groups": ("no_such_group",)},
        {"cluster": "caf\u00e9"},
        {"metrics": "none", "common_dims": ("instance_id",)},
        {"monitor_config": Path("/no/such/file")},
    ],
)
def test_a_reload_of_a_mistake_changes_nothing(change, running, capsys, caplog):
    """A wrong setting in a reload is logged, and the emitter keeps its previous settings."""
    running_service, chosen = running
    running_service.reload_settings(
        lambda: dataclasses.replace(chosen, idle_below_percent=30.0, **change)
    )
    ended(running_service)
    (line,) = printed_lines(capsys)
    assert "blue" == line["ClusterName"]
    assert "baaa" == line["CoreState"]
    (logged,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert logged.getMessage().startswith("Configuration not reloaded. ")


@pytest.mark.parametrize("running", [{"attribution": "team"}], indirect=True)
def test_a_reload_does_not_change_attribution(running, capsys, caplog):
    """A reload changes neither attribution nor a setting that attribution forbids."""
    running_service, chosen = running
    for changes in ({}, {"raw_reports": 1}):
        running_service.reload_settings(
            lambda changes=changes: dataclasses.replace(chosen, attribution="auto", **changes)
        )
    ended(running_service)
    assert ["minute"] == [line["Kind"] for line in printed_lines(capsys)]
    (logged,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "--raw-reports" in logged.getMessage()


def test_an_unread_pipe_has_a_warning(tmp_path):
    """The emitter warns if standard input has data but it reads neuron-monitor instead."""
    monitor = tmp_path / "quiet-monitor"
    monitor.write_text("#!/bin/sh\nexec sleep 60\n")
    monitor.chmod(0o755)
    program = (
        "from neuron_emitter.run import service\n"
        "service.INPUT_CHECK_AFTER_S = 0.0\n"
        "from neuron_emf.cli import main; main()"
    )
    arguments = ("run", "--cluster", "blue", "--output", "stdout", "--monitor-command", monitor)
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        env=environment(tmp_path, TMPDIR=str(tmp_path)),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        process.stdin.write("{}\n")
        process.stdin.flush()
        errors = process.stderr.readline() + process.stderr.readline()
        process.terminate()
    assert 0 == process.returncode
    assert "Use --input -" in errors
