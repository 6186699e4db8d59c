"""How many cores did what: of a cluster, and of the instances of one type in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from neuron_wire.names import ATTACHED_IDLE, BUSY, UNATTACHED

MAX_TYPES: Final = 20
"""Instance types of a cluster that its rollup names: all of them, of any fleet there is."""

_TYPE: Final = re.compile(r"[a-z][a-z0-9-]{0,31}\.[a-z0-9-]{1,32}")  # as EC2 spells them


@dataclass(slots=True)
class CoreSums:
    """
    Sums over instances, all of them whole numbers: their order does not matter.

    Attributes:
        instances: Instances that reported.

        cores: Their logical NeuronCores.

        busy: Those at or above the busy threshold.

        attached_idle: Those that a runtime holds but does not keep busy.

        unattached: Those that are neither.

        hundredths: Utilization of the known cores, in hundredths of a percent.
    """

    instances: int = 0
    cores: int = 0
    busy: int = 0
    attached_idle: int = 0
    unattached: int = 0
    hundredths: int = 0

    @property
    def known(self) -> int:
        """Cores with utilization telemetry."""
        return self.busy + self.attached_idle + self.unattached

    def add(self, state: str, hundredths: int) -> None:
        """Add an instance by the letters of its cores and their utilization."""
        self.instances += 1
        self.cores += len(state)
        self.busy += state.count(BUSY)
        self.attached_idle += state.count(ATTACHED_IDLE)
        self.unattached += state.count(UNATTACHED)
        self.hundredths += hundredths

    def include(self, other: CoreSums) -> None:
        """Add the instances of *other*."""
        self.instances += other.instances
        self.cores += other.cores
        self.busy += other.busy
        self.attached_idle += other.attached_idle
        self.unattached += other.unattached
        self.hundredths += other.hundredths

    def gauges(self) -> dict[str, float]:
        """
        What there is to say, by metric.

        Without a core nothing is said about cores, and without a known one
        nothing about what they did.
        """
        gauges: dict[str, float] = {"Instances": self.instances}
        if self.cores:
            gauges["NeuronCores"] = self.cores
        if self.known:
            gauges["BusyCores"] = self.busy
            gauges["AttachedIdleCores"] = self.attached_idle
            gauges["UnattachedCores"] = self.unattached
            gauges["NeuronCoreUtilization"] = round(self.hundredths / self.known / 100, 6)
        return gauges


@dataclass(slots=True)
class CoresByType:
    """The same by instance type."""

    _sums: dict[str | None, CoreSums] = field(default_factory=dict)

    def add(self, instance_type: str | None, state: str, hundredths: int) -> None:
        """Add an instance; None is one of which nobody knows the type."""
        self._sums.setdefault(instance_type, CoreSums()).add(state, hundredths)

    def include(self, other: CoresByType) -> None:
        """Add the instances of *other*."""
        for instance_type, sums in other._sums.items():
            self._sums.setdefault(instance_type, CoreSums()).include(sums)

    def total(self) -> CoreSums:
        """The sums over all types."""
        total = CoreSums()
        for sums in self._sums.values():
            total.include(sums)
        return total

    def gauges(self) -> tuple[dict[str, dict[str, float]], int]:
        """
        What there is to say of each type.

        Returns:
            Gauges by type, of those that EC2 would spell so, the 20 with the
            most instances first; and how many types there are beyond those.
        """
        named = [(name, one) for name, one in self._sums.items() if name is not None]
        listed = [(name, one) for name, one in named if _TYPE.fullmatch(name)]
        listed.sort(key=lambda pair: (-pair[1].instances, pair[0]))
        found = {name: one.gauges() for name, one in listed[:MAX_TYPES]}
        return found, len(named) - len(found)
