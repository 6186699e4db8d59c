"""
Utilization and FLOP/s of each core over a minute.

A report weighs as long as its sample was. What nobody measured has no sample,
and a core without a sample is unknown, never idle.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from emitter.fold.held import held_by_memory, usable_memory
from emitter.fold.listing import Listing, merged
from emitter.fold.periods import Periods, is_long_enough, longest_system_period_s
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.fold.inventory import Inventory
    from emitter.reports.groups import Counters, Runtime
    from emitter.reports.report import Report

NOT_DUE_PERIODS: Final = 1.5
"""An empty runtime list this soon after counters says that runtimes were not due."""

_GONE: Final = re.compile(
    r"no such (process|file)|process (has )?(exited|finished)|defunct", re.IGNORECASE
)


def is_gone(runtime: Runtime) -> bool:
    """
    Whether the entry is what is left of a process that ended.

    A group's own "no such file" error is not enough: in a sidecar with its own
    process namespace it stands in every report of a living runtime.
    """
    if not runtime.error or not _GONE.search(runtime.error):
        return False
    report = runtime.report
    return report is None or report.neuroncore_counters is None


class Cores:
    """
    Samples of the open minute, and the anchors that outlive it.

    Attributes:
        covered_s: Seconds that samples cover so far, not yet cut at 60.

        malformed_keys: Core keys dropped because no core can have them.
    """

    def __init__(self, periods: Periods, *, only_matched: bool = False) -> None:
        self.malformed_keys = 0
        self._periods = periods
        # With a tag filter, a core that no matched runtime holds may be busy
        # for a runtime that the filter hides.
        self._only_matched = only_matched
        self._anchor_s: float | None = None  # receipt of the last sample, or first empty list
        self._counters_s: float | None = None  # receipt of the last line with runtime counters
        self.clear()

    def clear(self) -> None:
        """
        Begin a new minute; the time of the last sample is remembered.
        """
        self.covered_s = 0.0
        self._flops_told = False
        self._weight_s: list[float] = []
        self._weighted_percent: list[float] = []
        self._flopless_s: list[float] = []  # of the weight, what came without FLOP/s
        self._weighted_flops: list[float] = []

    def add(self, runtimes: list[Runtime], inventory: Inventory, at_s: float) -> None:
        """
        Take the runtimes of one report received at *at_s*, seconds since the epoch.
        """
        accepted: list[Counters] = []
        failed: list[Runtime] = []
        longest_s = 0.0
        for runtime in runtimes:
            counters = None if runtime.report is None else runtime.report.neuroncore_counters
            if counters is not None:
                self._counters_s = at_s
            if (
                counters is None
                or counters.error
                or counters.neuroncores_in_use is None
                or not is_long_enough(counters.period)
            ):
                failed.append(runtime)
            else:
                accepted.append(counters)
                longest_s = max(longest_s, counters.period or 0.0)
        if not accepted:
            return
        weight_s = self._periods.accept(longest_s)
        self._anchor_s = at_s
        listing = merged(accepted)
        self.malformed_keys += listing.malformed_keys
        width = max(inventory.cores or 0, max(listing.cores, default=-1) + 1)
        untold = listing.silent
        if failed:
            untold = untold | _failing(failed, width, inventory.per_device())
        if untold:
            untold = untold - listing.percent.keys()
        # While the number of cores is unknown, those listed are all that is known to exist.
        known = listing.cores if inventory.cores is None else range(width)
        self._widen(width)
        self._sample(listing, known, untold, weight_s)

    def add_nobody(self, report: Report, inventory: Inventory, at_s: float) -> bool:
        """
        Take a report whose list of runtimes is empty.

        Returns:
            Whether it says that no runtime exists: then every core is at 0.
        """
        longest_s = longest_system_period_s(report.system_data)
        if is_long_enough(longest_s):
            self._periods.accept_system(longest_s)
        hardware = report.neuron_hardware_info
        if self._was_not_due(at_s) or self._only_matched or (hardware and hardware.error):
            return False
        if self._anchor_s is None:
            weight_s = longest_s if is_long_enough(longest_s) else 0.0
        else:
            weight_s = max(0.0, at_s - self._anchor_s)
        self._anchor_s = at_s
        if weight_s > 0 and inventory.cores is not None:
            self._widen(inventory.cores)
            weight_s = self._periods.believed_s(weight_s)
            self._sample(_NOBODY, range(inventory.cores), set(), weight_s)
        return True

    def width(self) -> int:
        """
        Cores that were seen: the greatest index, plus one.
        """
        return len(self._weight_s)

    def utilization_percent(self, core: int) -> float | None:
        """
        Mean over the reports that gave the core a sample, by their length.
        """
        if core >= len(self._weight_s) or self._weight_s[core] <= 0:
            return None
        return self._weighted_percent[core] / self._weight_s[core]

    def core_covered_s(self, core: int) -> float:
        """
        Seconds that samples of this one core cover, as exact as a line says them.
        """
        return round(self._weight_s[core], 2) if core < len(self._weight_s) else 0.0

    def covered_seconds(self) -> float:
        """
        Seconds of the minute that samples cover, 0 to 60.
        """
        return min(float(MINUTE_S), round(self.covered_s, 2))

    def tera_flops(self) -> float | None:
        """
        Achieved 10^12 FLOP/s of all cores together, or None when no report told.
        """
        if not self._flops_told:
            return None
        sums = zip(self._weighted_flops, self._weight_s, self._flopless_s, strict=True)
        return sum(flops / (all_s - less_s) for flops, all_s, less_s in sums if flops) / 1e12

    def _was_not_due(self, at_s: float) -> bool:
        if self._counters_s is None:
            return False
        if at_s < self._counters_s:
            # The clock was set back: count from here, or an hour would seem to be missing.
            self._counters_s = at_s
            self._anchor_s = at_s
        nominal_s = self._periods.nominal_s()
        return nominal_s is not None and at_s - self._counters_s <= NOT_DUE_PERIODS * nominal_s

    def _widen(self, width: int) -> None:
        if width > len(self._weight_s):
            more = [0.0] * (width - len(self._weight_s))
            self._weight_s += more
            self._weighted_percent += more
            self._flopless_s += more
            self._weighted_flops += more

    def _sample(
        self, listing: Listing, known: Iterable[int], untold: set[int], weight_s: float
    ) -> None:
        cores = [core for core in known if core not in untold] if untold else known
        sums_s = self._weight_s
        is_sampled = False
        for core in cores:
            sums_s[core] += weight_s
            is_sampled = True
        if not is_sampled:
            return
        self.covered_s += weight_s
        sums = self._weighted_percent
        for core, share in listing.percent.items():
            sums[core] += weight_s * share
        # Weighted like utilization: a core that nobody uses does no FLOP/s.
        tells_flops = len(listing.flopless) < len(listing.cores)
        self._flops_told = self._flops_told or tells_flops
        if listing.flopless:
            for core in listing.flopless.intersection(cores) if tells_flops else cores:
                self._flopless_s[core] += weight_s
        for core, rate in listing.flops.items():
            if core not in untold:
                self._weighted_flops[core] += weight_s * rate


_NOBODY: Final = merged(())


def _failing(failed: list[Runtime], width: int, cores_per_device: int | None) -> set[int]:
    """
    Cores about which a failed runtime may hide something.

    Those it holds, or all when its memory group is missing too.
    """
    cores: set[int] = set()
    for runtime in failed:
        memory = usable_memory(runtime)
        if memory is None:
            return set(range(width))
        cores |= held_by_memory(memory, cores_per_device)[0]
    return cores
