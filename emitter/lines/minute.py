"""The lines of one minute: the minute line, and what CloudWatch must have in lines of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.lines import legacy
from emitter.lines.dimensions import CORE_SET, NEURON_CORE_DIMENSION, dimension_sets
from emitter.lines.draft import Draft, identity_members
from emitter.lines.settings import CORE, INSTANCE, LEGACY, LineSettings
from neuron_wire import names
from neuron_wire.catalogue import MINUTE, MINUTE_BY_INSTANCE
from neuron_wire.cores import utilization_members
from neuron_wire.length import split

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from neuron_wire import MinuteRecord

UTILIZATION: Final = "NeuronCoreUtilization"
UTILIZATION_UNIT: Final = MINUTE[UTILIZATION].unit
REPORTED: Final = frozenset({UTILIZATION, "ExecutionErrors"})
"""Metrics that a single report can tell: with high resolution, report lines carry them."""


def minute_drafts(
    record: MinuteRecord, settings: LineSettings, common: Mapping[str, str]
) -> Iterator[Draft]:
    """
    The minute line, then those of what it has no room for, then those of single cores.

    The n-th of them has the sequence number `record.seq + n`, from 0. *common*
    has the values of the common dimensions.
    """
    members, aside = split(record.members())
    sets = dimension_sets(settings, common)
    yield _minute(record, members, settings, common, sets)
    seq = record.seq + 1
    if aside:
        yield Draft({**identity_members(names.MORE, record, seq), **aside}, record.minute_ms)
        seq += 1
    if sets and settings.tier != LEGACY and not settings.high_resolution:
        for draft in _further_values(record, common, sets, seq):
            yield draft
            seq += 1
    if settings.tier == CORE:
        yield from _cores(record, seq)


def _minute(
    record: MinuteRecord,
    members: Mapping[str, object],
    settings: LineSettings,
    common: Mapping[str, str],
    sets: Sequence[Sequence[str]],
) -> Draft:
    """The self-contained line: all that the stack needs."""
    if not sets:
        return Draft(members, record.minute_ms)
    if settings.tier == LEGACY:
        by_core = (
            {} if settings.high_resolution else legacy.core_metrics(record.utilization_percent)
        )
        members = {**members, **by_core}
        units = dict.fromkeys(by_core, legacy.UNIT)
    else:
        elsewhere = REPORTED if settings.high_resolution else frozenset[str]()
        metrics = MINUTE
        if settings.tier in (INSTANCE, CORE):
            metrics = {**MINUTE, **MINUTE_BY_INSTANCE}
        units = {
            name: metrics[name].unit
            for name in members
            if name in metrics and name not in elsewhere
        }
    return Draft({**members, **common}, record.minute_ms, units, sets)


def _further_values(
    record: MinuteRecord, common: Mapping[str, str], sets: Sequence[Sequence[str]], seq: int
) -> Iterator[Draft]:
    """
    Utilization beyond the 100 values one line may carry as a metric.

    Only CloudWatch's own extraction needs it: the minute line has them all.
    """
    known = tuple(value for value in record.utilization_percent if value is not None)
    starts = range(names.MAX_METRIC_VALUES, len(known), names.MAX_METRIC_VALUES)
    for place, start in enumerate(starts):
        members = {
            **identity_members(names.MORE, record, seq + place),
            **utilization_members(known[start : start + names.MAX_METRIC_VALUES]),
            **common,
        }
        yield Draft(members, record.minute_ms, {UTILIZATION: UTILIZATION_UNIT}, sets)


def _cores(record: MinuteRecord, seq: int) -> Iterator[Draft]:
    """One line for each core whose utilization is known."""
    known = [
        (core, value) for core, value in enumerate(record.utilization_percent) if value is not None
    ]
    for place, (core, value) in enumerate(known):
        members = {
            **identity_members(names.CORE, record, seq + place),
            NEURON_CORE_DIMENSION: str(core),  # a dimension is a text
            "CoreState": record.core_state[core],
            "CoreIdleMinutes": record.idle_minutes[core],
            UTILIZATION: round(value, 2),
        }
        yield Draft(members, record.minute_ms, {UTILIZATION: UTILIZATION_UNIT}, (CORE_SET,))
