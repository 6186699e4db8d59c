"""
Numbers of a minute that each report tells in one of its system groups: one line each.

A new one is an entry in `neuron_wire.catalogue` that says how it `merges`, and
a line in a table below that says how it is read; nothing else knows its name.
How the reports of a minute become one number is what the entry says:

* `last`  the last report that tells it
* `sum`   of all reports: an amount of the period
* `mean`  of the reports, weighted by the period of the group; those under
          half a second are noise and left out

A group that is absent or in error tells nothing, and a number that cannot be
(`emitter.fold.amounts`) is missing: a reading without a value is in no line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from emitter.fold.amounts import MAX_AMOUNT, amount, in_unit, is_long_enough
from emitter.logs import Event
from neuron_wire.catalogue import READINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from emitter.reports.groups import Device, HardwareCounters, HostMemory, System, VcpuUsage

MAX_WAITING: Final = 12
"""
Reports that are looked at together, as many as a minute has at the usual period
of 5 s: one by one they would cost more.
"""


_Group = TypeVar("_Group", bound="HostMemory | VcpuUsage")
Rules = Mapping[str, Callable[[_Group], float | None]]
"""By the name of the member, how it is read from its group."""


def _working_percent(vcpu: VcpuUsage) -> float | None:
    """Time in which something runs; waiting for I/O is not work."""
    average = vcpu.average_usage
    if average is None:
        return None
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


MEMORY: Final[Rules[HostMemory]] = {
    "HostMemoryUsed": lambda memory: memory.memory_used_bytes,
    "HostMemoryTotal": lambda memory: memory.memory_total_bytes,
}
VCPU: Final[Rules[VcpuUsage]] = {"HostCpuPercent": _working_percent}

BESIDE: Final = ("HardwareFaults",)
"""Readings from beside the reports, added by `Readings.add_count`."""


class Readings:
    """The readings of the open minute."""

    def __init__(self) -> None:
        # Without error: what a group says of its errors may be as long as a report.
        self._memory: list[HostMemory] = []
        self._vcpu: list[VcpuUsage] = []
        self._values: dict[str, float] = {}  # of a mean, the weighted sum
        self._weights_s: dict[str, float] = {}

    def add_system(self, system: System) -> None:
        """Add the system groups of one report."""
        memory, vcpu = system.memory_info, system.vcpu_usage
        if memory is not None and not memory.error:
            self._memory.append(memory)
        if vcpu is not None and not vcpu.error:
            self._vcpu.append(vcpu)
        if len(self._memory) == MAX_WAITING or len(self._vcpu) == MAX_WAITING:
            self._fold()

    def add_count(self, member: str, amount: int) -> None:
        """Add to a tally from beside the reports; 0 makes it known."""
        self._values[member] = self._values.get(member, 0) + amount

    def by_member(self) -> dict[str, int | float]:
        """Every reading of the minute, by the name of its member."""
        self._fold()
        return {
            member: in_unit(value / self._weights_s.get(member, 1), READINGS[member].unit)
            for member, value in self._values.items()
        }

    def _fold(self) -> None:
        self._take(MEMORY, self._memory)
        self._take(VCPU, self._vcpu)
        self._memory, self._vcpu = [], []

    def _take(self, rules: Rules[_Group], groups: Sequence[_Group]) -> None:
        if not groups:
            return
        for member, read in rules.items():
            merges = READINGS[member].merges
            if merges == "mean":
                self._weigh(member, read, groups)
            elif merges == "last":
                last = next(_possible(read, reversed(groups)), None)
                if last is not None:
                    self._values[member] = last
            elif values := [*_possible(read, groups)]:
                self._values[member] = self._values.get(member, 0) + sum(values)

    def _weigh(
        self, member: str, read: Callable[[_Group], float | None], groups: Sequence[_Group]
    ) -> None:
        total, weight_s = self._values.get(member, 0.0), self._weights_s.get(member, 0.0)
        for group in groups:
            period_s, value = group.period, read(group)
            if is_long_enough(period_s) and value is not None and 0 <= value <= MAX_AMOUNT:
                total += period_s * value
                weight_s += period_s
        if weight_s:
            self._values[member], self._weights_s[member] = total, weight_s


def _possible(read: Callable[[_Group], float | None], groups: Iterable[_Group]) -> Iterator[float]:
    """The values of *groups* that are possible."""
    for group in groups:
        value = read(group)
        if value is not None and 0 <= value <= MAX_AMOUNT:
            yield value


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
        """The order of importance: uncorrectable first, then by rise, then by device."""
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

    def add_counters(self, counters: HardwareCounters | None, at_s: float) -> None:
        """Add the hardware counters of one report received at *at_s*."""
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
        """Members that a line has only above 0, or as the 0 that a chosen metric needs."""
        reported = self.uncorrected_reported
        is_shown = reported or (self.uncorrected is not None and _REPORTED in chosen)
        return {_REPORTED: reported} if is_shown else {}

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
    """An event for the worst of *rises* (rises or first sights), with the number of others."""
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
