"""
Profiles of two models, sent as whoever profiles would: by `neuron-emf profile`.

The summaries are made up; one of them breaks a rule of thumb, so that the
dashboard has a finding to show.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

from local.rehearsal.fleet import python_environment
from local.rehearsal.jobs import Job

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BEFORE_S: Final = 20 * 60  # the end of the history: within what the dashboard shows

_COMMON: Final = {
    "total_time": 0.2138, "total_active_time": 0.2083, "total_active_time_percent": 0.974,
    "vector_engine_active_time_percent": 0.344, "scalar_engine_active_time_percent": 0.037,
    "mfu_max_achievable_estimated_percent": 0.918, "dma_active_time_percent": 0.264,
    "peak_flops_bandwidth_ratio": 223.8, "hbm_read_bytes": 6_582_249_472,
    "hbm_write_bytes": 1_835_008_000, "nd_idx": 0, "nc_idx": 0, "profiler_version": "2.28.23.0",
}  # fmt: skip
MODELS: Final[Mapping[tuple[str, str], Mapping[str, object]]] = {
    ("research", "pretraining"): {
        **_COMMON, "tensor_engine_active_time_percent": 0.402, "mfu_estimated_percent": 0.243,
        "hfu_estimated_percent": 0.281, "mbu_estimated_percent": 0.283,
        "mm_arithmetic_intensity": 205.4, "hardware_flops": 8_858_000_000_000,
        "transpose_flops": 1_402_000_000_000, "spill_reload_bytes": 241_172_480,
        "instance_type": "trn1.32xlarge",
    },
    ("serving", "chat"): {
        **_COMMON, "tensor_engine_active_time_percent": 0.561, "mfu_estimated_percent": 0.412,
        "hfu_estimated_percent": 0.436, "mbu_estimated_percent": 0.517,
        "mm_arithmetic_intensity": 96.2, "hardware_flops": 4_120_000_000_000,
        "transpose_flops": 121_000_000_000, "spill_reload_bytes": 120_586_240,
        "instance_type": "inf2.48xlarge",
    },
}  # fmt: skip
"""By cluster and model."""


def profile_jobs(
    folder: Path, end_s: int, environment: Mapping[str, str], log_group: str
) -> list[list[Job]]:
    """What sends them into *log_group*, each on its own; the summaries are left in *folder*."""
    ours = python_environment(environment)
    moment = datetime.fromtimestamp(end_s - BEFORE_S, timezone.utc).isoformat()
    jobs = []
    for (cluster, model), summary in MODELS.items():
        file = folder / f"{model}.json"
        file.write_text(json.dumps({model: summary}), encoding="utf-8")
        command = [
            *(sys.executable, "-m", "neuron_emf", "profile", str(file)),
            *("--cluster", cluster, "--time", moment),
            *("--output", "logs", "--log-group", log_group),
        ]
        jobs.append([Job(f"the profile of {model}", command, folder / f"{model}.sent", ours)])
    return jobs
