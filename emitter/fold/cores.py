"""
What the runtimes of one report say about each core, merged, and which cores it is about.

Every runtime lists every core it can see, 0 for those it does not use: the
core's utilization is the maximum over its runtimes, never the mean, and its
FLOP/s are the sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from emitter.fold.held_cores import held_by_memory, usable_memory
from emitter.fold.inventory import CORE_INDEX
from emitter.fold.runtime import ExecutionFold
from emitter.fold.samples import (
    MAX_FLOPS,
    PERCENT_DECIMALS,
    Periods,
    as_percent,
    is_long_enough,
    longest_system_period_s,
)
from neuron_wire.names import ATTACHED_IDLE, BUSY, MINUTE_S, UNATTACHED, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from collections.abc import Set as AbstractSet

    from emitter.fold.inventory import Inventory
    from emitter.fold.runtime import RuntimeFold
    from emitter.reports.groups import Runtime, Uses
    from emitter.reports.report import Report


class Listing(msgspec.Struct, frozen=True, gc=False):
    """
    Cores by index, from 0, but where keys are meant.

    Attributes:
        keys: Keys that are listed, those that no core can have among them.

        percent: Utilization of the cores above 0, at most 100.

        flops: FLOP/s of the cores above 0.

        silent: Cores that some runtime lists without a percentage.

        flopless: Cores of which no runtime told FLOP/s, None when none told of any core.
    """

    keys: set[str]
    percent: dict[int, float]
    flops: dict[int, float]
    silent: set[int]
    flopless: set[int] | None


def merged(  # noqa: C901, PLR0912 - one loop, for its speed
    tables: Iterable[tuple[Uses, RuntimeFold]], weight_s: float
) -> Listing:
    """
    Merge the cores that one report's runtimes list; it counts for *weight_s*.

    What a runtime says of itself goes into its fold on the way.
    """
    keys: set[str] = set()
    percent: dict[int, float] = {}
    flops: dict[int, float] = {}
    silent: set[str] = set()
    flopless: set[str] = set()
    for uses, fold in tables:
        used: list[int] = []
        total_flops = 0.0
        untold = 0
        keys.update(uses)
        # 32 runtimes list 32 cores each, nearly all as 0: this loop is most of
        # the fold, and a core that does nothing passes without its index.
        for key, use in uses.items():
            if use is None:
                silent.add(key)
                flopless.add(key)
                untold += 1
                continue
            share = use.neuroncore_utilization
            if share:
                core = CORE_INDEX.get(key)
                if core is not None and share > 0:
                    used.append(core)
                    if share > percent.get(core, 0.0):
                        percent[core] = min(share, 100.0)
            elif share is None:
                silent.add(key)
            rate = use.effective_flops
            if rate is None:
                rate = use.flops
            if rate:
                core = CORE_INDEX.get(key)
                if not 0 < rate <= MAX_FLOPS:
                    flopless.add(key)
                    untold += 1
                elif core is not None:
                    flops[core] = flops.get(core, 0.0) + rate
                    total_flops += rate
            elif rate is None:
                flopless.add(key)
                untold += 1
        fold.add_cores(used, total_flops if untold < len(uses) else None, weight_s)
    without: set[int] | None = _NO_CORES
    if flopless:
        tells_none = not flops and len(flopless) == len(keys)
        without = None if tells_none else indexes(flopless).difference(flops)
    return Listing(keys, percent, flops, indexes(silent) if silent else _NO_CORES, without)


def indexes(keys: AbstractSet[str]) -> set[int]:
    """The cores that have these keys."""
    return {CORE_INDEX[key] for key in keys if key in CORE_INDEX}


_NO_CORES: Final[set[int]] = set()  # never added to


class Span:
    """
    Which cores a report is about; nearly always the same as the report before.

    Attributes:
        keys: Keys that its runtimes list.

        told: Cores that exist, or None while no report has told.

        listed: Cores that are listed.

        beyond: Cores that exist in this minute because a report of it listed
            them, though nobody told of them.

        cores: All cores it is about: those told and those beyond, not the gaps between.

        width: The greatest index, plus one.

        malformed_keys: Keys that no core can have.
    """

    __slots__ = ("beyond", "cores", "keys", "listed", "malformed_keys", "told", "width")

    def __init__(self, keys: set[str], told: int | None, beyond: frozenset[int]) -> None:
        self.keys = keys
        self.told = told
        self.listed = indexes(keys)
        self.malformed_keys = len(keys) - len(self.listed)
        own = range(told or 0)
        self.beyond = beyond.union(self.listed.difference(own)).difference(own)
        self.cores: Collection[int] = self.beyond.union(own) if self.beyond else own
        self.width = max(len(own), max(self.beyond, default=-1) + 1)


class Sample(NamedTuple):
    """What one report said about the cores *cores*, but for *untold*, over *period_s*."""

    listing: Listing
    span: Span
    cores: Collection[int]
    untold: set[int]
    period_s: float

    def utilization_percent(self, core: int) -> float | None:
        """0 to 100, or None for a core that it says nothing about."""
        return self.listing.percent.get(core, 0.0) if core in self.cores else None

    def tera_flops(self) -> float | None:
        """Achieved 10^12 FLOP/s of all cores together, or None when it told none."""
        if self.listing.flopless is None or not self.span.listed:
            return None
        rates = self.listing.flops.items()
        return sum(rate for core, rate in rates if core not in self.untold) / 1e12


NOT_DUE_PERIODS: Final = 1.5
"""An empty runtime list this soon after counters says that runtimes were not due."""


class Cores:
    """
    Samples of the open minute, and the anchors that outlive it.

    Attributes:
        covered_s: Seconds that samples cover so far, not yet cut at 60.

        malformed_keys: Core keys dropped because no core can have them.

        newest: The members of a `Sample` of the report taken last, or None when it gave none.
    """

    def __init__(self, periods: Periods, *, only_matched: bool) -> None:
        self.malformed_keys = 0
        self.newest: tuple[Listing, Span, Collection[int], set[int], float] | None = None
        self._span = Span(set(), None, frozenset())
        self._periods = periods
        # With a tag filter, a core that no matched runtime holds may be busy
        # for a runtime that the filter hides.
        self._only_matched = only_matched
        self._anchor_s: float | None = None  # receipt of the last sample, or first empty list
        self._counters_s: float | None = None  # receipt of the last line with runtime counters
        self.clear()

    def configure(self, period_s: float | None, *, only_matched: bool) -> None:
        """Expect another period, or other runtimes."""
        self._periods.configure(period_s)
        self._only_matched = only_matched

    def clear(self) -> None:
        """Begin a new minute; the time of the last sample is remembered."""
        self.covered_s = 0.0
        self._flops_told = False
        if self._span.beyond:
            self._span = Span(set(), None, frozenset())  # a widening lasts for its minute
        self._span_s = 0.0  # of reports about all cores of the span, until it changes
        self._span_flopless_s = 0.0
        self._weight_s: list[float] = []
        self._weighted_percent: list[float] = []
        self._flopless_s: list[float] = []  # of the weight, what came without FLOP/s
        self._weighted_flops: list[float] = []

    def add(
        self, runtimes: list[Runtime], folds: list[RuntimeFold], inventory: Inventory, at_s: float
    ) -> None:
        """
        Take the runtimes of one report received at *at_s*, seconds since the epoch.

        What they say of themselves goes into *folds*, one for each.
        """
        self._periods.has_runtime = True
        accepted: list[tuple[Uses, RuntimeFold]] = []
        failed: list[Runtime] = []
        longest_s = 0.0
        for runtime, fold in zip(runtimes, folds, strict=True):
            counters = None if runtime.report is None else runtime.report.neuroncore_counters
            if counters is None:
                failed.append(runtime)
                continue
            self._counters_s = at_s
            uses, period_s = counters.neuroncores_in_use, counters.period
            if uses is not None:
                fold.listed = uses
            if counters.error or uses is None or not is_long_enough(period_s):
                failed.append(runtime)
                continue
            accepted.append((uses, fold))
            longest_s = max(longest_s, period_s)
        if not accepted:
            return
        weight_s = self._periods.accept(longest_s)
        self._anchor_s = at_s
        listing = merged(accepted, weight_s)
        span = self._span
        if span.keys != listing.keys or span.told != inventory.cores:
            span = self._spread(listing.keys, inventory.cores)
        self.malformed_keys += span.malformed_keys
        untold = listing.silent
        if failed:
            untold = untold | _failing(failed, span.width, inventory.per_device())
        if untold:
            untold = untold - listing.percent.keys()
        self._sample(listing, untold, weight_s)

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
        if weight_s > 0:
            weight_s = self._periods.believed_s(weight_s)
            if self._span.keys or self._span.told != inventory.cores:
                self._spread(_NOBODY.keys, inventory.cores)
            self._sample(_NOBODY, _NOBODY.silent, weight_s)
        return True

    def core_states(
        self, held: AbstractSet[int], known_cores: int | None, idle_below_percent: float
    ) -> tuple[str, tuple[float | None, ...]]:
        """
        The state of each core over the minute, and its utilization, None where it is unknown.

        Cores are those that are known to exist, and beyond them those that were
        seen or are held.
        """
        self._settle()
        width = max(known_cores or 0, len(self._weight_s), max(held, default=-1) + 1)
        states: list[str] = []
        utilization: list[float | None] = []
        for core in range(width):
            weight_s = self._weight_s[core] if core < len(self._weight_s) else 0.0
            percent = self._weighted_percent[core] / weight_s if weight_s > 0 else None
            is_held = core in held or (percent is not None and percent > 0)
            if percent is None or (self._only_matched and not is_held):
                states.append(UNKNOWN)
                utilization.append(None)
                continue
            # Rounded first, so that the letter agrees with the number beside it.
            percent = round(percent, PERCENT_DECIMALS)
            utilization.append(percent)
            if percent >= idle_below_percent:
                states.append(BUSY)
            else:
                states.append(ATTACHED_IDLE if is_held else UNATTACHED)
        return "".join(states), tuple(utilization)

    def core_covered_s(self, core: int) -> float:
        """Seconds that samples of this one core cover, as exact as a line says them."""
        self._settle()
        return round(self._weight_s[core], 2) if core < len(self._weight_s) else 0.0

    def covered_seconds(self) -> float:
        """Seconds of the minute that samples cover, 0 to 60."""
        return min(float(MINUTE_S), round(self.covered_s, 2))

    def tera_flops(self) -> float | None:
        """Achieved 10^12 FLOP/s of all cores together, or None when no report told."""
        if not self._flops_told:
            return None
        self._settle()
        sums = zip(self._weighted_flops, self._weight_s, self._flopless_s, strict=True)
        return sum(flops / (all_s - less_s) for flops, all_s, less_s in sums if flops) / 1e12

    def _was_not_due(self, at_s: float) -> bool:
        if self._counters_s is None:
            return False
        if at_s < self._counters_s:
            # The clock was set back: count from here, or an hour would seem to be missing.
            self._counters_s = at_s
            self._anchor_s = at_s
        return at_s - self._counters_s <= NOT_DUE_PERIODS * self._periods.nominal_s()

    def _widen(self, width: int) -> None:
        more = [0.0] * (width - len(self._weight_s))
        self._weight_s += more
        self._weighted_percent += more
        self._flopless_s += more
        self._weighted_flops += more

    def _spread(self, keys: set[str], told: int | None) -> Span:
        """Be about other cores from this report on."""
        self._settle()
        self._span = Span(keys, told, self._span.beyond)
        return self._span

    def _settle(self) -> None:
        """Give each core of the span what reports about all of them weighed together."""
        weight_s, flopless_s = self._span_s, self._span_flopless_s
        if not weight_s:
            return
        self._span_s = self._span_flopless_s = 0.0
        for core in self._span.cores:
            self._weight_s[core] += weight_s
            self._flopless_s[core] += flopless_s

    def _sample(self, listing: Listing, untold: set[int], weight_s: float) -> None:
        span = self._span
        if span.width > len(self._weight_s):
            self._widen(span.width)
        if untold:
            cores: Collection[int] = [core for core in span.cores if core not in untold]
        else:
            cores = span.cores
        if not cores:
            return
        self.newest = (listing, span, cores, untold, weight_s)
        self.covered_s += weight_s
        if untold:
            for core in cores:
                self._weight_s[core] += weight_s
        else:
            self._span_s += weight_s
        sums = self._weighted_percent
        for core, share in listing.percent.items():
            sums[core] += weight_s * share
        self._sample_flops(listing, cores, untold, weight_s)

    def _sample_flops(
        self, listing: Listing, cores: Collection[int], untold: set[int], weight_s: float
    ) -> None:
        # Weighted like utilization: a core that nobody uses does no FLOP/s.
        flopless = listing.flopless
        if flopless is not None:
            self._flops_told = self._flops_told or bool(self._span.listed)
            for core in flopless.intersection(cores) if flopless else ():
                self._flopless_s[core] += weight_s
        elif untold:
            for core in cores:
                self._flopless_s[core] += weight_s
        else:
            self._span_flopless_s += weight_s
        sums = self._weighted_flops
        for core, rate in listing.flops.items():
            if core not in untold:
                sums[core] += weight_s * rate


_NOBODY: Final = merged((), 0.0)


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


@dataclass(frozen=True, slots=True)
class ReportSample:
    """
    One report that gave a sample of utilization or of executions.

    Attributes:
        at_s: Its receipt, seconds since the Unix epoch.

        period_s: Seconds that its core counters cover, or None without any.

        utilization_percent: Per core, 0 to 100, None where it gave no sample.

        executions: Executions that ended in its period, or None.

        execution_errors: Executions that failed in its period, or None.

        tera_flops: Achieved 10^12 FLOP/s of all cores together, or None.
    """

    at_s: float
    period_s: float | None = None
    utilization_percent: tuple[float | None, ...] = ()
    executions: int | None = None
    execution_errors: int | None = None
    tera_flops: float | None = None

    @classmethod
    def of(
        cls,
        cores: Sample | None,
        runtimes: Iterable[Runtime],
        at_s: float,
        known_cores: int | None,
        matched: AbstractSet[int] | None,
        *,
        none_ran: bool,
    ) -> ReportSample | None:
        """
        What a report said, or None when it gave neither cores nor executions.

        *matched* are the cores that are known with a tag filter, None without one;
        *none_ran* says that executions are known to be 0, because no runtime exists.
        """
        executions = ExecutionFold.of_nobody() if none_ran else ExecutionFold()
        for runtime in runtimes:
            if runtime.report is not None and runtime.report.execution_stats is not None:
                executions.add(runtime.report.execution_stats)
        if cores is None:
            if executions.ended is None:
                return None
            return cls(at_s, executions=executions.ended, execution_errors=executions.failed)
        width = max(known_cores or 0, max(cores.cores, default=-1) + 1)
        return cls(
            at_s,
            period_s=cores.period_s,
            utilization_percent=tuple(
                as_percent(
                    None
                    if matched is not None
                    and core not in matched
                    and not cores.listing.percent.get(core)
                    else cores.utilization_percent(core)
                )
                for core in range(width)
            ),
            executions=executions.ended,
            execution_errors=executions.failed,
            tera_flops=cores.tera_flops(),
        )
