"""
neuron-monitor as a supervised child: kept alive, restarted with growing waits, reported on.

The child is a script that each test writes; time is a number that each test sets.
"""

from __future__ import annotations

import json
import random
import signal
from pathlib import Path

import pytest
from fake_monitor import LINE, alive, read_until, running, wait_for

from emitter.errors import SourceError
from emitter.reports import child as child_module
from emitter.reports import monitor as monitor_module
from emitter.reports.monitor import Monitor, find_monitor
from emitter.reports.monitor_config import monitor_config


def test_what_the_child_writes_is_read(script, clock):
    """Byte by byte as it was written, from the first start on."""
    path = script(f"os.write(1, {LINE * 3!r}); time.sleep(60)")
    with running(path, clock) as monitor:
        assert LINE * 3 == read_until(monitor, lambda found: len(found) >= len(LINE) * 3)
        assert b"" == monitor.read(0.01)
        assert (0, path) == (monitor.restarts, monitor.name)


def test_the_child_gets_the_configuration_and_nothing_else(script):
    """`-c FILE`, the file holds what was given, standard input is empty; gone after the end."""
    path = script("""
        import json
        text = open(sys.argv[2]).read()
        print(json.dumps([sys.argv[1:2], sys.argv[2], text, sys.stdin.read()]), flush=True)
        time.sleep(60)
    """)
    with running(path, config=monitor_config(5)) as monitor:
        flag, name, text, stdin = json.loads(read_until(monitor, lambda found: b"\n" in found))
        assert (["-c"], monitor_config(5), "") == (flag, text, stdin)
        assert Path(name).exists()
    assert not Path(name).parent.exists()


def test_a_child_that_ends_is_started_again(script, clock, caplog):
    """With its code, its last words and the wait in one warning; the emitter goes on."""
    path = script(
        f"os.write(1, {LINE!r}); os.write(2, b'first\\nno devices found\\n'); sys.exit(7)"
    )
    with running(path, clock, rng=random.Random(1)) as monitor:
        read_until(monitor, lambda found: found.count(LINE) >= 2)
        assert monitor.restarts >= 1
    said = caplog.records[0].getMessage()
    for words in ("exited with code 7", "restarting it in", "its last output: no devices found"):
        assert words in said
    assert "first" not in said
    assert len(caplog.records) <= monitor.restarts + 1


@pytest.mark.parametrize(
    ("period_s", "silent_s", "is_dead"),
    [(5.0, 29.9, False), (5.0, 30.0, True), (15.0, 44.9, False), (15.0, 45.0, True)],
)
def test_a_silent_child_counts_as_dead(period_s, silent_s, is_dead, *, script, clock, caplog):
    """After 3 periods and at least 30 s without a byte it is stopped and started again."""
    path = script(f"os.write(1, {LINE!r}); time.sleep(60)")
    with running(path, clock, period_s) as monitor:
        read_until(monitor, lambda found: found == LINE)
        child = monitor._child.pid
        clock.now_s += silent_s
        assert b"" == monitor.read(0.01)
        assert is_dead != alive(child)
        assert is_dead == (monitor._child is None)
    assert is_dead == any("wrote nothing for" in record.getMessage() for record in caplog.records)


def test_a_child_that_ignores_sigterm_is_killed(script, monkeypatch):
    """Ask, wait, insist: close leaves nothing behind."""
    monkeypatch.setattr(child_module, "STOP_WITHIN_S", 0.1)
    path = script(f"""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.write(1, {LINE!r})
        time.sleep(60)
    """)
    with running(path) as monitor:
        read_until(monitor, lambda found: found == LINE)
        child = monitor._child
    assert -signal.SIGKILL == child._process.returncode
    assert not alive(child.pid)


@pytest.mark.parametrize("how", ["close", "silence"])
def test_what_the_child_started_is_stopped_too(how, script, clock):
    """A wrapper script leaves on SIGTERM while the program it started does not."""
    path = script("""
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.write(1, b"%d\\n" % os.getpid())
            time.sleep(60)
        time.sleep(60)
    """)
    with running(path, clock) as monitor:
        grandchild = int(read_until(monitor, lambda found: b"\n" in found))
        assert alive(grandchild)
        if how == "silence":
            clock.now_s += 30
            monitor.read(0.01)
            wait_for(lambda: not alive(grandchild))
    wait_for(lambda: not alive(grandchild))


def test_close_leaves_no_process_no_file_and_may_come_twice(script, clock):
    """Also after the child has ended by itself, and before it was started."""
    before = {*Path("/proc/self/fd").iterdir()}
    path = script("sys.exit(0)")
    for reads in (0, 1, 50):
        monitor = Monitor(path, "{}", 5.0, clock=clock)
        for _ in range(reads):
            monitor.read(0.01)
        monitor.close()
        monitor.close()
    assert before == {*Path("/proc/self/fd").iterdir()}


@pytest.mark.parametrize("command", ["no-such-monitor", "/no/such/monitor", "plain"])
def test_a_command_that_is_not_there_is_said(command, tmp_path, monkeypatch):
    """Where it was looked for, and what to install; a file without the right to run it is none."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    with pytest.raises(SourceError) as caught:
        find_monitor(command)
    said = str(caught.value)
    assert 3 == caught.value.exit_code
    words = (command, "/opt/aws/neuron/bin", "aws-neuronx-tools", "--monitor-command")
    assert [] == [word for word in words if word not in said]


def test_a_command_is_found_on_the_path_and_in_its_package(tmp_path, monkeypatch, script):
    """The package puts it where no PATH looks."""
    path = script("", name="neuron-monitor")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert path == find_monitor("neuron-monitor")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(monitor_module, "PACKAGE_PATH", str(tmp_path))
    assert path == find_monitor("neuron-monitor")
    assert path == find_monitor(path)
