"""
Utilization of the physical cores behind logical ones, over a minute.

Each weighs as its logical core does in the same reports, so that the mean of
the physical cores is the utilization of the logical one. Only for who chose it:
no other part of a minute needs more than the logical core.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from emitter.fold.amounts import PERCENT_DECIMALS
from emitter.fold.inventory import CORE_INDEX, MAX_PHYSICAL
from emitter.fold.periods import is_long_enough
from neuron_wire.names import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emitter.fold.span import Sample
    from emitter.reports.groups import PhysicalUse, Runtime
    from emitter.reports.report import Report

_NUMBER: Final = re.compile(r"[0-9]+\Z")


class PhysicalCores:
    """The open minute; how many stand behind a logical core outlives it."""

    def __init__(self) -> None:
        self._per_core = 0
        self.clear()

    def clear(self) -> None:
        """Begin a new minute."""
        self._weight_s: dict[int, float] = {}
        self._weighted: dict[int, dict[str, float]] = {}

    def add(self, report: Report, runtimes: Iterable[Runtime], sample: Sample) -> None:
        """Take the *runtimes* of *report*, which gave *sample* of the logical cores."""
        report.find_splits()
        splits = _splits(runtimes)
        for core in sample.cores:
            split = splits.get(core)
            if split is None and core in sample.listing.percent:
                continue  # it was busy, and nobody said with which half
            self._weight_s[core] = self._weight_s.get(core, 0.0) + sample.period_s
            if split is not None:
                sums = self._weighted.setdefault(core, {})
                for name, share in split.items():
                    sums[name] = sums.get(name, 0.0) + sample.period_s * share

    def percent(self, states: str, per_core: int | None) -> dict[int, float]:
        """
        By index, those of logical core 0 first; *states* are the letters of the logical cores.

        *per_core* is what the hardware says of how many one stands for. Of an idle
        core that nobody listed each is 0; where nothing is split, there are none.
        """
        seen = max(map(len, self._weighted.values()), default=0)
        self._per_core = max(self._per_core, min(seen, MAX_PHYSICAL))
        width = max(self._per_core, per_core or 0)
        if width <= 1:
            return {}
        percents: dict[int, float] = {}
        for core, weight_s in sorted(self._weight_s.items()):
            if core >= len(states) or states[core] == UNKNOWN:
                continue
            sums = self._weighted.get(core, {})
            told = [sums[name] / weight_s for name in sorted(sums, key=_order)][:width]
            for place, share in enumerate(told or [0.0] * width):
                percents[core * width + place] = round(share, PERCENT_DECIMALS)
        return percents


def _splits(runtimes: Iterable[Runtime]) -> dict[int, dict[str, float]]:
    """The greatest share of each physical core, by logical core and name."""
    splits: dict[int, dict[str, float]] = {}
    for runtime in runtimes:
        counters = None if runtime.report is None else runtime.report.neuroncore_counters
        if counters is None or counters.error or not is_long_enough(counters.period):
            continue
        for key, use in (counters.neuroncores_in_use or {}).items():
            core = CORE_INDEX.get(key)
            if core is not None and use is not None and use.split:
                _merge(splits.setdefault(core, {}), use.split)
    return splits


def _merge(shares: dict[str, float], split: Mapping[str, PhysicalUse | None]) -> None:
    for name, use in split.items():
        percent = None if use is None else use.neuroncore_utilization
        if percent is not None:
            shares[name] = max(shares.get(name, 0.0), min(100.0, percent))


def _order(name: str) -> tuple[int, str]:
    """`nc_v3.10` after `nc_v3.9`."""
    number = _NUMBER.search(name)
    return (int(number[0]) if number else 0, name)
