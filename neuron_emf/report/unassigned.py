"""
Assign a bill's cost without an owner: spread it over owners, or collect it under one name.

Pure, and exact to the last of 18 decimals.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from neuron_accounts.core_time import round_shares
from neuron_emf.report.chargeback_rows import Spread, cost_of, spread_percent, units_of
from neuron_emf.report.cost_table import UNOWNED
from neuron_emitter.errors import SettingsError
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_emf.report.chargeback_rows import ChargebackRow

SPREAD: Final = "spread"
MAX_SPREAD_PERCENT: Final = 20
"""The largest share of the total that is spread without --spread-anyway, in percent."""


def assign_unassigned(
    rows: Sequence[ChargebackRow], how: str, currency: str, *, is_accepted: bool
) -> tuple[list[ChargebackRow], Spread | None]:
    """
    Spread the cost without an owner over the owners of *rows*, or give it the owner *how*.

    Owners share it in proportion to their cost. Returns the rows, and the amounts that were spread.

    Raises:
        SettingsError: If more than MAX_SPREAD_PERCENT of the total would be spread, unless
            *is_accepted*.
    """
    if how != SPREAD:
        renamed = [
            row._replace(owner=how, cluster=None, team=how) if how and row.owner in UNOWNED else row
            for row in rows
        ]
        return renamed, None
    owned = [row for row in rows if row.owner not in UNOWNED]
    weights = [max(0, units_of(row.cost)) for row in owned]
    by_label: dict[str, int] = defaultdict(int)
    for row in rows:
        if row.owner in UNOWNED:
            by_label[str(row.owner)] += units_of(row.cost)
    amount = sum(by_label.values())
    if not amount or not any(weights):
        return [*rows], Spread({}, 0)
    owners = {(row.owner, row.cluster) for row in owned if row.cost > 0}
    total = sum(units_of(row.cost) for row in rows)
    if 100 * abs(amount) > MAX_SPREAD_PERCENT * abs(total) and not is_accepted:
        share = f"{spread_percent(amount, total)} of {cost_of(total):,.2f} {currency}"
        msg = (
            f"--unassigned spread would add {cost_of(amount):,.2f} {currency}, {share}, to "
            f"{counted(len(owners), 'owner')}. Look at its rows without --unassigned, or use "
            "--spread-anyway."
        )
        raise SettingsError(msg)
    parts = round_shares([amount * weight for weight in weights], sum(weights))
    spread_rows = [
        row._replace(spread=cost_of(part)) for row, part in zip(owned, parts, strict=True)
    ]
    return spread_rows, Spread(dict(sorted(by_label.items())), len(owners))
