"""
The answer about a month's bill: the cost of each owner, or the reasons for a refusal.

Pure. `chargeback` computes the rows, and `bill_report` explains a refusal.

What has no owner is spread over owners or collected under a name, exact to the last of 18 decimals.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_accounts.core_time import CoreTime, Leaf, round_shares
from neuron_accounts.ledger import MINUTE_PLACES, USD_PLACES
from neuron_emf.report.cost_table import (
    CENT,
    UNOWNED,
    USD_UNIT_PLACES,
    CostRow,
    cost_table,
    owner_labels,
)
from neuron_emitter.errors import SettingsError
from neuron_wire.names import UNALLOCATED_OWNER
from neuron_words.name_words import safe_name
from neuron_words.quantity_words import counted, joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_emf.report.cost_table import CostTable, Labels


LEDGER_ROWS_REFUSED: Final = "ledger rows refused"
UNCHARGED_HOURS: Final = "hours without any charge"
LIST_PRICED: Final = frozenset({UNCHARGED_HOURS, "ledger hours not billed", LEDGER_ROWS_REFUSED})
"""Problems whose amount is at list price, in USD for every currency of the bill."""

MOVED: Final = "moved between clusters"
"""A note about instance-hours; no reason to refuse a month."""

_WIDE: Final = Context(prec=60)
_LONGEST_BASIS: Final = 1000  # characters


class ChargebackRow(NamedTuple):
    """
    One row of the answer, in the order of its columns.

    Attributes:
        problem: Name of the problem; None in the row of an owner.

        team: None if unknown.

        owner: A name, or a label such as `[unallocated]`.

        cluster: None if unknown.

        day: Such as `2026-10-31`, UTC.

        instance_type: From the bill, otherwise from the ledger; None if unknown.

        instance_id: None unless the statement was asked for instances.

        found: Number of times that the problem was found.

        core_minutes: Core-minutes that the owner allocated.

        busy_core_minutes: Core-minutes in which the core was busy.

        used_core_minutes: Utilization of *core_minutes*.

        avoidable_core_minutes: Idle core-minutes that are avoidable; the next two are shared and
            committed.

        unknown_core_minutes: Core-minutes without telemetry.

        unpriced_core_minutes: Core-minutes of *core_minutes* without a list price.

        executions: Executions of the owner; None if unknown.

        billed_executions: Executions in billed hours; None if unknown.

        list_cost: USD at list price, by the ledger; None without a price.

        cost: EffectiveCost, or the amount that the problem concerns, to 18 decimal places. The five
            amounts from *not_idle* to *unknown* add up to it.

        executions_cost: Cost of the billed hours in which executions are known.

        spread: Share of the cost of rows without an owner; not a part of *cost*.
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
    billed_executions: int | None = None
    list_cost: Decimal | None = None
    cost: Decimal = Decimal(0)
    executions_cost: Decimal = Decimal(0)
    not_idle: Decimal = Decimal(0)
    avoidable: Decimal = Decimal(0)
    shared: Decimal = Decimal(0)
    committed: Decimal = Decimal(0)
    unknown: Decimal = Decimal(0)
    spread: Decimal = Decimal(0)

    def cost_row(self) -> CostRow:
        """Return the row as the cost table has it: billed, and at list price."""
        minutes = self._asdict()
        names = ("avoidable", "shared", "committed")
        avoidable, *others = [_micros(minutes[f"{name}_core_minutes"]) for name in names]
        unallocated = self.owner == UNALLOCATED_OWNER
        by_holder = [0, avoidable] if unallocated else [avoidable, 0]
        time = CoreTime(
            allocated=_micros(self.core_minutes),
            unknown=_micros(self.unknown_core_minutes),
            busy=_micros(self.busy_core_minutes),
            used=_micros(self.used_core_minutes),
            unpriced=_micros(self.unpriced_core_minutes),
            cost=int(_WIDE.scaleb(self.list_cost or Decimal(0), USD_PLACES)),
            idle_by_part=[*by_holder, *others],
            executions=None if self.executions is None else int(self.executions),
        )
        leaves = [minutes[leaf.name.lower()] for leaf in Leaf]
        billed = [units_of(cost) for cost in (*leaves, self.spread)]
        work = units_of(self.executions_cost)
        return CostRow(time, billed, work, int(self.billed_executions or 0))

    def labels(self, by: str) -> Labels:
        """Return the labels of the row by one key. A row without an owner keeps its own label."""
        owner = self.owner or ""
        label = owner if owner in UNOWNED else None
        if by == "day":
            return (self.day,)
        if by == "type":
            return (self.instance_type,)
        if by == "instance":
            return self.instance_id or label, self.instance_type, self.cluster
        if by == "cluster":
            return (self.cluster or label,)
        return owner_labels(by, owner=owner, cluster=self.cluster, team=self.team)


class Spread(NamedTuple):
    """
    The amounts that were spread over owners.

    Attributes:
        by_label: Amounts in whole units of 1e-18, by the label of the row that had them.

        owners: Number of owners over which they were spread.
    """

    by_label: Mapping[str, int]
    owners: int


