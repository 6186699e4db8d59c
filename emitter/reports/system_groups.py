"""
What a report says about the whole instance, as typed, lenient structs.

The same rules as in `emitter.reports.groups`, which has the runtimes' part.
"""

from __future__ import annotations

import msgspec


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
