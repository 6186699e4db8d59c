"""
neuron-monitor as a supervised child: restarts with growing waits, and events.

The child is a script that each test writes. Each test sets the time.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from neuron_emitter.errors import SourceError
from neuron_emitter.logs import Backoff
from neuron_emitter.reports import child as child_module
from neuron_emitter.reports import monitor as monitor_module
from neuron_emitter.reports.monitor import EVENT_INTERVAL_S, Monitor, find_monitor
from neuron_emitter.reports.monitor_config import monitor_config
from tests.neuron_emitter.fake_monitor import (
    LINE,
    Extreme,
    alive,
    await_end,
    fail_once,
    read_until,
    running,
)


@pytest.fixture
def events():
    """Return the list of events."""
    return []


def test_the_child_gets_the_configuration_and_nothing_else(script, tmp_path, monkeypatch):
    """The child gets `-c FILE` with the configuration, an empty input, and leaves no file."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    path = script("""
        import json
        text = open(sys.argv[2]).read()
        print(json.dumps([sys.argv[1:2], sys.argv[2], text, sys.stdin.read()]), flush=True)
        signal.pause()
    """)
    with running(path, config=monitor_config(5)) as monitor:
        flag, name, text, stdin = json.loads(read_until(monitor, lambda output: b"\n" in output))
        assert ["-c"] == flag
        assert monitor_config(5) == text
        assert "" == stdin
        assert Path(name).exists()
        assert [] == list(temporary.iterdir())


@pytest.mark.parametrize(
    ("period_s", "silent_s", "is_dead"),
    [(5.0, 29.9, False), (5.0, 30.0, True), (15.0, 44.9, False), (15.0, 45.0, True)],
)
def test_a_silent_child_counts_as_dead(period_s, silent_s, is_dead, *, script, clock, events):
    """
    A child that is silent for 3 periods and at least 30 s is restarted.

    The event has the silent time, the run time and the child's last words.
    """
    path = script(f"os.write(2, b'stuck\\n'); os.write(1, {LINE!r}); signal.pause()")
    with running(path, clock, period_s, on_event=events.append) as monitor:
        read_until(monitor, lambda output: output == LINE)
        assert b"" == monitor.read_chunk(0.01)
        child = monitor._child.pid
        clock.now_s += silent_s
        assert b"" == monitor.read_chunk(0.01)
        assert is_dead != alive(child)
        assert is_dead == (monitor._child is None)
    details = {"SilentSeconds": silent_s, "RanSeconds": silent_s, "Stderr": "stuck"}
    assert [("MonitorStalled", details)] * is_dead == [(e.name, e.details) for e in events]


def test_a_child_that_ignores_sigterm_is_killed(script, monkeypatch):
    """A child that ignores SIGTERM is killed when the monitor is closed."""
    monkeypatch.setattr(child_module, "CHILD_STOP_TIMEOUT_S", 0.1)
    path = script(f"""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.write(1, {LINE!r})
        signal.pause()
    """)
    with running(path) as monitor:
        read_until(monitor, lambda output: output == LINE)
        child = monitor._child
    assert -signal.SIGKILL == child._process.returncode
    assert not alive(child.pid)


@pytest.mark.parametrize("how", ["close", "silence"])
def test_processes_of_the_child_are_stopped(how, script, clock):
    """Processes that the child started, such as by a wrapper script, are stopped too."""
    path = script("""
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.write(1, b"%d\\n" % os.getpid())
            signal.pause()
        signal.pause()
    """)
    with running(path, clock) as monitor:
        grandchild = int(read_until(monitor, lambda output: b"\n" in output))
        assert alive(grandchild)
        if how == "silence":
            clock.now_s += 30
            monitor.read_chunk(0.01)
            await_end(grandchild)
    await_end(grandchild)


def test_close_leaves_no_process_no_file_and_may_come_twice(script, clock):
    """Closing leaves no process and no file, also twice, before a start and after an end."""
    before = {*Path("/proc/self/fd").iterdir()}
    path = script("sys.exit(0)")
    for reads in (0, 1, 50):
        monitor = Monitor(path, "{}", 5.0, clock=clock)
        for _ in range(reads):
            monitor.read_chunk(0.01)
        monitor.close()
        monitor.close()
    assert before == {*Path("/proc/self/fd").iterdir()}


@pytest.mark.parametrize("command", ["no-such-monitor", "/no/such/monitor", "plain"])
def test_a_missing_command_is_refused(command, tmp_path, monkeypatch):
    """
    A missing command is refused with the places searched and the package to install.

    A file without permission to run is missing.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    with pytest.raises(SourceError) as caught:
        find_monitor(command)
    message = str(caught.value)
    assert 3 == caught.value.exit_code
    words = (command, "/opt/aws/neuron/bin", "aws-neuronx-tools", "--monitor-command")
    assert [] == [word for word in words if word not in message]


