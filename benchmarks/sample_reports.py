"""
Reports in the form of neuron-monitor, in the relevant sizes.

They come from the simulated neuron-monitor, which this repository has compared with captured
reports. The longest captured report has 444 KB, of 32 runtimes that each list all 32 cores; the
simulated one of that shape has 389 KB, so its runtimes get copies of models that they have already
loaded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
LONG_REPORT_BYTES: Final = 444_000
_SIMULATED_REPORTS: Final = 13  # the first covers milliseconds


def usual() -> list[bytes]:
    """Return a minute of reports of 4 KB: an inf2.xlarge with two busy cores."""
    return _simulated("inf2.xlarge", "busy")


def long() -> list[bytes]:
    """Return reports of 444 KB: a trn1.32xlarge, a runtime and 24 models on each core."""
    return [_with_more_models(line) for line in _simulated("trn1.32xlarge", "many-runtimes", 3)]


def wide(cores: int, *, share: float = 1.0) -> list[bytes]:
    """Return a minute of reports of one runtime on *cores* cores, at *share* of a busy one."""
    return [_widened(line, cores, share) for line in _simulated("trn1.32xlarge", "busy")]


def environment(**variables: str) -> dict[str, str]:
    """Return the environment of a process of this repository, without this machine's settings."""
    path = f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'lambda'}"
    return {
        "PATH": os.defpath,
        "PYTHONPATH": path,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NEURON_EMF_KERNEL_MESSAGES": "none",
        **variables,
    }


def _simulated(instance_type: str, scenario: str, reports: int = _SIMULATED_REPORTS) -> list[bytes]:
    play = {"instance_type": instance_type, "scenario": scenario, "reports": reports, "start_ms": 0}
    ended = subprocess.run(
        [sys.executable, "-m", "local.monitor", json.dumps(play)],
        stdout=subprocess.PIPE,
        env=environment(),
        check=True,
    )
    return ended.stdout.splitlines(keepends=True)[1:]


def _with_more_models(line: bytes) -> bytes:
    document: dict[str, Any] = json.loads(line)
    runtimes = document["neuron_runtime_data"]
    models = [runtime["report"]["memory_used"]["loaded_models"] for runtime in runtimes]
    model_bytes = len(_written(models[0][0]))
    lacking = max(0, LONG_REPORT_BYTES - len(line)) // model_bytes
    for number in range(lacking):
        of_runtime = models[number % len(models)]
        of_runtime.append({**of_runtime[0], "model_id": 20_000 + number})
    return _written(document) + b"\n"


def _widened(line: bytes, cores: int, share: float) -> bytes:
    document: dict[str, Any] = json.loads(line)
    document["neuron_hardware_info"]["neuroncore_per_device_count"] = cores // 16
    (runtime,) = document["neuron_runtime_data"]
    counters = runtime["report"]["neuroncore_counters"]
    memory = runtime["report"]["memory_used"]["neuron_runtime_used_bytes"]["usage_breakdown"]
    counters["neuroncores_in_use"] = {
        core: {**use, "neuroncore_utilization": share * use["neuroncore_utilization"]}
        for core, use in _repeated(counters["neuroncores_in_use"], cores).items()
    }
    memory["neuroncore_memory_usage"] = _repeated(memory["neuroncore_memory_usage"], cores)
    return _written(document) + b"\n"


def _repeated(by_core: dict[str, Any], cores: int) -> dict[str, Any]:
    values = list(by_core.values())
    return {str(core): values[core % len(values)] for core in range(cores)}


def _written(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
