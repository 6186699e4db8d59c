"""The groups of a report, in the shapes that real ones had; every number is made up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


Document = dict[str, Any]

GIB = 1 << 30
USES = ("constants", "model_code", "model_shared_scratchpad", "runtime_memory", "tensors")
ENDINGS = (
    "completed", "completed_with_err", "completed_with_num_err", "timed_out", "incorrect_input",
    "failed_to_queue",
)  # fmt: skip
CAUSES = ("numerical", "transient", "model", "runtime", "hardware")


def core_counters(percents: Sequence[float], period: float = 5.004, **more: Any) -> Document:
    """
    `neuroncore_counters` of one runtime: it lists every core it can see.

    *more* adds members to every core, a list gives each its own.
    """
    used = {}
    for core, percent in enumerate(percents):
        extra = {name: value[core] if isinstance(value, list) else value
                 for name, value in more.items()}  # fmt: skip
        used[str(core)] = {"neuroncore_utilization": percent, **extra}
    return {"period": period, "neuroncores_in_use": used, "error": ""}


def memory_table(device_bytes: Mapping[int, int], cores: int) -> Document:
    """Bytes on each core by use, all of it tensors."""
    return {
        str(core): {**dict.fromkeys(USES, 0), "tensors": device_bytes.get(core, 0)}
        for core in range(cores)
    }


def memory_used(
    device_bytes: Mapping[int, int] | None = None,
    *,
    cores: int,
    models: Iterable[tuple[int, int]] = (),
    host: int = 612_000_000,
    period: float = 5.004,
) -> Document:
    """`memory_used`: bytes by core, models at (device, core within the device)."""
    bytes_by_core = device_bytes or {}
    host_table = {"application_memory": host, "constants": 0, "dma_buffers": 0, "tensors": 0}
    return {
        "period": period,
        "neuron_runtime_used_bytes": {
            "host": host,
            "neuron_device": sum(bytes_by_core.values()),
            "usage_breakdown": {
                "host": host_table,
                "neuroncore_memory_usage": memory_table(bytes_by_core, cores),
            },
        },
        "loaded_models": [
            loaded_model(device, core, number) for number, (device, core) in enumerate(models)
        ],
        "error": "",
    }


def loaded_model(device: int, core_of_device: int, number: int = 0) -> Document:
    """A model of one part; `is_running` is false, as it was on cores that worked."""
    part = {
        "memory_used_bytes": {
            "host": 541_000,
            "neuron_device": 61_100_000,
            "usage_breakdown": {
                "host": {"application_memory": 20_000, "constants": 0, "dma_buffers": 521_000,
                         "tensors": 0},
                "neuron_device": {"constants": 163_000, "model_code": 60_937_000,
                                  "runtime_memory": 0, "tensors": 0},
            },
        },
        "neuroncore_index": core_of_device,
        "neuron_device_index": device,
    }  # fmt: skip
    return {
        "name": "encoder.neff",
        "uuid": "f" * 32,
        "model_id": 10_001 + number,
        "is_running": False,
        "subgraphs": {"sg_00": part},
    }


def percentiles(p50: float, p99: float) -> Document:
    """One latency, with all the percentiles there are."""
    return {"p0": p50 / 2, "p1": p50 / 2, "p25": p50, "p50": p50, "p75": p50, "p99": p99,
            "p100": 2 * p99}  # fmt: skip


def execution_stats(
    completed: int = 0,
    *,
    total: Document | None = None,
    device: Document | None = None,
    causes: Mapping[str, int] | None = None,
    period: float = 5.004,
    **endings: int,
) -> Document:
    """
    `execution_stats`: what became of the period's executions; latencies null when nothing ran.
    """
    return {
        "period": period,
        "error_summary": {**dict.fromkeys(CAUSES, 0), **(causes or {})},
        "execution_summary": {**dict.fromkeys(ENDINGS, 0), "completed": completed, **endings},
        "latency_stats": {"total_latency": total, "device_latency": device},
        "error": "",
    }


def runtime_vcpu(user: float = 24.1, system: float = 3.2, period: float = 5.004) -> Document:
    """`neuron_runtime_vcpu_usage`."""
    return {"period": period, "vcpu_usage": {"user": user, "system": system}, "error": ""}


def runtime(pid: int, tag: str, error: str = "", **groups: Document) -> Document:
    """One application."""
    return {"pid": pid, "neuron_runtime_tag": tag, "error": error, "report": groups}


def memory_info(period: float = 5.004, used: int = 7 * GIB, total: int = 8 * GIB) -> Document:
    """`memory_info` of the host."""
    return {"period": period, "memory_total_bytes": total, "memory_used_bytes": used,
            "swap_total_bytes": 0, "swap_used_bytes": 0, "error": ""}  # fmt: skip


def vcpu_usage(period: float = 5.004, error: str = "", **shares: float) -> Document:
    """`vcpu_usage`, with the shares of each vCPU."""
    all_of = {"user": 0, "nice": 0, "system": 0, "idle": 0, "io_wait": 0, "irq": 0, "soft_irq": 0}
    return {"period": period, "average_usage": {**all_of, **shares},
            "usage_data": {"0": {**all_of, "user": 99.0}, "1": all_of},
            "context_switch_count": 188_000, "error": error}  # fmt: skip


def hw_counters(*devices: Mapping[str, int], period: float = 5.004) -> Document:
    """`neuron_hw_counters`, one entry a device."""
    zeros = dict.fromkeys(
        ("mem_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_uncorrected", "sram_ecc_corrected"),
        0,
    )
    entries = [{"neuron_device_index": i, **zeros, **told} for i, told in enumerate(devices)]
    return {"period": period, "neuron_devices": entries, "error": ""}


def instance_info(instance_type: str, **members: Any) -> Document:
    """`instance_info` as the metadata service fills it."""
    return {
        "instance_name": "", "instance_id": "i-00000000000000abc", "instance_type": instance_type,
        "instance_availability_zone": "eu-north-1a", "instance_availability_zone_id": "eun1-az1",
        "instance_region": "eu-north-1", "ami_id": "ami-00000000000000abc",
        "subnet_id": "subnet-00000000000000abc", "error": "", **members,
    }  # fmt: skip
