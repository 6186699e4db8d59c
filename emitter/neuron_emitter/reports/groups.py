"""
The members of a report, as typed, lenient structs.

Every group and every member is optional: absent, null and "in error" are all possible, because
older tools lack members and newer tools add some. Members follow the names of neuron-monitor's user
guide, Neuron SDK 2.32, and of reports captured on inf1, inf2 and trn1 (`effective_flops`,
`ultraserver_id`):
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/neuron-monitor-user-guide.html

A member that is never used is not decoded: names of models, the bytes of a subgraph, the shares of
each vCPU (up to 192 rows that no line could hold). `p1`, `p25`, `p75`, swap and the subnet are only
for the Prometheus page.

All amounts are floats: JSON has one kind of number, a float is exact up to 2^53, and one kind is
faster to decode than two. These structs describe shapes, not meanings: `neuron_emitter.fold`
interprets the numbers.
"""

from __future__ import annotations

from msgspec import Struct

# None if unknown: a report may lack every member, or have null in its place.
Number = float | None
Whole = int | None
Text = str | None
Numbers = dict[str, Number] | None


class _Part(Struct, frozen=True, gc=False):
    """A part of a report."""


class _Group(_Part, frozen=True):
    """A part of a report that neuron-monitor may fail to read; `error` has the reason."""

    error: Text = None


class _PeriodicGroup(_Group, frozen=True):
    """A group of values over a period, in seconds."""

    period: Number = None


class CoreUse(_Part, frozen=True):
    """
    One logical core of one runtime: percent of the period, FLOP/s.

    The split into physical cores that may be nested in it (`v3d`) is not read.
    """

    neuroncore_utilization: Number = None
    flops: Number = None
    effective_flops: Number = None


Uses = dict[str, CoreUse | None]
"""The use of cores by one runtime, by core index."""


class Counters(_PeriodicGroup, frozen=True):
    """`neuroncore_counters`: every core the runtime can see, by core index from 0."""

    neuroncores_in_use: Uses | None = None


class Percentiles(_Part, frozen=True):
    """Latencies in seconds, from the shortest execution to the longest."""

    p0: Number = None
    p1: Number = None
    p25: Number = None
    p50: Number = None
    p75: Number = None
    p99: Number = None
    p100: Number = None


class Latencies(_Part, frozen=True):
    """Latency of whole executions and of their part on the device; null if nothing ran."""

    total_latency: Percentiles | None = None
    device_latency: Percentiles | None = None


class ExecutionSummary(_Part, frozen=True):
    """Executions by how they ended."""

    completed: Number = None
    completed_with_err: Number = None
    completed_with_num_err: Number = None
    timed_out: Number = None
    incorrect_input: Number = None
    failed_to_queue: Number = None


class Executions(_Group, frozen=True):
    """`execution_stats`: tallies of the period; they count even if the period is short."""

    error_summary: Numbers = None
    execution_summary: ExecutionSummary | None = None
    latency_stats: Latencies | None = None


class Breakdown(_Part, frozen=True):
    """
    Host bytes by use; device bytes by core index and by use.

    Uses are texts, not members: bytes of a use that a newer tool reports also hold a core.
    """

    host: Numbers = None
    neuroncore_memory_usage: dict[str, Numbers] | None = None


class UsedBytes(_Part, frozen=True):
    """Bytes that a runtime holds now, on the host and on its devices."""

    host: Number = None
    neuron_device: Number = None
    usage_breakdown: Breakdown | None = None


class Subgraph(_Part, frozen=True):
    """The place of a part of a model; the core index counts within its device."""

    neuroncore_index: Whole = None
    neuron_device_index: Whole = None


class LoadedModel(_Part, frozen=True):
    """
    One loaded model. Its name is a path that identifies a customer, and is not read.

    `is_running` is not read either: it was false on busy cores.
    """

    subgraphs: dict[str, Subgraph | None] | None = None


