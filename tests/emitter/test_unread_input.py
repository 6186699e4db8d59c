"""A pipe of reports in front of an emitter that was not told to read it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from emitter.run import service
from emitter.run.service import LOOK_AFTER_S, UnreadInput, bytes_waiting
from neuron_emf.cli import main
from proof.emitter_process import environment
from tests.emitter.emitter_command import logging_restored


@pytest.mark.parametrize(
    ("kind", "written", "expected"),
    [("pipe", b"", 0), ("pipe", b"abc", 3), ("socket", b"", 0), ("socket", b"abc", 3),
     ("file", b"abc", 0), ("terminal", b"abc\n", 0), ("nothing", b"", 0)],
)  # fmt: skip
def test_only_what_somebody_wrote_waits(kind, written, expected, tmp_path):
    """Supervisors and ssh give pipes, too, that stay empty; a file and a terminal are none."""
    if kind == "file":
        (tmp_path / "input").write_bytes(written)
        ends = [os.open(tmp_path / "input", os.O_RDONLY)]
    elif kind == "socket":
        ends = [one.detach() for one in socket.socketpair()]
    else:
        ends = list(os.openpty()[::-1] if kind == "terminal" else os.pipe())
    if kind in {"pipe", "socket", "terminal"}:
        os.write(ends[1], written)
    if kind == "nothing":
        os.close(ends[0])
    try:
        assert expected == bytes_waiting(ends[0])
    finally:
        for end in ends[kind == "nothing" :]:
            os.close(end)


def test_it_is_looked_once_and_not_too_early(monkeypatch, caplog):
    """A monitor that is slow to start has its 10 s; and one warning is enough."""
    waiting, now = [0], [100.0]
    monkeypatch.setattr(service, "bytes_waiting", lambda _: waiting[0])
    early, late = (UnreadInput(lambda: now[0]) for _ in range(2))
    now[0] += LOOK_AFTER_S - 0.001
    early.look()
    now[0] += 0.001
    early.look()
    waiting[0] = 3
    early.look()
    assert [] == caplog.messages
    late.look()
    late.look()
    (said,) = caplog.messages
    assert "--input -" in said


@pytest.mark.parametrize(
    ("arguments", "variables", "expected"),
    [((), {}, False), (("--input", "monitor"), {}, True),
     ((), {"NEURON_EMF_INPUT": "monitor"}, True)],
)  # fmt: skip
def test_who_has_said_where_reports_come_from_is_not_told(
    arguments, variables, expected, monkeypatch
):
    """However it was said: then that pipe is for somebody else."""
    served = []
    monkeypatch.setattr(
        service, "serve", lambda *_, is_input_given, **_more: served.append(is_input_given)
    )
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with logging_restored(), pytest.raises(SystemExit):
        main(["run", *arguments])
    assert [expected] == served


def test_a_pipe_that_nobody_reads_is_said(tmp_path):
    """`neuron-monitor | neuron-emf run`: it goes on with a monitor of its own."""
    monitor = tmp_path / "quiet-monitor"
    monitor.write_text("#!/bin/sh\nexec sleep 60\n")
    monitor.chmod(0o755)
    program = (
        "from emitter.run import service\n"
        "service.LOOK_AFTER_S = 0.0\n"
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
        _due, said = (process.stderr.readline() for _ in range(2))
        process.terminate()
    assert 0 == process.returncode
    assert "Use --input -" in said
