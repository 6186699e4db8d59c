"""
Which members of a minute line are metrics, and by what: those of the tier, and the chosen.

Each set of dimensions multiplies the series, and series are the bill: the sets of the
cluster tier cost the same for 10 instances and for 10,000.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.lines import legacy
from emitter.lines.settings import CORE, INSTANCE, LEGACY, NONE, LineSettings
from neuron_wire.catalogue import CHOOSABLE, MINUTE, MINUTE_BY_INSTANCE
from neuron_wire.names import CLUSTER_DIMENSION

if TYPE_CHECKING:
    from collections.abc import Mapping

INSTANCE_DIMENSION: Final = "InstanceId"
NEURON_CORE_DIMENSION: Final = "NeuronCore"
INSTANCE_SET: Final = (CLUSTER_DIMENSION, INSTANCE_DIMENSION)
CORE_SET: Final = (*INSTANCE_SET, NEURON_CORE_DIMENSION)


def dimension_sets(
    settings: LineSettings, common: Mapping[str, str]
) -> tuple[tuple[str, ...], ...]:
    """
    The dimension sets of a line that speaks of the whole instance; none, no metrics.

    *common* has the value of each common dimension, or is empty when one of
    them is unknown: then the set that they make is left out.
    """
    wanted = legacy.used(settings.common_dims)
    is_known = all(name in common for name in wanted)
    if settings.tier == NONE:
        return ((CLUSTER_DIMENSION,),) if settings.choice.by_tier else ()
    if settings.tier == LEGACY:
        return (wanted,) if is_known else ()
    sets: list[tuple[str, ...]] = [(CLUSTER_DIMENSION,)]
    if settings.tier in (INSTANCE, CORE):
        sets.append(INSTANCE_SET)
    sets += [(CLUSTER_DIMENSION, name) for name in dict.fromkeys(settings.tag_dimensions)]
    if wanted and is_known:
        sets.append((CLUSTER_DIMENSION, *wanted))
    return tuple(sets)


UTILIZATION: Final = "NeuronCoreUtilization"
REPORTED: Final = frozenset({UTILIZATION, "ExecutionErrors"})
"""Metrics that a single report can tell: with high resolution, report lines carry them."""


@dataclass(frozen=True, slots=True)
class LineMetrics:
    """
    Units by the names of members.

    Attributes:
        sets: The sets of dimensions of the tier; none where it defines nothing.

        by_tier: Counted by these, but for the legacy names.

        by_instance: Counted by cluster and instance, and not by the tier already.
    """

    sets: tuple[tuple[str, ...], ...]
    by_tier: Mapping[str, str]
    by_instance: Mapping[str, str]


def line_metrics(settings: LineSettings, common: Mapping[str, str]) -> LineMetrics:
    """
    What a minute line defines, of the members that it has.

    *common* has the values of the common dimensions, as for `dimension_sets`.
    """
    sets = dimension_sets(settings, common)
    is_by_instance = settings.tier in (INSTANCE, CORE)
    members = {} if settings.tier in (NONE, LEGACY) else dict(MINUTE)
    if is_by_instance:
        members |= MINUTE_BY_INSTANCE
    members |= {name: CHOOSABLE[name] for name in settings.choice.by_tier}
    elsewhere = REPORTED if settings.high_resolution and settings.tier != LEGACY else frozenset()
    counted = {*members, *elsewhere} if is_by_instance else set[str]()
    by_tier = {name: one.unit for name, one in members.items() if name not in elsewhere}
    return LineMetrics(
        sets=sets,
        by_tier=by_tier if sets else {},
        by_instance={
            name: CHOOSABLE[name].unit
            for name in settings.choice.by_instance
            if name not in counted
        },
    )
