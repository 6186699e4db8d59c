"""The report of a month's bill, and the reasons for which a month is refused."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from neuron_accounts.core_time import round_shares
from neuron_emf.reading import periods
from neuron_emf.report.chargeback_rows import units_of
from neuron_emf.report.cost_table import CENT, USD_UNIT_PLACES, cents_text, exact_decimal
from neuron_emf.report.idle_report import IdleReport, most_idle, notes_of, team_hint
from neuron_emf.report.month_ledger import month_hours
from neuron_emitter.errors import SettingsError
from neuron_wire.names import HOUR_MS
from neuron_words.quantity_words import counted, joined
from neuron_words.then_words import price_sentences

if TYPE_CHECKING:
    from neuron_emf.report.chargeback_rows import Chargeback, ChargebackRow
    from neuron_emf.report.cost_table import TableRow
    from neuron_emf.report.settings import IdleReportSettings

REASON_REMEDIES: Final = {
    "hours without any charge": (
        "{hours} of {month} have no charge of a Neuron instance, and the ledger has {usd} at list "
        "price for them. Name every file of the hourly export with --bill, or use --incomplete."
    ),
    "ledger hours not billed": (
        "{instance_hours} of the ledger are not on the bill, {usd} at list price. Name the bills "
        "of all its accounts and regions with --bill, or list them at 0 with --incomplete."
    ),
    "instance-hours billed twice": (
        "{instance_hours} are billed more than once, {usd} in all. Name each file of the export "
        "once, only the newest version, or count all charges with --incomplete."
    ),
    "ledger hours missing": (
        "The ledger lacks all or a part of {hours} of {month}, which cost {usd} on the bill. Name "
        "all its buckets or complete copies with --ledger, or use --incomplete to put that cost "
        "in a row [ledger missing]."
    ),
    "instance-hours in two clusters": (
        "{instance_hours}, {usd}, have records in two clusters at the same time: an instance has "
        "two emitters, or lines are forged. Find their writers, or split by all records with "
        "--incomplete."
    ),
    "more core-minutes than cores": (
        "The ledger has more core-minutes for {instance_hours}, {usd}, than the instance type "
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
        "This export is daily, not hourly: {rows}, {usd}, cover more than an hour. Export "
        "FOCUS_1_2_AWS with TIME_GRANULARITY HOURLY; --incomplete cannot split days by hours."
    ),
    "fees not attributed": (
        "{fees} of reservations, {usd}, cannot be spread over the reserved hours. Name the bills "
        "of the reserved months and of the month after with --bill, or leave the fees out with "
        "--incomplete."
    ),
    "ledger rows refused": (
        "{rows} of the ledger cannot be read or belong to another hour than their object, {usd} at "
        "list price. Settle those hours again, or leave them out with --incomplete."
    ),
}
"""The problem and what to do, by the SQL's name for it."""

MAX_SPREAD_PERCENT: Final = 20
"""The largest share of the total that is spread without --spread-anyway, in percent."""

NO_SAVINGS: Final = (
    "Savings are unknown: they need the summaries of one ledger, from its bucket or a complete "
    "copy."
)

_BESIDE_HYPERPOD: Final = (
    "{instance_hours} of the ledger, {usd} at list price, have no row of EC2 on the bill. "
    "Instances of HyperPod never have one."
)


def bill_report(settings: IdleReportSettings, result: Chargeback) -> IdleReport:
    """
    Return the report of the bill that *settings* name, or of the reasons to refuse it.

    Raises:
        SettingsError: If more would be spread than *settings* accept.
    """
    then = result.then
    problems = [row for row in result.rows if row.problem]
    refusal = IdleReport(
        start_ms=result.hours.start * HOUR_MS,
        end_ms=result.hours.stop * HOUR_MS,
        made_ms=periods.now_ms(),
        by=settings.by,
        headline=f"The chargeback of {result.month} is refused: bill and ledger do not reconcile.",
        lead=[],
        notes=[_reason(row, result) for row in problems],
        table=result.table,
        then=then,
        reading=result.reading,
        currency=result.currency,
        problems=[
            {
                "problem": row.problem,
                "found": row.found,
                "amount": exact_decimal(units_of(row.amount), USD_UNIT_PLACES),
                "currency": result.currency_of(row),
            }
            for row in problems
        ],
    )
    if problems:
        return refusal
    total = result.table("day").total
    spread = spread_sentences(result, total, is_accepted=settings.spread_anyway)
    notes = notes_of(then, total, result.reading, len(result.hours))
    lead = [
        *_lead(result),
        *price_sentences(then),
        *spread,
        *most_idle(result.table("owner"), result.currency),
        *team_hint(settings),
    ]
    return replace(
        refusal,
        headline=_headline(result, total),
        lead=lead,
        notes=notes if then.cluster_hours else [*notes, NO_SAVINGS],
    )


