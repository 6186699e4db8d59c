"""The live view as a process on a terminal of its own."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import subprocess
import sys
import termios

import pytest


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for a terminal")
def test_on_a_real_terminal_it_is_live_until_q(hour, repository):
    """The whole program in a process of its own: exit code 0, and the terminal as it was."""
    command = [sys.executable, "-m", "neuron_emf", "top", str(hour.records_file)]
    ours, theirs = os.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=repository, env=environment
    ) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # what Linux says when nobody holds the other end
            while piece := os.read(ours, 65_536):
                has_been = b"serving" in shown
                shown += piece
                if b"serving" in shown and not has_been:
                    os.write(ours, b"q")
    os.close(ours)
    assert 0 == process.returncode
    assert b"research" in shown
    assert shown.rindex(b"\x1b[?1049l") > shown.index(b"\x1b[?1049h")
