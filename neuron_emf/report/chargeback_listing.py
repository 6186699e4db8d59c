"""A month's chargeback for people, as a table; for programs, as CSV and JSON with every digit."""

from __future__ import annotations

import sys
from collections import defaultdict
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.table import Table
from rich.text import Text

from neuron_emf import printing
from neuron_emf.report.chargeback import month_hours
from neuron_emf.report.terminal import NO_TEAM
from neuron_wire.phrases import cell, counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from neuron_emf.report.chargeback import Chargeback, ChargebackRow

REMEDIES: Final = {
    "hours without any charge": (
        "{hours} of {month} have no charge of a Neuron instance, and the ledger has {usd} at list "
        "price there. Name every file of the hourly export with --bill, or use --incomplete."
    ),
    "ledger hours not billed": (
        "{instance_hours} of the ledger are not on the bill, {usd} at list price. Name the bills "
        "of all its accounts and regions with --bill, or list them at 0 with --incomplete."
    ),
    "instance-hours billed twice": (
        "{instance_hours} are billed more than once, {usd} in all. Name each file of the export "
        "once, of its newest version alone, or count all of it with --incomplete."
    ),
    "fees not attributed": (
        "{fees} of reservations, {usd}, cannot be spread over their hours. Name the bills of the "
        "months in which they run and of the month after with --bill, or leave them out with "
        "--incomplete."
    ),
    "ledger rows refused": (
        "{rows} of the ledger cannot be read or are of another hour than their object, {usd} at "
        "list price. Settle those hours again, or leave them out with --incomplete."
    ),
}
"""The problem and what to do, by the SQL's name for it."""


def show(result: Chargeback, csv_path: Path | None, rows: int, *, as_json: bool) -> None:
    """
    Write the file, then print; why a month is refused goes to standard error.

    Raises:
        DeliveryError: If a file or standard output takes nothing.
    """
    if csv_path is not None:
        printing.write_file(csv_path, spreadsheet(result))
    printing.show_answer(result, document, partial(parts, rows=rows), as_json=as_json)
    for row in result.rows:
        if row.problem:
            sys.stderr.write(f"neuron-emf: {sentence(row, result)}\n")


def sentence(row: ChargebackRow, result: Chargeback) -> str:
    """What does not reconcile, and what to do."""
    count = row.found or 0
    return REMEDIES[row.problem or ""].format(
        month=result.month,
        usd=f"{_money(row.cost)} {result.currency}",
        hours=f"{count:,} of {counted(len(month_hours(result.month)), 'hour')}",
        instance_hours=counted(count, "instance-hour"),
        fees=counted(count, "fee"),
        rows=counted(count, "row"),
    )


def document(result: Chargeback) -> dict[str, Any]:
    """All rows as one JSON value; amounts are texts, because a float has too few digits."""
    return {
        "month": result.month,
        "currency": result.currency,
        "cost": None if result.is_refused else _exact(_sum(result.rows)),
        "rows": [_members(row) for row in result.rows],
    }


def spreadsheet(result: Chargeback) -> str:
    """All rows as CSV (RFC 4180), names such that a spreadsheet sees no formula in one."""
    rows: list[Sequence[object]] = [result.rows[0]._fields if result.rows else ()]
    for row in result.rows:
        names = {name: cell(getattr(row, name) or "") for name in ("team", "owner", "cluster")}
        rows.append([*{**_members(row), **names}.values()])
    return printing.csv_text(rows)


def parts(result: Chargeback, rows: int) -> list[RenderableType]:
    """What to print: at most *rows* owners, their days together, the most expensive first."""
    table = Table(box=box.SIMPLE_HEAD)
    if result.is_refused:
        for column in ("does not reconcile", "found", result.currency):
            table.add_column(column, justify="left" if column.startswith("does") else "right")
        for row in result.rows:
            table.add_row(row.problem, f"{row.found:,}", _money(row.cost))
        title = f"Chargeback of {result.month}: refused, the bill and the ledger do not reconcile."
        return [Text(title, style="bold"), table]
    for column in ("team", "owner", "cluster"):
        table.add_column(column, max_width=34, overflow="fold")
    for column in ("days", "core hours", result.currency):
        table.add_column(column, justify="right", no_wrap=True)
    by_payer: dict[tuple[str, str, str], list[ChargebackRow]] = defaultdict(list)
    for row in result.rows:
        by_payer[(row.team or NO_TEAM, row.owner or "", row.cluster or "")].append(row)
    payers = sorted(by_payer, key=lambda names: (-_sum(by_payer[names]), names))
    for names in payers[:rows]:
        days = by_payer[names]
        hours = printing.shown_hours(float(sum(row.core_minutes for row in days)))
        shown = (printing.shown_name(name) if name else "" for name in names)
        table.add_row(*shown, str(len(days)), hours, _money(_sum(days)))
    if len(payers) > rows:
        table.caption = f"{counted(len(payers) - rows, 'row')} more. Use --rows, --csv or --json."
        table.caption_justify = "left"
    cost = f"{_exact(_sum(result.rows))} {result.currency}"
    title = f"Chargeback of {result.month}: {cost} of the bill."
    return [Text(title, style="bold"), table]


def _members(row: ChargebackRow) -> dict[str, str | int | None]:
    return {
        name: _exact(value) if isinstance(value, Decimal) else value
        for name, value in row._asdict().items()
    }


def _sum(rows: Sequence[ChargebackRow]) -> Decimal:
    return sum((row.cost for row in rows), Decimal(0))


def _exact(number: Decimal) -> str:
    """All digits, without trailing zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _money(cost: Decimal) -> str:
    return "under 0.01" if 0 < cost < Decimal("0.005") else f"{cost:,.2f}"
