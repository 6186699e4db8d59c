"""What went out, by team and owner, beside what came in."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from neuron_emf.chargeback.allocation import NO_PRICE
from neuron_emf.chargeback.decimals import decimal_of, total
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

        core_hours: Held, used and idle.

        unpriced_core_hours: Of those held, without a price.
    """

    cost: Decimal = Decimal()
    core_hours: tuple[Decimal, Decimal, Decimal] = (Decimal(), Decimal(), Decimal())
    unpriced_core_hours: Decimal = Decimal()

    def add(self, cost: Decimal, core_hours: tuple[Decimal, ...], unpriced: Decimal) -> None:
        """Add a row's."""
        self.cost = total([self.cost, cost])
        held, used, idle = map(total, zip(self.core_hours, core_hours, strict=True))
        self.core_hours = (held, used, idle)
        self.unpriced_core_hours = total([self.unpriced_core_hours, unpriced])


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
        if payer not in self.by_payer:
            self.by_payer[payer] = OwnerTotal()
        hours = tuple(map(decimal_of, row.core_hours))
        unpriced = hours[0] if row.basis == NO_PRICE else Decimal()
        self.by_payer[payer].add(decimal_of(row.charge.amounts[EFFECTIVE]), hours, unpriced)
        self.rows += 1

    @property
    def cost(self) -> Decimal:
        """EffectiveCost of all."""
        return total([one.cost for one in self.by_payer.values()])

    @property
    def unpriced_core_hours(self) -> Decimal:
        """Without a price, of all."""
        return total([one.unpriced_core_hours for one in self.by_payer.values()])

    def by_team(self) -> dict[str | None, OwnerTotal]:
        """The same by team alone."""
        teams: dict[str | None, OwnerTotal] = {}
        for payer, one in self.by_payer.items():
            team = teams.setdefault(payer.team, OwnerTotal())
            team.add(one.cost, one.core_hours, one.unpriced_core_hours)
        return teams
