"""
Assign the cost of a bill that has no owner: spread it over owners, or collect it under a name.

Pure, exact to the last of 18 decimals.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_accounts.core_time import round_shares
from neuron_emf.report.chargeback_rows import cost_of, units_of
from neuron_emitter.errors import SettingsError
from neuron_words.quantity_words import counted, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_emf.report.chargeback_rows import ChargebackRow

UNASSIGNED_OWNERS: Final = frozenset(
    {
        "[unallocated]", "[unknown]", "[no telemetry]", "[before the ledger]", "[ledger missing]",
        "[reserved, unused]", "[not splittable]",
    }
)  # fmt: skip
"""Owners of amounts that no person has caused."""

SPREAD: Final = "spread"
MAX_SPREAD_PERCENT: Final = 20
"""Percent of the total up to which an amount without an owner is spread without a question."""


class Assigned(NamedTuple):
    """
    Rows after the cost without an owner was assigned.

    Attributes:
        rows: Rows of owners, each with its spread part, and of what was not spread.

        sentence: What was spread over whom; empty if nothing was asked.
    """

    rows: list[ChargebackRow]
    sentence: str


def assign_unassigned(
    rows: Sequence[ChargebackRow], how: str, currency: str, *, is_accepted: bool
) -> Assigned:
    """
    Spread what no owner has over the owners of *rows* by their cost, or rename its owner to *how*.

    Raises:
        SettingsError: If more than MAX_SPREAD_PERCENT of the total would be spread, unless
            *is_accepted*.
    """
    if how != SPREAD:
        renamed = [
            row._replace(owner=how, cluster=None, team=None) if how and _is_unassigned(row) else row
            for row in rows
        ]
        return Assigned(renamed, "")
    owned = [row for row in rows if not _is_unassigned(row)]
    weights = [max(0, units_of(row.cost)) for row in owned]
    owners = {(row.owner, row.cluster) for row in owned if row.cost > 0}
    by_owner: dict[str, int] = defaultdict(int)
    for row in rows:
        if _is_unassigned(row):
            by_owner[str(row.owner)] += units_of(row.cost)
    amount = sum(by_owner.values())
    if not amount:
        return Assigned([*rows], "Nothing was spread: every cost has an owner.")
    if not owners:
        return Assigned([*rows], "Nothing was spread: no owner has a cost.")
    total = sum(units_of(row.cost) for row in rows)
    percent = 100 * abs(amount) / abs(total) if total else 100
    size = f"{cost_of(amount):,.2f} {currency}, {percent:.1f} % of {cost_of(total):,.2f} {currency}"
    if 100 * abs(amount) > MAX_SPREAD_PERCENT * abs(total) and not is_accepted:
        msg = (
            f"--unassigned spread would add {size}, to {counted(len(owners), 'owner')}. "
            "Look at its rows without --unassigned, or use --spread-anyway."
        )
        raise SettingsError(msg)
    parts = round_shares([amount * weight for weight in weights], sum(weights))
    labels = [f"{owner} {cost_of(cost):,.2f}" for owner, cost in sorted(by_owner.items())]
    return Assigned(
        [row._replace(spread=cost_of(part)) for row, part in zip(owned, parts, strict=True)],
        f"Spread over {counted(len(owners), 'owner')} by their cost: {size} ({joined(labels)}).",
    )


def _is_unassigned(row: ChargebackRow) -> bool:
    return row.owner in UNASSIGNED_OWNERS
