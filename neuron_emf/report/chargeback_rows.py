"""
The answer to a month's bill: what each owner pays, or why the month is refused.

Pure. `chargeback` computes the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

LEDGER_ROWS_REFUSED: Final = "ledger rows refused"
UNCHARGED_HOURS: Final = "hours without any charge"
LIST_PRICED: Final = frozenset({UNCHARGED_HOURS, "ledger hours not billed", LEDGER_ROWS_REFUSED})
"""Problems whose amount is at list price, in USD whatever the bill's currency is."""

MOVED: Final = "moved between clusters"
"""A note about instance-hours; no reason to refuse a month."""

_COST_PLACES: Final = 18
_WIDE: Final = Context(prec=60)


class ChargebackRow(NamedTuple):
    """
    One row of the answer, in the order of its columns.

    Attributes:
        problem: What does not reconcile; None in the row of an owner.

        team: None if unknown.

        owner: A name, or a label such as `[unallocated]`.

        cluster: None if unknown.

        day: Such as `2026-10-31`, UTC.

        instance_type: Of the bill, otherwise of the ledger; None if unknown.

        instance_id: None unless the statement was asked for instances.

        found: How often the problem was found.

        core_minutes: Core-minutes that the owner allocated.

        busy_core_minutes: Core-minutes in which the core was busy.

        used_core_minutes: Utilization of *core_minutes*.

        avoidable_core_minutes: Idle core-minutes of this kind, as are the next two.

        unknown_core_minutes: Core-minutes without telemetry.

        unpriced_core_minutes: Core-minutes of *core_minutes* without a list price.

        executions: Executions of the owner; None if unknown.

        list_cost: USD at list price, by the ledger; None without a price.

        cost: EffectiveCost, or the amount that the problem concerns, to 18 decimal places. The
            five amounts from *busy* to *unknown* add up to it.

        executions_cost: Cost of the hours in which executions are known.

        spread: Part of the cost of other rows, which have no owner; not in *cost*.
    """

    problem: str | None = None
    team: str | None = None
    owner: str | None = None
    cluster: str | None = None
    day: str | None = None
    instance_type: str | None = None
    instance_id: str | None = None
    found: int | None = None
    core_minutes: Decimal = Decimal(0)
    busy_core_minutes: Decimal = Decimal(0)
    used_core_minutes: Decimal = Decimal(0)
    avoidable_core_minutes: Decimal = Decimal(0)
    shared_core_minutes: Decimal = Decimal(0)
    committed_core_minutes: Decimal = Decimal(0)
    unknown_core_minutes: Decimal = Decimal(0)
    unpriced_core_minutes: Decimal = Decimal(0)
    executions: int | None = None
    list_cost: Decimal | None = None
    cost: Decimal = Decimal(0)
    executions_cost: Decimal = Decimal(0)
    busy: Decimal = Decimal(0)
    avoidable: Decimal = Decimal(0)
    shared: Decimal = Decimal(0)
    committed: Decimal = Decimal(0)
    unknown: Decimal = Decimal(0)
    spread: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Chargeback:
    """
    The costs of one month.

    Attributes:
        month: Such as `2026-10`.

        hours: Its hours since the epoch; of a rehearsal the hours of the export.

        currency: Of all amounts.

        rows: What owners pay, or only what does not reconcile.

        notes: Remarks about a month that is not refused.

        spread: What was spread over whom; empty if nothing was asked.
    """

    month: str
    hours: range
    currency: str
    rows: Sequence[ChargebackRow]
    notes: Sequence[ChargebackRow] = ()
    spread: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether the month does not reconcile: then no row says what an owner pays."""
        return any(row.problem for row in self.rows)

    def currency_of(self, row: ChargebackRow) -> str:
        """Return the currency of the cost of *row*."""
        return "USD" if row.problem in LIST_PRICED else self.currency


def units_of(cost: Decimal) -> int:
    """Return *cost* in whole units of its last decimal."""
    return int(_WIDE.scaleb(cost, _COST_PLACES))


def cost_of(units: int) -> Decimal:
    """Return whole *units* as a cost with 18 decimals."""
    return _WIDE.scaleb(Decimal(units), -_COST_PLACES)
