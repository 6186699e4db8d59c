"""
Whatever a child does, reports are read as long as there are any, and nothing is left behind.

Real processes, real time: each test waits for what it claims, never for a while.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fake_monitor import LINE, alive, fail_once, read_until, running, wait_for

from emitter.reports import child as child_module
from proof.emitter_process import environment

LINUX = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="PR_SET_PDEATHSIG is Linux's"
)

PARENT = """
import sys, threading
from emitter.reports.monitor import Monitor

def read():
    monitor = Monitor({path!r}, "{{}}", 5.0)
    found = b""
    while True:
        chunk = monitor.read(0.1)
        sys.stdout.buffer.write(chunk)
        sys.stdout.flush()

{how}
"""


@pytest.fixture
def parent(tmp_path):
    """A process of its own that reads a monitor and prints what it reads."""
    started = []

    def start(path, how="read()"):
        process = subprocess.Popen(
            [sys.executable, "-c", PARENT.format(path=path, how=how)],
            stdout=subprocess.PIPE,
            env={**environment(tmp_path), "TMPDIR": str(tmp_path)},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def read_pid(process):
    """The next line that is a number."""
    while True:
        line = process.stdout.readline()
        assert line, "the parent ended"
        if line.strip().isdigit():
            return int(line)


def test_a_flood_of_complaints_does_not_drown_reports(script, clock):
    """Standard error without end beside standard output: every report is read, memory stays."""
    path = script(f"""
        if os.fork() == 0:
            while True:
                os.write(2, b"complaint\\n" * 5000)
        for _ in range(100):
            os.write(1, {LINE!r})
        time.sleep(600)
    """)
    with running(path, clock) as monitor:
        assert 100 * LINE == read_until(monitor, lambda found: len(found) >= 100 * len(LINE))
        wait_for(lambda: monitor.read(0.05) == b"" and monitor._child.last_words.text())
        assert len(monitor._child.last_words._tail) <= 2048
        assert 0 == monitor.restarts


def test_one_that_forks_and_leaves_is_read_as_long_as_reports_come(script, clock):
    """
    A daemon that went into the background still writes into our pipe; it is stopped with close.
    """
    path = script(f"""
        if os.fork():
            os._exit(0)
        os.write(1, b"%d\\n" % os.getpid())
        while True:
            os.write(1, {LINE!r})
            time.sleep(0.01)
    """)
    with running(path, clock) as monitor:
        found = read_until(monitor, lambda found: found.count(LINE) >= 3)
        left = int(found.split(b"\n")[0])
        assert 0 == monitor.restarts
        assert alive(left)
    wait_for(lambda: not alive(left))


def test_one_that_leaves_for_a_session_of_its_own_ends_when_it_writes(script, clock):
    """No signal of ours reaches it; the pipe that nobody reads any more does."""
    path = script(f"""
        if os.fork():
            os._exit(0)
        os.setsid()
        os.write(1, b"%d\\n" % os.getpid())
        while True:
            os.write(1, {LINE!r})
            time.sleep(0.01)
    """)
    with running(path, clock) as monitor:
        left = int(read_until(monitor, lambda found: found.count(LINE) >= 3).split(b"\n")[0])
    wait_for(lambda: not alive(left))


def test_a_child_that_is_stopped_counts_as_silent(script, clock, monkeypatch):
    """SIGSTOP, a debugger, a frozen driver call: SIGTERM does not reach it, SIGKILL does."""
    monkeypatch.setattr(child_module, "STOP_WITHIN_S", 0.1)
    path = script(f"os.write(1, {LINE!r}); os.kill(os.getpid(), signal.SIGSTOP)")
    with running(path, clock) as monitor:
        read_until(monitor, lambda found: found == LINE)
        child = monitor._child.pid
        clock.now_s += 30
        fail_once(monitor, clock)
    wait_for(lambda: not alive(child))


def test_nothing_is_leaked_over_many_deaths(script, clock):
    """File descriptors and processes after 8 restarts are those of before."""
    path = script(f"os.write(1, {LINE!r}); sys.exit(1)")
    before = {*Path("/proc/self/fd").iterdir()}
    with running(path, clock) as monitor:
        while monitor.restarts < 8:
            fail_once(monitor, clock)
            clock.now_s = monitor._start_at_s
        between = {*Path("/proc/self/fd").iterdir()}
        assert len(between) <= len(before) + 3  # at most one child's pipes and their selector
    assert before == {*Path("/proc/self/fd").iterdir()}


@pytest.mark.proof
@LINUX
def test_a_child_started_from_a_thread_dies_with_the_process(script, parent):
    """kill -9 of the emitter ends it, whichever of its threads reads."""
    path = script("os.write(1, b'%d\\n' % os.getpid()); time.sleep(600)")
    process = parent(path, "threading.Thread(target=read).start()")
    child = read_pid(process)
    assert alive(child)
    process.kill()
    wait_for(lambda: not alive(child))


@pytest.mark.proof
@LINUX
def test_what_a_wrapper_starts_beside_itself_ends_with_its_next_report(tmp_path, script, parent):
    """
    Without exec the wrapper dies with the emitter; its monitor finds that nobody reads, and ends.
    """
    go = tmp_path / "go"
    inner = script(f"""
        os.write(1, b"%d\\n" % os.getpid())
        while not os.path.exists({str(go)!r}):
            time.sleep(0.01)
        os.write(1, {LINE!r})
        time.sleep(600)
    """, name="inner")  # fmt: skip
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\n{inner} "$@"\ntrue\n')
    wrapper.chmod(0o755)
    process = parent(str(wrapper))
    child = read_pid(process)
    process.kill()
    process.wait()
    go.touch()
    wait_for(lambda: not alive(child))