class Memory(_Group, frozen=True):
    """`memory_used`: gauges."""

    neuron_runtime_used_bytes: UsedBytes | None = None
    loaded_models: list[LoadedModel | None] | None = None

    def used(self) -> tuple[UsedBytes, Breakdown]:
        """The bytes in use and their breakdown, empty if the report has none."""
        used = self.neuron_runtime_used_bytes or UsedBytes()
        return used, used.usage_breakdown or Breakdown()


class RuntimeVcpuShares(_Part, frozen=True):
    """Percent of one vCPU; more than 100 with several threads."""

    user: Number = None
    system: Number = None


class RuntimeVcpu(_PeriodicGroup, frozen=True):
    """`neuron_runtime_vcpu_usage`."""

    vcpu_usage: RuntimeVcpuShares | None = None


class RuntimeReport(_Part, frozen=True):
    """The groups of one runtime that were due and collected."""

    neuroncore_counters: Counters | None = None
    execution_stats: Executions | None = None
    memory_used: Memory | None = None
    neuron_runtime_vcpu_usage: RuntimeVcpu | None = None


class Runtime(_Group, frozen=True):
    """One application; pid and tag together identify it, because each alone repeats."""

    pid: Whole = None
    neuron_runtime_tag: Text = None
    report: RuntimeReport | None = None


Runtimes = list[Runtime]


class Device(_Part, frozen=True):
    """ECC counters of one device."""

    neuron_device_index: Whole = None
    mem_ecc_corrected: Number = None
    mem_ecc_uncorrected: Number = None
    sram_ecc_corrected: Number = None
    sram_ecc_uncorrected: Number = None


class HardwareCounters(_PeriodicGroup, frozen=True):
    """`neuron_hw_counters`."""

    neuron_devices: list[Device | None] | None = None


class VcpuShares(_Part, frozen=True):
    """Percent of all vCPU time, by use; `idle` and `io_wait` are not work."""

    user: Number = None
    nice: Number = None
    system: Number = None
    idle: Number = None
    io_wait: Number = None
    irq: Number = None
    soft_irq: Number = None


class VcpuUsage(_PeriodicGroup, frozen=True):
    """`vcpu_usage`, without the shares of each vCPU."""

    average_usage: VcpuShares | None = None


class HostMemory(_PeriodicGroup, frozen=True):
    """`memory_info`: bytes."""

    memory_total_bytes: Number = None
    memory_used_bytes: Number = None
    swap_total_bytes: Number = None
    swap_used_bytes: Number = None


class System(_Part, frozen=True):
    """The system-wide groups that were due and collected."""

    neuron_hw_counters: HardwareCounters | None = None
    vcpu_usage: VcpuUsage | None = None
    memory_info: HostMemory | None = None


class InstanceInfo(_Group, frozen=True):
    """Facts from the instance metadata service, through neuron-monitor; empty texts if unknown."""

    instance_name: Text = None
    instance_id: Text = None
    instance_type: Text = None
    instance_availability_zone: Text = None
    instance_region: Text = None
    ami_id: Text = None
    subnet_id: Text = None
    ultraserver_id: Text = None


class Hardware(_Group, frozen=True):
    """
    Devices, logical cores per device, and bytes per device.

    `logical_neuroncore_config` is the number of physical cores behind a logical core.
    """

    neuron_device_type: Text = None
    neuron_device_version: Text = None
    neuroncore_version: Text = None
    neuron_device_count: Whole = None
    neuron_device_memory_size: Number = None
    neuroncore_per_device_count: Whole = None
    logical_neuroncore_config: Whole = None


class Pod(_Part, frozen=True):
    """The pod that a core or device is allocated to."""

    pod_name: Text = None
    namespace: Text = None
    container_name: list[str] | None = None


class KubernetesInfo(_Group, frozen=True):
    """`neuron_k8s_info`: pods by core index and by device index."""

    neuroncores_k8s_info: dict[str, Pod | None] | None = None
    neurondevices_k8s_info: dict[str, Pod | None] | None = None
