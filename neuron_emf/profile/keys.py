"""
Which key of a summary is which member of a line, and how its value is converted.

The keys are those of neuron-profile 2.26 to 2.29. What ends in `_percent` is a
fraction of 1 in a summary, whatever its name says.
"""

from __future__ import annotations

import re
from typing import Final

FRACTIONS: Final = {
    "mfu_estimated_percent": "MfuPercent",
    "hfu_estimated_percent": "HfuPercent",
    "mbu_estimated_percent": "MbuPercent",
    "mfu_max_achievable_estimated_percent": "MfuAchievablePercent",
    "total_active_time_percent": "ActivePercent",
    "tensor_engine_active_time_percent": "TensorActivePercent",
    "vector_engine_active_time_percent": "VectorActivePercent",
    "scalar_engine_active_time_percent": "ScalarActivePercent",
    "gpsimd_engine_active_time_percent": "GpSimdActivePercent",
    "sync_engine_active_time_percent": "SyncActivePercent",
    "dma_active_time_percent": "DmaActivePercent",
}
"""Fractions in a summary, percent in a line."""

NUMBERS: Final = {
    "mm_arithmetic_intensity": "ArithmeticIntensity",
    "spill_save_bytes": "SpillSaveBytes",
    "spill_reload_bytes": "SpillReloadBytes",
    "dma_transfer_total_bytes": "DmaTransferBytes",
    "total_time": "TotalSeconds",
    "total_active_time": "ActiveSeconds",
    "model_flops": "ModelFlops",
    "hardware_flops": "HardwareFlops",
    "transpose_flops": "TransposeFlops",
    "hbm_read_bytes": "HbmReadBytes",
    "hbm_write_bytes": "HbmWriteBytes",
    "peak_flops_bandwidth_ratio": "PeakFlopsBandwidthRatio",
    "dma_transfer_count": "DmaTransfers",
    "dma_transfer_average_bytes": "DmaTransferMeanBytes",
    "dma_queue_count": "DmaQueues",
    "cc_op_count": "CollectiveOperations",
    "cc_op_time": "CollectiveSeconds",
}
"""Numbers that are the same in both."""

TEXTS: Final = {
    "instance_type": "InstanceType",
    "compiler_version": "CompilerVersion",
    "runtime_version": "RuntimeVersion",
    "driver_version": "DriverVersion",
    "profiler_version": "ProfilerVersion",
}
INDEXES: Final = {"nd_idx": "DeviceIndex", "nc_idx": "CoreIndex"}

THROTTLE_LIMIT: Final = re.compile(r"throttle_avg_util_limit_nc[0-9]+_percent")
"""A fraction for each core: 1 is no limit."""

THROTTLED_TIME: Final = re.compile(r"throttle_active_nc[0-9]+_time_ns")
"""Time in which the tensor engine was held back while it worked, for each core."""

THROTTLED_SHARE: Final = re.compile(r"throttle_(activity_[0-9]+_)?active_.+_percent")
"""The same as a fraction of the time in which it worked."""

NS: Final = 1e9

KNOWN: Final = frozenset({*FRACTIONS, *NUMBERS, *TEXTS, *INDEXES})


def amount(value: object) -> float | None:
    """A number of a summary; None for what is none, such as a truth value."""
    return None if isinstance(value, bool) or not isinstance(value, (int, float)) else value


def is_known(key: str) -> bool:
    """Whether a member of a line says what *key* does."""
    return (
        key in KNOWN
        or THROTTLE_LIMIT.fullmatch(key) is not None
        or THROTTLED_TIME.fullmatch(key) is not None
    )
