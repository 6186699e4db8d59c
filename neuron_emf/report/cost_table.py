"""
The cost table: what each owner, team, cluster, type, instance or day had and cost.

Rows are exact: micro-core-minutes, and amounts in units of 10^-18 USD (`USD_UNITS`). `printed`
rounds them for people so that the rows add up to the total in every column. Each amount of a row
is the sum of its leaves (`Leaf`), each of which is of one kind of time.

Pure: no file, no clock, no terminal. It knows neither a ledger nor a bill: whoever reads one makes
`CostRow`s, and `cost_table` adds up those with equal labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from operator import add
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_accounts.core_time import AVOIDABLE_PARTS, CoreTime, Part, round_shares
from neuron_accounts.ledger import USD_PLACES
from neuron_wire.core_members import round_half_even
from neuron_wire.names import DAY_MS, UNALLOCATED_OWNER, UNKNOWN_OWNER
from neuron_words.quantity_words import iso

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neuron_accounts.then import Then

Labels = tuple[str | None, ...]

ROW_LABELS: Final = {
    "owner": ("owner", "team", "cluster"),
    "team": ("team",),
    "cluster": ("cluster",),
    "type": ("instance_type",),
    "instance": ("instance_id", "instance_type", "cluster"),
    "day": ("day",),
}
"""Labels of the rows by each key."""

NO_TEAM: Final = "[no team]"
"""The team of owners without one. What no owner has is never in it."""

UNOWNED: Final = frozenset({
    UNALLOCATED_OWNER, UNKNOWN_OWNER, "[no telemetry]", "[reserved, unused]",
    "[before the ledger]", "[ledger missing]", "[not splittable]",
})  # fmt: skip
"""Labels of what no owner has: each has a row of its own by owner and by team."""

USD_UNITS: Final = 10**18
"""Units of an amount in a USD, as in a bill."""

CENT: Final = USD_UNITS // 100
TENTH_HOUR: Final = 6 * 10**6
"""Micro-core-minutes of a tenth of a core-hour."""

_NANO: Final = USD_UNITS // 10**USD_PLACES


class Leaf(IntEnum):
    """Kinds of cost. The first five add up to the cost of a row; idle is three of them."""

    BUSY = 0  # allocated, known and not idle
    AVOIDABLE = 1
    SHARED = 2
    COMMITTED = 3
    UNKNOWN = 4  # without telemetry, or on the bill and not in the ledger
    SPREAD = 5  # moved to this row from rows that no owner has; beside its own cost


IDLE_LEAVES: Final = slice(Leaf.AVOIDABLE, Leaf.UNKNOWN)
COST_LEAVES: Final = slice(Leaf.BUSY, Leaf.SPREAD)


@dataclass(slots=True)
class CostRow:
    """
    What one label had and cost, exactly.

    Attributes:
        time: Core time, executions and list price, from the ledger; empty if the ledger has
            nothing of it.

        billed: Cost on the bill by `Leaf`, in `USD_UNITS`; None without a bill.

        billed_work: Billed cost of allocated cores in hours with executions read.
    """

    time: CoreTime = field(default_factory=CoreTime)
    billed: Sequence[int] | None = None
    billed_work: int = 0

    def fold_row(self, other: CostRow) -> None:
        """Add all of *other*."""
        self.time.fold_time(other.time)
        if other.billed is not None:
            before = self.billed or [0] * len(Leaf)
            self.billed = [*map(add, before, other.billed)]
        self.billed_work += other.billed_work

    @property
    def listed(self) -> Sequence[int] | None:
        """List price by `Leaf`, of what has one; None if nothing has one."""
        time = self.time
        if time.unpriced and time.unpriced == time.allocated and not time.cost:
            return None
        idle = [time.cost_by_part[Part.SHARED], time.cost_by_part[Part.COMMITTED]]
        avoidable = sum(time.cost_by_part[part] for part in AVOIDABLE_PARTS)
        busy = time.cost - sum(time.cost_by_part) - time.unknown_cost
        nanos = (busy, avoidable, *idle, time.unknown_cost, 0)
        return [nano * _NANO for nano in nanos]

    @property
    def leaves(self) -> Sequence[int] | None:
        """Cost by `Leaf`: billed where a bill is given, else at list price; None if unknown."""
        return self.listed if self.billed is None else self.billed

    @property
    def cost(self) -> int | None:
        """Own cost, without what is spread to the row; None if unknown."""
        leaves = self.leaves
        return None if leaves is None else sum(leaves[COST_LEAVES])

    @property
    def list_cost(self) -> int | None:
        """Own cost at list price; None if nothing has one."""
        listed = self.listed
        return None if listed is None else sum(listed)

    @property
    def million_executions_cost(self) -> int | None:
        """Cost of a million executions in billionths of a USD; None if not known."""
        if self.billed is None:
            return self.time.million_executions_cost
        if not self.time.executions:
            return None
        return round_half_even(10**6 * self.billed_work, self.time.executions * _NANO)


class PrintedRow(NamedTuple):
    """
    A row as people see it: whole cents and tenths of core-hours, which add up to the total's.

    Attributes:
        labels: As `ROW_LABELS` says; `[total]` and `[N more]` have blanks behind.

        row: Exact amounts.

        tenths: Tenths of core-hours.

        cents: By `Leaf`; 0 if the cost is unknown.

        list_cents: Cost at list price; 0 if unknown.
    """

    labels: Labels
    row: CostRow
    tenths: int
    cents: Sequence[int]
    list_cents: int

    @property
    def cost_cents(self) -> int:
        """The printed cost: the sum of its printed leaves."""
        return sum(self.cents[COST_LEAVES])

    @property
    def idle_cents(self) -> int:
        """The printed idle cost: the sum of its three printed leaves."""
        return sum(self.cents[IDLE_LEAVES])


@dataclass(frozen=True, slots=True)
class CostTable:
    """
    Rows by one key.

    Attributes:
        by: A key of `ROW_LABELS`.

        rows: The most expensive first, days in order. Their labels differ.
    """

    by: str
    rows: Sequence[tuple[Labels, CostRow]]

    @property
    def total(self) -> CostRow:
        """All rows together."""
        return _sum(row for _, row in self.rows)

    def shown(self, most: int) -> list[tuple[Labels, CostRow]]:
        """At most *most* rows, of days the last; one more, `[N more]`, has all others."""
        rest = len(self.rows) - most
        if rest <= 0:
            return [*self.rows]
        first = rest if self.by == "day" else 0
        kept = [*self.rows[first : first + most]]
        others = [*self.rows[:first], *self.rows[first + most :]]
        more = _named(f"[{rest:,} more]", self.by), _sum(row for _, row in others)
        return [more, *kept] if first else [*kept, more]

    def printed(self, most: int) -> list[PrintedRow]:
        """
        Return `shown` rounded for people, and the total as the last row.

        The total's cost is rounded first, then its leaves, then each leaf over the rows, always
        by largest remainder: nothing is a whole cent from its exact amount.
        """
        rows = self.shown(most)
        leaves = [row.leaves or [0] * len(Leaf) for _, row in rows]
        by_leaf = [[amounts[leaf] for amounts in leaves] for leaf in Leaf]
        totals = round_shares([sum(amounts) for amounts in by_leaf], CENT)
        columns = [
            round_shares(amounts, CENT, total)
            for amounts, total in zip(by_leaf, totals, strict=True)
        ]
        tenths = round_shares([row.time.allocated for _, row in rows], TENTH_HOUR)
        listed = round_shares([row.list_cost or 0 for _, row in rows], CENT)
        found = [
            PrintedRow(labels, row, tenths[at], [cents[at] for cents in columns], listed[at])
            for at, (labels, row) in enumerate(rows)
        ]
        labels = _named("[total]", self.by)
        return [*found, PrintedRow(labels, self.total, sum(tenths), totals, sum(listed))]


def cost_table(by: str, rows: Iterable[tuple[Labels, CostRow]]) -> CostTable:
    """Return the table of *rows*; those with equal labels are added up."""
    found: dict[Labels, CostRow] = {}
    for labels, row in rows:
        found.setdefault(labels, CostRow()).fold_row(row)
    if by == "day":
        return CostTable(by, sorted(found.items(), key=lambda pair: str(pair[0])))
    return CostTable(
        by,
        sorted(
            found.items(),
            key=lambda pair: (-(pair[1].cost or 0), -pair[1].time.allocated, *map(str, pair[0])),
        ),
    )


def owner_labels(by: str, *, owner: str, cluster: str | None, team: str | None) -> Labels:
    """Return the labels of an owner's row by owner, team or cluster."""
    if by == "cluster":
        return (cluster,)
    is_unowned = owner in UNOWNED
    if by == "team":
        return (owner if is_unowned else team or NO_TEAM,)
    return owner, None if is_unowned else team, cluster


def then_table(then: Then, by: str) -> CostTable:
    """Return the table of rows of a ledger, or of minute lines, at list price."""
    if by == "day":
        days = [((iso(day * DAY_MS)[:10],), CostRow(time)) for day, time in then.days.items()]
        return cost_table(by, days)
    if by == "type":
        types = [((name,), CostRow(time)) for name, time in then.by_type.items()]
        return cost_table(by, types)
    if by == "instance":
        instances = [
            ((key.instance_id, then.types.get(key), key.cluster), CostRow(time))
            for key, time in then.instances.items()
        ]
        return cost_table(by, instances)
    owners = [
        (owner_labels(by, owner=key.owner, cluster=key.cluster, team=key.team), CostRow(time))
        for key, time in then.owners.items()
    ]
    return cost_table(by, owners)


def _named(text: str, by: str) -> Labels:
    return (text, *[None] * (len(ROW_LABELS[by]) - 1))


def _sum(rows: Iterable[CostRow]) -> CostRow:
    total = CostRow()
    for row in rows:
        total.fold_row(row)
    return total