@dataclass(frozen=True)  # without slots, because of the cached property
class Chargeback:
    """
    The costs of one month.

    Attributes:
        month: Such as `2026-10`.

        hours: Hours of the month since the epoch; in a rehearsal, the hours of the export.

        currency: Currency of all amounts.

        rows: Costs of owners, or only the problems if the month is refused.

        notes: Remarks about a month that is not refused.

        spread: The amounts that were spread; None if *unassigned* was not set.

        bases: Bases of list prices.

        ledger_hours: Hours that the ledger has, since the epoch.

        ledger_rows: Number of rows of the ledger.
    """

    month: str
    hours: range
    currency: str
    rows: Sequence[ChargebackRow]
    notes: Sequence[ChargebackRow] = ()
    spread: Spread | None = None
    bases: Sequence[str] = ()
    ledger_hours: Sequence[int] = ()
    ledger_rows: int = 0

    @property
    def is_refused(self) -> bool:
        """Return True if the month does not reconcile. No row then has the cost of an owner."""
        return any(row.problem for row in self.rows)

    def currency_of(self, row: ChargebackRow) -> str:
        """Return the currency of the cost of *row*."""
        return "USD" if row.problem in LIST_PRICED else self.currency

    def table(self, by: str) -> CostTable:
        """Return the cost table by one key; empty if the month is refused."""
        return cost_table(by, [(row.labels(by), cost_row) for row, cost_row in self._paid])

    @cached_property
    def _paid(self) -> list[tuple[ChargebackRow, CostRow]]:
        return [(row, row.cost_row()) for row in self.rows if not row.problem]

    def headline(self) -> str:
        """Return the billed amount and its parts as a sentence."""
        if self.is_refused:
            return f"Chargeback of {self.month}: refused, the bill and the ledger do not reconcile."
        total = self.table("day").printed(1)[-1]
        columns = ("cost", "not idle", "idle", "avoidable", "unknown", "spread")
        cents = {column: total.column_cents(column) for column in columns}
        shown = {column: f"{cost_of(amount, 2):,}" for column, amount in cents.items()}
        billed = cost_of(cents["cost"] + cents["spread"], 2)
        spread = f", {shown['spread']} spread" if cents["spread"] else ""
        return (
            f"Billed {billed:,} {self.currency}: {shown['not idle']} not idle, {shown['idle']} "
            f"idle (at most {shown['avoidable']} avoidable), {shown['unknown']} unknown{spread}."
        )

    def sentences(self) -> list[str]:
        """Return the source of the amounts, their difference from list price, and the spread."""
        source = f"EffectiveCost of AWS's bill in {self.currency}"
        sentences = [f"Amounts: {source}, by the ledger's core-minutes."]
        both = [row for row in self.rows if row.list_cost is not None]
        if both:
            billed = cost_of(sum(units_of(row.cost) for row in both))
            listed = sum((row.list_cost or Decimal(0) for row in both), Decimal(0))
            names = "; ".join(safe_name(basis, _LONGEST_BASIS) for basis in self.bases)
            difference = f": {billed - listed:+,.2f} USD" if self.currency == "USD" else ""
            sentences.append(
                f"Where both are known: {billed:,.2f} {self.currency} billed, {listed:,.2f} USD at "
                f"{names or 'list price'}{difference}."
            )
        moved = sum(row.found or 0 for row in self.notes)
        if moved:
            sentences.append(
                f"{counted(moved, 'instance-hour')} moved from one cluster to another: each "
                "cluster pays its own minutes."
            )
        missing = len({*self.hours}.difference(self.ledger_hours))
        if missing:
            sentences.append(
                f"The ledger lacks {missing:,} of {counted(len(self.hours), 'hour')}. Their bill "
                "is in the rows [before the ledger] and [ledger missing]."
            )
        return [*sentences, *self._spread_sentences()]

    def _spread_sentences(self) -> list[str]:
        if self.spread is None:
            return []
        by_label, owners = self.spread
        if not by_label:
            return ["Nothing was spread: every cost has an owner, or no owner has a cost."]
        total = self.table("day").printed(1)[-1]
        spread = total.column_cents("spread")
        cost = total.column_cents("cost")
        parts = zip(by_label, round_shares([*by_label.values()], CENT, spread), strict=True)
        labels = joined([f"{label} {cost_of(cents, 2):,}" for label, cents in parts])
        share = spread_percent(spread, spread + cost)
        amount = f"{cost_of(spread, 2):,} {self.currency}, {share} of the bill"
        return [f"Spread over {counted(owners, 'owner')} by their cost: {amount} ({labels})."]


def spread_percent(amount: int, total: int) -> str:
    """Return the share of *amount* in *total*, which may be 0."""
    return f"{100 * abs(amount) / abs(total):.1f} %" if total else "all"


def units_of(cost: Decimal) -> int:
    """Return *cost* in whole units of its last decimal."""
    return int(_WIDE.scaleb(cost, USD_UNIT_PLACES))


def cost_of(units: int, places: int = USD_UNIT_PLACES) -> Decimal:
    """Return whole *units* as a cost with *places* decimals."""
    return _WIDE.scaleb(Decimal(units), -places)


def _micros(core_minutes: Decimal) -> int:
    return int(_WIDE.scaleb(core_minutes, MINUTE_PLACES))


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
