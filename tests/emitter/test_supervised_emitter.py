"""A service with a supervisor: ready, reloading, stopping."""

from __future__ import annotations

import signal

from notification_socket import heard, listening, variables

from emitter.run import service
from emitter.settings import RunSettings

__all__ = ["listening"]  # a fixture


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
