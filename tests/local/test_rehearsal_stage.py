"""Whenever a rehearsal ends, nothing of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from local.rehearsal.stage import Stage, StoppedError

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel")
PATIENCE_S = 300.0

# A rehearsal in small: a child and a file.
PLAY = """
import os, sys
from local.embedded_aws.processes import ChildProcess
from local.rehearsal.stage import Stage, StoppedError

with Stage() as stage:
    (stage.folder / "file").write_text("x")
    child = stage.adopt(ChildProcess("c", [sys.executable, "-c", "import time; time.sleep(60)"],
        environment=os.environ, folder=stage.folder, output=stage.folder / "log"))
    print(child.pid, stage.folder, flush=True)
    try:
        stage.wait(60)
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


@pytest.fixture
def stage():
    """A stage whose signals are given back to pytest."""
    with Stage() as opened:
        yield opened


def test_a_signal_interrupts_nothing_but_waiting(stage):
    """It is remembered until somebody asks."""
    os.kill(os.getpid(), signal.SIGTERM)
    steps = ["this is reached"]
    with pytest.raises(StoppedError, match="SIGTERM"):
        stage.check()
    with pytest.raises(StoppedError):
        stage.wait(60)
    assert ["this is reached"] == steps
