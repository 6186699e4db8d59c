"""
The cost table: core time and cost of each owner, team, cluster, type, instance or day.

Rows are exact: micro-core-minutes, and amounts in units of 10^-18 USD (`USD_UNITS`). `printed`
rounds them for people so that the rows add up to the total in every column. Each amount of a row is
the sum of its leaves (`Leaf`); each leaf is one kind of time.

Pure: no file, no clock, no terminal. It knows neither ledgers nor bills: their readers make
`CostRow`s, and `cost_table` adds up the rows with equal labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import add
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_accounts.core_time import IDLE_LEAVES, CoreTime, Leaf, round_leaves, round_shares
from neuron_accounts.ledger import USD_PLACES
from neuron_emf.cost.tariff import TABLES
from neuron_wire.core_members import round_half_even
from neuron_wire.names import DAY_MS, UNALLOCATED_OWNER, UNKNOWN_OWNER
from neuron_words.quantity_words import iso, printed_number, share_words
from neuron_words.then_words import tie_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from neuron_accounts.then import Then

Labels = tuple[str | None, ...]

_TABLE: Final = TABLES["report"]

ROW_LABELS: Final[Mapping[str, Sequence[str]]] = _TABLE["row_labels"]
"""The labels of a row, by the key of the table."""

NO_TEAM: Final = "[no team]"
"""The team of owners without a team. It never contains cost without an owner."""

UNOWNED: Final = frozenset(
    {
        UNALLOCATED_OWNER,
        UNKNOWN_OWNER,
        "[no telemetry]",
        "[reserved, unused]",
        "[before the ledger]",
        "[ledger missing]",
        "[not splittable]",
    }
)
"""Labels of cost without an owner: each has a row of its own by owner and by team."""

USD_UNIT_PLACES: Final = 18
USD_UNITS: Final = 10**USD_UNIT_PLACES
"""Units of an amount per USD, as in a bill."""

CENT: Final = USD_UNITS // 100
TENTH_HOUR: Final = 6 * 10**6
"""The micro-core-minutes of a tenth of a core-hour."""

NOTHING: Final = "-"
NO_PRICE: Final = "no price"

_NANO: Final = USD_UNITS // 10**USD_PLACES

LEAVES: Final = len(Leaf) + 1
SPREAD: Final = len(Leaf)
"""The number of amounts of a row: one for each `Leaf`, then the amount spread to the row."""

COST_LEAVES: Final = slice(0, SPREAD)


COLUMNS: Final[Sequence[str]] = tuple(_TABLE["columns"])
"""Headings of `cells` in every output; the columns from `cost` on are money."""

COST_MEMBERS: Final[Mapping[str, str]] = _TABLE["cost_members"]
"""Members of JSON and columns of CSV, by the column of the table."""

_COLUMN_LEAVES: Final = {
    leaf.name.lower().replace("_", " "): slice(leaf, leaf + 1) for leaf in Leaf
} | {
    "spread": slice(SPREAD, SPREAD + 1),
    "idle": IDLE_LEAVES,
    "cost": COST_LEAVES,
    "list price": COST_LEAVES,
}
_OF_KNOWN_TIME: Final = frozenset({"not idle", "idle", "avoidable", "shared", "committed"})


@dataclass(slots=True)
class CostRow:
    """
    Exact core time and cost of one label.

    Attributes:
        time: Core time, executions and list price, from the ledger; empty if the ledger
            lacks the label.

        billed: Cost on the bill, in `USD_UNITS`: by `Leaf`, then what is spread to the row; None
            without a bill.

        billed_work: Billed cost of allocated cores in billed hours with executions read.

        billed_executions: Executions in those hours.
    """

    time: CoreTime = field(default_factory=CoreTime)
    billed: Sequence[int] | None = None
    billed_work: int = 0
    billed_executions: int = 0

    def fold_row(self, other: CostRow) -> None:
        """Add every amount of *other*."""
        self.time.fold_time(other.time)
        if other.billed is not None:
            before = self.billed or [0] * LEAVES
            self.billed = [*map(add, before, other.billed)]
        self.billed_work += other.billed_work
        self.billed_executions += other.billed_executions

    @property
    def listed(self) -> Sequence[int] | None:
        """Return the list price by `Leaf` of cores with a price; None if no core has one."""
        time = self.time
        if time.unpriced and time.unpriced == time.allocated and not time.cost:
            return None
        return [nano * _NANO for nano in (*time.leaves, 0)]

    @property
    def leaves(self) -> Sequence[int] | None:
        """Return the cost by `Leaf`: billed, or list price without a bill; None if unknown."""
        return self.listed if self.billed is None else self.billed

    def amount(self, column: str) -> int | None:
        """
        Return the exact amount of one *column* of money, in `USD_UNITS`; None if unknown.

        Cores without a price have no amount. Time without telemetry is neither idle nor not idle.
        """
        leaves = self.listed if column == "list price" else self.leaves
        if leaves is None:
            return None
        amount = sum(leaves[_COLUMN_LEAVES[column]])
        if amount or column not in _OF_KNOWN_TIME:
            return amount
        is_known = self.time.known or not self.time.allocated
        is_priced = self.billed is not None or column == "not idle" or self.time.has_idle_price
        return amount if is_known and is_priced else None

    @property
    def million_executions_cost(self) -> int | None:
        """Return the cost of a million executions in billionths of a USD; None if unknown."""
        if self.billed is None:
            return self.time.million_executions_cost
        if not self.billed_executions:
            return None
        return round_half_even(10**6 * self.billed_work, self.billed_executions * _NANO)


class PrintedRow(NamedTuple):
    """
    A row as people see it: whole cents and tenths of core-hours, which add up to the total's.

    Attributes:
        labels: One for each of `ROW_LABELS`; blank after `[total]` and `[N more]`.

        row: Exact amounts.

        tenths: Tenths of core-hours.

        cents: Cents by `Leaf`; 0 if the cost is unknown.

        list_cents: Cost at list price; 0 if unknown.
    """

    labels: Labels
    row: CostRow
    tenths: int
    cents: Sequence[int]
    list_cents: int

    def column_cents(self, column: str) -> int:
        """Return the printed cents of one *column* of money: a sum of printed leaves."""
        if column == "list price":
            return self.list_cents
        return sum(self.cents[_COLUMN_LEAVES[column]])

    def cells(self) -> dict[str, str]:
        """Return the texts of the row by `COLUMNS`; `-` for an empty cell."""
        time = self.row.time
        million = self.row.million_executions_cost
        is_unpriced = self.row.billed is None and time.executions and million is None
        texts = {
            "core hours": printed_number(self.tenths, 1, time.allocated),
            "busy share": share_words(100 * time.busy / time.known) if time.known else NOTHING,
            "executions": NOTHING if time.executions is None else f"{time.executions:,}",
            "per million": NO_PRICE if is_unpriced else NOTHING,
        }
        if million is not None:
            cents = round_half_even(million, CENT // _NANO)
            texts["per million"] = printed_number(cents, 2, million)
        return {column: texts.get(column) or self._money(column) for column in COLUMNS}

    def _money(self, column: str) -> str:
        exact = self.row.amount(column)
        if exact is not None:
            return printed_number(self.column_cents(column), 2, exact)
        is_price = column in {"cost", "list price"} or self.row.leaves is not None
        is_unknown = column in _OF_KNOWN_TIME and not self.row.time.known
        return NO_PRICE if is_price and not is_unknown else NOTHING


@dataclass(frozen=True, slots=True)
class CostTable:
    """
    Rows by one key.

    Attributes:
        by: A key of `ROW_LABELS`.

        rows: Rows with different labels, the most expensive first, days in order.

        parts: The rows as rounded in another table; None to round them.
    """

    by: str
    rows: Sequence[tuple[Labels, CostRow]]
    parts: Sequence[PrintedRow] | None = None

    @property
    def total(self) -> CostRow:
        """The sum of all rows."""
        return _sum(row for _, row in self.rows)

    def columns(self) -> list[str]:
        """Return the `COLUMNS` that have a value in any row."""
        rows = [row for _, row in self.rows]
        is_billed = any(row.billed is not None for row in rows)
        absent = {
            column
            for column in ("unknown", "spread")
            if not any(row.amount(column) for row in rows)
        }
        if not is_billed or all(row.listed is None for row in rows):
            absent.add("list price")
        if rows and all(row.leaves is None for row in rows):
            absent |= {*COLUMNS[COLUMNS.index("cost") :]}
        return [column for column in COLUMNS if column not in absent]

    def rounded(self) -> Sequence[PrintedRow]:
        """Return the rows rounded for people."""
        if self.parts is not None:
            return self.parts
        ordered = sorted(self.rows, key=lambda pair: tie_order(pair[0]))
        leaves = [row.leaves or [0] * LEAVES for _, row in ordered]
        pairs = zip(ordered, round_leaves(leaves, CENT), strict=True)
        cents = {labels: amounts for (labels, _), amounts in pairs}
        tenths = round_shares([row.time.allocated for _, row in self.rows], TENTH_HOUR)
        list_costs = [row.amount("list price") or 0 for _, row in self.rows]
        list_cents = round_shares(list_costs, CENT)
        return [
            PrintedRow(labels, row, tenths[at], cents[labels], list_cents[at])
            for at, (labels, row) in enumerate(self.rows)
        ]

    def printed(self, most: int) -> list[PrintedRow]:
        """
        Return the rows rounded for people, and their total as the last row.

        Rows after the first *most* (by day: rows before the last *most*) become one row `[N more]`
        with the sum of their printed values.
        """
        rows = [*self.rounded()]
        total = _printed_sum(total_labels(self.by), rows)
        rest = len(rows) - most
        if rest <= 0:
            return [*rows, total]
        labels = _labels(f"[{rest:,} more]", self.by)
        if self.by == "day":
            return [_printed_sum(labels, rows[:rest]), *rows[rest:], total]
        return [*rows[:most], _printed_sum(labels, rows[most:]), total]


def cost_table(by: str, rows: Iterable[tuple[Labels, CostRow]]) -> CostTable:
    """Return the table of *rows*. Rows with equal labels are added up."""
    rows_by_labels: dict[Labels, CostRow] = {}
    for labels, row in rows:
        rows_by_labels.setdefault(labels, CostRow()).fold_row(row)
    if by == "day":
        return CostTable(by, sorted(rows_by_labels.items(), key=lambda pair: str(pair[0])))
    return CostTable(
        by,
        sorted(
            rows_by_labels.items(),
            key=lambda pair: (
                -(pair[1].amount("cost") or 0),
                -pair[1].time.allocated,
                *map(str, pair[0]),
            ),
        ),
    )


def part_table(by: str, rows: Sequence[tuple[Labels, PrintedRow]]) -> CostTable:
    """Return a table of some *rows* of another table. Rows with equal labels are added up."""
    table = cost_table(by, [(labels, row.row) for labels, row in rows])
    by_labels: dict[Labels, list[PrintedRow]] = {}
    for labels, row in rows:
        by_labels.setdefault(labels, []).append(row)
    parts = [_printed_sum(labels, by_labels[labels]) for labels, _ in table.rows]
    return CostTable(by, table.rows, parts)


def owner_labels(by: str, *, owner: str, cluster: str | None, team: str | None) -> Labels:
    """Return the labels of an owner's row by owner, team or cluster."""
    if by == "cluster":
        return (cluster,)
    is_unowned = owner in UNOWNED
    if by == "team":
        return (owner if is_unowned else team or NO_TEAM,)
    return owner, None if is_unowned else team, cluster


