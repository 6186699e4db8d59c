"""Fixtures for a supervised monitor."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from neuron_emitter.reports import monitor as monitor_module
from tests.neuron_emitter.fake_monitor import write_script
from tests.neuron_emitter.loop_rig import FakeClock


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that moves only if a test sets it or the monitor waits to restart."""
    fake_clock = FakeClock()
    monkeypatch.setattr(monitor_module, "time", SimpleNamespace(sleep=fake_clock.sleep))
    return fake_clock


@pytest.fixture
def script(tmp_path):
    """Return a function that writes a fake neuron-monitor."""
    return lambda body, name="fake-monitor": write_script(tmp_path / name, body)
