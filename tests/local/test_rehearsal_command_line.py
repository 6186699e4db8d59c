"""What a person or a script gets: exit codes and sentences."""

from __future__ import annotations

import signal

import pytest

from local.embedded_aws.processes import EmbeddedAwsError
from local.rehearsal import __main__ as command_line
from local.rehearsal.figures import ClusterRow
from local.rehearsal.rehearsal import Verdict
from local.rehearsal.stage import StoppedError

ROW = ClusterRow("research", 1_800_000_000, {"Instances": 4.0}, "ALARM", "too idle")
RIGHT = Verdict([], 120, 4, [ROW], "It costs 28 USD.")


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
    problems = [f"problem {number}" for number in range(40)]
    assert 1 == play(Verdict(problems, 120, 4, [ROW], ""))
    shown = capsys.readouterr().out
    assert "WRONG" in shown
    assert all(f"* {problem}\n" in shown for problem in problems)


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
