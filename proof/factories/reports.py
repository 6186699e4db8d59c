"""
Reports in the shapes in which real ones came, with numbers of our own.

Each builder is one shape that was met on an instance, with every member it had
there and none that it lacked. Members can be replaced by name: a test changes
the one thing it is about.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from proof.factories.groups import (
    GIB,
    Document,
    core_counters,
    execution_stats,
    hw_counters,
    instance_info,
    memory_info,
    memory_used,
    percentiles,
    runtime,
    runtime_vcpu,
    vcpu_usage,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

START_S = 1_790_000_040.0  # the start of a minute


# --- whole reports ---


def inf1_first() -> Document:
    """
    The first report of an inf1.xlarge: periods of 0.07 s, no tag, a model but no device bytes.
    """
    return {
        "neuron_runtime_data": [
            runtime(
                41_007,
                "",
                execution_stats=execution_stats(period=0.0709, causes={"generic": 0}),
                memory_used=memory_used(cores=4, models=[(0, 3)], period=0.0709),
                neuron_runtime_vcpu_usage=runtime_vcpu(0, 0, period=0.0709),
                neuroncore_counters=core_counters([0, 0, 0, 0], period=0.0709),
            )
        ],
        "system_data": {
            "memory_info": memory_info(0.0699, used=2 * GIB),
            "neuron_hw_counters": hw_counters({}, period=0.0699),
            "vcpu_usage": vcpu_usage(0.0699, idle=100),
        },
        "instance_info": instance_info("inf1.xlarge"),
        "neuron_hardware_info": {
            "neuron_device_count": 1, "neuroncore_per_device_count": 4, "error": "",
        },
    }  # fmt: skip


def inf1_busy(percents: Sequence[float] = (27.4, 19.1, 0, 0), **groups: Document) -> Document:
    """A later report of the same: two of four cores busy, the other two listed as 0."""
    latencies = {"total": percentiles(0.0245, 0.053), "device": percentiles(0.0216, 0.0337)}
    return {
        **inf1_first(),
        "neuron_runtime_data": [
            runtime(
                2_511,
                "12",
                **{
                    "execution_stats": execution_stats(300, **latencies, causes={"generic": 0}),
                    "memory_used": memory_used(cores=4, models=[(0, 0), (0, 1)]),
                    "neuron_runtime_vcpu_usage": runtime_vcpu(),
                    "neuroncore_counters": core_counters(percents),
                    **groups,
                },
            )
        ],
        "system_data": {
            "memory_info": memory_info(),
            "neuron_hw_counters": hw_counters({}),
            "vcpu_usage": vcpu_usage(user=28.3, system=5.1, idle=66.4, io_wait=0.1, soft_irq=0.1),
        },
    }


def inf2_loaded(percent: float = 25.1, flops: float = 346_000_000_000, **members: Any) -> Document:
    """An inf2.xlarge in 2026: `effective_flops`, no `generic`, no vCPU and no host memory."""
    counters = core_counters([percent, 0], 5.0, effective_flops=[flops, 0])
    latency = {"p0": 6.1e-05, "p50": 6.3e-05, "p99": 7.2e-05, "p100": 1.1e-04}
    return {
        "neuron_runtime_data": [
            runtime(
                7_702,
                "7702",
                execution_stats=execution_stats(34_000, total=latency, device=latency, period=5.0),
                memory_used=memory_used({0: 109_000_000, 1: 1_750_000}, cores=2, period=5.0),
                neuron_runtime_vcpu_usage=runtime_vcpu(13.5, 11.2, 5.0),
                neuroncore_counters=counters,
            )
        ],
        "system_data": {"neuron_hw_counters": hw_counters({}, period=1.0)},
        "instance_info": {
            "instance_id": "i-00000000000000abc", "instance_type": "inf2.xlarge",
            "instance_availability_zone": "us-east-2a", "instance_region": "us-east-2",
            "ami_id": "ami-00000000000000abc",
        },
        "neuron_hardware_info": {
            "neuron_device_type": "inferentia2", "neuroncore_version": "v2",
            "neuron_device_count": 1, "neuron_device_memory_size": 32 * GIB,
            "neuroncore_per_device_count": 2,
        },
        **members,
    }  # fmt: skip


def trn1_nobody(period: float = 5.0, **members: Any) -> Document:
    """A trn1.2xlarge on which nothing runs: an empty list and one system group."""
    return {
        "neuron_runtime_data": [],
        "system_data": {"memory_info": memory_info(period, used=GIB, total=31 * GIB)},
        "instance_info": instance_info("trn1.2xlarge"),
        "neuron_hardware_info": {
            "neuron_device_type": "trainium", "neuron_device_version": "v2",
            "neuroncore_version": "v2", "neuron_device_count": 1,
            "neuron_device_memory_size": 32 * GIB, "neuroncore_per_device_count": 2,
            "logical_neuroncore_config": 1, "error": "",
        },
        **members,
    }  # fmt: skip


def trn1_runtime(core: int, percent: float, *, cores: int = 32, models: int = 0) -> Document:
    """One worker of a training job: it lists every core, uses one, has its models on that one."""
    percents = [percent if one == core else 0 for one in range(cores)]
    rates = [1.9e12 if one == core and percent else 0 for one in range(cores)]
    return runtime(
        784_000 + core,
        str(500 + core),
        execution_stats=execution_stats(120 if percent else 0),
        memory_used=memory_used(
            {core: 9_500_000_000}, cores=cores, models=[(core // 2, core % 2)] * models
        ),
        neuron_runtime_vcpu_usage=runtime_vcpu(),
        neuroncore_counters=core_counters(percents, flops=rates, effective_flops=rates),
    )


def trn1_job(percents: Sequence[float], *, models: int = 0) -> Document:
    """A trn1n.32xlarge on which one runtime works on each core: 32 runtimes, 32 cores each."""
    return {
        "neuron_runtime_data": [
            trn1_runtime(core, percent, cores=len(percents), models=models)
            for core, percent in enumerate(percents)
        ],
        "system_data": {
            "memory_info": memory_info(used=80 * GIB, total=496 * GIB),
            "neuron_hw_counters": hw_counters(
                *[{"mem_ecc_corrected": 2}] + [{}] * (len(percents) // 2 - 1)
            ),
            "vcpu_usage": vcpu_usage(user=19.7, system=1.7, idle=78.6),
        },
        "instance_info": instance_info("trn1n.32xlarge", ultraserver_id=""),
        "neuron_hardware_info": {
            "neuron_device_type": "trainium", "neuron_device_version": "v2",
            "neuroncore_version": "v2", "neuron_device_count": len(percents) // 2,
            "neuron_device_memory_size": 32 * GIB, "neuroncore_per_device_count": 2,
            "logical_neuroncore_config": 1, "error": "",
        },
    }  # fmt: skip


def trn2_logical(split: str = "v3d") -> Document:
    """
    A trn2n.48xlarge with logical cores of two physical ones each, its pods, and no system data.
    """
    used = {
        str(core): {
            "neuroncore_utilization": 41.0 + core,
            "flops": 1_200_000_000_000 + core,
            split: {
                f"nc_v3.{2 * core}": {"neuroncore_utilization": 20.0 + core},
                f"nc_v3.{2 * core + 1}": {"neuroncore_utilization": 62.0 + core},
            },
        }
        for core in range(2)
    }
    pod = {"pod_name": "train-0", "namespace": "research", "container_name": ["worker"]}
    return {
        "neuron_runtime_data": [
            runtime(
                113_004,
                "my_app",
                neuroncore_counters={
                    "period": 1.0001, "neuroncores_in_use": used, "error": "",
                },
            )
        ],
        "system_data": None,
        "instance_info": instance_info("trn2n.48xlarge"),
        "neuron_hardware_info": {
            "neuron_device_type": "trainium2", "neuron_device_version": "v4",
            "neuroncore_version": "v3d", "neuron_device_count": 16,
            "neuron_device_memory_size": 96 * GIB, "neuroncore_per_device_count": 4,
            "logical_neuroncore_config": 2, "error": "",
        },
        "neuron_k8s_info": {
            "period": 15.03,
            "neuroncores_k8s_info": {"0": pod, "1": pod},
            "neurondevices_k8s_info": {"0": pod},
            "error": "",
        },
    }  # fmt: skip


def sidecar(*percents: float) -> Document:
    """A sidecar that sees four applications, all tagged "1", and the processes of none."""
    cores = len(percents)
    gone = "open /proc/{}/stat: no such file or directory"
    return {
        **inf1_first(),
        "neuron_runtime_data": [
            runtime(
                9_100 + core,
                "1",
                execution_stats=execution_stats(50 + core),
                memory_used=memory_used(cores=cores, models=[(0, core)]),
                neuron_runtime_vcpu_usage={
                    "period": 5.004, "vcpu_usage": {"user": 0, "system": 0},
                    "error": gone.format(9_100 + core),
                },
                neuroncore_counters=core_counters(
                    [percent if one == core else 0 for one in range(cores)]
                ),
            )
            for core, percent in enumerate(percents)
        ],
        "system_data": {"memory_info": memory_info()},
    }  # fmt: skip


# --- what becomes of them ---


def line(document: Document) -> bytes:
    """As neuron-monitor writes it: compact, on one line."""
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"
