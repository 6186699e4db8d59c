"""
An emitter with a supervisor: ready, alive while its loop turns, stopping; and silent when it hangs.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

import pytest
from loop_rig import busy, chunk
from notification_socket import heard, listening, variables

from emitter.run import service
from emitter.settings import RunSettings
from proof.emitter_process import COMMAND, environment, wait_until

__all__ = ["listening"]  # a fixture

WATCHDOG_S = 8.0


class Running:
    """A service that is asked to reload in its first minute and sees two of them end."""

    def __init__(self, *_):
        self.emitter = self.source = self
        self.reloads = []

    def read_until(self, is_stopping, between_minutes):
        """Two minutes."""
        signal.raise_signal(signal.SIGHUP)
        between_minutes()
        between_minutes()
        assert not is_stopping()
        return True

    def reload(self, read_again):
        """Take what was read."""
        self.reloads.append(read_again())

    def status(self):
        """How often it was reloaded."""
        return f"{len(self.reloads)} reloads"

    def close(self):
        """Nothing to let go of."""

    def finish(self, *, input_ended):
        """Nothing to send."""


def test_a_reload_ends_with_ready(listening, monkeypatch):
    """
    And each minute that ends without one brings a new status; whoever hears RELOADING=1 and no
    READY=1 waits.
    """
    for name, value in variables(listening).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(service, "Service", Running)
    service.serve(RunSettings(cluster="blue"), lambda: "settings")
    told = [[part for part in parts if "MONOTONIC" not in part] for parts in heard(listening)]
    assert [
        ["READY=1", "STATUS=0 reloads"],
        ["RELOADING=1"],
        ["READY=1", "STATUS=1 reloads"],
        ["STATUS=1 reloads"],
        ["STOPPING=1", "STATUS=delivering the remaining records"],
    ] == told


@pytest.fixture
def monitor(tmp_path):
    """A neuron-monitor that gives one report and then hangs, as its environment says."""
    path = tmp_path / "fake-monitor"
    path.write_text(
        f"#!{sys.executable} -S\n"
        + textwrap.dedent(f"""
            import os, time
            assert "NOTIFY_SOCKET" not in os.environ
            os.write(1, {chunk(busy())!r})
            time.sleep(60)
        """)
    )
    path.chmod(0o755)
    return path


@pytest.fixture
def emitter(listening, monitor, tmp_path):
    """A running emitter whose supervisor we are, with a watchdog of 8 s."""
    words = ["run", "--cluster", "blue", "--output", "stdout", "--monitor-command", str(monitor)]
    words += ["--kernel-messages", "none"]
    told = variables(listening, WATCHDOG_USEC=str(int(WATCHDOG_S * 1e6)))
    process = subprocess.Popen(
        [*COMMAND, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path, **told),
        cwd=tmp_path,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.timeout(60)
def test_an_emitter_is_ready_beats_and_says_that_it_stops(emitter, listening):
    """
    READY=1 once and first, WATCHDOG=1 while it turns, STOPPING=1 before its last line is sent.
    """
    messages = []

    def has(state):
        messages.extend(heard(listening))
        return [state] in [message[:1] for message in messages]

    wait_until(lambda: has("WATCHDOG=1"), 50)
    emitter.send_signal(signal.SIGTERM)
    out, _ = emitter.communicate(timeout=30)
    assert 0 == emitter.returncode
    assert has("STOPPING=1")
    states = [message[0] for message in messages]
    assert "READY=1" == states[0]
    assert 1 == states.count("READY=1")
    assert "STOPPING=1" == states[-1]
    assert messages[0][1].startswith("STATUS=cluster blue: 0 records delivered")
    assert b'"Bye":true' in out
