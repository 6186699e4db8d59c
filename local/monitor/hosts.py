"""
The host of each instance type, as neuron-monitor reports it.

Devices and cores come from `neuron_accounts.instance_types`. This module has what only a simulator
needs: virtual CPUs and memory of the host (the EC2 instance type pages), the family's names for its
hardware (captured on inf2 and trn1 in 2026, documented for trn2), and a plausible peak.

An inf1 instance reports less, as captured: two counts of hardware, and no device memory per core,
so that only a loaded model shows who holds a core.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from neuron_accounts.instance_types import INSTANCE_TYPES, InstanceType


@dataclass(frozen=True, slots=True)
class Family:
    """
    Facts that all instances of one device generation share.

    Attributes:
        device_type: `neuron_device_type`; None for inf1, which does not report it.

        device_version: `neuron_device_version`.

        core_version: `neuroncore_version`, and the member with the physical cores of a logical one.

        physical_per_logical: Physical cores behind a logical one (LNC).

        peak_tera_flops: The highest 10^12 FLOP/s of one logical core.
    """

    device_type: str | None
    device_version: str
    core_version: str
    physical_per_logical: int
    peak_tera_flops: float


PAGE_BYTES: Final = 4096
_REPORTED_BY_INF1: Final = ("neuron_device_count", "neuroncore_per_device_count", "error")

FAMILIES: Final[dict[str, Family]] = {
    "inf1": Family(None, "v1", "v1", 1, 16.0),
    "inf2": Family("inferentia2", "v3", "v2", 1, 95.0),
    "trn1": Family("trainium", "v2", "v2", 1, 95.0),
    "trn2": Family("trainium2", "v4", "v3d", 2, 166.0),
}

_VCPUS_AND_MEMORY_GIB: Final[dict[str, tuple[int, int]]] = {
    "inf1.xlarge": (4, 8), "inf1.2xlarge": (8, 16), "inf1.6xlarge": (24, 48),
    "inf1.24xlarge": (96, 192), "inf2.xlarge": (4, 16), "inf2.8xlarge": (32, 128),
    "inf2.24xlarge": (96, 384), "inf2.48xlarge": (192, 768), "trn1.2xlarge": (8, 32),
    "trn1.32xlarge": (128, 512), "trn1n.32xlarge": (128, 512), "trn2.3xlarge": (12, 128),
    "trn2.48xlarge": (192, 2048), "trn2u.48xlarge": (192, 2048),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class HostModel:
    """One instance type as the simulator plays it."""

    hardware: InstanceType
    family: Family
    vcpus: int
    memory_bytes: int

    @property
    def device_memory_bytes(self) -> int:
        """Return the memory of one device, bytes."""
        return self.hardware.device_memory_bytes // self.hardware.devices

    def hardware_block(self) -> dict[str, object]:
        """Return the report's `neuron_hardware_info`."""
        block: dict[str, object] = {
            "neuron_device_type": self.family.device_type,
            "neuron_device_version": self.family.device_version,
            "neuroncore_version": self.family.core_version,
            "neuron_device_count": self.hardware.devices,
            "neuron_device_memory_size": self.device_memory_bytes,
            "neuroncore_per_device_count": self.hardware.cores_per_device,
            "logical_neuroncore_config": self.family.physical_per_logical,
            "error": "",
        }
        if self.family.device_type is None:
            return {name: block[name] for name in _REPORTED_BY_INF1}
        return block


def host(instance_type: str) -> HostModel:
    """
    Return the host of the instance type.

    Raises:
        KeyError: If no such type can be played.
    """
    vcpus, memory_gib = _VCPUS_AND_MEMORY_GIB[instance_type]
    return HostModel(
        hardware=INSTANCE_TYPES[instance_type],
        family=FAMILIES[instance_type[:4]],
        vcpus=vcpus,
        # Minus the kernel's own memory, in whole pages.
        memory_bytes=(memory_gib << 30) * 965 // 1000 // PAGE_BYTES * PAGE_BYTES,
    )
