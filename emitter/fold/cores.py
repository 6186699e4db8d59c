"""
Utilization and FLOP/s of each core over a minute.

Every runtime lists every core it can see, 0 for those it does not use: in one report a core's
utilization is the maximum over its runtimes, never the mean, and its FLOP/s are the sum.
A report weighs as long as its sample was. A core without a sample is unknown, never idle;
of the others each is busy, attached idle or unattached.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from emitter.fold.held_cores import held_by_memory, usable_memory
from emitter.fold.inventory import CORE_INDEX
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
    from collections.abc import Collection, Sequence
    from collections.abc import Set as AbstractSet

    from emitter.fold.inventory import Inventory
    from emitter.fold.runtime import ExecutionFold, RuntimeFold
    from emitter.fold.samples import FoldSettings
    from emitter.reports.groups import Runtime, Uses
    from emitter.reports.report import Report

NOT_DUE_PERIODS: Final = 1.5
"""An empty runtime list this soon after counters says that runtimes were not due."""


class CoreListing(msgspec.Struct, frozen=True, gc=False):
    """
    What the runtimes of one report say about each core, by core index from 0.

    Attributes:
        keys: Keys that are listed, impossible ones among them.

        percent: Utilization of the cores above 0, at most 100.

        flops: FLOP/s of the cores above 0.

        silent: Cores that some runtime lists without a percentage.

        without_flops: Cores for which no runtime gave FLOP/s, None when none gave any.
    """

    keys: AbstractSet[str]
    percent: dict[int, float]
    flops: dict[int, float]
    silent: AbstractSet[int]
    without_flops: set[int] | frozenset[int] | None


def merge_listings(  # noqa: C901 - one loop, for its speed
    tables: Sequence[tuple[Uses, RuntimeFold]], weight_s: float
) -> CoreListing:
    """Merge the cores that one report's runtimes list, and add to each fold what is its own."""
    percent: dict[int, float] = {}
    flops: dict[int, float] = {}
    silent: list[str] = []
    without_flops: list[str] = []
    for uses, fold in tables:
        total_flops = 0.0
        with_flops = len(uses)
        # 32 runtimes list 32 cores each, nearly all as 0: this loop is most of
        # the fold, and a core that does nothing passes without its index.
        for key, use in uses.items():
            if use is None:
                silent.append(key)
                without_flops.append(key)
                with_flops -= 1
                continue
            share = use.neuroncore_utilization
            rate = use.effective_flops
            if rate is None:
                rate = use.flops
            core = CORE_INDEX.get(key) if share or rate else None
            if share is None:
                silent.append(key)
            elif core is not None and share > 0:
                fold.used.add(core)
                if share > percent.get(core, 0.0):
                    percent[core] = share if share < 100.0 else 100.0  # noqa: FURB136 - hot
            if rate is None or not 0 <= rate <= MAX_FLOPS:
                without_flops.append(key)
                with_flops -= 1
            elif core is not None and rate:
                flops[core] = flops.get(core, 0.0) + rate
                total_flops += rate
        if with_flops:
            fold.add_flops(total_flops, weight_s)
    keys = tables[0][0].keys() if len(tables) == 1 else set().union(*(uses for uses, _ in tables))
    no_flops: set[int] | frozenset[int] | None = _NO_CORES
    if without_flops:
        gave_none = not flops and len(set(without_flops)) == len(keys)
        no_flops = None if gave_none else core_indexes(without_flops).difference(flops)
    return CoreListing(
        keys, percent, flops, core_indexes(silent) if silent else _NO_CORES, no_flops
    )


def core_indexes(keys: Collection[str]) -> set[int]:
    """The cores that have these keys."""
    return {CORE_INDEX[key] for key in keys if key in CORE_INDEX}


_NO_CORES: Final[frozenset[int]] = frozenset()


class CoreSpan:
    """
    Which cores a report is about; nearly always the same as in the report before.

    Attributes:
        keys: Keys that its runtimes list.

        existing: Number of cores that exist, or None while no report has said it.

        listed: Cores that are listed.

        beyond: Cores that exist in this minute because a report of it listed
            them, though they are not among the existing.

        cores: All cores it is about: the existing and those beyond, not the gaps between.

        width: The greatest index, plus one.

        malformed_keys: Keys that no core can have.
    """

    __slots__ = ("beyond", "cores", "existing", "keys", "listed", "malformed_keys", "width")

    def __init__(
        self, keys: AbstractSet[str], existing: int | None, beyond: frozenset[int]
    ) -> None:
        self.keys = frozenset(keys)
        self.existing = existing
        self.listed = core_indexes(keys)
        self.malformed_keys = len(keys) - len(self.listed)
        own = range(existing or 0)
        self.beyond = beyond.union(self.listed.difference(own)).difference(own)
        self.cores: Collection[int] = self.beyond.union(own) if self.beyond else own
        self.width = max(len(own), max(self.beyond, default=-1) + 1)


