"""
The configuration that neuron-monitor is started with.

Always ours, never its default: releases differ in what the default collects
(hardware counters left it once). Every group has the same period, in whole
seconds: the monitor takes "0.5s" without a word and uses 5 s.
"""

from __future__ import annotations

import json
from typing import Final

RUNTIME_GROUPS: Final = ("neuroncore_counters", "execution_stats", "memory_used")
SYSTEM_GROUPS: Final = ("neuron_hw_counters", "memory_info", "vcpu_usage")


def monitor_config(period_s: int) -> str:
    """
    The configuration as JSON, every group we fold each *period_s* seconds.
    """
    period = f"{period_s}s"
    return json.dumps(
        {
            "period": period,
            "neuron_runtimes": [
                {
                    "tag_filter": ".*",
                    "metrics": [{"type": group, "period": period} for group in RUNTIME_GROUPS],
                }
            ],
            "system_metrics": [{"type": group, "period": period} for group in SYSTEM_GROUPS],
        },
        indent=2,
    )
