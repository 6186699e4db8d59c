"""
Numbers of a minute from one system group of each report, and memory errors.

The member `merges` of the entry in `neuron_wire.catalogue` defines how the reports of a minute
become one number:

* `last`  the value of the last report that has it
* `sum`   the sum of all reports: an amount of the period
* `mean`  the mean of the reports, weighted by the period of the group; a period under half a
          second is noise and does not count

A group that is absent or in error has no value, and an impossible number
(`neuron_emitter.fold.amounts`) is missing. A reading without a value is in no line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neuron_emitter.fold.amounts import amount, as_percent, is_long_enough
from neuron_emitter.logs import Event
from neuron_wire.catalogue import READING_MEMBERS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from neuron_emitter.reports.groups import (
        Device,
        HardwareCounters,
        Number,
        System,
        VcpuShares,
        Whole,
    )

_MEMORY_PATH: Final = "system_data.memory_info."
_MEMORY_FIELDS: Final = {
    name: reading.source.removeprefix(_MEMORY_PATH)
    for name, reading in READING_MEMBERS.items()
    if reading.source.startswith(_MEMORY_PATH)
}
"""The fields of the memory group that become readings, by member."""


class Readings:
    """
    The readings of the open minute.

    Attributes:
        hardware_faults: Faults in kernel messages; None while the messages are not read.
    """

    def __init__(self) -> None:
        self.hardware_faults: Whole = None
        self._memory: dict[str, int] = {}  # by member, from the last report that had the value
        self._cpu_s = self._weighted_cpu = 0.0

    def add_system(self, system: System) -> None:
        """Add the system groups of one report."""
        memory = system.memory_info
        vcpu = system.vcpu_usage
        if memory is not None and not memory.error:
            for member, field in _MEMORY_FIELDS.items():
                value = amount(getattr(memory, field))
                if value is not None:
                    self._memory[member] = value
        if vcpu is None or vcpu.error or vcpu.average_usage is None:
            return
        period_s = vcpu.period
        percent = _working_percent(vcpu.average_usage)
        if percent is not None and is_long_enough(period_s):
            self._cpu_s += period_s
            self._weighted_cpu += period_s * percent

    def by_member(self) -> dict[str, Number]:
        """The host's readings of the minute, by the name of their member; None if unknown."""
        return {
            **self._memory,
            "HostCpuPercent": as_percent(self._weighted_cpu / self._cpu_s if self._cpu_s else None),
            "HardwareFaults": self.hardware_faults,
        }


def _working_percent(average: VcpuShares) -> Number:
    """Return the share of time in which a CPU works; waiting for I/O is not work."""
    percent = (
        (average.user or 0.0)
        + (average.nice or 0.0)
        + (average.system or 0.0)
        + (average.irq or 0.0)
        + (average.soft_irq or 0.0)
    )
    if not percent and average.user is average.nice is average.system is None:
        return 0.0 if average.irq is not None or average.soft_irq is not None else None
    return min(100.0, max(0.0, percent))


MAX_DEVICES: Final = 1024  # limits the remembered devices; the largest instance today has 16
_CORRECTED: Final = ("mem_ecc_corrected", "sram_ecc_corrected")
_ECC_REPORTED: Final = "EccUncorrectedReported"
_UNCORRECTED: Final = ("mem_ecc_uncorrected", "sram_ecc_uncorrected")


@dataclass(slots=True)
class _Rise:
    """A counter of one device that rose in the open minute."""

    device: int
    counter: str
    rise: int
    value: int
    at_s: float

    def severity(self) -> tuple[bool, int, int]:
        """The order of importance: uncorrectable first, then by rise, then by device."""
        return (self.counter in _UNCORRECTED, self.rise or self.value, -self.device)


