"""
By what CloudWatch counts the metrics of a line: the sets of dimensions of each tier.

Each set multiplies the series, and series are the bill: the sets of the
cluster tier cost the same for 10 instances and for 10,000.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.lines import legacy
from emitter.lines.settings import CORE, INSTANCE, LEGACY, NONE, LineSettings
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
