"""What a window shows at a moment: clusters, and their instances."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final

from neuron_emf.top.figures import Figures, figures_of, total
from neuron_wire.names import MINUTE_MS
from neuron_wire.prices import Prices

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_emf.top.window import Window
    from neuron_wire import MinuteRecord
    from neuron_wire.merging import InstanceMinute

REPORTING: Final = "reporting"
SILENT: Final = "silent"
STOPPED: Final = "stopped"

SILENT_AFTER_MINUTES: Final = 5  # as the stack has it unless told otherwise
ARRIVAL_S: Final = 90
"""Seconds after its end in which a minute arrives: sends are spread over 30, or tried again."""


@dataclass(frozen=True, slots=True)
class Instance:
    """
    One instance as its newest minute shows it.

    Attributes:
        record: That minute, merged.

        status: `reporting`, `silent` or `stopped`.

        behind_minutes: Minutes that should have come since.

        figures: What counts of it; of one that does not report only that.
    """

    record: MinuteRecord
    status: str
    behind_minutes: int
    figures: Figures

    @property
    def instance_id(self) -> str:
        """Its name."""
        return self.record.instance_id

    @property
    def reports(self) -> bool:
        """Whether its newest minute says what it does now."""
        return self.status == REPORTING


@dataclass(frozen=True, slots=True)
class Cluster:
    """
    One cluster.

    Attributes:
        name: As log lines have it: printable ASCII.

        instances: All that are known of it, in order of their names.

        figures: Of all of them.
    """

    name: str
    instances: tuple[Instance, ...]
    figures: Figures


@dataclass(frozen=True, slots=True)
class Fleet:
    """
    All clusters.

    Attributes:
        as_of_ms: End of the newest minute that everybody should have told of.

        idle_after: Minutes after which a core that is not busy is idle.

        clusters: In order of their names.

        figures: Of all of them.
    """

    as_of_ms: int | None
    idle_after: int
    clusters: tuple[Cluster, ...] = ()
    figures: Figures = field(default_factory=Figures)


def fleet_of(
    window: Window, idle_after: int, prices: Prices | None = None, now_ms: int | None = None
) -> Fleet:
    """What *window* shows at *now_ms*, or without a clock at the end of its newest minute."""
    newest_ms = window.newest_ms
    if newest_ms is None:
        return Fleet(None, idle_after)
    as_of_ms = newest_ms + MINUTE_MS
    if now_ms is not None:  # one instance whose clock is ahead does not make others silent
        as_of_ms = (now_ms - ARRIVAL_S * 1000) // MINUTE_MS * MINUTE_MS
    found = [
        _instance(minute, as_of_ms, idle_after, prices or Prices())
        for minute in window.newest_minutes()
    ]
    clusters = tuple(
        _cluster(name, own) for name, own in groupby(found, key=lambda one: one.record.cluster)
    )
    return Fleet(as_of_ms, idle_after, clusters, total(one.figures for one in clusters))


def _instance(minute: InstanceMinute, as_of_ms: int, idle_after: int, prices: Prices) -> Instance:
    behind = max(0, (as_of_ms - minute.record.minute_ms) // MINUTE_MS - 1)
    if minute.gone:
        return Instance(minute.record, STOPPED, behind, Figures(stopped=1))
    if behind >= SILENT_AFTER_MINUTES:
        return Instance(minute.record, SILENT, behind, Figures(silent=1))
    return Instance(minute.record, REPORTING, behind, figures_of(minute, idle_after, prices))


def _cluster(name: str, instances: Iterable[Instance]) -> Cluster:
    own = tuple(instances)
    return Cluster(name, own, total(one.figures for one in own))
