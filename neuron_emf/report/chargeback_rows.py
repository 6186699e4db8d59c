"""
The answer about a month's bill: the cost of each owner, or the reasons for a refusal.

Pure. `chargeback` computes the rows, and `bill_report` explains a refusal.

What has no owner is spread over owners or collected under a name, exact to the last of 18 decimals.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from neuron_accounts.core_time import CoreTime, round_shares
from neuron_accounts.ledger import MINUTE_PLACES, USD_PLACES
from neuron_emf.report.cost_table import UNOWNED, USD_UNIT_PLACES, CostRow, cost_table, labels_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_accounts.then import Then
    from neuron_emf.report.cost_table import CostTable
    from neuron_emf.report.idle_report import Reading

LEDGER_ROWS_REFUSED: Final = "ledger rows refused"
LIST_PRICED: Final = frozenset(
    {"hours without any charge", "ledger hours not billed", LEDGER_ROWS_REFUSED}
)
"""Problems whose amount is at list price, in USD for every currency of the bill."""

MOVED: Final = "moved between clusters"
"""A note about instance-hours; no reason to refuse a month."""

SPREAD_UNASSIGNED: Final = "spread"
_WIDE: Final = Context(prec=60)
_NO_COST: Final = CostRow()


class ChargebackRow(NamedTuple):
    """
    One row of the answer: the cost of an owner, or a problem.

    Attributes:
        problem: Name of the problem; None in the row of an owner.

        team: Team of the owner; None if unknown.

        owner: A name, or a label such as `[unallocated]`.

        cluster: Cluster of the instance; None if unknown.

        day: Day of the cost in UTC, such as `2026-10-31`.

        instance_type: Type from the bill, otherwise from the ledger; None if unknown.

        instance_id: ID of the instance; None if the statement does not split by instance.

        found: Number of times that the problem was found.

        amount: EffectiveCost, or the amount that the problem concerns, to 18 decimal places.

        list_cost: USD at list price, by the ledger; None without a price.

        cost: Core time and cost of the owner. Its leaves add up to *amount*.
    """

    problem: str | None = None
    team: str | None = None
    owner: str | None = None
    cluster: str | None = None
    day: str | None = None
    instance_type: str | None = None
    instance_id: str | None = None
    found: int | None = None
    amount: Decimal = Decimal(0)
    list_cost: Decimal | None = None
    cost: CostRow = _NO_COST


def answer_row(values: Sequence[Any]) -> ChargebackRow:
    """Return the row of the answer that has *values*, in the order of the statement's columns."""
    allocated, busy, used, avoidable, shared, committed, unknown, unpriced = (
        _wholes_of(minutes, MINUTE_PLACES) for minutes in values[8:16]
    )
    executions, billed_executions, list_cost, amount, work, *leaves = values[16:]
    time = CoreTime(
        allocated=allocated,
        unknown=unknown,
        busy=busy,
        used=used,
        unpriced=unpriced,
        cost=_wholes_of(list_cost or Decimal(0), USD_PLACES),
        idle_by_part=[avoidable, 0, shared, committed],
        executions=executions,
    )
    cost = CostRow(
        time,
        billed=[*map(units_of, leaves), 0],
        billed_work=units_of(work),
        billed_executions=billed_executions or 0,
    )
    return ChargebackRow(*values[:8])._replace(amount=amount, list_cost=list_cost, cost=cost)


@dataclass(frozen=True, slots=True)
class Chargeback:
    """
    The costs of one month.

    Attributes:
        month: The month, such as `2026-10`.

        hours: Hours of the month since the epoch; in a rehearsal, the hours of the export.

        currency: Currency of all amounts.

        rows: Costs of owners, or only the problems if the month is refused.

        moved: Number of instance-hours that moved between clusters, if the month is not refused.

        spread: Amounts in `USD_UNITS` that were spread over owners, by the label of the row that
            had them; None unless `--unassigned spread` is set.

        then: Bases of list prices, and hours for savings if the summaries of one ledger have them.

        reading: Hours of the ledger, and the number of its rows.
    """

    month: str
    hours: range
    currency: str
    rows: Sequence[ChargebackRow]
    moved: int
    spread: Mapping[str, int] | None
    then: Then
    reading: Reading

    def currency_of(self, row: ChargebackRow) -> str:
        """Return the currency of the amount of *row*."""
        return "USD" if row.problem in LIST_PRICED else self.currency

    def table(self, by: str) -> CostTable:
        """Return the cost table by one key; empty if the month is refused."""
        rows = [row for row in self.rows if not row.problem]
        return cost_table(by, [(labels_of(by, row._asdict()), row.cost) for row in rows])


def units_of(cost: Decimal) -> int:
    """Return *cost* in `USD_UNITS`."""
    return _wholes_of(cost, USD_UNIT_PLACES)


def _wholes_of(number: Decimal, places: int) -> int:
    return int(_WIDE.scaleb(number, places))


def assign_unassigned(
    rows: Sequence[ChargebackRow], how: str
) -> tuple[list[ChargebackRow], dict[str, int] | None]:
    """
    Spread the cost without an owner over the owners of *rows*, or give it the owner *how*.

    Owners share it in proportion to their cost. Returns the rows, and the amounts in `USD_UNITS`
    that were spread, by the label of the row that had them; None if *how* is an owner or empty.
    """
    if how != SPREAD_UNASSIGNED:
        renamed = [
            row._replace(owner=how, cluster=None, team=how) if how and row.owner in UNOWNED else row
            for row in rows
        ]
        return renamed, None
    owned = [row for row in rows if row.owner not in UNOWNED]
    weights = [max(0, units_of(row.amount)) for row in owned]
    by_label: dict[str, int] = defaultdict(int)
    for row in rows:
        if row.owner in UNOWNED:
            by_label[str(row.owner)] += units_of(row.amount)
    amount = sum(by_label.values())
    if not amount or not any(weights):
        return [*rows], {}
    parts = round_shares([amount * weight for weight in weights], sum(weights))
    spread_rows = []
    for row, part in zip(owned, parts, strict=True):
        *leaves, _ = row.cost.billed or ()
        spread_rows.append(row._replace(cost=replace(row.cost, billed=[*leaves, part])))
    return spread_rows, dict(sorted(by_label.items()))
