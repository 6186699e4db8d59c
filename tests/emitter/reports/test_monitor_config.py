"""
The configuration that neuron-monitor gets: every group we fold, at one period in whole seconds.
"""

from __future__ import annotations

import json
import re

import msgspec
import pytest

from emitter.reports.monitor_config import RUNTIME_GROUPS, SYSTEM_GROUPS, monitor_config
from emitter.reports.report import RuntimeReport, System


@pytest.mark.parametrize("period_s", [1, 5, 15])
def test_every_period_is_the_one_asked_for_in_whole_seconds(period_s):
    """
    The monitor takes "5.0s" or "0.5s" without a word and uses 5 s.
    """
    periods = re.findall(r'"period": ("[^"]*")', monitor_config(period_s))
    assert {f'"{period_s}s"'} == set(periods)
    assert 1 + len(RUNTIME_GROUPS) + len(SYSTEM_GROUPS) == len(periods)


def test_the_groups_are_those_of_the_user_guide():
    """
    Nothing else is collected, so that no vCPU time is spent on what nobody reads.
    """
    found = json.loads(monitor_config(5))
    (runtimes,) = found["neuron_runtimes"]
    assert ".*" == runtimes["tag_filter"]
    assert ["neuroncore_counters", "execution_stats", "memory_used"] == [
        one["type"] for one in runtimes["metrics"]
    ]
    assert ["neuron_hw_counters", "memory_info", "vcpu_usage"] == [
        one["type"] for one in found["system_metrics"]
    ]


def test_what_is_asked_for_is_what_is_read():
    """
    The names of the groups are the members of a report.
    """
    assert set(RUNTIME_GROUPS) == {one.name for one in msgspec.structs.fields(RuntimeReport)}
    assert set(SYSTEM_GROUPS) == {one.name for one in msgspec.structs.fields(System)}
