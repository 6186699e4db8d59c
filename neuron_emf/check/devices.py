"""What the first report says of the cores that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from neuron_emf.check.finding import Finding, failed, not_tried, ok, warning
from neuron_wire.instance_types import INSTANCE_TYPES

if TYPE_CHECKING:
    from emitter.reports.report import Report
    from emitter.reports.system_groups import Hardware

CHECK: Final = "devices"

_DRIVER: Final = (
    "install aws-neuronx-dkms, look whether /dev/neuron0 is there, and give it to the container "
    "that neuron-monitor runs in"
)


def check_devices(report: Report | None, instance_type: str | None) -> Finding:
    """Devices and logical cores, beside what *instance_type* should have."""
    if report is None:
        return not_tried(CHECK, "there is no report to read them from")
    hardware = report.neuron_hardware_info
    if hardware is None:
        return warning(
            CHECK,
            "the first report says nothing of the hardware",
            "cores are taken from the instance type: update aws-neuronx-tools",
        )
    if hardware.error:
        return failed(CHECK, f"neuron-monitor sees none: {_line(hardware.error)}", _DRIVER)
    cores = _cores(hardware)
    if not cores:
        return failed(CHECK, "neuron-monitor sees none", _DRIVER)
    found = _seen(hardware, cores)
    known = INSTANCE_TYPES.get(instance_type or "")
    devices = hardware.neuron_device_count or 0
    if known is not None and devices < known.devices:
        return warning(
            CHECK,
            f"{found}, of the {known.devices} devices of {known.name}",
            "what is not seen is in no figure: right where a container has a part of the "
            "instance, else give it all devices",
        )
    return ok(CHECK, found)


def _cores(hardware: Hardware) -> int:
    devices = hardware.neuron_device_count or 0
    return max(0, devices) * max(0, hardware.neuroncore_per_device_count or 0)


def _seen(hardware: Hardware, cores: int) -> str:
    devices = hardware.neuron_device_count
    kind = f" of type {_line(hardware.neuron_device_type)}" if hardware.neuron_device_type else ""
    return f"{devices} device{'' if devices == 1 else 's'}{kind}, {cores} logical cores"


def _line(text: str) -> str:
    return " ".join(text.split())[:200]
