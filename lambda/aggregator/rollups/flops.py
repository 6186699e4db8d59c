"""FLOP/s as a share of what the chips could do: of a cluster, and of the instances of a type."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING

from neuron_wire.instance_types import Flops, flops_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_wire import MinuteRecord


@dataclass(slots=True)
class PeakShares:
    """
    The instances that told FLOPs and whose chip is known, by type.

    FLOP/s are kept one by one and summed at the end, because the sum of floats depends on
    their order; peaks are whole numbers.
    """

    _tera_flops: dict[str, array[float]] = field(default_factory=dict)
    _peak_micros: dict[str, int] = field(default_factory=dict)

    def add(self, record: MinuteRecord) -> None:
        """Add an instance; one that told none, or of an unknown chip, is in no share."""
        flops = flops_of(record)
        if flops is None or record.instance_type is None:
            return
        name = record.instance_type
        self._tera_flops.setdefault(name, array("d")).append(flops.tera_flops)
        self._peak_micros[name] = self._peak_micros.get(name, 0) + flops.peak_micros

    def include(self, other: PeakShares) -> None:
        """Add the instances of *other*."""
        for name, tera_flops in other._tera_flops.items():
            self._tera_flops.setdefault(name, array("d")).extend(tera_flops)
            self._peak_micros[name] = self._peak_micros.get(name, 0) + other._peak_micros[name]

    def percent(self) -> float | None:
        """Of all of them together; None without any."""
        return self._percent(self._tera_flops)

    def by_type(self) -> dict[str, float]:
        """Of each type."""
        shares = {name: self._percent([name]) for name in self._tera_flops}
        return {name: round(share, 6) for name, share in shares.items() if share is not None}

    def _percent(self, names: Iterable[str]) -> float | None:
        names = list(names)
        tera_flops = fsum(value for name in names for value in self._tera_flops[name])
        return Flops(tera_flops, sum(self._peak_micros[name] for name in names)).percent_of_peak
