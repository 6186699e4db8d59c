"""
The lines of a fleet's emitters: their bytes, and the metrics that they define.

A metric is a name with values of its dimensions. Which dimensions a line has
is the emitter's own decision (`emitter.lines.metrics`); here they are
counted for a whole fleet. Each tag and common dimension is a member of the
line, and a dimension is named in its directive, too.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from emitter.lines import Choice, LineIdentity, Lines, LineSettings, legacy
from emitter.lines.detail import raw_line
from emitter.lines.metrics import line_metrics
from emitter.lines.settings import CORE, INSTANCE, LEGACY, NONE
from neuron_emf.cost.assumptions import (
    RAW_CORE_BYTES,
    RAW_REPORT_BYTES,
    RAW_RUNTIME_BYTES,
)
from neuron_emf.cost.interpolation import minute_of, report_of
from neuron_emf.cost.measurements import EVENT_BYTES, LineVolume
from neuron_emf.cost.tariff import HOURS, MINUTES
from neuron_wire import MinuteRecord
from neuron_wire.amounts import NUMBERS
from neuron_wire.catalogue import EXECUTIONS, HEALTH, MINUTE_BY_INSTANCE
from neuron_wire.extraction import MAX_LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuron_emf.cost.fleet import FleetSpec, Setup
    from neuron_emf.cost.measurements import Measurements

_SENDER: Final = LineIdentity(
    "my-cluster", "i-0123456789abcdef0", identity_guessed=False, boot="019b76daa8001efcfc14"
)
_AT_MS: Final = 1_767_225_600_000
_SEQ: Final = 12_345
_CORE_METRICS: Final = 1  # of the line of a single core: its utilization
_COMMON: Final[Mapping[str, str]] = {
    legacy.INSTANCE_ID: "i-0123456789abcdef0",
    legacy.INSTANCE_TYPE: "trn1.32xlarge",
    legacy.AMI_ID: "ami-0123456789abcdef0",
}
"""Values as long as they usually are."""


def emitter_bytes(measurements: Measurements, fleet: FleetSpec, setup: Setup) -> float:
    """What CloudWatch Logs charges a month for the lines of the emitters."""
    cores, is_high = fleet.cores, setup.is_high_resolution
    minute = minute_of(measurements, cores, setup.metrics, is_high=is_high)
    of_instance = minute
    if setup.metrics == CORE:  # the lines of single cores have dimensions of their own
        of_instance = minute_of(measurements, cores, INSTANCE, is_high=is_high)
    monthly = MINUTES * _billed(minute, of_instance, setup)
    monthly += runtime_lines(setup) * _billed(LineVolume(measurements.runtime_line, 1), None, setup)
    if is_high:
        report = report_of(measurements, cores, setup.metrics)
        monthly += MINUTES * 60 / setup.period_s * _billed(report, report, setup)
    if setup.choice.names:
        monthly += MINUTES * chosen_bytes(setup, cores)
    if setup.raw_reports is not None:
        monthly += MINUTES / setup.raw_reports * raw_bytes(setup, cores)
    return fleet.instances * monthly


@cache
def chosen_bytes(setup: Setup, cores: int) -> int:
    """What a choice adds to the lines of one minute: made with it and without."""
    with_choice, without = (
        sum(
            len(line.encode()) + EVENT_BYTES
            for line in Lines(_line_settings(one)).minute(
                _minute(cores, one.choice), _COMMON[legacy.AMI_ID]
            )
        )
        for one in (setup, replace(setup, choice=Choice()))
    )
    return with_choice - without


def raw_bytes(setup: Setup, cores: int) -> int:
    """What one raw report is billed; 0 where it is too long to be written."""
    line = raw_line(b"{}", _AT_MS, _SENDER, _SEQ, dict(setup.tags)) or ""
    size = len(line.encode()) + report_bytes(setup, cores)
    return size + EVENT_BYTES if size <= MAX_LINE_BYTES else 0


def report_bytes(setup: Setup, cores: int) -> int:
    """Of one report of neuron-monitor: as told, else as so many runtimes and cores usually have."""
    if setup.raw_report_bytes is not None:
        return setup.raw_report_bytes
    return RAW_REPORT_BYTES + setup.runtimes * (RAW_RUNTIME_BYTES + RAW_CORE_BYTES * cores)


def _line_settings(setup: Setup) -> LineSettings:
    return LineSettings(
        tier=setup.metrics,
        tags=dict(setup.tags),
        tag_dimensions=setup.tag_dimensions,
        common_dims=setup.common_dims,
        high_resolution=setup.is_high_resolution,
        choice=setup.choice,
    )


def _minute(cores: int, choice: Choice) -> MinuteRecord:
    """A minute that has every member that can be chosen, as long as they usually are."""
    numbers: dict[str, Any] = {
        field: 12_345 if kind is int else 1.2345 for _, field, kind in NUMBERS if field is not None
    }
    rare = {one.name for one in EXECUTIONS if one.is_rare}
    return MinuteRecord(
        cluster=_SENDER.cluster, instance_id=_SENDER.instance_id, boot=_SENDER.boot, seq=_SEQ,
        minute_ms=_AT_MS, covered_seconds=60.0, reports=12, core_state="b" * cores,
        utilization_percent=(42.42,) * cores, idle_minutes=(0,) * cores,
        instance_type=_COMMON[legacy.INSTANCE_TYPE],
        readings={name: 12_345 if kind is int else 1.2345 for name, field, kind in NUMBERS
                  if field is None},
        details=dict.fromkeys(sorted(rare & choice.names), 0),
        health={one.name: 12_345 for one in HEALTH if not one.is_rare}, **numbers,
    )  # fmt: skip


def runtime_lines(setup: Setup) -> float:
    """Lines of single runtimes that an instance writes a month."""
    each = {"changes": HOURS, "all": MINUTES, "none": 0}[setup.runtime_lines]
    return each * setup.runtimes


def _billed(lines: LineVolume, with_dimensions: LineVolume | None, setup: Setup) -> float:
    """Bytes of lines with what the operator adds to each, and to those *with_dimensions*."""
    size = lines.billed_bytes + _members(setup.tags) * lines.lines
    if with_dimensions is not None:
        size += _dimension_bytes(setup) * with_dimensions.lines
    return size


def _dimension_bytes(setup: Setup) -> int:
    """Bytes that are added to lines which define metrics of the whole instance."""
    if setup.metrics == NONE:
        return 0
    wanted = legacy.used(setup.common_dims)
    size = _members((name, _COMMON[name]) for name in wanted)
    if setup.metrics == LEGACY:
        return size + len(",".join(map(json.dumps, wanted)))
    sets = [[name] for name in dict.fromkeys(setup.tag_dimensions)]
    sets += [list(wanted)] if wanted else []
    return size + sum(len(f',["ClusterName",{",".join(map(json.dumps, one))}]') for one in sets)


def _members(values: Iterable[tuple[str, str]]) -> int:
    return sum(len(f",{json.dumps(name)}:{json.dumps(value)}") for name, value in values)


def emitter_series(of_line: int, fleet: FleetSpec, setup: Setup) -> int:
    """Metrics of a fleet whose minute lines define *of_line* names each, and the chosen ones."""
    wanted = legacy.used(setup.common_dims)
    usual = line_metrics(_line_settings(replace(setup, choice=Choice())), _COMMON)
    metrics = line_metrics(_line_settings(setup), _COMMON)
    chosen = len(metrics.by_tier) - len(usual.by_tier)
    by_instance = len(metrics.by_instance) * fleet.instances
    if setup.metrics == NONE:
        return chosen * fleet.clusters + by_instance
    if setup.metrics == LEGACY:
        return (fleet.cores + chosen) * _values(wanted, fleet, 1) + by_instance
    sets = fleet.clusters
    if setup.metrics in (INSTANCE, CORE):
        sets += fleet.instances
        of_line += len(MINUTE_BY_INSTANCE)
    sets += fleet.clusters * setup.tag_values * len(set(setup.tag_dimensions))
    if wanted:
        sets += _values(wanted, fleet, fleet.clusters)
    cores = fleet.instances * fleet.cores if setup.metrics == CORE else 0
    return (of_line + chosen) * sets + by_instance + _CORE_METRICS * cores


def _values(wanted: tuple[str, ...], fleet: FleetSpec, clusters: int) -> int:
    """Of the common dimensions in *clusters*; one machine image is assumed."""
    if legacy.INSTANCE_ID in wanted:
        return fleet.instances
    types = (fleet.types or 1) if legacy.INSTANCE_TYPE in wanted else 1
    return clusters * types
