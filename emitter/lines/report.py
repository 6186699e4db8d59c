"""The lines of one report, for who wants every report and not only every minute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lines import legacy
from emitter.lines.draft import HIGH_S, Draft, amount, identity_members, present, timestamp_ms
from emitter.lines.metrics import REPORTED, dimension_sets
from emitter.lines.settings import LEGACY, LineIdentity, LineSettings
from neuron_wire import names
from neuron_wire.catalogue import MINUTE
from neuron_wire.cores import utilization_members
from neuron_wire.holders import core_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from emitter.fold.sample import ReportSample


def report_drafts(
    sample: ReportSample,
    identity: LineIdentity,
    settings: LineSettings,
    common: Mapping[str, str],
    seq: int,
) -> Iterator[Draft]:
    """
    The line of *sample*, then one for each 100 further cores.

    The n-th of them has the sequence number `seq + n`, from 0.
    """
    sets = dimension_sets(settings, common)
    known = [
        (core, value) for core, value in enumerate(sample.utilization_percent) if value is not None
    ]
    is_array_metric = bool(sets) and settings.tier != LEGACY
    per_line = names.MAX_METRIC_VALUES if is_array_metric else names.MAX_CORES
    for place, start in enumerate(range(0, max(len(known), 1), per_line)):
        members = identity_members(names.REPORT, identity, seq + place)
        if place == 0:
            members |= present(
                PeriodSeconds=sample.period_s,
                Executions=sample.executions,
                ExecutionErrors=sample.execution_errors,
                TeraFlops=amount(sample.tera_flops),
            )
        members |= _utilization(known[start : start + per_line])
        units = {name: MINUTE[name].unit for name in members if name in REPORTED}
        if settings.tier == LEGACY and sets:
            by_core = legacy.core_metrics(sample.utilization_percent)
            members |= by_core
            units = dict.fromkeys(by_core, legacy.UNIT)
        yield Draft(
            {**members, **common}, timestamp_ms(sample.at_s), units if sets else {}, sets, HIGH_S
        )


def _utilization(known: Sequence[tuple[int, float]]) -> dict[str, object]:
    """The values of some cores, and which cores these are."""
    if not known:
        return {}
    return {
        "Cores": core_ranges(core for core, _ in known),
        **utilization_members(tuple(value for _, value in known)),
    }
