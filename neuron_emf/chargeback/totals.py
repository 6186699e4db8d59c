"""What went out, by team and owner, beside what came in."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from neuron_emf.chargeback.allocation import NO_PRICE
from neuron_emf.chargeback.decimals import decimal_of, plus, total
from neuron_emf.chargeback.focus_columns import EFFECTIVE

if TYPE_CHECKING:
    from neuron_emf.chargeback.allocation import Allocation


class Payer(NamedTuple):
    """Whose a cost is; *team* is None where nobody says it."""

    team: str | None
    owner: str


@dataclass(slots=True)
class OwnerTotal:
    """
    What one owner has.

    Attributes:
        cost: EffectiveCost.

        held: Core-hours.

        used: Of them, by utilization.

        idle: Of them, idle.

        unpriced: Of those held, without a price.
    """

    cost: Decimal = Decimal()
    held: Decimal = Decimal()
    used: Decimal = Decimal()
    idle: Decimal = Decimal()
    unpriced: Decimal = Decimal()

    def add(self, row: Allocation) -> None:
        """Add a row's."""
        held, used, idle = map(decimal_of, row.core_hours)
        self.cost = plus(self.cost, decimal_of(row.charge.amounts[EFFECTIVE]))
        self.held = plus(self.held, held)
        self.used = plus(self.used, used)
        self.idle = plus(self.idle, idle)
        if row.basis == NO_PRICE:
            self.unpriced = plus(self.unpriced, held)

    def include(self, other: OwnerTotal) -> None:
        """Add all of *other*."""
        self.cost = plus(self.cost, other.cost)
        self.held = plus(self.held, other.held)
        self.used = plus(self.used, other.used)
        self.idle = plus(self.idle, other.idle)
        self.unpriced = plus(self.unpriced, other.unpriced)


@dataclass(slots=True)
class Totals:
    """
    Of all rows.

    Attributes:
        by_payer: By team and owner.

        rows: How many there are.
    """

    by_payer: dict[Payer, OwnerTotal] = field(default_factory=dict)
    rows: int = 0

    def add(self, row: Allocation) -> None:
        """Add one row."""
        payer = Payer(row.team, row.owner)
        one = self.by_payer.get(payer)
        if one is None:
            one = self.by_payer[payer] = OwnerTotal()
        one.add(row)
        self.rows += 1

    @property
    def cost(self) -> Decimal:
        """EffectiveCost of all."""
        return total(one.cost for one in self.by_payer.values())

    @property
    def unpriced(self) -> Decimal:
        """Core-hours without a price, of all."""
        return total(one.unpriced for one in self.by_payer.values())

    def by_team(self) -> dict[str | None, OwnerTotal]:
        """The same by team alone."""
        teams: dict[str | None, OwnerTotal] = {}
        for payer, one in self.by_payer.items():
            teams.setdefault(payer.team, OwnerTotal()).include(one)
        return teams
