"""The simulated neuron-monitor, started as the real one is: what is asked for is what comes."""

from __future__ import annotations

import json
import sys

import pytest
from fake_monitor import read_until, running

from emitter.reports.monitor_config import ALL, GROUPS, RUNTIMES, monitor_config

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("groups", [ALL, ("neuroncore_counters",), ("memory_info", "memory_used")])
def test_what_is_asked_for_is_what_comes(groups, repository, monkeypatch):
    """The generated file reaches the program, and each report has exactly its groups."""
    monkeypatch.setenv("NEURON_SIM_PYTHON", sys.executable)
    command = str(repository / "local" / "monitor" / "neuron-monitor")
    with running(command, config=monitor_config(1, groups)) as monitor:
        found = json.loads(read_until(monitor, lambda found: b"\n" in found).splitlines()[0])
    expected = {name for name in groups if GROUPS[name] == RUNTIMES}
    assert found["neuron_runtime_data"]
    for runtime in found["neuron_runtime_data"]:
        assert expected == runtime["report"].keys()
    assert set(groups) - expected == (found["system_data"] or {}).keys()


def test_a_tag_filter_reaches_the_program(repository, monkeypatch):
    """No runtime has this tag: the list is empty."""
    monkeypatch.setenv("NEURON_SIM_PYTHON", sys.executable)
    command = str(repository / "local" / "monitor" / "neuron-monitor")
    with running(command, config=monitor_config(1, tag_filter="^nobody$")) as monitor:
        found = json.loads(read_until(monitor, lambda found: b"\n" in found).splitlines()[0])
    assert [] == found["neuron_runtime_data"]
