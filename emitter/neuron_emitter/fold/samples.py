"""
The sample of one report about the cores, and the seconds for which it counts.

Every runtime lists every core that it can see, with 0 for cores it does not use: a core's
utilization is the maximum over its runtimes, never the mean, and its FLOP/s are the sum. A sample
counts for the period of its counters, at most two nominal periods. A core that a runtime may hide
is in no sample: it is unknown, never idle.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from neuron_emitter.fold.amounts import (
    LONGEST_NOMINAL_S,
    MAX_FLOPS,
    MAX_PERIOD_S,
    SHORTEST_PERIOD_S,
    is_long_enough,
)
from neuron_emitter.fold.inventory import CORE_INDEX, core_indexes
from neuron_emitter.fold.unknown_cores import held_or_all
from neuron_wire.names import COUNTERS_UNREADABLE, DEVICES_NOT_SEEN, MINUTE_S
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from neuron_emitter.fold.inventory import Inventory
    from neuron_emitter.fold.runtimes import RuntimeFold
    from neuron_emitter.fold.unknown_cores import UnknownCores
    from neuron_emitter.reports.groups import Number, Runtime, Runtimes, System, Text, Uses, Whole
    from neuron_emitter.reports.report import Report

NOT_DUE_PERIODS: Final = 1.5
"""Periods after the last counters, in which an empty list only means that runtimes were not due."""


@dataclass(frozen=True, slots=True)
class FoldSettings:
    """
    Settings that affect the meaning of a minute.

    Attributes:
        idle_below_percent: The utilization from which a core is busy, 0 to 100.

        period_s: The period of the core counters if we configure it, otherwise None.

        only_matched: True if a tag filter hides some runtimes from the reports.

        runtime_lines: The choice of runtimes with lines: `changes`, `all` or `none`.

        executions_asked: True if the reports were requested with executions.

        every_report: True if each report is wanted as a sample, and not only the minute.

        chosen: Members that the operator chose as metrics: an absent failure is reported as 0.

        paid: `committed` or `avoidable`, as the operator set it; None if unknown.
    """

    idle_below_percent: float = 1.0
    period_s: Number = None
    only_matched: bool = False
    runtime_lines: str = "changes"
    executions_asked: bool = False
    every_report: bool = False
    chosen: frozenset[str] = frozenset()
    paid: Text = None


BELIEVED_PERIODS: Final = 2  # a sample never counts for more than this many nominal periods
_PERIODS_REMEMBERED: Final = 5
Cores = frozenset[int]
ByCore = dict[int, float]
_NO_CORES: Final[Cores] = frozenset()


class CoreSample(Struct, frozen=True, gc=False):
    """
    The sample of one report, by core index from 0.

    Attributes:
        period_s: The seconds that it counts for.

        cores: The cores that it covers; cores that are not in *percent* are at 0.

        percent: Utilization of the cores above 0, at most 100.

        with_flops: The *cores* with known FLOP/s.

        flops: FLOP/s of the cores above 0, None if no runtime reported any.
    """

    period_s: float
    cores: Cores
    percent: ByCore
    with_flops: Cores
    flops: ByCore | None

    def tera_flops(self) -> Number:
        """Return the achieved 10^12 FLOP/s of all cores together, None if there are none."""
        if self.flops is None:
            return None
        return sum(rate for core, rate in self.flops.items() if core in self.cores) / 1e12


class CoreSums:
    """
    The sums of the samples of one minute, each weighted by its seconds.

    Attributes:
        covered_s: Seconds of the samples, not cut at 60.

        seconds: Seconds of the samples, by their cores and their cores with FLOP/s: both are
            usually all cores.

        weighted_percent: Utilization by core, each sample times its seconds.

        weighted_flops: FLOP/s by core, each sample times its seconds.

        has_flops: True if any sample had FLOP/s.
    """

    def __init__(self) -> None:
        self.covered_s = 0.0
        self.seconds: dict[tuple[Cores, Cores], float] = defaultdict(float)
        self.weighted_percent: ByCore = defaultdict(float)
        self.weighted_flops: ByCore = defaultdict(float)
        self.has_flops = False

    def add_sample(self, sample: CoreSample) -> CoreSample:
        """Add the sample of one report, and return it."""
        period_s = sample.period_s
        cores = sample.cores
        flops = sample.flops
        self.covered_s += period_s
        self.seconds[cores, sample.with_flops] += period_s
        for core, share in sample.percent.items():
            self.weighted_percent[core] += period_s * share
        if flops is not None:
            self.has_flops = True
            for core, rate in flops.items():
                if core in cores:
                    self.weighted_flops[core] += period_s * rate
        return sample


class _Span(NamedTuple):
    """
    The cores that a report covers; they rarely change between reports.

    Attributes:
        keys: Keys that its runtimes list.

        existing: The number of cores that exist, or None while no report has it.

        beyond: Cores that a report of this minute listed, with indexes beyond the number of
            existing cores.

        cores: All cores that it covers: the existing cores and those beyond, not the gaps between.

        malformed_keys: Keys that no core can have.
    """

    keys: frozenset[str]
    existing: Whole
    beyond: Cores
    cores: Cores
    malformed_keys: int


_NO_SPAN: Final = _Span(frozenset(), None, _NO_CORES, _NO_CORES, 0)


class CoreSampler:
    """
    Makes the samples, and keeps periods and the time of the last sample between minutes.

    The nominal period is the configured one, otherwise the median of the last five accepted
    periods of core counters. Reports may come every 5 s and counters every 15 s, so after the first
    runtime the periods of other groups are not used.

    Attributes:
        malformed_keys: Core keys dropped because no core can have them.

        sums: The sums of the samples of the open minute.

        unknown: The reasons why cores have no sample in the open minute.

        is_blind: True if the monitor does not see the devices.
    """

    def __init__(self, settings: FoldSettings, unknown: UnknownCores) -> None:
        self.malformed_keys = 0
        self.settings = settings
        self.sums = CoreSums()
        self.unknown = unknown
        self.is_blind = False
        self._span = _NO_SPAN
        self._accepted_s: deque[float] = deque(maxlen=_PERIODS_REMEMBERED)
        self._system_s: deque[float] = deque(maxlen=_PERIODS_REMEMBERED)
        self._has_runtime = False  # since the start
        self._anchor_s: Number = None  # when the last sample was received, or the first empty list
        self._counters_s: Number = None  # when the last report with runtime counters was received
        self._missing_since_s: Number = None  # when the first report without them was received

    def end_minute(self) -> None:
        """Start a new minute; its reports list the cores beyond the existing cores again."""
        self.sums = CoreSums()
        self.unknown.end_minute()
        if self._span.beyond:
            self._span = _NO_SPAN

    def width(self, known_cores: Whole) -> int:
        """Return the number of cores of the minute: known cores, and listed cores beyond."""
        return max(known_cores or 0, max(self._span.beyond, default=-1) + 1)

    def sample_runtimes(  # noqa: C901, PLR0912, PLR0915 - two loops, for their speed
        self,
        report: Report,
        entries: list[tuple[Runtime, RuntimeFold]],
        inventory: Inventory,
        at_s: float,
    ) -> CoreSample | None:
        """
        Return the sample of a *report* received at *at_s*, or None if it has no sample.

        *entries* are its runtimes; the work of each is added to its fold.
        """
        self._has_runtime = True
        tables: list[Uses] = []
        failed: Runtimes = []
        empty: Runtimes = []  # runtimes whose counters list no core
        percent: ByCore = {}
        flops: ByCore = {}
        silent: list[str] = []  # cores that a runtime lists without a possible percentage
        without_flops: list[str] = []
        flops_by_fold: list[tuple[RuntimeFold, float]] = []
        longest_s = 0.0
        for runtime, fold in entries:
            counters = None if runtime.report is None else runtime.report.neuroncore_counters
            if counters is None:
                failed.append(runtime)
                continue
            self._counters_s = at_s
            uses = counters.neuroncores_in_use
            period_s = counters.period
            if uses is not None:
                fold.listed = uses
            if (
                counters.error
                or uses is None
                or period_s is None
                or not SHORTEST_PERIOD_S <= period_s <= MAX_PERIOD_S
            ):
                failed.append(runtime)
                continue
            tables.append(uses)
            if period_s > longest_s:  # noqa: PLR1730 - hot
                longest_s = period_s
            total_flops = 0.0
            with_flops = len(uses)
            # 32 runtimes list 32 cores each, nearly all as 0. This loop is most of the fold, so a
            # core that does nothing passes without its index.
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
                elif core is not None:
                    if share > 0:
                        fold.used.add(core)
                        if share > percent.get(core, 0.0):
                            percent[core] = share if share < 100.0 else 100.0  # noqa: FURB136 - hot
                    elif share < 0:
                        silent.append(key)
                if rate is None or not 0 <= rate <= MAX_FLOPS:
                    without_flops.append(key)
                    with_flops -= 1
                elif core is not None and rate:
                    flops[core] = flops.get(core, 0.0) + rate
                    total_flops += rate
            if with_flops:
                flops_by_fold.append((fold, total_flops))
            elif not uses:
                empty.append(runtime)
        if not tables:
            for runtime in failed:
                self.unknown.hide_cores(self.unknown.failure_of(runtime, report))
            self.note_missing("neuroncore_counters", report, at_s)
            return None
        weight_s = self._accept_period(longest_s)
        self._anchor_s = at_s
        for fold, total_flops in flops_by_fold:
            fold.flops_s += weight_s
            fold.weighted_flops += weight_s * total_flops
        keys: AbstractSet[str] = tables[0].keys()
        if len(tables) > 1:
            keys = set().union(*tables)
        span = self._span
        if span.existing != inventory.cores or span.keys != keys:
            span = self._change_span(keys, inventory.cores)
        self.malformed_keys += span.malformed_keys
        cores = known = span.cores
        if failed or silent or empty or span.malformed_keys or self.is_blind:
            per_device = inventory.per_device()
            hidden = core_indexes(silent) | self.unknown.hidden_by_tables(tables, cores)
            self.unknown.hide_cores(COUNTERS_UNREADABLE, hidden)
            unlisted = cores - core_indexes(keys)
            if self.is_blind:
                hidden |= unlisted
            for runtime in failed + empty:
                own = held_or_all(runtime, cores, per_device)
                if runtime in failed:
                    own |= unlisted
                if own:
                    hidden |= self.unknown.hide_cores(self.unknown.failure_of(runtime, report), own)
            cores = known = cores - (hidden - percent.keys())
            if not cores:
                return None
        has_flops = len(keys) > span.malformed_keys
        if without_flops:
            if not flops and len(set(without_flops)) == len(keys):
                known = _NO_CORES
                has_flops = False
            else:
                known = cores - (core_indexes(without_flops) - flops.keys())
        return self.sums.add_sample(
            CoreSample(weight_s, cores, percent, known, flops if has_flops else None)
        )

    def sample_no_runtime(
        self, report: Report, inventory: Inventory, at_s: float
    ) -> tuple[bool, CoreSample | None]:
        """
        Sample a report whose list of runtimes is empty.

        Returns:
            True if the report shows that no runtime exists, so that every core is at 0; and the
            sample of these cores, or None if it counts for no time.
        """
        longest_s = _longest_system_period_s(report.system_data)
        if is_long_enough(longest_s):
            self._system_s.append(longest_s)
        self._missing_since_s = None
        if self.is_blind or self.settings.only_matched or self._was_not_due(at_s):
            return False, None
        cores = self._change_span(_NO_SPAN.keys, inventory.cores).cores
        if not cores:
            # The devices were never counted: a monitor that may not see them reports that no
            # runtime exists.
            self.unknown.hide_cores(DEVICES_NOT_SEEN)
            return False, None
        if self._anchor_s is None:
            weight_s = longest_s if is_long_enough(longest_s) else 0.0
        else:
            weight_s = max(0.0, at_s - self._anchor_s)
        self._anchor_s = at_s
        if weight_s <= 0:
            return True, None
        # Weighted like utilization: a core that no runtime uses has no FLOP/s.
        sample = CoreSample(self._believed_s(weight_s), cores, {}, cores, None)
        return True, self.sums.add_sample(sample)

    def note_missing(self, member: str, report: Report, at_s: float) -> None:
        """Note a *report* without *member*; a minute without core counters is announced."""
        since_s = self._missing_since_s
        if report.dropped_groups:
            return  # already announced, as a group with a wrong type
        if since_s is None or (self._counters_s is not None and since_s <= self._counters_s):
            self._missing_since_s = at_s
        elif at_s - since_s > MINUTE_S:
            self.unknown.announce_shape(member, "is missing")

    def _change_span(self, keys: AbstractSet[str], existing: Whole) -> _Span:
        """Change the cores that reports cover, with these *keys*."""
        listed = core_indexes(keys)
        own = frozenset(range(existing or 0))
        if own and not listed <= own:
            fault = (
                f"lists {counted(max(listed) + 1, 'core')}, neuron_hardware_info counts {existing}"
            )
            self.unknown.announce_shape("neuroncores_in_use", fault)
        beyond = (self._span.beyond | listed) - own
        malformed_keys = len(keys) - len(listed)
        self._span = _Span(frozenset(keys), existing, beyond, own | beyond, malformed_keys)
        return self._span

    def _accept_period(self, period_s: float) -> float:
        """Remember the period of a report's core counters. Return the part that counts."""
        if self.settings.period_s is None:
            self._accepted_s.append(period_s)
        elif period_s <= BELIEVED_PERIODS * self.settings.period_s:  # the usual case
            return period_s
        return self._believed_s(period_s)

    def _was_not_due(self, at_s: float) -> bool:
        if self._counters_s is None:
            return False
        if at_s < self._counters_s:
            # The clock was set back: count from here, otherwise an hour would seem to be missing.
            self._counters_s = at_s
            self._anchor_s = at_s
        return at_s - self._counters_s <= NOT_DUE_PERIODS * self._nominal_s()

    def _nominal_s(self) -> float:
        """Return the nominal period in seconds; while none is known, the longest possible one."""
        if self.settings.period_s is not None:
            return self.settings.period_s
        if self._accepted_s:
            return median(self._accepted_s)
        if self._system_s and not self._has_runtime:
            return median(self._system_s)  # the only periods on a host without runtimes
        return LONGEST_NOMINAL_S

    def _believed_s(self, seconds: float) -> float:
        return min(seconds, BELIEVED_PERIODS * self._nominal_s())


def _longest_system_period_s(system: System | None) -> Number:
    """Return the longest period of the system groups of a report, or None without any."""
    if system is None:
        return None
    groups = (system.memory_info, system.vcpu_usage, system.neuron_hw_counters)
    periods = [group.period for group in groups if group is not None and group.period is not None]
    return max(periods, default=None)
