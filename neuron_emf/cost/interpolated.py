"""
Between what was measured: straight lines, and nothing beyond.

Every size of fleet was measured with instances of `PAGE_CORES`; other
instances were measured in one size of fleet, and their share of that is taken
for every size.
"""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise
from typing import TYPE_CHECKING

from neuron_emf.cost.measured import PAGE_CORES, Sizes, Written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from neuron_emf.cost.measured import Form, Measured, OfCores, Work


def between(values: Mapping[int, float], at: float) -> float:
    """The value at *at* on the straight lines between *values*; outside of them the nearest one."""
    places = sorted(values)
    if at <= places[0]:
        return values[places[0]]
    for left, right in pairwise(places):
        if at <= right:
            return values[left] + (values[right] - values[left]) * (at - left) / (right - left)
    return values[places[-1]]


def sizes_of(found: Measured, cores: int) -> Sizes:
    """Of an instance of *cores*."""

    def mean(name: str) -> float:
        return _at(found, cores, lambda each: getattr(each.sizes, name))

    return Sizes(**{one.name: mean(one.name) for one in fields(Sizes)})


def minute_of(found: Measured, cores: int, metrics: str, *, is_high: bool) -> Written:
    """The lines of one minute of an instance."""
    if is_high:
        return _written(found, cores, lambda each: each.minute_high[metrics])
    return _written(found, cores, lambda each: each.minute[metrics])


def report_of(found: Measured, cores: int, metrics: str) -> Written:
    """The lines of one report, where every report has its own."""
    return _written(found, cores, lambda each: each.report[metrics])


def ingest_share(found: Measured, cores: int, records: float, name: str) -> float:
    """What *cores* take of ingest, of what `PAGE_CORES` take."""

    def share(count: int) -> float:
        return _share(found, cores, lambda each: getattr(each.ingest[count], name))

    counts = found.work_by_cores[PAGE_CORES].ingest
    return between({count: share(count) for count in counts}, records)


def close_share(found: Measured, cores: int, form: Form, name: str) -> float:
    """What *cores* take of close, of what `PAGE_CORES` take."""
    return _share(found, cores, lambda each: getattr(each.close[form], name))


def _at(found: Measured, cores: int, of: Callable[[OfCores], float]) -> float:
    return between({count: of(each) for count, each in found.by_cores.items()}, cores)


def _share(found: Measured, cores: int, of: Callable[[Work], float]) -> float:
    if cores == PAGE_CORES:
        return 1.0
    values = {count: of(each) for count, each in found.work_by_cores.items()}
    return between(values, cores) / of(found.work_by_cores[PAGE_CORES])


def _written(found: Measured, cores: int, of: Callable[[OfCores], Written]) -> Written:
    return Written(
        bytes=_at(found, cores, lambda each: of(each).bytes),
        lines=_at(found, cores, lambda each: of(each).lines),
    )
