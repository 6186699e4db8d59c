"""What was computed, the memory and processors behind it, and what broke."""

from __future__ import annotations

from typing import Final

from neuron_wire.catalogue.member import CLUSTER_TIER, Member
from neuron_wire.names import MINUTE, MORE, RUNTIME

_COUNTERS: Final = "neuron_runtime_data[].report.neuroncore_counters.neuroncores_in_use.N"
_USED: Final = "neuron_runtime_data[].report.memory_used.neuron_runtime_used_bytes"
_BREAKDOWN: Final = f"{_USED}.usage_breakdown"
_MODELS: Final = "neuron_runtime_data[].report.memory_used.loaded_models"
_SYSTEM: Final = "system_data"
_DEVICES: Final = f"{_SYSTEM}.neuron_hw_counters.neuron_devices[]"
_CORRECTED: Final = f"{_DEVICES}: mem_ecc_corrected + sram_ecc_corrected"
_UNCORRECTED: Final = f"{_DEVICES}: mem_ecc_uncorrected + sram_ecc_uncorrected"
_LAST: Final = "last report with the group, summed over runtimes"
_LAST_OWN: Final = "last report with the group"
_RISE: Final = "sum of the rises of each device and counter; a lower value is a restart from 0"
_BOTH: Final = (MINUTE, RUNTIME)


def _device_use(name: str, member: str, meaning: str) -> Member:
    path = f"{_BREAKDOWN}.neuroncore_memory_usage.N.{member}"
    folds = f"{_LAST_OWN}, summed over cores"
    return Member(name, "Bytes", "gauge", path, folds, meaning, (RUNTIME,), is_rare=True)


def _host_use(name: str, member: str, meaning: str) -> Member:
    path = f"{_BREAKDOWN}.host.{member}"
    return Member(name, "Bytes", "gauge", path, _LAST_OWN, meaning, (RUNTIME,), is_rare=True)


COMPUTE: Final = (
    Member("TeraFlops", "None", "gauge", f"{_COUNTERS}.effective_flops, else flops",
           "mean over the reports, weighted by their period; sum over cores and runtimes",
           "Achieved 10^12 floating point operations per second.", _BOTH),
)  # fmt: skip

MEMORY: Final = (
    Member("DeviceMemoryUsed", "Bytes", "gauge", f"{_USED}.neuron_device", _LAST,
           "Device memory that the runtimes use; absent on inf1, which says 0 while models are "
           "loaded.", _BOTH),
    Member(
        "DeviceMemoryTotal", "Bytes", "gauge",
        "neuron_hardware_info.neuron_device_memory_size * neuron_device_count, else the instance "
        "type", "last known", "Device memory of the instance.",
    ),
    Member("RuntimeHostMemory", "Bytes", "gauge", f"{_USED}.host", _LAST,
           "Host memory that the runtimes use for Neuron.", _BOTH),
    Member("LoadedModels", "Count", "gauge", _MODELS, _LAST_OWN,
           "Models that the runtime has loaded, running or not.", (RUNTIME,)),
    _device_use("DeviceMemoryConstants", "constants", "Device memory for constants."),
    _device_use("DeviceMemoryModelCode", "model_code", "Device memory for the code of models."),
    _device_use("DeviceMemoryModelSharedScratchpad", "model_shared_scratchpad",
                "Device memory for scratchpads that models share."),
    _device_use("DeviceMemoryRuntimeMemory", "runtime_memory",
                "Device memory of the runtime itself."),
    _device_use("DeviceMemoryTensors", "tensors", "Device memory for tensors."),
    _device_use("DeviceMemoryOther", "*", "Device memory for uses that only a newer tool knows."),
    _host_use("RuntimeHostMemoryApplicationMemory", "application_memory",
              "Host memory of the application."),
    _host_use("RuntimeHostMemoryConstants", "constants", "Host memory for constants."),
    _host_use("RuntimeHostMemoryDmaBuffers", "dma_buffers", "Host memory for DMA buffers."),
    _host_use("RuntimeHostMemoryTensors", "tensors", "Host memory for tensors."),
    _host_use("RuntimeHostMemoryOther", "*", "Host memory for uses that only a newer tool knows."),
)  # fmt: skip

HOST: Final = (
    Member("HostMemoryUsed", "Bytes", "gauge", f"{_SYSTEM}.memory_info.memory_used_bytes",
           _LAST_OWN, "Memory in use on the host, by everything.", merges="last"),
    Member("HostMemoryTotal", "Bytes", "gauge", f"{_SYSTEM}.memory_info.memory_total_bytes",
           _LAST_OWN, "Memory of the host.", merges="last"),
    Member("HostCpuPercent", "Percent", "gauge",
           f"{_SYSTEM}.vcpu_usage.average_usage: user + nice + system + irq + soft_irq",
           "mean over the reports, weighted by their period",
           "Share of vCPU time in use; waiting for I/O does not count.", merges="mean"),
    Member("RuntimeCpuUserPercent", "Percent", "gauge",
           "neuron_runtime_data[].report.neuron_runtime_vcpu_usage.vcpu_usage.user",
           "mean over the reports, weighted by their period",
           "vCPU time of the process in its own code, percent of one vCPU.", (RUNTIME,)),
    Member("RuntimeCpuSystemPercent", "Percent", "gauge",
           "neuron_runtime_data[].report.neuron_runtime_vcpu_usage.vcpu_usage.system",
           "mean over the reports, weighted by their period",
           "vCPU time of the process in the kernel, percent of one vCPU.", (RUNTIME,)),
)  # fmt: skip

ECC: Final = (
    Member(
        "EccCorrected", "Count", "gauge", _CORRECTED, f"{_LAST_OWN}, summed over devices",
        "Counters of corrected memory errors; whether they count since ever or since the last "
        "report is not documented.",
    ),
    Member("EccUncorrected", "Count", "gauge", _UNCORRECTED, f"{_LAST_OWN}, summed over devices",
           "Counters of uncorrectable memory errors, with the same uncertainty."),
    Member("EccCorrectedRise", "Count", "tally", _CORRECTED, _RISE,
           "Rise of the counters of corrected memory errors: the new ones, if they count since "
           "ever."),
    Member("EccUncorrectedRise", "Count", "tally", _UNCORRECTED, _RISE,
           "Rise of the counters of uncorrectable memory errors: the new ones, if they count "
           "since ever; too few, if since the last report.", tier=CLUSTER_TIER),
    Member("EccUncorrectedReported", "Count", "tally", _UNCORRECTED, "sum over reports and devices",
           "Sum of the counters of uncorrectable memory errors over the reports of the minute: "
           "the new ones if they count since the last report, meaningless if they are cumulative.",
           (MINUTE, MORE), is_rare=True),
)  # fmt: skip

FAULTS: Final = (
    Member("HardwareFaults", "Count", "tally", "kernel messages with NEURON_HW_ERR=", "count",
           "Faults of the Neuron hardware that the kernel told of; absent where nobody reads its "
           "messages.", merges="sum"),
)  # fmt: skip
