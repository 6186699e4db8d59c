"""
Memory errors of the devices, and how they rise.

Whether the counters are totals or amounts of the period is not documented, so
both readings are kept true: the value as read, and its rise per device and
counter. A lower value is a restart from 0; the first sight is no rise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.fold.amounts import amount

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emitter.reports.groups import Device, HardwareCounters

MAX_DEVICES: Final = 1024  # bounds what is remembered; the largest instance today has 16
_CORRECTED: Final = ("mem_ecc_corrected", "sram_ecc_corrected")
_UNCORRECTED: Final = ("mem_ecc_uncorrected", "sram_ecc_uncorrected")


class EccFold:
    """
    Values and rises of the open minute; the last values outlive it.

    Attributes:
        corrected: Sum of the corrected counters as last read, or None.

        uncorrected: Sum of the uncorrectable counters as last read, or None.

        corrected_rise: New corrected errors in this minute, or None.

        uncorrected_rise: New uncorrectable errors in this minute, or None.

        last: Last value by `device:counter`.
    """

    def __init__(self, last: Mapping[str, int] | None = None) -> None:
        self.last: dict[str, int] = dict(last or {})
        self._devices: list[Device] = []
        self._values: tuple[int | None, int | None] = (None, None)
        self.clear()

    def clear(self) -> None:
        """
        Begin a new minute.
        """
        self.corrected: int | None = None
        self.uncorrected: int | None = None
        self.corrected_rise: int | None = None
        self.uncorrected_rise: int | None = None

    def add(self, counters: HardwareCounters | None) -> None:
        """
        Take the hardware counters of one report.
        """
        if counters is None or counters.error or not counters.neuron_devices:
            return
        corrected_rise = uncorrected_rise = 0
        if counters.neuron_devices != self._devices:  # nearly always they are as before
            self._devices = counters.neuron_devices
            corrected, corrected_rise = self._read(_CORRECTED)
            uncorrected, uncorrected_rise = self._read(_UNCORRECTED)
            self._values = (corrected, uncorrected)
        corrected, uncorrected = self._values
        if corrected is not None:
            self.corrected = corrected
            self.corrected_rise = (self.corrected_rise or 0) + corrected_rise
        if uncorrected is not None:
            self.uncorrected = uncorrected
            self.uncorrected_rise = (self.uncorrected_rise or 0) + uncorrected_rise

    def _read(self, names: tuple[str, ...]) -> tuple[int | None, int]:
        """
        Sum and rise of the counters *names* over the devices.
        """
        values: list[int] = []
        rise = 0
        for device in self._devices:
            index = device.neuron_device_index
            if index is None or not 0 <= index < MAX_DEVICES:
                continue
            for name in names:
                value = amount(getattr(device, name))
                if value is None:
                    continue
                values.append(value)
                key = f"{index}:{name}"
                before = self.last.get(key, value)
                rise += value - before if value >= before else value
                self.last[key] = value
        return (sum(values) if values else None), rise
