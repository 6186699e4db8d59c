"""The lines of one minute: the minute line, and what CloudWatch must have in lines of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from emitter.lines import legacy
from emitter.lines.draft import Draft, identity_members
from emitter.lines.metrics import (
    CORE_SET,
    NEURON_CORE_DIMENSION,
    UTILIZATION,
    LineMetrics,
    line_metrics,
)
from emitter.lines.settings import CORE, LEGACY, LineSettings
from neuron_wire import names
from neuron_wire.catalogue import MINUTE
from neuron_wire.cores import utilization_members
from neuron_wire.length import split

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from neuron_wire import MinuteRecord

UTILIZATION_UNIT: Final = MINUTE[UTILIZATION].unit
_MOST: Final = names.MAX_METRIC_VALUES
_IDLE_MINUTES: Final = "CoreIdleMinutes"


def minute_drafts(
    record: MinuteRecord,
    settings: LineSettings,
    common: Mapping[str, str],
) -> Iterator[Draft]:
    """
    The minute line, then those of what it has no room for, then those of single cores.

    The n-th of them has the sequence number `record.seq + n`, from 0. *common*
    has the values of the common dimensions.
    """
    members, aside = split(record.members(), settings.choice.names)
    metrics = line_metrics(settings, common)
    yield _minute(record, members, settings, common, metrics)
    seq = record.seq + 1
    if aside:
        yield Draft({**identity_members(names.MORE, record, seq), **aside}, record.minute_ms)
        seq += 1
    defined = metrics.by_tier.keys() | metrics.by_instance.keys()
    for further in _further_values(record, defined):
        more = {**identity_members(names.MORE, record, seq), **further, **common}
        yield _defined(more, record.minute_ms, metrics)
        seq += 1
    if settings.tier == CORE:
        yield from _cores(record, seq)


def _minute(
    record: MinuteRecord,
    members: Mapping[str, object],
    settings: LineSettings,
    common: Mapping[str, str],
    metrics: LineMetrics,
) -> Draft:
    """The self-contained line: all that the stack needs."""
    if not metrics.sets:
        return _defined(members, record.minute_ms, metrics)
    by_core: Mapping[str, float] = {}
    if settings.tier == LEGACY and not settings.high_resolution:
        by_core = legacy.core_metrics(record.utilization_percent)
    units = {**metrics.by_tier, **dict.fromkeys(by_core, legacy.UNIT)}
    defined = replace(metrics, by_tier=units)
    return _defined({**members, **by_core, **common}, record.minute_ms, defined)


def _defined(members: Mapping[str, object], minute_ms: int, metrics: LineMetrics) -> Draft:
    """A line of *members* that defines those of *metrics* whose values it has, and as a metric."""

    def present(units: Mapping[str, str]) -> dict[str, str]:
        return {
            name: units[name]
            for name, value in members.items()
            if name in units and not (isinstance(value, list) and len(value) > _MOST)
        }

    by_tier, by_instance = present(metrics.by_tier), present(metrics.by_instance)
    return Draft(members, minute_ms, by_tier, metrics.sets, by_instance=by_instance)


def _further_values(record: MinuteRecord, defined: AbstractSet[str]) -> Iterator[dict[str, object]]:
    """
    What is beyond the 100 values that one line may carry as a metric, of those that are one.

    Only CloudWatch's own extraction needs it: the minute line has utilization and
    idle minutes whole, these from their first core on, for no line defines a part.
    """
    known = tuple(value for value in record.utilization_percent if value is not None)
    utilization = known[_MOST:] if UTILIZATION in defined else ()
    idle = record.idle_minutes if _IDLE_MINUTES in defined else ()
    if len(idle) <= _MOST:
        idle = ()
    for start in range(0, max(len(utilization), len(idle)), _MOST):
        part = slice(start, start + _MOST)
        members = utilization_members(utilization[part])
        if minutes := idle[part]:
            members[_IDLE_MINUTES] = list(minutes)
        yield members


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
