"""
Metrics that the emitters' lines define: their number is what they cost.

A metric is a name with values of its dimensions. Which dimensions a line has
is the emitter's own decision (`emitter.lines.dimensions`); here they are
counted for a whole fleet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.lines import legacy
from emitter.lines.settings import CORE, INSTANCE, LEGACY, NONE
from neuron_wire.catalogue import MINUTE_BY_INSTANCE

if TYPE_CHECKING:
    from neuron_emf.cost.fleet import Fleet, Setup

_CORE_METRICS = 1  # of the line of a single core: its utilization


def emitter_series(of_line: int, fleet: Fleet, setup: Setup) -> int:
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


def _values(wanted: tuple[str, ...], fleet: Fleet, clusters: int) -> int:
    """Of the common dimensions in *clusters*; one machine image is assumed."""
    if legacy.INSTANCE_ID in wanted:
        return fleet.instances
    types = (fleet.types or 1) if legacy.INSTANCE_TYPE in wanted else 1
    return clusters * types
