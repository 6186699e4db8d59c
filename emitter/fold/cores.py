"""
Utilization and FLOP/s of each core over a minute.

A report weighs as long as its sample counts for. A core without a sample is unknown, never
idle; of the others each is busy, attached idle or unattached.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from emitter.fold.amounts import PERCENT_DECIMALS, as_percent
from neuron_wire.names import ATTACHED_IDLE, BUSY, MINUTE_S, UNATTACHED, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from emitter.fold.executions import ExecutionFold
    from emitter.fold.samples import CoreSample, FoldSettings


class MinuteCores(NamedTuple):
    """
    The cores of a closed minute, by index from 0.

    Attributes:
        states: A letter for each: busy, attached idle, unattached or unknown.

        utilization_percent: 0 to 100, None where it is unknown.

        covered_s: Seconds that samples of each cover.

        covered_seconds: Seconds of the minute that samples cover, 0 to 60.

        tera_flops: Achieved 10^12 FLOP/s of all together, or None when no report gave any.
    """

    states: str
    utilization_percent: tuple[float | None, ...]
    covered_s: list[float]
    covered_seconds: float
    tera_flops: float | None


class Cores:
    """The samples of one minute."""

    def __init__(self) -> None:
        self._covered_s = 0.0  # not yet cut at 60
        # By the cores of a sample, and by those with FLOP/s: nearly always all cores twice.
        self._seconds: dict[tuple[frozenset[int], frozenset[int]], float] = defaultdict(float)
        self._weighted_percent: dict[int, float] = defaultdict(float)
        self._weighted_flops: dict[int, float] = defaultdict(float)
        self._has_flops = False

    def add_sample(self, sample: CoreSample) -> None:
        """Add the sample of one report."""
        period_s, cores, flops = sample.period_s, sample.cores, sample.flops
        self._covered_s += period_s
        self._seconds[cores, sample.with_flops] += period_s
        for core, share in sample.percent.items():
            self._weighted_percent[core] += period_s * share
        if flops is not None:
            self._has_flops = True
            for core, rate in flops.items():
                if core in cores:
                    self._weighted_flops[core] += period_s * rate

    def close_minute(
        self, held: AbstractSet[int], width: int, settings: FoldSettings
    ) -> MinuteCores:
        """The first *width* cores, and beyond them those that are *held*."""
        weights_s: dict[int, float] = defaultdict(float)
        with_flops_s: dict[int, float] = defaultdict(float)
        for sets, seconds in self._seconds.items():
            for cores, sums_s in zip(sets, (weights_s, with_flops_s), strict=True):
                for core in cores:
                    sums_s[core] += seconds
        states: list[str] = []
        utilization: list[float | None] = []
        width = max(width, max(held, default=-1) + 1)
        for core in range(width):
            weight_s = weights_s[core]
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
        tera_flops = None
        if self._has_flops:
            sums = sorted(self._weighted_flops.items())
            tera_flops = sum(flops / with_flops_s[core] for core, flops in sums) / 1e12
        return MinuteCores(
            states="".join(states),
            utilization_percent=tuple(utilization),
            covered_s=[round(weights_s[core], 2) for core in range(width)],
            covered_seconds=min(float(MINUTE_S), round(self._covered_s, 2)),
            tera_flops=tera_flops,
        )


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
        percent, cores = sample.percent, sample.cores
        width = max(known_cores or 0, max(cores, default=-1) + 1)
        if matched is not None:
            cores = cores.intersection(matched | percent.keys())
        utilization = [
            as_percent(percent.get(core, 0.0)) if core in cores else None for core in range(width)
        ]
        return cls(at_s, sample.period_s, tuple(utilization), ended, failed, sample.tera_flops())
