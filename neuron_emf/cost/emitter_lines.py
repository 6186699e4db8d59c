"""
The lines of a fleet's emitters: their bytes, and the metrics that they define.

A metric is a name with values of its dimensions. Which dimensions a line has
is the emitter's own decision (`emitter.lines.dimensions`); here they are
counted for a whole fleet. Each tag and common dimension is a member of the
line, and a dimension is named in its directive, too.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from emitter.lines import legacy
from emitter.lines.settings import CORE, INSTANCE, LEGACY, NONE
from neuron_emf.cost.interpolation import minute_of, report_of
from neuron_emf.cost.measurements import LineVolume
from neuron_emf.cost.tariff import HOURS, MINUTES
from neuron_wire.catalogue import MINUTE_BY_INSTANCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuron_emf.cost.fleet import FleetSpec, Setup
    from neuron_emf.cost.measurements import Measurements

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
    return fleet.instances * monthly


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
    """Metrics of a fleet whose minute lines define *of_line* names each."""
    if setup.metrics == NONE:
        return 0
    wanted = legacy.used(setup.common_dims)
    if setup.metrics == LEGACY:
        return fleet.cores * _values(wanted, fleet, 1)
    sets = fleet.clusters
    if setup.metrics in (INSTANCE, CORE):
        sets += fleet.instances
        of_line += len(MINUTE_BY_INSTANCE)
    sets += fleet.clusters * setup.tag_values * len(set(setup.tag_dimensions))
    if wanted:
        sets += _values(wanted, fleet, fleet.clusters)
    cores = fleet.instances * fleet.cores if setup.metrics == CORE else 0
    return of_line * sets + _CORE_METRICS * cores


def _values(wanted: tuple[str, ...], fleet: FleetSpec, clusters: int) -> int:
    """Of the common dimensions in *clusters*; one machine image is assumed."""
    if legacy.INSTANCE_ID in wanted:
        return fleet.instances
    types = (fleet.types or 1) if legacy.INSTANCE_TYPE in wanted else 1
    return clusters * types