def then_table(then: Then, by: str) -> CostTable:
    """Return the table of the amounts *then* of a ledger or of minute lines, at list price."""
    times: Iterable[tuple[Labels, CoreTime]]
    if by == "day":
        times = (((iso(day * DAY_MS)[:10],), time) for day, time in then.days.items())
    elif by == "type":
        times = (((name,), time) for name, time in then.by_type.items())
    elif by == "instance":
        times = (
            ((key.instance_id, then.types.get(key), key.cluster), time)
            for key, time in then.instances.items()
        )
    else:
        times = ((owner_labels(by, **key._asdict()), time) for key, time in then.owners.items())
    return cost_table(by, ((labels, CostRow(time)) for labels, time in times))


def total_labels(by: str) -> Labels:
    """Return the labels of the total row."""
    return _labels("[total]", by)


def _labels(text: str, by: str) -> Labels:
    return (text, *[None] * (len(ROW_LABELS[by]) - 1))


def _printed_sum(labels: Labels, rows: Sequence[PrintedRow]) -> PrintedRow:
    """Return a row with the sum of the printed values of *rows*."""
    return PrintedRow(
        labels,
        _sum(row.row for row in rows),
        tenths=sum(row.tenths for row in rows),
        cents=tuple(sum(row.cents[leaf] for row in rows) for leaf in range(LEAVES)),
        list_cents=sum(row.list_cents for row in rows),
    )


def _sum(rows: Iterable[CostRow]) -> CostRow:
    total = CostRow()
    for row in rows:
        total.fold_row(row)
    return total