class CoreSample(NamedTuple):
    """What one report said about the cores *cores*, but for *unknown*, over *period_s*."""

    listing: CoreListing
    span: CoreSpan
    cores: Collection[int]
    unknown: AbstractSet[int]
    period_s: float

    def tera_flops(self) -> float | None:
        """Achieved 10^12 FLOP/s of all cores together, or None when it gave none."""
        if self.listing.without_flops is None or not self.span.listed:
            return None
        rates = self.listing.flops.items()
        return sum(rate for core, rate in rates if core not in self.unknown) / 1e12


class Cores:
    """
    Samples of the open minute, and the anchors that outlive it.

    Attributes:
        covered_s: Seconds that samples cover so far, not yet cut at 60.

        malformed_keys: Core keys dropped because no core can have them.

        newest: Of the newest report where every report is wanted, None when it gave no sample.
    """

    def __init__(self, settings: FoldSettings) -> None:
        self.malformed_keys = 0
        self.newest: CoreSample | None = None
        self._settings = settings
        self._span = CoreSpan(_NOTHING.keys, None, _NO_CORES)
        self._periods = Periods(settings.period_s)
        self._anchor_s: float | None = None  # receipt of the last sample, or first empty list
        self._counters_s: float | None = None  # receipt of the last line with runtime counters
        self.clear()

    def configure(self, settings: FoldSettings) -> None:
        """Expect another period, or other runtimes."""
        self._settings = settings
        self._periods.configured_s = settings.period_s

    def clear(self) -> None:
        """Begin a new minute; the time of the last sample is remembered."""
        self.covered_s = 0.0
        self._has_flops = False
        if self._span.beyond:
            self._span = CoreSpan(_NOTHING.keys, None, _NO_CORES)  # a widening lasts a minute
        self._span_s = 0.0  # of reports about all cores of the span, until it changes
        self._span_without_flops_s = 0.0
        self._weight_s: list[float] = []
        self._weighted_percent: list[float] = []
        self._without_flops_s: list[float] = []  # of the weight, what came without FLOP/s
        self._weighted_flops: list[float] = []

    def add_runtimes(
        self, runtimes: list[Runtime], folds: list[RuntimeFold], inventory: Inventory, at_s: float
    ) -> None:
        """
        Add the core counters of one report received at *at_s*, seconds since the epoch.

        What each runtime did goes into its fold, one for each of *runtimes*.
        """
        periods = self._periods
        periods.has_runtime = True
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
            if period_s > longest_s:  # noqa: PLR1730 - hot
                longest_s = period_s
        if not accepted:
            return
        weight_s = periods.accept_period(longest_s)
        self._anchor_s = at_s
        listing = merge_listings(accepted, weight_s)
        span = self._span
        if span.existing != inventory.cores or listing.keys != span.keys:
            span = self._change_span(listing.keys, inventory.cores)
        self.malformed_keys += span.malformed_keys
        unknown = listing.silent
        if failed:
            unknown = unknown | _failing(failed, span.width, inventory.per_device())
        if unknown:
            unknown = unknown - listing.percent.keys()
        self._add_sample(listing, unknown, weight_s)

    def add_no_runtime(self, report: Report, inventory: Inventory, at_s: float) -> bool:
        """
        Add a report whose list of runtimes is empty.

        Returns:
            Whether it says that no runtime exists: then every core is at 0.
        """
        longest_s = longest_system_period_s(report.system_data)
        if is_long_enough(longest_s):
            self._periods.accept_system_period(longest_s)
        hardware = report.neuron_hardware_info
        if self._was_not_due(at_s) or self._settings.only_matched or (hardware and hardware.error):
            return False
        if self._anchor_s is None:
            weight_s = longest_s if is_long_enough(longest_s) else 0.0
        else:
            weight_s = max(0.0, at_s - self._anchor_s)
        self._anchor_s = at_s
        if weight_s > 0:
            weight_s = self._periods.believed_s(weight_s)
            if self._span.keys or self._span.existing != inventory.cores:
                self._change_span(_NOTHING.keys, inventory.cores)
            self._add_sample(_NOTHING, _NOTHING.silent, weight_s)
        return True

    def core_states(
        self, held: AbstractSet[int], known_cores: int | None
    ) -> tuple[str, tuple[float | None, ...], list[float]]:
        """
        State, utilization (None where unknown) and covered seconds of each core over the minute.

        Cores are those that are known to exist, and beyond them those that were
        seen or are held.
        """
        self._settle()
        settings = self._settings
        width = max(known_cores or 0, len(self._weight_s), max(held, default=-1) + 1)
        self._widen(width)
        states: list[str] = []
        utilization: list[float | None] = []
        for core, weight_s in enumerate(self._weight_s):
            percent = self._weighted_percent[core] / weight_s if weight_s > 0 else None
            is_held = core in held or (percent is not None and percent > 0)
            # With a tag filter, a core that no matched runtime holds may be busy
            # for a runtime that the filter hides.
            if percent is None or (settings.only_matched and not is_held):
                states.append(UNKNOWN)
                utilization.append(None)
                continue
            # Rounded first, so that the letter agrees with the number beside it.
            percent = round(percent, PERCENT_DECIMALS)
            utilization.append(percent)
            if percent >= settings.idle_below_percent:
                states.append(BUSY)
            else:
                states.append(ATTACHED_IDLE if is_held else UNATTACHED)
        covered_s = [round(weight_s, 2) for weight_s in self._weight_s]
        return "".join(states), tuple(utilization), covered_s

    def covered_seconds(self) -> float:
        """Seconds of the minute that samples cover, 0 to 60."""
        return min(float(MINUTE_S), round(self.covered_s, 2))

    def tera_flops(self) -> float | None:
        """Achieved 10^12 FLOP/s of all cores together, or None when no report gave any."""
        if not self._has_flops:
            return None
        self._settle()
        sums = zip(self._weighted_flops, self._weight_s, self._without_flops_s, strict=True)
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
        self._without_flops_s += more
        self._weighted_flops += more

    def _change_span(self, keys: AbstractSet[str], existing: int | None) -> CoreSpan:
        """From this report on, reports are about other cores."""
        self._settle()
        self._span = CoreSpan(keys, existing, self._span.beyond)
        return self._span

    def _settle(self) -> None:
        """Give each core of the span the weight of the reports about all of them."""
        weight_s, without_flops_s = self._span_s, self._span_without_flops_s
        if not weight_s:
            return
        self._span_s = self._span_without_flops_s = 0.0
        for core in self._span.cores:
            self._weight_s[core] += weight_s
            self._without_flops_s[core] += without_flops_s

    def _add_sample(self, listing: CoreListing, unknown: AbstractSet[int], weight_s: float) -> None:
        span = self._span
        cores = span.cores
        if span.width > len(self._weight_s):
            self._widen(span.width)
        if unknown:
            cores = [core for core in cores if core not in unknown]
        if not cores:
            return
        if self._settings.every_report:
            self.newest = CoreSample(listing, span, cores, unknown, weight_s)
        self.covered_s += weight_s
        if unknown:
            for core in cores:
                self._weight_s[core] += weight_s
        else:
            self._span_s += weight_s
        sums = self._weighted_percent
        for core, share in listing.percent.items():
            sums[core] += weight_s * share
        self._add_flops(listing, cores, unknown, weight_s)

    def _add_flops(
        self,
        listing: CoreListing,
        cores: Collection[int],
        unknown: AbstractSet[int],
        weight_s: float,
    ) -> None:
        # Weighted like utilization: a core that nobody uses does no FLOP/s.
        without_flops = listing.without_flops
        if without_flops is not None:
            self._has_flops = self._has_flops or bool(self._span.listed)
            for core in without_flops.intersection(cores) if without_flops else ():
                self._without_flops_s[core] += weight_s
        elif unknown:
            for core in cores:
                self._without_flops_s[core] += weight_s
        else:
            self._span_without_flops_s += weight_s
        sums = self._weighted_flops
        for core, rate in listing.flops.items():
            if core not in unknown:
                sums[core] += weight_s * rate


_NOTHING: Final = CoreListing(frozenset(), {}, {}, _NO_CORES, _NO_CORES)
"""The listing of a report that says that no runtime exists."""


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
    def from_report(
        cls,
        sample: CoreSample | None,
        executions: ExecutionFold,
        at_s: float,
        known_cores: int | None,
        matched: AbstractSet[int] | None,
    ) -> ReportSample | None:
        """
        The sample of one report, or None when it gave neither cores nor executions.

        *matched* are the cores that are known with a tag filter, None without one.
        """
        ended, failed = executions.ended, executions.failed
        if sample is None:
            return None if ended is None else cls(at_s, None, (), ended, failed)
        percent, cores = sample.listing.percent, sample.cores
        if matched is not None:
            cores = [core for core in cores if core in matched or percent.get(core)]
        width = max(known_cores or 0, max(sample.cores, default=-1) + 1)
        utilization = [
            as_percent(percent.get(core, 0.0)) if core in cores else None for core in range(width)
        ]
        return cls(at_s, sample.period_s, tuple(utilization), ended, failed, sample.tera_flops())