def _headline(result: Chargeback, total: TableRow) -> str:
    """Return the billed amount and its parts as a sentence."""
    billed = cents_text(total.column_cents("cost") + total.column_cents("spread"))
    spread = f", {total.usd('spread')} spread" if total.column_cents("spread") else ""
    return (
        f"Billed {billed} {result.currency}: {total.usd('not idle')} not idle, "
        f"{total.usd('idle')} idle (at most {total.usd('avoidable')} avoidable), "
        f"{total.usd('unknown')} unknown{spread}."
    )


def _lead(result: Chargeback) -> list[str]:
    """Return the source of the amounts, their difference from list price, and missing hours."""
    source = "EffectiveCost (BilledCost of a capacity block's fee without it) of AWS's bill"
    sentences = [f"Amounts: {source} in {result.currency}, by the ledger's core-minutes."]
    both = [(row.amount, row.list_cost) for row in result.rows if row.list_cost is not None]
    if both:
        billed, listed = map(sum, zip(*both, strict=True))
        difference = f": {billed - listed:+,.2f} USD" if result.currency == "USD" else ""
        sentences.append(
            f"Where both are known: {billed:,.2f} {result.currency} billed, {listed:,.2f} USD at "
            f"list price{difference}."
        )
    if result.moved:
        sentences.append(
            f"{counted(result.moved, 'instance-hour')} moved from one cluster to another: each "
            "cluster pays its own minutes."
        )
    missing = len(result.hours) - result.reading.hours
    if missing:
        sentences.append(
            f"The ledger lacks {missing:,} of {counted(len(result.hours), 'hour')}. Their cost "
            "is in the rows [before the ledger] and [ledger missing]."
        )
    return sentences


def spread_sentences(result: Chargeback, total: TableRow, *, is_accepted: bool) -> list[str]:
    """
    Return how much was spread, over how many owners, and from which labels.

    Raises:
        SettingsError: If it was more than MAX_SPREAD_PERCENT of the total, unless *is_accepted*.
    """
    if result.spread is None:
        return []
    if not result.spread:
        return ["Nothing was spread: every cost has an owner, or no owner has a cost."]
    amount = sum(result.spread.values())
    whole = sum(total.exact.billed or ())
    cents = round_shares([*result.spread.values()], CENT, total.column_cents("spread"))
    parts = [
        f"{label} {cents_text(part)}" for label, part in zip(result.spread, cents, strict=True)
    ]
    owners = {(row.owner, row.cluster) for row in result.rows if row.amount > 0}
    share = f"{100 * abs(amount) / abs(whole):.1f} %" if whole else "all"
    words = (
        f"over {counted(len(owners), 'owner')} by their cost: {total.usd('spread')} "
        f"{result.currency}, {share} of the bill ({joined(parts)})."
    )
    if 100 * abs(amount) > MAX_SPREAD_PERCENT * abs(whole) and not is_accepted:
        msg = (
            f"--unassigned would spread {words} Look at its rows without --unassigned, or use "
            "--spread-anyway."
        )
        raise SettingsError(msg)
    return [f"Spread {words} Their core hours and list prices are in no row."]


def _reason(row: ChargebackRow, result: Chargeback) -> str:
    """Return the sentence of one reason to refuse, with its remedy."""
    count = row.found or 0
    text = REASON_REMEDIES[row.problem or ""]
    has_hyperpod = any(other.problem == "rows of HyperPod" for other in result.rows)
    if row.problem == "ledger hours not billed" and has_hyperpod:
        text = _BESIDE_HYPERPOD
    return f"{row.problem}: {text}".format(
        month=result.month,
        usd=f"{_money(row.amount)} {result.currency_of(row)}",
        hours=f"{count:,} of {counted(len(month_hours(result.month)), 'hour')}",
        instance_hours=counted(count, "instance-hour"),
        fees=counted(count, "fee"),
        rows=counted(count, "row"),
    )


def _money(cost: Decimal) -> str:
    return "under 0.01" if 0 < cost < Decimal("0.005") else f"{cost:,.2f}"