class EccFold:
    """
    Values and rises of the open minute. The last values survive it.

    Attributes:
        corrected: The last sum of the corrected counters, or None.

        uncorrected: The last sum of the uncorrectable counters, or None.

        corrected_rise: New corrected errors in this minute, or None.

        uncorrected_rise: New uncorrectable errors in this minute, or None.

        uncorrected_reported: Sum of the uncorrectable counters over all reports.

        lists_no_device: True if the last hardware counters without an error list no device.

        last: The last value by `device:counter`.

        risen: The rise of each `device:counter` since this object was made.
    """

    def __init__(self, last: dict[str, int], *, lists_no_device: bool = False) -> None:
        self.last = last
        self.lists_no_device = lists_no_device
        self.risen: dict[str, int] = {}
        self._devices: list[Device | None] = []
        self._values: tuple[Whole, Whole] = (None, None)
        self.clear()

    def clear(self) -> None:
        """Start a new minute."""
        self.corrected: Whole = None
        self.uncorrected: Whole = None
        self.corrected_rise: Whole = None
        self.uncorrected_rise: Whole = None
        self.uncorrected_reported = 0
        self._rises: dict[str, _Rise] = {}
        self._first_seen: list[_Rise] = []

    def add_counters(self, counters: HardwareCounters | None, at_s: float) -> None:
        """Add the hardware counters of one report received at *at_s*."""
        if counters is None or counters.error:
            return
        if not counters.neuron_devices:
            self.lists_no_device = True
            self._devices = []
            return
        corrected_rise = uncorrected_rise = 0
        if counters.neuron_devices != self._devices:  # they rarely change
            self._devices = counters.neuron_devices
            self.lists_no_device = False
            by_index = {
                device.neuron_device_index: device
                for device in self._devices
                if device is not None
                and device.neuron_device_index is not None
                and 0 <= device.neuron_device_index < MAX_DEVICES
            }
            corrected, corrected_rise = self._read(by_index, _CORRECTED, at_s)
            uncorrected, uncorrected_rise = self._read(by_index, _UNCORRECTED, at_s)
            self._values = (corrected, uncorrected)
        corrected, uncorrected = self._values
        if corrected is not None:
            self.corrected = corrected
            self.corrected_rise = (self.corrected_rise or 0) + corrected_rise
        if uncorrected is not None:
            self.uncorrected = uncorrected
            self.uncorrected_reported += uncorrected
            self.uncorrected_rise = (self.uncorrected_rise or 0) + uncorrected_rise

    def details(self, chosen: AbstractSet[str]) -> dict[str, int]:
        """Return the reported errors: a member if above 0, or 0 if it was chosen as a metric."""
        reported = self.uncorrected_reported
        is_shown = reported or (self.uncorrected is not None and _ECC_REPORTED in chosen)
        return {_ECC_REPORTED: reported} if is_shown else {}

    def events(self) -> list[Event]:
        """Return one event for first values above 0 and one event for the rises of the minute."""
        return [_event(rises) for rises in (self._first_seen, [*self._rises.values()]) if rises]

    def _read(
        self, devices: Mapping[int, Device], names: tuple[str, ...], at_s: float
    ) -> tuple[Whole, int]:
        """Return the sum and the rise of the counters *names* over the devices."""
        values = []
        total_rise = 0
        for index, device in devices.items():
            for name in names:
                value = amount(getattr(device, name))
                if value is None:
                    continue
                values.append(value)
                key = f"{index}:{name}"
                before = self.last.get(key)
                self.last[key] = value
                so_far = self.risen.setdefault(key, 0)
                if before is None:
                    if value and name in _UNCORRECTED:
                        self._first_seen.append(_Rise(index, name, 0, value, at_s))
                    continue
                rise = value - before if value >= before else value
                if rise:
                    total_rise += rise
                    self.risen[key] = so_far + rise
                    of_minute = self._rises.setdefault(key, _Rise(index, name, 0, value, at_s))
                    of_minute.rise += rise
                    of_minute.value = value
                    of_minute.at_s = at_s
        return (sum(values) if values else None), total_rise


def _event(rises: list[_Rise]) -> Event:
    """Return an event for the worst of *rises* or first values, with the number of others."""
    worst, *others = sorted(rises, key=_Rise.severity, reverse=True)
    noun = "other counter" if len(others) == 1 else "other counters"
    more = f" (and {len(others)} {noun})" if others else ""
    name = "EccFirstSeen"
    said = f"was {worst.value} when first read"
    rise = {}
    if worst.rise:
        name = "EccRise"
        rise = {"Rise": worst.rise}
        said = f"rose by {worst.rise} to {worst.value}"
    return Event(
        name=name,
        at_s=worst.at_s,
        message=f"{worst.counter} of device {worst.device} {said}{more}",
        details={
            "Device": worst.device,
            "Counter": worst.counter,
            **rise,
            "Value": worst.value,
            "Counters": len(rises),
        },
    )
