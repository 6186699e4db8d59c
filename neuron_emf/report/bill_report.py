"""The report of a month's bill, and the reasons for which a month is refused."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from rich import box
from rich.table import Table
from rich.text import Text

from neuron_accounts.then import Then
from neuron_emf import command_output
from neuron_emf.reading import periods
from neuron_emf.report.exports import json_text
from neuron_emf.report.idle_report import IdleReport, Reading, spans
from neuron_emf.report.month_ledger import month_hours
from neuron_wire.names import HOUR_MS
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from neuron_emf.report.chargeback_rows import Chargeback, ChargebackRow
    from neuron_emf.report.settings import IdleReportSettings

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

_BESIDE_HYPERPOD: Final = (
    "{instance_hours} of the ledger, {usd} at list price, are on no row of EC2. Instances of "
    "HyperPod never are."
)


def bill_report(settings: IdleReportSettings, result: Chargeback) -> IdleReport:
    """Return the report of the bill that *settings* name."""
    missing = {*result.hours}.difference(result.ledger_hours)
    reading = Reading(
        origin="the ledger and the bill",
        is_ledger=True,
        hours=len(result.hours) - len(missing),
        missing=spans("the ledger", sorted(missing)),
        ledger_rows=result.ledger_rows,
    )
    return IdleReport(
        start_ms=result.hours.start * HOUR_MS,
        end_ms=result.hours.stop * HOUR_MS,
        made_ms=periods.now_ms(),
        cluster="",
        by=settings.by,
        then=Then(bases={*result.bases}),
        reading=reading,
        has_rules=settings.teams is not None,
        currency=result.currency,
        bill=result,
    )


def show_refusal(report: IdleReport, result: Chargeback, settings: IdleReportSettings) -> None:
    """
    Print what does not reconcile; what to do about it goes to standard error.

    Raises:
        DeliveryError: If standard output takes nothing.
    """
    if settings.json:
        command_output.show_text(json_text(report))
    else:
        command_output.show(*_refusal_parts(result))
    for row in result.rows:
        sys.stderr.write(f"neuron-emf: {sentence(row, result)}\n")
    for file in (settings.html, settings.csv):
        if file is not None:
            sys.stderr.write(f"neuron-emf: {file} was not written, because the month is refused.\n")


def sentence(row: ChargebackRow, result: Chargeback) -> str:
    """Return the sentence of one reason to refuse, with its remedy."""
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


def _refusal_parts(result: Chargeback) -> list[RenderableType]:
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("does not reconcile", "found", "amount"):
        table.add_column(column, justify="left" if column.startswith("does") else "right")
    for row in result.rows:
        amount = f"{_money(row.cost)} {result.currency_of(row)}"
        table.add_row(row.problem, f"{row.found:,}", amount)
    return [Text(result.headline(), style="bold"), table]


def _money(cost: Decimal) -> str:
    return "under 0.01" if 0 < cost < Decimal("0.005") else f"{cost:,.2f}"
