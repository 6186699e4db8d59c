"""
What a report says about each runtime, as typed, lenient structs.

What it says about the whole instance is in `emitter.reports.groups`.

Every group and every member is optional: absent, null and "in error" are all
possible, because older tools lack members and newer ones add some. Members
follow the names of neuron-monitor's user guide, Neuron SDK 2.32, and of reports
captured on inf1, inf2 and trn1 (`effective_flops`, `ultraserver_id`):
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/neuron-monitor-user-guide.html

A member without a reader is here so that a tool that changes its type is
noticed (the group is dropped and counted) before somebody builds on it; the
docstring says which those are. Not decoded at all: the bytes of a subgraph by
use, and the shares of each vCPU (up to 192 rows that no line could carry).

Amounts are floats, whatever they count: JSON has one kind of number, a float
is exact up to 2^53, and one kind is faster to decode than two. They know
shapes, not meanings: what the numbers say is `emitter.fold`'s business.
"""

from __future__ import annotations

import msgspec


class CoreUse(msgspec.Struct, frozen=True, gc=False):
    """
    One logical core of one runtime: percent of the period, FLOP/s.

    The split into physical cores that may be nested in it (`v3d`) is not read.
    """

    neuroncore_utilization: float | None = None
    flops: float | None = None
    effective_flops: float | None = None


Uses = dict[str, CoreUse | None]
"""What a runtime says of cores, by their index."""


class Counters(msgspec.Struct, frozen=True, gc=False):
    """`neuroncore_counters`: every core the runtime can see, by core index from 0."""

    period: float | None = None
    error: str | None = None
    neuroncores_in_use: Uses | None = None


class Percentiles(msgspec.Struct, frozen=True, gc=False):
    """Seconds, the shortest execution to the longest; p1, p25 and p75 have no reader."""

    p0: float | None = None
    p1: float | None = None
    p25: float | None = None
    p50: float | None = None
    p75: float | None = None
    p99: float | None = None
    p100: float | None = None


class Latencies(msgspec.Struct, frozen=True, gc=False):
    """Latency of a whole execution and of its part on the device; null when nothing ran."""

    total_latency: Percentiles | None = None
    device_latency: Percentiles | None = None


class ExecutionSummary(msgspec.Struct, frozen=True, gc=False):
    """Executions by how they ended."""

    completed: float | None = None
    completed_with_err: float | None = None
    completed_with_num_err: float | None = None
    timed_out: float | None = None
    incorrect_input: float | None = None
    failed_to_queue: float | None = None


class Executions(msgspec.Struct, frozen=True, gc=False):
    """`execution_stats`: tallies of the period, which nobody reads: they count however short."""

    period: float | None = None
    error: str | None = None
    error_summary: dict[str, float | None] | None = None
    execution_summary: ExecutionSummary | None = None
    latency_stats: Latencies | None = None


class Breakdown(msgspec.Struct, frozen=True, gc=False):
    """
    Host bytes by use; device bytes by core index and by use.

    Uses are texts, not members: bytes of a use that a newer tool names hold a core too.
    """

    host: dict[str, float | None] | None = None
    neuroncore_memory_usage: dict[str, dict[str, float | None] | None] | None = None


class UsedBytes(msgspec.Struct, frozen=True, gc=False):
    """Bytes a runtime holds now, on the host and on its devices."""

    host: float | None = None
    neuron_device: float | None = None
    usage_breakdown: Breakdown | None = None


class SubgraphBytes(msgspec.Struct, frozen=True, gc=False):
    """Bytes of a part of a model. No reader: the table by core says the same, whole."""

    host: float | None = None
    neuron_device: float | None = None


class Subgraph(msgspec.Struct, frozen=True, gc=False):
    """Where a part of a model is loaded; the core index counts within its device."""

    memory_used_bytes: SubgraphBytes | None = None
    neuroncore_index: int | None = None
    neuron_device_index: int | None = None


class LoadedModel(msgspec.Struct, frozen=True, gc=False):
    """
    One loaded model.

    `name` is a path that identifies a customer, so neither it nor `uuid` and
    `model_id` leave the instance; `is_running` was false on busy cores: the
    four have no reader.
    """

    name: str | None = None
    uuid: str | None = None
    model_id: int | None = None
    is_running: bool | None = None
    subgraphs: dict[str, Subgraph | None] | None = None


class Memory(msgspec.Struct, frozen=True, gc=False):
    """`memory_used`: gauges, so that the period has no reader."""

    period: float | None = None
    error: str | None = None
    neuron_runtime_used_bytes: UsedBytes | None = None
    loaded_models: list[LoadedModel | None] | None = None


