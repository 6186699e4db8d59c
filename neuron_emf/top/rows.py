"""
The fleet as rows to walk through: clusters, the instances of one, the cores of one.

A row is known by a key that stays while figures change, so that whoever looks
at a row still looks at it after the next reading.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rich.text import Text

from neuron_emf.top import texts
from neuron_emf.top.holders import held_by, idle_owners
from neuron_emf.top.order import IDLE, UTILIZATION, clusters_in, instances_in
from neuron_emf.top.page import (
    CLUSTER_TITLES,
    COLUMNS,
    NEEDED,
    cluster_cells,
    colored,
    figure_cells,
)
from neuron_emf.top.texts import BLOCKS, STATES, strip_of
from neuron_wire.phrases import duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_emf.top.fleet import Cluster, FleetSnapshot, InstanceSnapshot
    from neuron_wire import MinuteRecord

MAX_ROWS: Final = 250  # a terminal redraws them in a second
_LAST_PERCENT: Final = 101.0
_BAR_CELLS: Final = 10
_LEAST_NAME: Final = 12  # cells of a name on a narrow terminal


@dataclass(frozen=True, slots=True)
class FleetPath:
    """Where somebody looks: the fleet, a cluster, or an instance."""

    cluster: str | None = None
    instance_id: str | None = None

    @property
    def above(self) -> FleetPath:
        """One step out."""
        return FleetPath(self.cluster) if self.instance_id is not None else FleetPath()

    @property
    def key(self) -> str | None:
        """Of the row above that leads here."""
        return self.instance_id or self.cluster

    def inside(self, key: str) -> FleetPath:
        """One step in, to the row of *key*; cores have nothing inside."""
        if self.cluster is None:
            return FleetPath(key)
        return FleetPath(self.cluster, key) if self.instance_id is None else self


@dataclass(frozen=True, slots=True)
class Rows:
    """
    A table to be drawn.

    Attributes:
        titles: Of the columns.

        cells: Of each row, by its key.

        left_out: Rows that are too many to show.

        needed: Columns that a narrow terminal shows, too.

        least: Cells to which a column may shrink for that, by its index.
    """

    titles: tuple[str, ...]
    cells: dict[str, tuple[Text, ...]]
    left_out: int = 0
    needed: int = 1
    least: Mapping[int, int] = field(default_factory=dict)


def rows_at(fleet: FleetSnapshot, path: FleetPath, order: str) -> Rows | None:
    """The rows of *path*; None when it is there no more."""
    if path.cluster is None:
        return _clusters(clusters_in(order, fleet.clusters))
    cluster = cluster_at(fleet, path)
    if cluster is None:
        return None
    if path.instance_id is None:
        return _instances(instances_in(order, cluster.instances), fleet.idle_after)
    instance = instance_at(fleet, path)
    return None if instance is None else _cores(instance, order)


def cluster_at(fleet: FleetSnapshot, path: FleetPath) -> Cluster | None:
    """The cluster of *path*."""
    return next((one for one in fleet.clusters if one.name == path.cluster), None)


def instance_at(fleet: FleetSnapshot, path: FleetPath) -> InstanceSnapshot | None:
    """The instance of *path*."""
    cluster = cluster_at(fleet, path)
    instances = cluster.instances if cluster is not None else ()
    return next((found for found in instances if found.instance_id == path.instance_id), None)


def _clusters(clusters: Sequence[Cluster]) -> Rows:
    return Rows(
        CLUSTER_TITLES,
        {one.name: _named(cluster_cells(one)) for one in clusters[:MAX_ROWS]},
        max(0, len(clusters) - MAX_ROWS),
        NEEDED,
        {0: _LEAST_NAME},
    )


def _instances(instances: Sequence[InstanceSnapshot], idle_after: int) -> Rows:
    return Rows(
        ("instance", "owner", *COLUMNS[0], "status", "type", *COLUMNS[1], "each core"),
        {
            instance.instance_id: _instance_row(instance, idle_after)
            for instance in instances[:MAX_ROWS]
        },
        max(0, len(instances) - MAX_ROWS),
        NEEDED + 1,
        {1: _LEAST_NAME, 0: _LEAST_NAME},
    )


def _instance_row(instance: InstanceSnapshot, idle_after: int) -> tuple[Text, ...]:
    first, further = figure_cells(instance.figures)
    return (
        _name(instance.instance_id),
        _name(_owner(instance, idle_after)),
        *_numbers(first),
        Text(texts.status(instance)),
        Text(instance.record.instance_type or texts.UNKNOWN),
        *_numbers(further),
        _strip(instance, idle_after),
    )


def _cores(instance: InstanceSnapshot, order: str) -> Rows:
    if not instance.reports:
        return Rows(("core", "state"), {})
    record = instance.record
    cores = range(len(record.core_state))
    if order == IDLE:
        cores_shown = sorted(cores, key=lambda core: (-record.idle_minutes[core], core))
    elif order == UTILIZATION:
        cores_shown = sorted(cores, key=lambda core: (_percent(record, core), core))
    else:
        cores_shown = list(cores)
    words = held_by(record)
    return Rows(
        ("core", "state", "utilization", "", "not busy for", "held by"),
        {
            str(core): (
                Text(str(core), justify="right"),
                colored(record.core_state[core]) + f" {STATES[record.core_state[core]]}",
                Text(texts.percent(record.utilization_percent[core]), justify="right"),
                _bar(record.utilization_percent[core]),
                Text(duration(record.idle_minutes[core]), justify="right"),
                _name(words.get(core, "")),
            )
            for core in cores_shown
        },
        needed=6,
        least={5: _LEAST_NAME},
    )


def _owner(instance: InstanceSnapshot, idle_after: int) -> str:
    owners = idle_owners(instance.record, idle_after) if instance.reports else []
    if not owners:
        return ""
    more = f" +{len(owners) - 1}" if len(owners) > 1 else ""
    return f"{owners[0][0]}{more}"


def _named(cells: Sequence[str]) -> tuple[Text, ...]:
    return _name(cells[0]), *_numbers(cells[1:])


def _name(text: str) -> Text:
    return Text(text, no_wrap=True, overflow="ellipsis")


def _numbers(cells: Sequence[str]) -> tuple[Text, ...]:
    return tuple(Text(cell, justify="right") for cell in cells)


def _strip(instance: InstanceSnapshot, idle_after: int) -> Text:
    return colored(strip_of(instance.record, idle_after)) if instance.reports else Text()


def _percent(record: MinuteRecord, core: int) -> float:
    percent = record.utilization_percent[core]
    return _LAST_PERCENT if percent is None else percent


def _bar(percent: float | None) -> Text:
    if percent is None:
        return Text("?" * _BAR_CELLS, "bright_black")
    whole = round(percent * _BAR_CELLS / 100)
    return Text(BLOCKS[-1] * whole + "\u00b7" * (_BAR_CELLS - whole), "cyan")