def test_a_command_is_found_on_the_path_and_in_its_package(tmp_path, monkeypatch, script):
    """A command is found on the PATH or in its package's folder, which is on no PATH."""
    path = script("", name="neuron-monitor")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert path == find_monitor("neuron-monitor")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(monitor_module, "PACKAGE_PATH", str(tmp_path))
    assert path == find_monitor("neuron-monitor")
    assert path == find_monitor(path)


MONITOR_NOW_S = 1_800_000_000.0


@pytest.fixture
def watched(clock, events):
    """Return a function that runs a monitor with collected events of one time."""
    return lambda path, **options: running(
        path, clock, on_event=events.append, now_s=lambda: MONITOR_NOW_S, **options
    )


def names(events):
    """Return the names of the events, in order."""
    return [event.name for event in events]


@pytest.mark.parametrize(
    ("body", "member", "how"),
    [
        ("sys.exit(7)", {"ExitCode": 7}, "exited with code 7 after 0 s"),
        ("sys.exit(0)", {"ExitCode": 0}, "exited with code 0 after 0 s"),
        ("os.kill(0, 9)", {"Signal": "SIGKILL"}, "was killed by SIGKILL after 0 s"),
        ("os.kill(0, 40)", {"Signal": "signal 40"}, "was killed by signal 40 after 0 s"),
    ],
)
def test_a_death_is_reported_with_its_cause(
    body, member, how, *, script, watched, events, clock, caplog
):
    """
    A death has an event with exit code or signal, run time and last words.

    The log also has the wait.
    """
    path = script(f"""
        os.write(2, b"\\x1b[31mno devices found\\x1b[0m\\nexiting\\n")
        os.write(1, {LINE!r})
        {body}
    """)
    with watched(path) as monitor:
        fail_once(monitor, clock)
    (event,) = events
    assert "MonitorDied" == event.name
    assert MONITOR_NOW_S == event.at_s
    assert f"neuron-monitor {how}" == event.message
    assert {"RanSeconds": 0.0, "Stderr": "no devices found | exiting", **member} == event.details
    (logged,) = caplog.messages
    assert f"{how}; restarting it in " in logged
    assert logged.endswith(" s; its last output: exiting")


def test_a_monitor_that_writes_again_is_reported(script, watched, events, clock, tmp_path):
    """
    MonitorRestarted follows the first output after a restart.

    It has the time without reports and the number of failures.
    """
    tries = tmp_path / "tries"
    path = script(f"""
        with open({str(tries)!r}, "a") as file:
            file.write("x")
        if os.path.getsize({str(tries)!r}) < 3:
            sys.exit(1)
        os.write(1, {LINE!r})
        signal.pause()
    """)
    with watched(path, rng=Extreme(longest=True)) as monitor:
        for wait_s in (2, 3):
            fail_once(monitor, clock)
            assert ["MonitorDied"] == names(events)
            clock.now_s += wait_s
        read_until(monitor, lambda output: LINE in output)
    last = events[-1]
    assert ["MonitorDied", "MonitorRestarted"] == names(events)
    assert {"DownSeconds": 5.0, "Failures": 2} == last.details
    assert "neuron-monitor reports again after 5 s and 2 failures" == last.message


def test_a_monitor_that_dies_each_second_cannot_flood(script, watched, events, clock):
    """A monitor that dies each second has one event of each kind in five minutes, with a count."""
    path = script(f"os.write(1, {LINE!r}); sys.exit(1)")
    with watched(path) as monitor:
        monitor._backoff = Backoff(60.0, 60.0)
        started_s = clock()
        while clock() <= started_s + 380:
            monitor.read_chunk(60)
    assert EVENT_INTERVAL_S == 300
    assert {"MonitorDied": 2, "MonitorRestarted": 2} == {
        name: names(events).count(name) for name in set(names(events))
    }
    assert ["MonitorDied", "MonitorRestarted"] == names(events)[:2]
    assert all("Count" not in event.details for event in events[:2])
    assert {5} == {event.details["Count"] for event in events[2:]}


def test_a_new_configuration_restarts_in_order(script, watched, events, clock, caplog):
    """A new configuration restarts the child at once with SIGTERM, without event or failure."""
    path = script("""
        signal.signal(signal.SIGTERM, lambda *_: (os.write(2, b"stopped"), sys.exit(0)))
        os.write(1, open(sys.argv[2], "rb").read() + b"\\n")
        while True:
            signal.pause()
    """)
    with watched(path, config='{"a": 1}') as monitor:
        assert b'{"a": 1}\n' == read_until(monitor, lambda output: b"\n" in output)
        first = monitor._child
        monitor.reconfigure('{"b": 2}', 5.0)
        assert "stopped" == first.error_tail.text()
        now_s = clock()
        assert b'\n{"b": 2}\n' == read_until(monitor, lambda output: b"}\n" in output)
        assert 0 == monitor.restarts
        assert now_s == clock()
    assert 0 == first._process.returncode
    assert [] == events
    assert [] == caplog.records
