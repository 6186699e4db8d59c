"""No child outlives us, and stopping one takes a bounded time."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from local.embedded_aws.processes import ChildProcess, group_members, is_loopback, listening

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel")
PATIENCE_S = 300.0


def until(condition):
    """Wait for *condition*, which the kernel or a child makes true."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def alive(pid):
    """Whether a process runs; an ended one that nobody reaped does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


@pytest.fixture
def start(tmp_path):
    """Start Python code as a child; whatever the test leaves is stopped."""
    children = []

    def starter(code):
        child = ChildProcess(
            f"child {len(children)}", [sys.executable, "-c", code],
            output=tmp_path / f"{len(children)}.log", environment=os.environ, folder=tmp_path,
        )  # fmt: skip
        children.append(child)
        return child

    yield starter
    for child in children:
        child.stop(0)


@pytest.mark.proof
@LINUX
def test_stopping_takes_the_grandchildren_along(start):
    """Also those of a child that listens to no signal."""
    child = start(
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid)\n"
        "sys.stdout.flush()\n"
        "time.sleep(60)"
    )
    until(child.tail)
    grandchild = int(child.tail())
    assert {child.pid, grandchild} == set(group_members(child.pid))
    assert -signal.SIGKILL == child.stop(0.05)
    until(lambda: not alive(grandchild))
    assert [] == [pid for pid in group_members(child.pid) if alive(pid)]


PARENT = """
import os, signal, sys, time
from pathlib import Path
from local.embedded_aws.processes import ChildProcess
child = ChildProcess("c", [sys.executable, "-c", "import time; time.sleep(60)"],
    output=Path(sys.argv[1]), environment=os.environ, folder=Path("."))
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.proof
@LINUX
def test_a_child_dies_with_a_parent_that_was_killed(tmp_path, repository):
    """A kill -9 gives us no chance to stop anything: the kernel does it."""
    command = [sys.executable, "-c", PARENT, str(tmp_path / "log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=repository, text=True) as parent:
        child = int(parent.stdout.readline())
        until(lambda: alive(child))
        parent.kill()
    until(lambda: not alive(child))


@LINUX
def test_the_kernel_tells_who_listens_where():
    """A listening socket of ours, and only while it listens."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
        server.bind(("127.0.0.1", 0))
        address = server.getsockname()
        assert address not in listening([os.getpid()])
        server.listen()
        assert address in listening([os.getpid()])
        assert address not in listening([1])
    assert address not in listening([os.getpid()])


def test_an_address_that_others_can_reach_is_not_loopback():
    """Every interface at once is not loopback, in either family."""
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "::ffff:10.0.0.1", "10.0.0.1")))
