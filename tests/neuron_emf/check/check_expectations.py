"""The expected checks of an account without faults, and neuron-monitors to start."""

from __future__ import annotations

import json
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from proof.factories.records import AN_INSTANCE

if TYPE_CHECKING:
    from pathlib import Path

LINE_CHECKS = ("log stream", "log line", "read back")
GROUP_CHECKS = (
    *("log group", "log group class", "rollups log group", "rollups log group class"),
    *("metric extraction", "subscription"),
)
EXPECTED_STATES = {
    **dict.fromkeys(("settings", "neuron-monitor", "devices"), "ok"),
    "input": "not needed",
    **dict.fromkeys(
        ("cluster", "instance", "price", "payment", "region", "credentials", "clock"), "ok"
    ),
    **dict.fromkeys((*GROUP_CHECKS, *LINE_CHECKS, "attribution"), "ok"),
    "reservations": "not needed",
    **dict.fromkeys(("kernel log", "spool"), "ok"),
    "output": "not needed",
}
"""All checks in order, and their states without a fault."""


def report(**members: Any) -> dict[str, Any]:
    """Return a minimal first report of an inf1.xlarge; *members* replace its own members."""
    return {
        "neuron_runtime_data": [],
        "system_data": {"memory_info": {"period": 1.0, "memory_total_bytes": 1, "error": ""}},
        "instance_info": {
            "instance_id": AN_INSTANCE,
            "instance_type": "inf1.xlarge",
            "instance_region": "us-west-2",
            "error": "",
        },
        "neuron_hardware_info": {
            "neuron_device_type": "inferentia",
            "neuron_device_count": 1,
            "neuroncore_per_device_count": 4,
            "error": "",
        },
        **members,
    }


def answering(found: dict[str, Any]) -> str:
    """Return the body of a program that writes *found* and keeps running."""
    line = json.dumps(found)
    return f"""
        print({line!r}, flush=True)
        time.sleep(600)
    """


def script(path: Path, body: str) -> Path:
    """
    Write a program to *path* that starts as the real one does, with `-c FILE`.

    The program writes its process ID to the file `pid` in its folder.
    """
    head = (
        f"#!{sys.executable} -S\n"
        "import os, signal, sys, time\n"
        f"open({str(path.parent / 'pid')!r}, 'w').write(str(os.getpid()))\n"
    )
    path.write_text(head + textwrap.dedent(body), encoding="utf-8")
    path.chmod(0o755)
    return path
