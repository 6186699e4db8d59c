"""Whenever a rehearsal ends, nothing of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from local.rehearsal.stage import Stage, StepProgress, StoppedError

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel")
PATIENCE_S = 8.0

# A rehearsal in small: a child, a grandchild that left its group, and a file.
PLAY = """
import os, signal, sys, time
from local.rehearsal.stage import Stage, StoppedError

RUNAWAY = '''
import subprocess, sys, time
code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
print(child.pid, flush=True)
time.sleep(60)
'''
with Stage() as stage:
    (stage.folder / "file").write_text("x")
    child = stage.start("c", [sys.executable, "-c", RUNAWAY], environment=os.environ,
        folder=stage.folder, output=stage.folder / "log")
    while not child.tail():
        time.sleep(0.01)
    print(child.pid, child.tail(), stage.folder, flush=True)
    try:
        stage.wait(60)
    except StoppedError as stopped:
        print("stopped by", stopped.signal_number, flush=True)
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)  # an impatient person changes nothing
        if sys.argv[1:] == ["fail"]:
            raise
"""


def _ended(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"


@LINUX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("arguments", [[], ["fail"]])
def test_a_signal_leaves_no_process_and_no_folder(repository, number, arguments):
    """Also no grandchild that left its group and listens to nothing, and also after an error."""
    command = [sys.executable, "-c", PLAY, *arguments]
    with subprocess.Popen(
        command, cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as play:
        child, grandchild, folder = play.stdout.readline().split()
        assert Path(folder).is_dir()
        play.send_signal(number)
        assert f"stopped by {int(number)}\n" == play.stdout.readline()
        assert bool(arguments) == bool(play.wait(PATIENCE_S))
    assert _ended(int(child))
    assert _ended(int(grandchild))
    assert not Path(folder).exists()


@pytest.fixture
def stage():
    """A stage whose signals are given back to pytest."""
    with Stage() as opened:
        yield opened


def test_a_signal_interrupts_nothing_but_waiting(stage):
    """It is remembered until somebody asks: no process is started unseen."""
    os.kill(os.getpid(), signal.SIGTERM)
    steps = ["this is reached"]
    with pytest.raises(StoppedError, match="SIGTERM"):
        stage.check()
    with pytest.raises(StoppedError):
        stage.wait(60)
    with pytest.raises(StoppedError):
        stage.start("x", ["true"], environment={}, folder=Path(), output=stage.folder / "log")
    assert ["this is reached"] == steps
    assert not (stage.folder / "log").exists()


def test_a_signal_at_any_line_of_waiting_ends_it():
    """Also where what waits holds a lock: the handler must not want it too."""
    sent = steps = 0
    while sent == steps:
        steps += 1
        sent = _steps_until_signalled(steps)
    assert steps > 3


def _steps_until_signalled(at):
    """Wait, with a SIGTERM before the line number *at*; the lines that were seen until then."""
    seen = 0

    def trace(_frame, event, _argument):
        nonlocal seen
        if event == "line" and seen < at:
            seen += 1
            if seen == at:
                os.kill(os.getpid(), signal.SIGTERM)
        return trace

    with Stage() as opened:
        sys.settrace(trace)
        try:
            opened.wait(0.001)
        except StoppedError:
            pass
        finally:
            sys.settrace(None)
    return seen


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(None, "done in"), (ValueError, "failed after"), (StoppedError(15), "stopped after")],
)
@pytest.mark.parametrize("live", [True, False])
def test_each_step_says_what_it_was_and_how_it_ended(capsys, error, outcome, live):
    """With its seconds, on a terminal in place, in a pipe below."""
    progress = StepProgress(live=live)
    try:
        with progress.step("deploying"):
            if error:
                raise error
    except (ValueError, StoppedError):
        pass
    shown = capsys.readouterr().out
    assert "deploying" in shown
    assert outcome in shown.splitlines()[-1]
    assert shown.endswith(" s\n")
    assert ["deploying"] == list(progress.seconds)
    assert live == ("\x1b" in shown)
