"""The lines of one minute: the minute line, and further lines that only CloudWatch needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from neuron_emitter.lines.drafts import (
    HIGH_S,
    Draft,
    amount,
    identity_members,
    present,
    timestamp_ms,
)
from neuron_emitter.lines.line_settings import (
    LEGACY_UNIT,
    common_dimensions,
    legacy_core_metrics,
    parse_choice,
)
from neuron_emitter.settings.minute_settings import CORE, INSTANCE, LEGACY, NONE
from neuron_wire import names
from neuron_wire.catalogue import CHOOSABLE, INSTANCE_METRICS, MINUTE_METRICS
from neuron_wire.core_members import core_ranges, utilization_members
from neuron_wire.length import split_minute
from neuron_wire.names import CLUSTER_DIMENSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from neuron_emitter.fold.minute import LineIdentity
    from neuron_emitter.fold.minute_cores import ReportSample
    from neuron_emitter.lines.drafts import Members
    from neuron_emitter.settings import MinuteSettings
    from neuron_wire import MinuteRecord


INSTANCE_DIMENSION: Final = "InstanceId"
NEURON_CORE_DIMENSION: Final = "NeuronCore"
INSTANCE_SET: Final = (CLUSTER_DIMENSION, INSTANCE_DIMENSION)
CORE_SET: Final = (*INSTANCE_SET, NEURON_CORE_DIMENSION)
UTILIZATION_METRIC: Final = "NeuronCoreUtilization"
METRICS_OF_REPORTS: Final = frozenset({UTILIZATION_METRIC, "ExecutionErrors"})
"""Metrics with a value per report: with high resolution they are in report lines."""
UTILIZATION_UNIT: Final = MINUTE_METRICS[UTILIZATION_METRIC].unit
_CORES_IN_LINE: Final = names.MAX_METRIC_VALUES
_IDLE_MINUTES_MEMBER: Final = "CoreIdleMinutes"


def minute_drafts(
    record: MinuteRecord,
    settings: MinuteSettings,
    common: Mapping[str, str],
) -> Iterator[Draft]:
    """
    Yield the minute line, then lines for the values it has no room for, then lines of single cores.

    The n-th line has the sequence number `record.seq + n`, from 0. *common* has the values of the
    common dimensions.
    """
    members, overflow = split_minute(record.members(), parse_choice(settings.metric).names)
    sets = dimension_sets(settings, common)
    by_tier, by_instance = metric_units(settings)
    if not sets:
        by_tier = {}

    def defined(members: Mapping[str, object], more_units: Mapping[str, str]) -> Draft:
        """Return a line of *members* that defines those that are metrics and fit as metrics."""
        fitting = [
            name
            for name, value in members.items()
            if not (isinstance(value, list) and len(value) > _CORES_IN_LINE)
        ]
        wanted = (({**by_tier, **more_units}, sets), (by_instance, (INSTANCE_SET,)))
        directives = [
            ({name: units[name] for name in fitting if name in units}, counted_by)
            for units, counted_by in wanted
        ]
        return Draft(members, record.minute_ms, directives)

    by_core = {}
    if sets and settings.metrics == LEGACY and not settings.high_resolution_metrics:
        by_core = legacy_core_metrics(record.utilization_percent)
    if sets:
        members = {**members, **by_core, **common}
    yield defined(members, dict.fromkeys(by_core, LEGACY_UNIT))
    seq = record.seq + 1
    if overflow:
        yield Draft(
            {**identity_members(names.MORE_KIND, record, seq), **overflow}, record.minute_ms
        )
        seq += 1
    for further in _further_values(record, by_tier.keys() | by_instance.keys()):
        yield defined({**identity_members(names.MORE_KIND, record, seq), **further, **common}, {})
        seq += 1
    if settings.metrics == CORE:
        yield from _cores(record, seq)


def _further_values(record: MinuteRecord, defined: AbstractSet[str]) -> Iterator[Members]:
    """
    Yield the values beyond the 100 that one line may define as metrics, 100 per line.

    Only CloudWatch's extraction needs them, because the minute line has all values. It defines the
    first 100 utilizations, and no idle minutes if there are more.
    """
    known = tuple(value for value in record.utilization_percent if value is not None)
    utilization = known[_CORES_IN_LINE:] if UTILIZATION_METRIC in defined else ()
    idle = record.idle_minutes if _IDLE_MINUTES_MEMBER in defined else ()
    if len(idle) <= _CORES_IN_LINE:
        idle = ()
    for start in range(0, max(len(utilization), len(idle)), _CORES_IN_LINE):
        part = slice(start, start + _CORES_IN_LINE)
        members = utilization_members(utilization[part])
        if minutes := idle[part]:
            members[_IDLE_MINUTES_MEMBER] = list(minutes)
        yield members


def _cores(record: MinuteRecord, seq: int) -> Iterator[Draft]:
    """Yield one line for each core with a known utilization."""
    for place, (core, value) in enumerate(_known(record.utilization_percent)):
        members = {
            **identity_members(names.CORE_KIND, record, seq + place),
            NEURON_CORE_DIMENSION: str(core),  # a dimension is text
            "CoreState": record.core_state[core],
            "CoreIdleMinutes": record.idle_minutes[core],
            UTILIZATION_METRIC: round(value, 2),
        }
        directive = ({UTILIZATION_METRIC: UTILIZATION_UNIT}, (CORE_SET,))
        yield Draft(members, record.minute_ms, (directive,))


def _known(utilization_percent: Sequence[float | None]) -> list[tuple[int, float]]:
    """Return the cores with a known utilization, and the utilization of each."""
    return [(core, value) for core, value in enumerate(utilization_percent) if value is not None]


def dimension_sets(
    settings: MinuteSettings, common: Mapping[str, str]
) -> tuple[tuple[str, ...], ...]:
    """
    Return the dimension sets of a line about the whole instance; without any it defines no metrics.

    *common* has the value of each common dimension, or is empty if one of them is unknown: then
    their set is omitted.
    """
    wanted = common_dimensions(settings.common_dims)
    is_known = all(name in common for name in wanted)
    if settings.metrics == NONE:
        return ((CLUSTER_DIMENSION,),) if parse_choice(settings.metric).by_tier else ()
    if settings.metrics == LEGACY:
        return (wanted,) if is_known else ()
    sets: list[tuple[str, ...]] = [(CLUSTER_DIMENSION,)]
    if settings.metrics in (INSTANCE, CORE):
        sets.append(INSTANCE_SET)
    sets += [(CLUSTER_DIMENSION, name) for name in dict.fromkeys(settings.tag_dimension)]
    if wanted and is_known:
        sets.append((CLUSTER_DIMENSION, *wanted))
    return tuple(sets)


def metric_units(settings: MinuteSettings) -> tuple[dict[str, str], dict[str, str]]:
    """
    Return the units of the members that a minute line defines as metrics, without legacy names.

    Returns:
        Units by member: for the tier's dimension sets, and for cluster and instance
        where the tier does not have that set already.
    """
    tier = settings.metrics
    choice = parse_choice(settings.metric)
    is_by_instance = tier in (INSTANCE, CORE)
    members = {} if tier in (NONE, LEGACY) else dict(MINUTE_METRICS)
    if is_by_instance:
        members |= INSTANCE_METRICS
    members |= {name: CHOOSABLE[name] for name in choice.by_tier}
    is_reported = settings.high_resolution_metrics and tier != LEGACY
    elsewhere = METRICS_OF_REPORTS if is_reported else frozenset()
    counted = {*members, *elsewhere} if is_by_instance else set[str]()
    return (
        {name: member.unit for name, member in members.items() if name not in elsewhere},
        {name: CHOOSABLE[name].unit for name in choice.by_instance if name not in counted},
    )


def report_drafts(
    sample: ReportSample,
    identity: LineIdentity,
    settings: MinuteSettings,
    common: Mapping[str, str],
    seq: int,
) -> Iterator[Draft]:
    """
    Yield the line of *sample*, then one for each 100 further cores.

    The n-th line has the sequence number `seq + n`, from 0.
    """
    sets = dimension_sets(settings, common)
    known = _known(sample.utilization_percent)
    at_ms = timestamp_ms(sample.at_s)
    is_array_metric = bool(sets) and settings.metrics != LEGACY
    per_line = names.MAX_METRIC_VALUES if is_array_metric else names.MAX_CORES
    for place, start in enumerate(range(0, max(len(known), 1), per_line)):
        members = identity_members(names.REPORT_KIND, identity, seq + place)
        if place == 0:
            members |= present(
                PeriodSeconds=sample.period_s,
                Executions=sample.executions,
                ExecutionErrors=sample.execution_errors,
                TeraFlops=amount(sample.tera_flops),
            )
        members |= _utilization(known[start : start + per_line])
        units = {name: MINUTE_METRICS[name].unit for name in members if name in METRICS_OF_REPORTS}
        if settings.metrics == LEGACY and sets:
            by_core = legacy_core_metrics(sample.utilization_percent)
            members |= by_core
            units = dict.fromkeys(by_core, LEGACY_UNIT)
        directives = ((units, sets),) if sets else ()
        yield Draft({**members, **common}, at_ms, directives, HIGH_S)


def _utilization(known: Sequence[tuple[int, float]]) -> Members:
    """Return the values of some cores, and the indexes of these cores."""
    if not known:
        return {}
    return {
        "Cores": core_ranges(core for core, _ in known),
        **utilization_members(tuple(value for _, value in known)),
    }
