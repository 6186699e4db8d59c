"""
The cores of a closed minute and of a single report.

A core without a sample is unknown, never idle. Every other core is busy, attached idle or
unattached.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from neuron_emitter.fold.amounts import PERCENT_DECIMALS, as_percent
from neuron_wire.names import (
    ATTACHED_IDLE_STATE,
    BUSY_STATE,
    MINUTE_S,
    UNATTACHED_STATE,
    UNKNOWN_STATE,
)

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from neuron_emitter.fold.executions import ExecutionFold
    from neuron_emitter.fold.samples import CoreSample, CoreSums, FoldSettings
    from neuron_emitter.reports.groups import Number, Whole


class MinuteCores(NamedTuple):
    """
    The cores of a closed minute, by index from 0.

    Attributes:
        states: One letter for each core: busy, attached idle, unattached or unknown.

        utilization_percent: 0 to 100 for each core, None if unknown.

        covered_s: Seconds that the samples of each core cover.

        covered_seconds: Seconds of the minute that samples cover, 0 to 60.

        tera_flops: Achieved 10^12 FLOP/s of all cores together, or None if no report had any.
    """

    states: str
    utilization_percent: tuple[Number, ...]
    covered_s: list[float]
    covered_seconds: float
    tera_flops: Number

    @classmethod
    def from_sums(
        cls, sums: CoreSums, held: AbstractSet[int], width: int, settings: FoldSettings
    ) -> MinuteCores:
        """Close the first *width* cores, and the *held* cores beyond them."""
        weights_s: dict[int, float] = defaultdict(float)
        with_flops_s: dict[int, float] = defaultdict(float)
        for sets, seconds in sums.seconds.items():
            for cores, sums_s in zip(sets, (weights_s, with_flops_s), strict=True):
                for core in cores:
                    sums_s[core] += seconds
        states = []
        utilization: list[Number] = []
        width = max(width, max(held, default=-1) + 1)
        for core in range(width):
            weight_s = weights_s[core]
            percent = sums.weighted_percent[core] / weight_s if weight_s > 0 else None
            is_held = core in held or (percent is not None and percent > 0)
            # With a tag filter, a core that no matched runtime holds may be busy for a runtime that
            # the filter hides.
            if percent is None or (settings.only_matched and not is_held):
                states.append(UNKNOWN_STATE)
                utilization.append(None)
                continue
            # Rounded first, so that the letter agrees with the number next to it.
            percent = round(percent, PERCENT_DECIMALS)
            utilization.append(percent)
            if percent >= settings.idle_below_percent:
                states.append(BUSY_STATE)
            else:
                states.append(ATTACHED_IDLE_STATE if is_held else UNATTACHED_STATE)
        tera_flops = None
        if sums.has_flops:
            by_core = sorted(sums.weighted_flops.items())
            tera_flops = sum(flops / with_flops_s[core] for core, flops in by_core) / 1e12
        return cls(
            states="".join(states),
            utilization_percent=tuple(utilization),
            covered_s=[round(weights_s[core], 2) for core in range(width)],
            covered_seconds=min(float(MINUTE_S), round(sums.covered_s, 2)),
            tera_flops=tera_flops,
        )


@dataclass(frozen=True, slots=True)
class ReportSample:
    """
    One report that has a sample of utilization or of executions.

    Attributes:
        at_s: When it was received, seconds since the Unix epoch.

        period_s: Seconds that its core counters cover, or None without any.

        utilization_percent: Per core, 0 to 100, None if the report has no sample of the core.

        executions: Executions that ended in its period, or None.

        execution_errors: Executions that failed in its period, or None.

        tera_flops: Achieved 10^12 FLOP/s of all cores together, or None.
    """

    at_s: float
    period_s: Number = None
    utilization_percent: tuple[Number, ...] = ()
    executions: Whole = None
    execution_errors: Whole = None
    tera_flops: Number = None

    @classmethod
    def from_report(
        cls,
        sample: CoreSample | None,
        executions: ExecutionFold,
        at_s: float,
        known_cores: Whole,
        matched: AbstractSet[int] | None,
    ) -> ReportSample | None:
        """
        Return the sample of one report, or None if it has neither cores nor executions.

        *matched* are the known cores if a tag filter is set, otherwise None.
        """
        ended = executions.ended
        failed = executions.failed
        if sample is None:
            return None if ended is None else cls(at_s, None, (), ended, failed)
        percent = sample.percent
        cores = sample.cores
        width = max(known_cores or 0, max(cores, default=-1) + 1)
        if matched is not None:
            cores = cores.intersection(matched | percent.keys())
        utilization = [
            as_percent(percent.get(core, 0.0)) if core in cores else None for core in range(width)
        ]
        return cls(at_s, sample.period_s, tuple(utilization), ended, failed, sample.tera_flops())
