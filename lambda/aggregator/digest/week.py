"""
Rows of the ledger become the sums of seven days.

An hour that is not settled is missing, and never one in which nothing was idle.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from neuron_wire.names import UNKNOWN_OWNER
from neuron_wire.prices import UNKNOWN_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuron_wire.ledger import LedgerRow

WEEK_HOURS: Final = 7 * 24

Name = tuple[str, str]  # an owner or an instance, and its cluster


@dataclass(slots=True)
class IdleSums:
    """
    Idle time of somebody.

    Attributes:
        core_minutes: Micro-core-minutes.

        cost: Billionths of a dollar; of what has no price nothing.

        avoidable_cost: The part of it that ends, at most, when instances stop.

        has_price: Whether any of it has one.
    """

    core_minutes: int = 0
    cost: int = 0
    avoidable_cost: int = 0
    has_price: bool = False

    def add(self, row: LedgerRow) -> None:
        """Add what is idle of *row*."""
        self.core_minutes += row.idle or 0
        self.cost += row.idle_cost or 0
        self.avoidable_cost += row.avoidable_cost or 0
        self.has_price |= row.idle_cost is not None


@dataclass(slots=True)
class Week:
    """
    Seven days.

    Attributes:
        hours: All of them, whole ones since the epoch.

        settled: Those that are in the ledger.

        total: Of all instances.

        known: Micro-core-minutes with telemetry.

        unknown: Without, with the minutes in which an instance was missed.

        owners: By name and cluster.

        instances: By id and cluster.

        busy: Micro-core-minutes in which cores of owners worked, by name and cluster.

        teams: Of owners, by name and cluster, as told last.

        unpriced: Idle micro-core-minutes without a price, by `REGION/TYPE`.

        bases: What the amounts are based on.
    """

    hours: range
    settled: list[int] = field(default_factory=list)
    total: IdleSums = field(default_factory=IdleSums)
    known: int = 0
    unknown: int = 0
    owners: dict[Name, IdleSums] = field(default_factory=dict)
    instances: dict[Name, IdleSums] = field(default_factory=dict)
    busy: Counter[Name] = field(default_factory=Counter)
    teams: dict[Name, str] = field(default_factory=dict)
    unpriced: Counter[str] = field(default_factory=Counter)
    bases: set[str] = field(default_factory=set)

    def add(self, hour: int, rows: Iterable[LedgerRow]) -> None:
        """Add all *rows* of a settled *hour*."""
        self.settled.append(hour)
        for row in rows:
            if row.owner == UNKNOWN_OWNER:
                self.unknown += row.held
                continue
            self.known += row.held
            owner, instance = (row.owner, row.cluster), (row.instance_id, row.cluster)
            if row.busy:
                self.busy[owner] += row.busy
            if not row.idle:
                continue
            self.total.add(row)
            self.owners.setdefault(owner, IdleSums()).add(row)
            self.instances.setdefault(instance, IdleSums()).add(row)
            if row.team is not None:
                self.teams[owner] = row.team
            if row.basis is not None:
                self.bases.add(row.basis)
            else:
                self.unpriced[f"{row.region}/{row.instance_type or UNKNOWN_TYPE}"] += row.idle

    @property
    def missing(self) -> list[int]:
        """Hours that are not in the ledger."""
        return sorted(set(self.hours) - set(self.settled))


def worst(sums: Mapping[Name, IdleSums], most: int) -> list[tuple[Name, IdleSums]]:
    """The *most* expensive; those without a price behind, by their time."""
    return sorted(sums.items(), key=lambda one: (-one[1].cost, -one[1].core_minutes, one[0]))[:most]
