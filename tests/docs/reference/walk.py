"""What one report becomes: the line of its minute, and the rollup that it counts in."""

from __future__ import annotations

import functools
import json
import tempfile
import textwrap
from pathlib import Path

from emitter.replay import replay
from emitter.settings import ReplaySettings
from tests.hour import rollups_of

REPORTS_A_MINUTE = 12
WIDTH = 100
REPORT = {
    "neuron_runtime_data": [
        {
            "pid": 4242,
            "neuron_runtime_tag": "serve",
            "error": "",
            "report": {
                "neuroncore_counters": {
                    "period": 5.0,
                    "neuroncores_in_use": {
                        "0": {"neuroncore_utilization": 62.5},
                        "1": {"neuroncore_utilization": 0.0},
                    },
                    "error": "",
                },
                "memory_used": {
                    "loaded_models": [],
                    "neuron_runtime_used_bytes": {
                        "neuron_device": 2147483648,
                        "usage_breakdown": {
                            "neuroncore_memory_usage": {
                                "0": {"model_code": 1073741824},
                                "1": {"model_code": 1073741824},
                            }
                        },
                    },
                    "error": "",
                },
            },
        }
    ],
    "instance_info": {
        "instance_id": "i-0123456789abcdef0",
        "instance_type": "inf2.xlarge",
        "error": "",
    },
    "neuron_hardware_info": {"neuron_device_count": 1, "neuroncore_per_device_count": 2},
}


@functools.cache
def minute_line():
    """The line of a minute with twelve such reports."""
    settings = ReplaySettings(
        cluster="serving", interval=5.0, start="2026-01-01T00:00:00Z", runtime_lines="none"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "reports.jsonl"
        file.write_text(f"{json.dumps(REPORT)}\n" * REPORTS_A_MINUTE, encoding="utf-8")
        return next(line for line in replay([file], settings) if '"Kind":"minute"' in line)


def rollup_line(line):
    """What close prints of that minute of the cluster."""
    return next(one for one in rollups_of([line]) if '"Kind":"rollup"' in one)


def shown(text):
    """One line of JSON over several lines, broken behind its commas."""
    parts = json.dumps(json.loads(text), separators=(", ", ":"))
    lines = textwrap.wrap(parts, WIDTH, break_long_words=False, break_on_hyphens=False)
    whole = "\n".join(lines)
    if json.loads(whole) != json.loads(text):
        msg = "a line was expected to say the same when it is broken, and does not"
        raise ValueError(msg)
    return f"```json\n{whole}\n```\n"


def report():
    """The report, as it would be written on one line."""
    return shown(json.dumps(REPORT))
