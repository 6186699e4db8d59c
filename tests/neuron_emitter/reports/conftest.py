"""What the tests of a supervised monitor share."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from neuron_emitter.reports import monitor as monitor_module
from tests.neuron_emitter.fake_monitor import write_script
from tests.neuron_emitter.loop_rig import FakeClock


@pytest.fixture
def clock(monkeypatch):
    """Time stands still until a test moves it; waiting for a restart moves it."""
    made = FakeClock()
    monkeypatch.setattr(monitor_module, "time", SimpleNamespace(sleep=made.sleep))
    return made


@pytest.fixture
def script(tmp_path):
    """Write a fake neuron-monitor."""
    return lambda body, name="fake-monitor": write_script(tmp_path / name, body)
