"""
What the line of a profile says: the summary of a profiler for one core.

Keys as neuron-profile 2.26 to 2.29 writes them in `summary-json`. Those that
end in `_percent` are fractions there and percent here.
"""

from __future__ import annotations

from typing import Final

from neuron_wire.catalogue.member import ALWAYS, Family, Member
from neuron_wire.names import PROFILE

_ONCE: Final = "once per profile"


def _metric(name: str, unit: str, source: str, meaning: str) -> Member:
    return Member(name, unit, "gauge", source, _ONCE, meaning, (PROFILE,), ALWAYS)


def _property(name: str, unit: str, source: str, meaning: str, family: Family = "gauge") -> Member:
    return Member(name, unit, family, source, _ONCE, meaning, (PROFILE,))


def _label(name: str, source: str, meaning: str, *, is_rare: bool = False) -> Member:
    return Member(name, "", "label", source, _ONCE, meaning, (PROFILE,), is_rare=is_rare)


PROFILES: Final = (
    _metric("MfuPercent", "Percent", "mfu_estimated_percent",
            "Model FLOPs utilization: useful matrix operations as a share of the peak."),
    _metric(
        "HfuPercent", "Percent", "hfu_estimated_percent",
        "Hardware FLOPs utilization: all operations of the tensor engine as a share of the peak.",
    ),
    _metric(
        "MbuPercent", "Percent", "mbu_estimated_percent",
        "Memory bandwidth utilization: bytes to and from device memory as a share of the peak.",
    ),
    _metric("MfuAchievablePercent", "Percent", "mfu_max_achievable_estimated_percent",
            "The most that MfuPercent could be at this arithmetic intensity."),
    _metric("ActivePercent", "Percent", "total_active_time_percent",
            "Time in which the core did anything."),
    _metric("TensorActivePercent", "Percent", "tensor_engine_active_time_percent",
            "Time in which the tensor engine worked."),
    _metric("VectorActivePercent", "Percent", "vector_engine_active_time_percent",
            "Time in which the vector engine worked."),
    _metric("ScalarActivePercent", "Percent", "scalar_engine_active_time_percent",
            "Time in which the scalar engine worked."),
    _metric("GpSimdActivePercent", "Percent", "gpsimd_engine_active_time_percent",
            "Time in which the general purpose engine worked."),
    _metric("SyncActivePercent", "Percent", "sync_engine_active_time_percent",
            "Time in which the synchronization engine worked."),
    _metric("DmaActivePercent", "Percent", "dma_active_time_percent",
            "Time in which data was moved."),
    _metric("ArithmeticIntensity", "None", "mm_arithmetic_intensity",
            "Matrix operations per byte to or from device memory."),
    _metric("SpillSaveBytes", "Bytes", "spill_save_bytes",
            "Bytes written to device memory because on-chip memory was full."),
    _metric("SpillReloadBytes", "Bytes", "spill_reload_bytes", "The same, read back."),
    _metric("DmaTransferBytes", "Bytes", "dma_transfer_total_bytes", "Bytes moved by DMA."),
    _metric("TotalSeconds", "Seconds", "total_time", "Time on the device, 2 ms before it too."),
    _metric("ActiveSeconds", "Seconds", "total_active_time", "Time in which it did anything."),
    _property("TransposePercent", "Percent", "transpose_flops / hardware_flops",
              "Operations spent on moving data within the tensor engine."),
    _property("SpillReloadPercent", "Percent", "spill_reload_bytes / hbm_read_bytes",
              "Reads from device memory that only bring back what was spilled."),
    _property("ModelFlops", "None", "model_flops", "Operations that the model needs."),
    _property("HardwareFlops", "None", "hardware_flops", "Operations of the tensor engine."),
    _property("TransposeFlops", "None", "transpose_flops", "Those of them that only move data."),
    _property("HbmReadBytes", "Bytes", "hbm_read_bytes", "Bytes read from device memory."),
    _property("HbmWriteBytes", "Bytes", "hbm_write_bytes", "Bytes written to device memory."),
    _property("PeakFlopsBandwidthRatio", "None", "peak_flops_bandwidth_ratio",
              "Arithmetic intensity from which the tensor engine, not the memory, is the bound."),
    _property("DmaTransfers", "Count", "dma_transfer_count", "Transfers by DMA."),
    _property("DmaTransferMeanBytes", "Bytes", "dma_transfer_average_bytes",
              "Mean size of a transfer."),
    _property("DmaQueues", "Count", "dma_queue_count", "Queues of transfers."),
    _property("CollectiveOperations", "Count", "cc_op_count", "Operations among several cores."),
    _property("CollectiveSeconds", "Seconds", "cc_op_time", "Time that they took."),
    _property(
        "ThrottleLimitPercent", "Percent", "throttle_avg_util_limit_ncN_percent",
        "Utilization that the tensor engine was held to, of the lowest core; 100 is no limit.",
    ),
    _property("ThrottledSeconds", "Seconds", "throttle_active_ncN_time_ns",
              "Time in which it was held, of all cores of the profile."),
    _property("DeviceIndex", "", "nd_idx", "Device, from 0 on its instance.", "label"),
    _property("CoreIndex", "", "nc_idx", "Core, from 0 within its device.", "label"),
    _label("Model", "--model, else the name of the file", "The model."),
    _label("Core", "nd_idx and nc_idx", "Device and core, such as 0.1."),
    _label("InstanceType", "instance_type", "EC2 instance type on which it was profiled."),
    _label("Profile", "its key in the summary", "Name of the profile."),
    _label("ProfileId", "neuron-emf profile",
           "Hash of what the line says: one that came twice is one profile."),
    _label("Findings", "neuron-emf profile",
           "Rules of thumb that it breaks: transpose, spill, low_model_flops, throttled.",
           is_rare=True),
    _label("CompilerVersion", "compiler_version", "Version of the compiler."),
    _label("RuntimeVersion", "runtime_version", "Version of the runtime."),
    _label("DriverVersion", "driver_version", "Version of the driver."),
    _label("ProfilerVersion", "profiler_version", "Version of the profiler."),
    _label("Other", "all other keys",
           "Everything else the profile holds, under the profiler's own names.", is_rare=True),
    Member("KeysDropped", "Count", "gauge", "neuron-emf profile", _ONCE,
           "Keys left out: nested, not finite, too long, or beyond 150.", (PROFILE,), is_rare=True),
)  # fmt: skip
