"""
What README and docs tell the owner of an instance to type does what they say.

Each command is taken from the pages as it stands and given to a shell, with
the simulated neuron-monitor on its path and a right account behind it.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proof.account.account import AccountDouble

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
PAGES = [README, *(page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md"))]
PATIENCE_S = 300.0

RUN = "neuron-emf run --cluster my-cluster --region us-east-1"
CHECK = "neuron-emf check --cluster my-cluster --region us-east-1"
CONFIGURE = "neuron-emf run --print-monitor-config > monitor.json"
PIPE = "neuron-monitor -c monitor.json | neuron-emf run --input - --cluster my-cluster"
LOOK = "neuron-emf run --cluster my-cluster --output stdout"
REPLAY = (
    "neuron-emf replay reports.json --interval 5 --start 2026-01-01T00:00:00Z --cluster my-cluster"
)


@pytest.fixture
def account():
    with AccountDouble() as found:
        yield found


@pytest.fixture
def shell(tmp_path, account):
    """Start a command as a page has it; gives the process, which leads a group of its own."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "neuron-monitor").symlink_to(ROOT / "local" / "monitor" / "neuron-monitor")
    emitter = programs / "neuron-emf"
    emitter.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m neuron_emf "$@"\n')
    emitter.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NEURON_")}
    environment = {
        **kept,
        **account.variables,
        "AWS_EC2_METADATA_DISABLED": "true",
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PYTHONPATH": f"{ROOT}:{ROOT / 'lambda'}",
        "NEURON_SIM_PYTHON": sys.executable,
        "NEURON_SIM": f'{{"instance_type": "inf2.xlarge", "truth": "{tmp_path}/truth"}}',
        "NEURON_EMF_SPOOL_DIR": str(tmp_path / "spool"),
        "NEURON_EMF_PERIOD": "1",  # two reports come sooner
    }
    started = []

    def start(command):
        assert any(command in page for page in PAGES), f"no page says {command!r} any more"
        process = subprocess.Popen(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def stop_after_two_reports(process, folder, stop=os.killpg):
    """Ask the whole group to stop once two reports were written; gives what was printed."""
    truth, until_s = folder / "truth", time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s and process.poll() is None:
        if truth.exists() and len(truth.read_text("utf-8").splitlines()) >= 2:
            break
        time.sleep(0.05)
    stop(process.pid, signal.SIGTERM)
    printed, said = process.communicate(timeout=PATIENCE_S)
    return process.returncode, printed, said


def stop_monitor(group, number):
    """Send *number* to the simulated monitor of a process *group* alone."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            is_of_group = os.getpgid(int(folder.name)) == group
        except OSError:  # it has ended
            continue
        if is_of_group and b"local.monitor" in words:
            os.kill(int(folder.name), number)


def minute_lines(texts):
    """The minute lines among *texts*, as objects."""
    found = [json.loads(text) for text in texts]
    return [line for line in found if line["Kind"] == "minute"]


@pytest.mark.slow
def test_check_finds_all_that_run_needs(shell, account):
    """And sends one line, which is no record."""
    check = shell(CHECK)
    printed, said = check.communicate(timeout=PATIENCE_S)
    assert (0, "") == (check.returncode, said)
    assert "A first record can be sent" in printed
    (line,) = [one.message for one in account.rules.applied if one.group == account.records_group]
    assert "probe" == json.loads(line)["Kind"]


@pytest.mark.slow
def test_run_sends_to_the_log_group(shell, account, tmp_path):
    """And says goodbye when it is stopped: the line is in the log group that the stack made."""
    code, _, said = stop_after_two_reports(shell(RUN), tmp_path)
    assert 0 == code, said
    sent = [one.message for one in account.rules.applied if one.group == account.records_group]
    (line,) = [one for one in minute_lines(sent) if one.get("Bye")]
    assert ("my-cluster", 2) == (line["ClusterName"], line["NeuronCores"])


@pytest.mark.slow
def test_where_something_else_runs_the_monitor_it_is_piped(shell, account, tmp_path):
    """With the configuration that run prints: what was in the pipe when it ended is sent."""
    configured = shell(CONFIGURE)
    _, said = configured.communicate(timeout=PATIENCE_S)
    assert 0 == configured.returncode, said
    assert "period" in json.loads((tmp_path / "monitor.json").read_text("utf-8"))
    code, _, said = stop_after_two_reports(shell(PIPE), tmp_path, stop_monitor)
    assert 3 == code, said
    sent = [one.message for one in account.rules.applied if one.group == account.records_group]
    assert {2} == {one["NeuronCores"] for one in minute_lines(sent)}, said


@pytest.mark.slow
def test_what_it_would_send_can_be_looked_at(shell, account, tmp_path):
    """Lines are on standard output, and nothing was sent."""
    code, printed, said = stop_after_two_reports(shell(LOOK), tmp_path)
    assert 0 == code, said
    # two lines where the full minute passes between the reports
    assert {2} == {one["NeuronCores"] for one in minute_lines(printed.splitlines())}
    assert [] == account.operations


@pytest.mark.slow
def test_saved_reports_are_replayed(shell, tmp_path, hour):
    """Into lines of the times that were said."""
    saved = min(hour.folder.glob("*.reports"))
    (tmp_path / "reports.json").write_bytes(saved.read_bytes())
    replay = shell(REPLAY)
    printed, said = replay.communicate(timeout=PATIENCE_S)
    assert 0 == replay.returncode, said
    assert 1_767_225_600_000 == minute_lines(printed.splitlines())[0]["_aws"]["Timestamp"]


def test_every_command_line_of_the_readme_is_run():
    """By a test above, or with its output by the test of shown commands."""
    said = re.sub(r"<!-- run: .*?<!-- /run -->", "", README, flags=re.DOTALL)
    lines = re.findall(r"neuron-emf (?:check|run|replay)[^`\n#]*", said)
    assert lines
    run = (CHECK, RUN, CONFIGURE, PIPE, LOOK, REPLAY)
    assert [] == [line for line in lines if not any(line.strip() in one for one in run)]
