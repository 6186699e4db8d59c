"""
A rehearsal: what a person gets, what its parts leave each other, and that nothing of it stays.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from local.embedded_aws.processes import EmbeddedAwsError
from local.monitor.instance import ECC_COUNTERS
from local.monitor.runtime_groups import EXECUTION_ENDINGS
from local.rehearsal import __main__ as command_line
from local.rehearsal.alarm_board import ClusterRow
from local.rehearsal.comparison import expected_live
from local.rehearsal.fleet import FLEET, LiveFleet, python_environment
from local.rehearsal.rehearsal import RehearsalOutcome
from local.rehearsal.workspace import StoppedError, Workspace

ROW = ClusterRow("research", 1_800_000_000, {"Instances": 4.0}, "ALARM", "too idle")
RIGHT = RehearsalOutcome([], 120, 4, [ROW], "It costs 28 USD.")


@pytest.fixture
def play(monkeypatch):
    """A rehearsal that ends as the test says."""

    def ending(end, *arguments):
        class Rehearsal:
            template = {}  # noqa: RUF012

            def __init__(self, *_):
                pass

            def run(self, seconds):
                self.seconds = seconds
                if isinstance(end, Exception):
                    raise end
                return end

        monkeypatch.setattr(command_line, "Rehearsal", Rehearsal)
        return command_line.main(["--seconds", "5", *arguments])

    return ending


def test_right_rollups_are_success(play, capsys):
    """Exit code 0, the table, what was compared, what was not emulated, and the amounts."""
    assert 0 == play(RIGHT)
    shown = capsys.readouterr().out
    assert "research" in shown
    assert "RIGHT: compared 120 rollups of the replayed hour and 4 live ones" in shown
    assert "It costs 28 USD." in shown
    assert "PutMetricData" in shown


def test_a_wrong_rollup_is_exit_code_1(play, capsys):
    """Every problem is shown."""
    assert 1 == play(RehearsalOutcome(["problem 1", "problem 2"], 120, 4, [ROW], ""))
    shown = capsys.readouterr().out
    assert all(part in shown for part in ("WRONG", "* problem 1\n", "* problem 2\n"))


def test_what_could_not_be_started_is_exit_code_3(play, capsys):
    """One sentence and the last words of what failed, on stderr."""
    assert 3 == play(EmbeddedAwsError("sam build failed with exit code 1", "Error: no pip"))
    shown = capsys.readouterr().err
    assert "rehearsal: sam build failed with exit code 1" in shown
    assert "Error: no pip" in shown


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_128_and_its_number(play, capsys, number):
    """As shells have it."""
    assert 128 + number == play(StoppedError(number))
    assert "All its processes have stopped." in capsys.readouterr().out


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan", "inf", "86401", ""])
def test_wrong_use_is_exit_code_2(seconds, capsys):
    """One sentence with what was expected."""
    with pytest.raises(SystemExit) as caught:
        command_line.main(["--seconds", seconds])
    assert 2 == caught.value.code
    assert "expected 1 to 86400, found" in capsys.readouterr().err


@pytest.fixture
def workspace():
    """A workspace whose signals are given back to pytest."""
    with Workspace() as opened:
        yield opened


def test_the_users_own_settings_do_not_reach_the_emitters():
    """A cluster name in the user's shell would move every instance into it."""
    base = {"NEURON_EMF_CLUSTER": "mine", "NEURON_SIM": "{}", "PATH": "/bin"}
    found = python_environment(base)
    assert "NEURON_EMF_CLUSTER" not in found
    assert "NEURON_SIM" not in found
    assert "/bin" == found["PATH"]


def truth_line(instance, at_s):
    """One line of a truth file: two cores at work, 5 executions."""
    line = {
        "instance": instance, "cores": 2, "nominal_s": 5.0, "at_ms": round(1000 * at_s),
        "period_s": 5.0, "runtimes": 1, "percents": [50.0, 50.0], "held": [True, True],
        "executions": {**dict.fromkeys(EXECUTION_ENDINGS, 0), "completed": 5},
        "ecc_rises": dict.fromkeys(ECC_COUNTERS, 0),
    }  # fmt: skip
    return f"{json.dumps(line)}\n"


def test_live_minutes_count_from_when_all_are_there_to_the_stop(workspace):
    """
    Not the minute in which an instance had not begun, and not the one that was cut off.

    Nor one with a report so near to its end that the next minute may have it.
    """
    opened = LiveFleet(workspace, {}, "/g")
    minute_s = 1_799_999_940
    for number, member in enumerate(FLEET):
        truth = opened._truths[member] = workspace.folder / f"{number}.truth"
        moments = [minute_s + 60 * minute + 30 for minute in range(number == 3, 6)]
        moments += [minute_s + 239.6] * (number == 4)
        truth.write_text("".join(truth_line(member.instance_id, at_s) for at_s in moments))
    found = expected_live(opened, minute_s + 300.0)
    assert {
        (cluster, minute_s + 60 * minute)
        for cluster in ("research", "serving")
        for minute in (1, 2)
    } == set(found)
    assert {(5, 25)} == {(rollup["Instances"], rollup["Executions"]) for rollup in found.values()}
    assert [] == opened.silent_members()
    opened._truths[FLEET[5]].write_text("", encoding="utf-8")
    assert [FLEET[5]] == opened.silent_members()


LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel")
PATIENCE_S = 300.0

# A rehearsal in small: a child and a file.
PLAY = """
import os, sys
from local.embedded_aws.processes import ChildProcess
from local.rehearsal.workspace import Workspace, StoppedError

with Workspace() as workspace:
    (workspace.folder / "file").write_text("x")
    child = workspace.adopt(ChildProcess("c", [sys.executable, "-c", "import time; time.sleep(60)"],
        environment=os.environ, folder=workspace.folder, output=workspace.folder / "log"))
    print(child.pid, workspace.folder, flush=True)
    try:
        workspace.wait(60)
    except StoppedError as stopped:
        print("stopped by", stopped.signal_number, flush=True)
        if sys.argv[1:] == ["fail"]:
            raise
"""


def _ended(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"


@pytest.mark.proof
@LINUX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("arguments", [[], ["fail"]])
def test_a_signal_leaves_no_process_and_no_folder(repository, number, arguments):
    """Also after an error."""
    command = [sys.executable, "-c", PLAY, *arguments]
    with subprocess.Popen(
        command, cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as play:
        child, folder = play.stdout.readline().split()
        assert Path(folder).is_dir()
        play.send_signal(number)
        assert f"stopped by {int(number)}\n" == play.stdout.readline()
        assert bool(arguments) == bool(play.wait(PATIENCE_S))
    assert _ended(int(child))
    assert not Path(folder).exists()
