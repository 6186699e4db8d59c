"""Which members of a minute line are metrics, and by what: those of the tier, and the chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.lines.dimensions import dimension_sets
from emitter.lines.settings import CORE, INSTANCE, LEGACY, NONE, LineSettings
from neuron_wire.catalogue import CHOOSABLE, MINUTE, MINUTE_BY_INSTANCE

if TYPE_CHECKING:
    from collections.abc import Mapping

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
