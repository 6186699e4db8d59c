"""
Idle time of a range with its price, by owner, instance and instance type: plain sums.

The page adds them up by the chosen group. A price covers the cores that have one, and is None if
none has.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from neuron_accounts.ledger import unpack_lines
from neuron_accounts.then import cluster_times, idle_sums
from neuron_wire.names import HOUR_MINUTES, HOUR_MS, MICRO

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuron_accounts.core_time import CoreTime
    from neuron_emf.reading.rollup_lines import IdleRow, PublishedRollup
    from neuron_wire.line_members import JsonObject

    Table = dict[tuple[str | None, ...], list[int]]
    """Idle time, its price and its part without a price, by key."""

KEY_SIZES: Final = {"Owners": 3, "Instances": 2, "Types": 2}
"""
The tables by their names in a summary, and the length of their keys.

A key is an owner, an instance or an instance type with its cluster, for an owner also its team.
"""

ROLLUP_UNIT: Final = MICRO * HOUR_MINUTES
"""Rollups have micro-USD per hour, added up over minutes."""


@dataclass(slots=True)
class Amounts:
    """
    The idle time of a range.

    Attributes:
        tables: Micro-core-minutes and parts of a dollar, by the names of `KEY_SIZES`.

        unlisted: Clusters whose rollups do not list all idle instances.

        cells: From the ledger: the time of each cluster, by its name and the start of the hour in
            milliseconds.

        settled: The hours that have a summary.
    """

    tables: dict[str, Table] = field(default_factory=lambda: {name: {} for name in KEY_SIZES})
    unlisted: set[str] = field(default_factory=set)
    cells: dict[tuple[str, int], CoreTime] = field(default_factory=dict)
    settled: set[int] = field(default_factory=set)

    def fold_rollup(self, rollup: PublishedRollup) -> None:
        """Add the idle cores of a minute of a cluster."""
        cluster = rollup.cluster
        if len(rollup.instances) < rollup.gauges.get("IdleInstanceCount", 0):
            self.unlisted.add(cluster)
        for row in rollup.owners:
            self._fold_row("Owners", (row.name, cluster, row.kind), row)
        for row in rollup.instances:
            self._fold_row("Instances", (row.name, cluster), row)
            self._fold_row("Types", (row.kind, cluster), row)

    def _fold_row(self, name: str, key: tuple[str | None, ...], row: IdleRow) -> None:
        _fold(self.tables[name], key, (row.idle, row.cost or 0, row.unpriced))

    def fold_summaries(self, payloads: Mapping[int, bytes]) -> None:
        """Add the ledger's summaries, by their hours."""
        documents = []
        for hour, payload in payloads.items():
            document = msgspec.json.decode(unpack_lines(payload))
            documents.append(document)
            self.settled.add(hour)
            for cluster, time in cluster_times(document).items():
                self.cells[cluster, hour * HOUR_MS] = time
        for name, size in KEY_SIZES.items():
            table = self.tables[name]
            for key, *sums in idle_sums((document.get(name, ()) for document in documents), size):
                _fold(table, key, sums)

    def fold_amounts(self, other: Amounts) -> None:
        """Add *other*, which has different hours."""
        self.settled |= other.settled
        self.cells |= other.cells
        for name, table in self.tables.items():
            for key, sums in other.tables[name].items():
                _fold(table, key, sums)

    def answer(self, unit: int) -> JsonObject:
        """
        Return rows of key, USD and idle core-hours by table; *unit* is the parts of a dollar.

        A row without idle time is left out.
        """
        rows = {
            name.lower(): [
                [*key, _usd(sums, unit), sums[0] / ROLLUP_UNIT]
                for key, sums in table.items()
                if sums[0]
            ]
            for name, table in self.tables.items()
        }
        return {**rows, "unlisted": sorted(self.unlisted)}


def _fold(table: Table, key: tuple[str | None, ...], sums: Iterable[int]) -> None:
    known = table.get(key)
    if known is None:
        table[key] = list(sums)
    else:
        idle, cost, unpriced = sums
        known[0] += idle
        known[1] += cost
        known[2] += unpriced


def _usd(sums: list[int], unit: int) -> float | None:
    idle, cost, unpriced = sums
    return cost / unit if unpriced < idle else None
