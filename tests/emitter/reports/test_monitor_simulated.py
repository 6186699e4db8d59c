"""The simulated neuron-monitor, started as the real one is: what is asked for is what comes."""

from __future__ import annotations

import json
import sys

import pytest
from fake_monitor import read_until, running

from emitter.reports.monitor_config import ALL, GROUPS, RUNTIMES, monitor_config

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def first_report(repository, monkeypatch):
    """The first report of the simulated monitor with a configuration."""
    monkeypatch.setenv("NEURON_SIM_PYTHON", sys.executable)
    command = str(repository / "local" / "monitor" / "neuron-monitor")

    def read(config):
        with running(command, config=config) as monitor:
            return json.loads(read_until(monitor, lambda found: b"\n" in found).splitlines()[0])

    return read


@pytest.mark.parametrize("groups", [ALL, ("neuroncore_counters",), ("memory_info", "memory_used")])
def test_what_is_asked_for_is_what_comes(groups, first_report):
    """The generated file reaches the program, and each report has exactly its groups."""
    found = first_report(monitor_config(1, groups))
    expected = {name for name in groups if GROUPS[name] == RUNTIMES}
    assert found["neuron_runtime_data"]
    for runtime in found["neuron_runtime_data"]:
        assert expected == runtime["report"].keys()
    assert set(groups) - expected == (found["system_data"] or {}).keys()


def test_a_tag_filter_reaches_the_program(first_report):
    """No runtime has this tag: the list is empty."""
    assert [] == first_report(monitor_config(1, tag_filter="^nobody$"))["neuron_runtime_data"]
