"""A month's chargeback for people, as a table; for programs, as CSV and JSON with every digit."""

from __future__ import annotations

import sys
from collections import defaultdict
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Final

from rich import box
from rich.table import Table
from rich.text import Text

from neuron_emf import command_output
from neuron_emf.report.chargeback_rows import MOVED
from neuron_emf.report.cost_table import NO_TEAM
from neuron_emf.report.month_ledger import month_hours
from neuron_wire.names import HOUR_MS
from neuron_words.name_words import cell
from neuron_words.quantity_words import counted, moment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from neuron_emf.report.chargeback_rows import Chargeback, ChargebackRow
    from neuron_wire.line_members import JsonObject

REASON_REMEDIES: Final = {
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
    "ledger hours missing": (
        "The ledger lacks {hours} of {month}, or some of their 8 objects, with {usd} of the bill. "
        "Name all its buckets, or whole copies, with --ledger, or use --incomplete for a row "
        "[ledger missing]."
    ),
    "instance-hours in two clusters": (
        "{instance_hours}, {usd}, have records in two clusters at the same time: an instance has "
        "two emitters, or lines are forged. Find their writers, or split by all records with "
        "--incomplete."
    ),
    "more core-minutes than cores": (
        "{instance_hours}, {usd}, have more core-minutes in the ledger than their instance type "
        "allows: lines are forged. Find their writers, or split by all records with --incomplete."
    ),
    "reserved hours without a fee": (
        "{instance_hours} of a reservation cost 0, and its fee is on no bill. Name the bill of the "
        "month in which it was paid with --bill, or count them at 0 with --incomplete."
    ),
    "rows of HyperPod": (
        "{rows} of SageMaker HyperPod, {usd}, are not supported, because they name a cluster and "
        "no instance. Use --incomplete to leave them out and to list their instances at 0."
    ),
    "export not hourly": (
        "This export is daily, not hourly: {rows}, {usd}, are of more than an hour. Export "
        "FOCUS_1_2_AWS with TIME_GRANULARITY HOURLY; --incomplete cannot split days by hours."
    ),
    MOVED: "{instance_hours} moved from one cluster to another: each cluster pays its own minutes.",
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
"""The problem and what to do, by the SQL's name for it; and the note."""

_BESIDE_HYPERPOD: Final = (
    "{instance_hours} of the ledger, {usd} at list price, are on no row of EC2. Instances of "
    "HyperPod never are."
)


def show(result: Chargeback, csv_path: Path | None, rows: int, *, as_json: bool) -> None:
    """
    Write the file, then print; why a month is refused goes to standard error.

    Raises:
        DeliveryError: If a file or standard output takes nothing.
    """
    if csv_path is not None:
        command_output.write_file(csv_path, spreadsheet(result))
    command_output.show_answer(result, document, partial(parts, rows=rows), as_json=as_json)
    for row in (*result.rows, *result.notes):
        if row.problem:
            sys.stderr.write(f"neuron-emf: {sentence(row, result)}\n")


def sentence(row: ChargebackRow, result: Chargeback) -> str:
    """Return the sentence of one reason to refuse, with its remedy, or of one note."""
    count = row.found or 0
    text = REASON_REMEDIES[row.problem or ""]
    if row.problem == "ledger hours not billed" and _has_hyperpod(result):
        text = _BESIDE_HYPERPOD
    return text.format(
        month=result.month,
        usd=f"{_money(row.cost)} {result.currency_of(row)}",
        hours=f"{count:,} of {counted(len(month_hours(result.month)), 'hour')}",
        instance_hours=counted(count, "instance-hour"),
        fees=counted(count, "fee"),
        rows=counted(count, "row"),
    )


def _has_hyperpod(result: Chargeback) -> bool:
    return any(row.problem == "rows of HyperPod" for row in result.rows)


def document(result: Chargeback) -> JsonObject:
    """All rows as one JSON value; amounts are texts, because a float has too few digits."""
    return {
        "month": result.month,
        "currency": result.currency,
        "cost": None if result.is_refused else _exact(_total(result.rows)),
        "rows": [_members(row, result) for row in result.rows],
        "notes": [_members(row, result) for row in result.notes],
    }


def spreadsheet(result: Chargeback) -> str:
    """All rows as CSV (RFC 4180), names such that a spreadsheet sees no formula in one."""
    rows: list[Sequence[object]] = []
    for row in result.rows:
        names = {name: cell(getattr(row, name) or "") for name in ("team", "owner", "cluster")}
        members = {**_members(row, result), **names}
        rows = rows or [[*members]]
        rows.append([*members.values()])
    return command_output.csv_text(rows)


def parts(result: Chargeback, rows: int) -> list[RenderableType]:
    """What to print: at most *rows* owners, their days together, the most expensive first."""
    table = Table(box=box.SIMPLE_HEAD)
    if result.is_refused:
        for column in ("does not reconcile", "found", "amount"):
            table.add_column(column, justify="left" if column.startswith("does") else "right")
        for row in result.rows:
            amount = f"{_money(row.cost)} {result.currency_of(row)}"
            table.add_row(row.problem, f"{row.found:,}", amount)
        title = f"Chargeback of {result.month}: refused, the bill and the ledger do not reconcile."
        return [Text(title, style="bold"), table]
    for column in ("team", "owner", "cluster"):
        table.add_column(column, max_width=34, overflow="fold")
    amounts = [result.currency, "spread"] if result.spread else [result.currency]
    for column in ("days", "core hours", *amounts):
        table.add_column(column, justify="right", no_wrap=True)
    by_payer: dict[tuple[str, str, str], list[ChargebackRow]] = defaultdict(list)
    for row in result.rows:
        by_payer[(row.team or NO_TEAM, row.owner or "", row.cluster or "")].append(row)
    payers = sorted(by_payer, key=lambda names: (-_sum(by_payer[names]), names))
    for names in payers[:rows]:
        days = by_payer[names]
        hours = command_output.shown_hours(float(sum(row.core_minutes for row in days)))
        shown = (command_output.shown_name(name) if name else "" for name in names)
        table.add_row(*shown, str(len(days)), hours, *_amounts(result, days))
    if len(payers) > rows:
        table.caption = f"{counted(len(payers) - rows, 'row')} more. Use --rows, --csv or --json."
        table.caption_justify = "left"
    cost = f"{_exact(_total(result.rows))} {result.currency}"
    title = f"Chargeback of {_period(result)}: {cost} of the bill."
    return [Text(title, style="bold"), *map(Text, filter(None, [result.spread])), table]


def _amounts(result: Chargeback, rows: Sequence[ChargebackRow]) -> list[str]:
    """Return the own cost of *rows*, and what was spread to them if anything was spread."""
    cost = _money(_sum(rows))
    spread = sum((row.spread for row in rows), Decimal(0))
    return [cost, _money(spread)] if result.spread else [cost]


def _period(result: Chargeback) -> str:
    """Return the month, or the hours of it that a rehearsal's export has."""
    if result.hours == month_hours(result.month):
        return result.month
    ends = (moment(hour * HOUR_MS) for hour in (result.hours.start, result.hours.stop))
    return f"{' to '.join(ends)} ({counted(len(result.hours), 'hour')})"


def _members(row: ChargebackRow, result: Chargeback) -> dict[str, str | int | None]:
    members = {
        name: _exact(value) if isinstance(value, Decimal) else value
        for name, value in row._asdict().items()
    }
    return {**members, "currency": result.currency_of(row)}


def _sum(rows: Sequence[ChargebackRow]) -> Decimal:
    return sum((row.cost for row in rows), Decimal(0))


def _total(rows: Sequence[ChargebackRow]) -> Decimal:
    return sum((row.cost + row.spread for row in rows), Decimal(0))


def _exact(number: Decimal) -> str:
    """All digits, without trailing zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _money(cost: Decimal) -> str:
    return "under 0.01" if 0 < cost < Decimal("0.005") else f"{cost:,.2f}"
