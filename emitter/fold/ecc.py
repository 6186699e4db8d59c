"""
Memory errors of the devices, and how they rise.

Whether the counters are totals or amounts of the period is not documented, and
the pages claim neither. If they are totals, the rise per device and counter is
right: a lower value is a restart from 0, the first sight is no rise. If they
are amounts of the period, the sum of the values of the minute is, and a rise
says too little: 0, 2, 2, 2, 0 is a rise of 2, and a sum of 6.
A storm of errors makes one event a minute, which names the worst and how many
counters rose beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.events import Event
from emitter.fold.amounts import amount

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from emitter.reports.system_groups import Device, HardwareCounters

MAX_DEVICES: Final = 1024  # bounds what is remembered; the largest instance today has 16
_CORRECTED: Final = ("mem_ecc_corrected", "sram_ecc_corrected")
_REPORTED: Final = "EccUncorrectedReported"
_UNCORRECTED: Final = ("mem_ecc_uncorrected", "sram_ecc_uncorrected")


@dataclass(slots=True)
class _Rise:
    """One counter of one device in the open minute, as last seen to rise."""

    device: int
    counter: str
    rise: int
    value: int
    at_s: float

    def severity(self) -> tuple[bool, int, int]:
        """What orders two of them: uncorrectable first, then by rise, then by device."""
        return (self.counter in _UNCORRECTED, self.rise or self.value, -self.device)


class EccFold:
    """
    Values and rises of the open minute; the last values outlive it.

    Attributes:
        corrected: Sum of the corrected counters as last read, or None.

        uncorrected: Sum of the uncorrectable counters as last read, or None.

        corrected_rise: New corrected errors in this minute, or None.

        uncorrected_rise: New uncorrectable errors in this minute, or None.

        uncorrected_reported: Sum of the uncorrectable counters over all reports.

        last: Last value by `device:counter`.

        risen: By the same key, how much each rose since this object was made.
    """

    def __init__(self, last: Mapping[str, int] | None = None) -> None:
        self.last: dict[str, int] = dict(last or {})
        self.risen: dict[str, int] = {}
        self._devices: list[Device | None] = []
        self._values: tuple[int | None, int | None] = (None, None)
        self.clear()

    def clear(self) -> None:
        """Begin a new minute."""
        self.corrected: int | None = None
        self.uncorrected: int | None = None
        self.corrected_rise: int | None = None
        self.uncorrected_rise: int | None = None
        self.uncorrected_reported = 0
        self._rises: dict[str, _Rise] = {}
        self._first_seen: list[_Rise] = []

    def add(self, counters: HardwareCounters | None, at_s: float) -> None:
        """Take the hardware counters of one report received at *at_s*."""
        if counters is None or counters.error or not counters.neuron_devices:
            return
        corrected_rise = uncorrected_rise = 0
        if counters.neuron_devices != self._devices:  # nearly always they are as before
            self._devices = counters.neuron_devices
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
        """Members of the minute line that are there above 0, or as the 0 that a metric needs."""
        reported = self.uncorrected_reported
        is_told = reported or (self.uncorrected is not None and _REPORTED in chosen)
        return {_REPORTED: reported} if is_told else {}

    def events(self) -> list[Event]:
        """Events of the open minute: one for all rises, one for all first sights."""
        return [_event(rises) for rises in (self._first_seen, [*self._rises.values()]) if rises]

    def _read(
        self, devices: Mapping[int, Device], names: tuple[str, ...], at_s: float
    ) -> tuple[int | None, int]:
        """Sum and rise of the counters *names* over the devices."""
        values: list[int] = []
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
                    of_minute.value, of_minute.at_s = value, at_s
        return (sum(values) if values else None), total_rise


def _event(rises: list[_Rise]) -> Event:
    """The worst of *rises*, which are rises or first sights, and in words how many others."""
    worst, *others = sorted(rises, key=_Rise.severity, reverse=True)
    noun = "other counter" if len(others) == 1 else "other counters"
    more = f" (and {len(others)} {noun})" if others else ""
    name, said, rise = "EccFirstSeen", f"was {worst.value} when first read", {}
    if worst.rise:
        name, rise = "EccRise", {"Rise": worst.rise}
        said = f"rose by {worst.rise} to {worst.value}"
    return Event(
        name=name,
        at_s=worst.at_s,
        message=f"{worst.counter} of device {worst.device} {said}{more}",
        details={
            "Device": worst.device, "Counter": worst.counter, **rise,
            "Value": worst.value, "Counters": len(rises),
        },
    )  # fmt: skip