class RuntimeVcpuShares(msgspec.Struct, frozen=True, gc=False):
    """Percent of one vCPU; more than 100 with several threads."""

    user: float | None = None
    system: float | None = None


class RuntimeVcpu(msgspec.Struct, frozen=True, gc=False):
    """`neuron_runtime_vcpu_usage`."""

    period: float | None = None
    error: str | None = None
    vcpu_usage: RuntimeVcpuShares | None = None


class RuntimeReport(msgspec.Struct, frozen=True, gc=False):
    """The groups of one runtime that were due and collected."""

    neuroncore_counters: Counters | None = None
    execution_stats: Executions | None = None
    memory_used: Memory | None = None
    neuron_runtime_vcpu_usage: RuntimeVcpu | None = None


class Runtime(msgspec.Struct, frozen=True, gc=False):
    """One application; pid and tag together identify it, either alone repeats."""

    pid: int | None = None
    neuron_runtime_tag: str | None = None
    error: str | None = None
    report: RuntimeReport | None = None


class Device(msgspec.Struct, frozen=True, gc=False):
    """ECC counters of one device."""

    neuron_device_index: int | None = None
    mem_ecc_corrected: float | None = None
    mem_ecc_uncorrected: float | None = None
    sram_ecc_corrected: float | None = None
    sram_ecc_uncorrected: float | None = None


class HardwareCounters(msgspec.Struct, frozen=True, gc=False):
    """`neuron_hw_counters`."""

    period: float | None = None
    error: str | None = None
    neuron_devices: list[Device | None] | None = None


class VcpuShares(msgspec.Struct, frozen=True, gc=False):
    """Percent of all vCPU time, by use; `idle` and `io_wait` are no work, and unread."""

    user: float | None = None
    nice: float | None = None
    system: float | None = None
    idle: float | None = None
    io_wait: float | None = None
    irq: float | None = None
    soft_irq: float | None = None


class VcpuUsage(msgspec.Struct, frozen=True, gc=False):
    """`vcpu_usage`, without the shares of each vCPU. Context switches have no reader."""

    period: float | None = None
    error: str | None = None
    average_usage: VcpuShares | None = None
    context_switch_count: float | None = None


class HostMemory(msgspec.Struct, frozen=True, gc=False):
    """`memory_info`: bytes. Swap has no reader: these hosts come without."""

    period: float | None = None
    error: str | None = None
    memory_total_bytes: float | None = None
    memory_used_bytes: float | None = None
    swap_total_bytes: float | None = None
    swap_used_bytes: float | None = None


class System(msgspec.Struct, frozen=True, gc=False):
    """The system-wide groups that were due and collected."""

    neuron_hw_counters: HardwareCounters | None = None
    vcpu_usage: VcpuUsage | None = None
    memory_info: HostMemory | None = None


class InstanceInfo(msgspec.Struct, frozen=True, gc=False):
    """
    What the instance metadata service told neuron-monitor; empty texts where it did not.

    `instance_availability_zone_id` and `subnet_id` have no reader.
    """

    error: str | None = None
    instance_name: str | None = None
    instance_id: str | None = None
    instance_type: str | None = None
    instance_availability_zone: str | None = None
    instance_availability_zone_id: str | None = None
    instance_region: str | None = None
    ami_id: str | None = None
    subnet_id: str | None = None
    ultraserver_id: str | None = None


class Hardware(msgspec.Struct, frozen=True, gc=False):
    """
    Devices, logical cores per device, and bytes per device.

    `logical_neuroncore_config` is the number of physical cores behind a logical
    one. The type has no reader: the instance type says as much.
    """

    error: str | None = None
    neuron_device_type: str | None = None
    neuron_device_version: str | None = None
    neuroncore_version: str | None = None
    neuron_device_count: int | None = None
    neuron_device_memory_size: float | None = None
    neuroncore_per_device_count: int | None = None
    logical_neuroncore_config: int | None = None


class Pod(msgspec.Struct, frozen=True, gc=False):
    """Whom a core or device is allocated to."""

    pod_name: str | None = None
    namespace: str | None = None
    container_name: list[str] | None = None


class KubernetesInfo(msgspec.Struct, frozen=True, gc=False):
    """`neuron_k8s_info`: pods by core index and by device index; its period has no reader."""

    period: float | None = None
    error: str | None = None
    neuroncores_k8s_info: dict[str, Pod | None] | None = None
    neurondevices_k8s_info: dict[str, Pod | None] | None = None
