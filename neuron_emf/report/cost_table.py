"""
The cost table: core time and cost of each owner, team, cluster, type, instance or day.

Each row has exact amounts (`CostRow`: micro-core-minutes, and units of 10^-18 USD) and the numbers
that people read, which add up to the total in every column. Each amount of a row is the sum of its
leaves (`Leaf`); each leaf is one kind of time.

Pure: no file, no clock, no terminal. Readers of ledgers and bills make `CostRow`s, `cost_table`
adds up and rounds the rows with equal labels, and every output reads the table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from operator import add
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from neuron_accounts.core_time import IDLE_LEAVES, CoreTime, Leaf, round_leaves, round_shares
from neuron_accounts.ledger import USD_PLACES, decimal_text
from neuron_emf.command_output import shown_name
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
_COLUMN_CENTS: Final = {**_COLUMN_LEAVES, "list price": slice(LEAVES, None)}
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


class TableRow(NamedTuple):
    """
    A row of a table: exact amounts, and whole numbers that add up to the numbers of the total.

    Attributes:
        labels: One for each of `ROW_LABELS`; blank after `[total]` and `[N more]`.

        exact: Exact amounts.

        tenths: Tenths of core-hours.

        cents: Cents by `Leaf`, then the spread and the list price; 0 if unknown.
    """

    labels: Labels
    exact: CostRow
    tenths: int
    cents: Sequence[int]

    def column_cents(self, column: str) -> int:
        """Return the printed cents of one *column* of money: a sum of printed leaves."""
        return sum(self.cents[_COLUMN_CENTS[column]])

    def usd(self, column: str) -> str:
        """Return the printed cents of one *column* of money as `1,234.50`."""
        return cents_text(self.column_cents(column))

    def cells(self) -> dict[str, str]:
        """Return the texts of the row by `COLUMNS`; `-` for an empty cell."""
        time = self.exact.time
        million = self.exact.million_executions_cost
        is_unpriced = self.exact.billed is None and time.executions and million is None
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
        exact = self.exact.amount(column)
        if exact is not None:
            return printed_number(self.column_cents(column), 2, exact)
        is_known = self.exact.leaves is not None and self.exact.time.known
        return NO_PRICE if is_known or column in {"cost", "list price"} else NOTHING


@dataclass(frozen=True, slots=True)
class CostTable:
    """
    Rows by one key.

    Attributes:
        by: A key of `ROW_LABELS`.

        rows: Rows with different labels, the most expensive first, days in order.
    """

    by: str
    rows: Sequence[TableRow]

    @property
    def total(self) -> TableRow:
        """The sum of all rows."""
        return self._sum("[total]", self.rows)

    def columns(self) -> list[str]:
        """Return the `COLUMNS` that have a value in any row."""
        rows = [row.exact for row in self.rows]
        absent = {
            column
            for column in ("unknown", "spread")
            if not any(row.amount(column) for row in rows)
        }
        if all(row.billed is None or row.listed is None for row in rows):
            absent.add("list price")
        if rows and all(row.leaves is None for row in rows):
            absent |= {*COLUMNS[COLUMNS.index("cost") :]}
        return [column for column in COLUMNS if column not in absent]

    def printed(self, most: int) -> list[TableRow]:
        """
        Return at most *most* rows, then their total as the last row.

        Rows after the first *most* (by day: rows before the last *most*) become one row `[N more]`
        with the sum of their printed values.
        """
        rest = len(self.rows) - most
        if rest <= 0:
            return [*self.rows, self.total]
        is_by_day = self.by == "day"
        more = self._sum(f"[{rest:,} more]", self.rows[:rest] if is_by_day else self.rows[most:])
        if is_by_day:
            return [more, *self.rows[rest:], self.total]
        return [*self.rows[:most], more, self.total]

    def _sum(self, text: str, rows: Sequence[TableRow]) -> TableRow:
        return _sum((text, *[None] * (len(ROW_LABELS[self.by]) - 1)), rows)


def cost_table(by: str, rows: Iterable[tuple[Labels, CostRow]]) -> CostTable:
    """Return the table of *rows*, rounded. Rows with equal labels are added up."""
    by_labels: dict[Labels, CostRow] = {}
    for labels, row in rows:
        by_labels.setdefault(labels, CostRow()).fold_row(row)
    ordered = sorted(by_labels.items(), key=lambda pair: tie_order(pair[0]))
    exact = [row for _, row in ordered]
    tenths = round_shares([row.time.allocated for row in exact], TENTH_HOUR)
    leaves = round_leaves([row.leaves or [0] * LEAVES for row in exact], CENT)
    list_cents = round_shares([row.amount("list price") or 0 for row in exact], CENT)
    return part_table(
        by,
        [
            TableRow(labels, row, tenths[at], (*leaves[at], list_cents[at]))
            for at, (labels, row) in enumerate(ordered)
        ],
    )


def part_table(by: str, rows: Iterable[TableRow]) -> CostTable:
    """Return the table of *rows*, such as some rows of another table, with new labels."""
    by_labels: dict[Labels, list[TableRow]] = {}
    for row in rows:
        by_labels.setdefault(row.labels, []).append(row)
    summed = [_sum(labels, same) for labels, same in by_labels.items()]
    if by == "day":
        return CostTable(by, sorted(summed, key=lambda row: str(row.labels)))
    return CostTable(
        by,
        sorted(
            summed,
            key=lambda row: (
                -(row.exact.amount("cost") or 0),
                -row.exact.time.allocated,
                *map(str, row.labels),
            ),
        ),
    )


def labels_of(by: str, names: Mapping[str, str | None]) -> Labels:
    """
    Return the labels of a row with *names*, by any of `ROW_LABELS`.

    Cost without an owner is in no team, and its label names it if nothing else does.
    """
    first, *others = (names[label] for label in ROW_LABELS[by])
    owner = names.get("owner")
    unowned = owner if owner in UNOWNED else None
    if by == "team":
        return (unowned or first or NO_TEAM,)
    if by == "owner" and unowned:
        return owner, None, names["cluster"]
    if by in {"cluster", "instance"}:
        return (first or unowned, *others)
    return (first, *others)


def shown_labels(table: CostTable) -> list[str]:
    """Return the labels of *table* that have a value in any row."""
    columns = zip(ROW_LABELS[table.by], *(row.labels for row in table.rows), strict=True)
    return [label for label, *texts in columns if any(texts)]


def heading(label: str) -> str:
    """Return the heading of *label*: `instance` for `instance_id`."""
    return label.removesuffix("_id").removeprefix("instance_")


def row_name(by: str, labels: Labels) -> str:
    """Return a name such as `slurm:4711 ada, team ml, cluster research`."""
    (_, first), *others = zip(ROW_LABELS[by], labels, strict=True)
    shown = [shown_name(first)]
    for label, text in others:
        if text is not None:
            shown.append(f"{heading(label)} {shown_name(text)}")
    return ", ".join(shown)


def then_table(then: Then, by: str) -> CostTable:
    """Return the table of the amounts *then* of a ledger or of minute lines, at list price."""
    if by == "day":
        days = [((iso(day * DAY_MS)[:10],), CostRow(time)) for day, time in then.days.items()]
        return cost_table(by, days)
    times: Mapping[Any, CoreTime] = then.owners
    if by in {"type", "instance"}:
        times = then.cluster_types if by == "type" else then.instances
    rows = []
    for key, time in times.items():
        names = {"instance_type": then.types.get(key), **key._asdict()}
        rows.append((labels_of(by, names), CostRow(time)))
    return cost_table(by, rows)


def exact_decimal(whole: int, places: int) -> Decimal:
    """Return *whole* smallest units as a decimal number without trailing zeros."""
    return Decimal(decimal_text(whole, places))


def cents_text(cents: int) -> str:
    """Return *cents* as `1,234.50`."""
    return f"{Decimal(cents).scaleb(-2):,}"


def _sum(labels: Labels, rows: Sequence[TableRow]) -> TableRow:
    """Return a row with the exact and the printed sums of *rows*."""
    total = CostRow()
    for row in rows:
        total.fold_row(row.exact)
    columns = zip([0] * (LEAVES + 1), *(row.cents for row in rows), strict=True)
    cents = [sum(column) for column in columns]
    return TableRow(labels, total, sum(row.tenths for row in rows), cents)
