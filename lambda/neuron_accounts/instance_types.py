"""
The parts of an instance type, and the peak of its chips.

Cores are logical, at the default logical core size of the type. A report's own hardware information
always takes precedence; this table serves instances that report none. Devices, cores, memory and
peaks come from the architecture pages of the AWS Neuron SDK documentation (2.32, read 2026-08), and
vCPUs from the pages of the instance types:
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-hardware/
https://aws.amazon.com/ec2/instance-types/

The share of the peak is not a model FLOPs utilization: the operations that neuron-monitor counts
are not documented, and work of a narrower type than BF16 may be above 100 percent.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_wire.names import MICRO

if TYPE_CHECKING:
    from neuron_wire import MinuteRecord


_TYPE_FORMAT: Final = re.compile(
    r"[a-z][a-z0-9-]{1,30}"
    r"\.(?:metal(?:-[0-9a-z]{1,10})?|nano|micro|small|medium|(?:[0-9]{0,3}x)?large)"
)


def is_instance_type(text: str) -> bool:
    """Return True if *text* has the form of an EC2 instance type, such as `trn1.32xlarge`."""
    return _TYPE_FORMAT.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class InstanceType:
    """
    One EC2 instance type with Neuron devices.

    Attributes:
        name: The name as EC2 writes it, for example `trn1.32xlarge`.

        devices: Neuron devices.

        cores_per_device: Logical NeuronCores of one device.

        device_memory_gib: Device memory of the whole instance, GiB.

        vcpus: vCPUs of the instance; None if no page lists the type.

        core_size: Physical cores of a logical one by default; at core size 1 there are more.
    """

    name: str
    devices: int
    cores_per_device: int
    device_memory_gib: int
    vcpus: int | None = None
    core_size: int = 1

    @property
    def cores(self) -> int:
        """Logical NeuronCores of the instance."""
        return self.devices * self.cores_per_device

    @property
    def device_memory_bytes(self) -> int:
        """Device memory of the whole instance, bytes."""
        return self.device_memory_gib << 30


# No page of EC2 lists a Trn3 type yet. Their names and devices come from the Neuron driver
# (v4/neuron_dhal_v4.c), for trn3n and trn3en from its Helm chart, and the chip from
# https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-hardware/trn3-arch.html
INSTANCE_TYPES: Final[dict[str, InstanceType]] = {
    name: InstanceType(name, *values)
    for name, values in json.loads(
        Path(__file__).with_name("instance_types.json").read_text("utf-8")
    ).items()
}
"""Types by name; the file has the values in the order of `InstanceType`'s attributes."""


CHIP_TERA_FLOPS: Final = {"inf1": 64, "inf2": 190, "trn1": 190, "trn2": 667, "trn3": 671}
"""Dense BF16, 10^12 operations per second, by the first letters of a type."""


class Flops(NamedTuple):
    """
    Achieved and possible operations of instances.

    Attributes:
        tera_flops: Achieved 10^12 operations per second.

        peak_micros: Peak of the cores that reported them, in `MICRO` parts of a TFLOPS.
    """

    tera_flops: float
    peak_micros: int

    @property
    def percent_of_peak(self) -> float | None:
        """The percentage of the peak, which may be above 100; None without a peak."""
        return 100 * self.tera_flops * MICRO / self.peak_micros if self.peak_micros else None


def peak_micros(instance_type: str | None, cores: int, known: int) -> int | None:
    """
    Return the peak of *known* of the *cores* of an instance, None if its chip is unknown.

    The peak of all devices is divided by the cores of the type at the reported core size. An
    emitter that sees only some devices reports fewer cores, which have their part of the peak.
    """
    kind = INSTANCE_TYPES.get(instance_type or "")
    chip = CHIP_TERA_FLOPS.get(kind.name[:4]) if kind is not None else None
    if kind is None or chip is None:
        return None
    return kind.devices * chip * MICRO * known // max(cores, kind.cores)


def flops_of(record: MinuteRecord) -> Flops | None:
    """
    Return FLOP/s of a merged *record* and their peak; None without FLOPs or with an unknown chip.

    The peak is that of the known cores: a known core without a runtime performed no operations.
    """
    if record.tera_flops is None:
        return None
    peak = peak_micros(record.instance_type, len(record.core_state), record.known_cores)
    return Flops(record.tera_flops, peak) if peak else None
