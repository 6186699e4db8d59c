"""
The shape of a report, member by member.

Written down by hand from reports captured on inf1, inf2 and trn1 and from the
user guide's trn2 example.
"""

from __future__ import annotations

import re

NUMBER = (int, float)
INDEX = re.compile(r"0|[1-9][0-9]*")
CORE_BYTES = dict.fromkeys(
    ("constants", "model_code", "model_shared_scratchpad", "runtime_memory", "tensors"), int
)
MODEL_DEVICE_BYTES = dict.fromkeys(("constants", "model_code", "runtime_memory", "tensors"), int)
HOST_BYTES = dict.fromkeys(("application_memory", "constants", "dma_buffers", "tensors"), int)
PERCENTILES = dict.fromkeys(("p0", "p1", "p100", "p25", "p50", "p75", "p99"), float)
VCPU = dict.fromkeys(("user", "nice", "system", "idle", "io_wait", "irq", "soft_irq"), NUMBER)
ECC = ("mem_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_uncorrected", "sram_ecc_corrected")
ENDINGS = (
    "completed", "completed_with_err", "completed_with_num_err", "timed_out", "incorrect_input",
    "failed_to_queue",
)  # fmt: skip


class Keyed:
    """An object whose keys follow a pattern; in text order, as the real one writes them."""

    def __init__(self, pattern, shape):
        self.pattern = pattern
        self.shape = shape


class Nullable:
    """What may be null."""

    def __init__(self, shape):
        self.shape = shape


SUBGRAPH = {
    "memory_used_bytes": {
        "host": int, "neuron_device": int,
        "usage_breakdown": {"host": HOST_BYTES, "neuron_device": MODEL_DEVICE_BYTES},
    },
    "neuroncore_index": int, "neuron_device_index": int,
}  # fmt: skip
MEMORY = {
    "period": float,
    "neuron_runtime_used_bytes": {
        "host": int, "neuron_device": int,
        "usage_breakdown": {
            "host": HOST_BYTES, "neuroncore_memory_usage": Keyed(INDEX, CORE_BYTES),
        },
    },
    "loaded_models": [
        {
            "name": str, "uuid": str, "model_id": int, "is_running": bool,
            "subgraphs": Keyed(re.compile(r"sg_[0-9]{2}"), SUBGRAPH),
        }
    ],
    "error": str,
}  # fmt: skip
EXECUTIONS = {
    "period": float,
    "error_summary": dict.fromkeys(("numerical", "transient", "model", "runtime", "hardware"), int),
    "execution_summary": dict.fromkeys(ENDINGS, int),
    "latency_stats": {
        "total_latency": Nullable(PERCENTILES), "device_latency": Nullable(PERCENTILES),
    },
    "error": str,
}  # fmt: skip
SYSTEM = {
    "memory_info": {
        "period": float, "memory_total_bytes": int, "memory_used_bytes": int,
        "swap_total_bytes": int, "swap_used_bytes": int, "error": str,
    },
    "neuron_hw_counters": {
        "period": float,
        "neuron_devices": [{"neuron_device_index": int, **dict.fromkeys(ECC, int)}], "error": str,
    },
    "vcpu_usage": {
        "period": float, "average_usage": VCPU, "usage_data": Keyed(INDEX, VCPU),
        "context_switch_count": int, "error": str,
    },
}  # fmt: skip
IDENTITY = dict.fromkeys(
    (
        "instance_name", "instance_id", "instance_type", "instance_availability_zone",
        "instance_availability_zone_id", "instance_region", "ami_id", "subnet_id", "error",
    ),
    str,
)  # fmt: skip
COUNTS = {"neuron_device_count": int, "neuroncore_per_device_count": int, "error": str}
HARDWARE = {
    "neuron_device_type": str, "neuron_device_version": str, "neuroncore_version": str,
    "neuron_device_memory_size": int, "logical_neuroncore_config": int, **COUNTS,
}  # fmt: skip


def shape_of(instance_type):
    """The shape of a whole report of that type."""
    core = {"neuroncore_utilization": NUMBER, "effective_flops": int}
    if instance_type.startswith("trn2"):
        physical = re.compile(r"nc_v3\.[0-9]+")
        core = {**core, "v3d": Keyed(physical, {"neuroncore_utilization": NUMBER})}
    runtime = {
        "pid": int, "neuron_runtime_tag": str, "error": str,
        "report": {
            "execution_stats": EXECUTIONS, "memory_used": MEMORY,
            "neuron_runtime_vcpu_usage": {
                "period": float, "vcpu_usage": {"user": NUMBER, "system": NUMBER}, "error": str,
            },
            "neuroncore_counters": {
                "period": float, "neuroncores_in_use": Keyed(INDEX, core), "error": str,
            },
        },
    }  # fmt: skip
    is_ultra = instance_type.startswith("trn2u")
    return {
        "neuron_runtime_data": [runtime],
        "system_data": SYSTEM,
        "instance_info": {**IDENTITY, "ultraserver_id": str} if is_ultra else IDENTITY,
        "neuron_hardware_info": COUNTS if instance_type.startswith("inf1") else HARDWARE,
    }


def misfits(shape, found, place="report"):
    """Where *found* has not the *shape*; every member is required, none may be added."""
    if isinstance(shape, Nullable):
        return [] if found is None else misfits(shape.shape, found, place)
    if isinstance(shape, list):
        if not isinstance(found, list):
            return [f"{place}: no list"]
        return [one for item in found for one in misfits(shape[0], item, f"{place}[]")]
    if isinstance(shape, (dict, Keyed)):
        if not isinstance(found, dict):
            return [f"{place}: no object"]
        if isinstance(shape, dict):
            wrong = [f"{place}: {key}" for key in set(shape) ^ set(found)]
            pairs = [(shape[key], key) for key in shape if key in found]
        else:
            wrong = [f"{place}: {key}" for key in found if not shape.pattern.fullmatch(key)]
            wrong += [] if sorted(found) == list(found) else [f"{place}: order"]
            pairs = [(shape.shape, key) for key in found]
        return wrong + [
            one for part, key in pairs for one in misfits(part, found[key], f"{place}.{key}")
        ]
    is_right = isinstance(found, shape) and (shape is bool or not isinstance(found, bool))
    return [] if is_right else [f"{place}: {found!r}"]
