"""
Between what was measured: straight lines, and nothing beyond.

Every size of fleet was measured with instances of `PAGE_CORES`; other
instances were measured in one size of fleet, and their share of that is taken
for every size.
"""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

from neuron_emf.cost.measurements import (
    EIGHT_LONG,
    FOUR_OWNERS,
    PAGE_CORES,
    LineVolume,
    Sizes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from neuron_emf.cost.measurements import Form, FunctionRuns, InstanceSizes, Measurements


def between(values: Mapping[int, float], at: float) -> float:
    """The value at *at* on the straight lines between *values*; outside of them the nearest one."""
    places = sorted(values)
    if at <= places[0]:
        return values[places[0]]
    for left, right in pairwise(places):
        if at <= right:
            return values[left] + (values[right] - values[left]) * (at - left) / (right - left)
    return values[places[-1]]


def sizes_of(measurements: Measurements, cores: int) -> Sizes:
    """Of an instance of *cores*."""
    names = [field.name for field in fields(Sizes)]
    return Sizes(*(_at(measurements, cores, attrgetter(f"sizes.{name}")) for name in names))


def minute_of(measurements: Measurements, cores: int, metrics: str, *, is_high: bool) -> LineVolume:
    """The lines of one minute of an instance."""
    if is_high:
        return _lines(measurements, cores, lambda each: each.minute_high[metrics])
    return _lines(measurements, cores, lambda each: each.minute[metrics])


def second_units_of(measurements: Measurements, cores: int) -> dict[str, float]:
    """Share of the records that take a write unit more for their owners, by what those are."""
    by_cores = measurements.by_cores.items()
    return {
        name: between({count: each.second_units[name] for count, each in by_cores}, cores)
        for name in (FOUR_OWNERS, EIGHT_LONG)
    }


def report_of(measurements: Measurements, cores: int, metrics: str) -> LineVolume:
    """The lines of one report, where every report has its own."""
    return _lines(measurements, cores, lambda each: each.report[metrics])


def ingest_share(measurements: Measurements, cores: int, records: float, name: str) -> float:
    """What *cores* take of ingest, of what `PAGE_CORES` take."""

    def share(count: int) -> float:
        return _share(measurements, cores, lambda each: getattr(each.ingest[count], name))

    counts = measurements.work_by_cores[PAGE_CORES].ingest
    return between({count: share(count) for count in counts}, records)


def close_share(measurements: Measurements, cores: int, form: Form, name: str) -> float:
    """What *cores* take of close, of what `PAGE_CORES` take."""
    return _share(measurements, cores, lambda each: getattr(each.close[form], name))


def _at(measurements: Measurements, cores: int, of: Callable[[InstanceSizes], float]) -> float:
    return between({count: of(each) for count, each in measurements.by_cores.items()}, cores)


def _share(measurements: Measurements, cores: int, of: Callable[[FunctionRuns], float]) -> float:
    if cores == PAGE_CORES:
        return 1.0
    values = {count: of(each) for count, each in measurements.work_by_cores.items()}
    return between(values, cores) / of(measurements.work_by_cores[PAGE_CORES])


def _lines(
    measurements: Measurements, cores: int, of: Callable[[InstanceSizes], LineVolume]
) -> LineVolume:
    return LineVolume(
        bytes=_at(measurements, cores, lambda each: of(each).bytes),
        lines=_at(measurements, cores, lambda each: of(each).lines),
    )
