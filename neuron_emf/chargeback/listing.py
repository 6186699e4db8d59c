"""A month's chargeback on a terminal: what came in and went out, by team and owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich import box
from rich.table import Table
from rich.text import Text

from neuron_emf import figures
from neuron_emf.chargeback.decimals import plain
from neuron_emf.owners import NO_TEAM
from neuron_wire.phrases import counted, joined

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from rich.console import RenderableType

    from neuron_emf.chargeback.run import Chargeback
    from neuron_emf.chargeback.totals import OwnerTotal

_HOURS: Final = ("held hours", "used hours", "idle hours")
_NAME_COLUMNS: Final = 40
_NAMED: Final = 5


def parts(result: Chargeback, rows: int) -> list[RenderableType]:
    """What to print, with at most *rows* rows in each table."""
    totals = result.totals
    how = "by the bill, EffectiveCost" if result.is_by_bill else "at list cost"
    shown: list[RenderableType] = [
        Text(f"Chargeback of {result.month}, {how}, {result.currency}.", style="bold"),
        _line(f"In   {_exact(result.cost_in)}"),
        _line(f"Out  {_exact(totals.cost)} in {counted(totals.rows, 'row')}"),
        Text(),
        _teams(result, rows),
        _owners(result, rows),
    ]
    notes = _notes(result)
    if notes:
        shown += [Text(), *map(_line, notes)]
    return shown


def _teams(result: Chargeback, rows: int) -> Table:
    table = _table("Teams", ("team", result.currency, *_HOURS), 1)
    teams = sorted(result.totals.by_team().items(), key=lambda one: (-one[1].cost, one[0] or ""))
    for team, one in teams[:rows]:
        table.add_row(figures.name(team or NO_TEAM), *_cells(one))
    return table


def _owners(result: Chargeback, rows: int) -> Table:
    table = _table("Owners", ("owner", "team", result.currency, *_HOURS), 2)
    payers = sorted(
        result.totals.by_payer.items(),
        key=lambda one: (-one[1].cost, one[0].owner, one[0].team or ""),
    )
    for payer, one in payers[:rows]:
        table.add_row(figures.name(payer.owner), figures.name(payer.team or NO_TEAM), *_cells(one))
    if len(payers) > rows:
        table.caption = f"{counted(len(payers) - rows, 'owner')} more. Use --rows or --output."
    return table


def _notes(result: Chargeback) -> list[str]:
    notes = []
    bill = result.bill
    if bill is not None:
        notes.append(
            f"Not of Neuron instances, so in no row: {counted(bill.other_rows, 'row')} of the "
            f"bill, {_exact(bill.other_cost)} {result.currency}."
        )
        if result.fee_in:
            notes.append(
                f"Upfront fees of capacity blocks, the part of {result.month}: "
                f"{_exact(result.fee_in)} {result.currency}."
            )
    if result.unknown_fees:
        names = joined(
            [figures.name(one) for one in result.unknown_fees[:_NAMED]],
            len(result.unknown_fees) - _NAMED,
        )
        notes.append(
            f"Fees that stay whole, because nobody says the dates of their reservations: {names}. "
            "Use --reservations."
        )
    if result.totals.unpriced:
        notes.append(
            f"{_rounded(result.totals.unpriced)} core-hours have no price and are in no amount."
        )
    if result.missing_hours:
        notes.append(f"The ledger lacks {counted(result.missing_hours, 'hour')} of the month.")
    return notes


def _cells(one: OwnerTotal) -> list[str]:
    cost = "no price" if one.unpriced and not one.cost else f"{one.cost:,.2f}"
    return [cost, *map(_rounded, (one.held, one.used, one.idle))]


def _rounded(hours: Decimal) -> str:
    return f"{hours:,.1f}"


def _exact(number: Decimal) -> str:
    """All digits that are not 0, with commas."""
    whole, point, rest = plain(number).partition(".")
    return f"{int(whole):,}{point}{rest}" if whole != "-0" else f"-0{point}{rest}"


def _line(text: str) -> Text:
    return Text(text)


def _table(title: str, columns: Sequence[str], names: int) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        caption_justify="left",
    )
    for index, column in enumerate(columns):
        if index < names:
            table.add_column(column, max_width=_NAME_COLUMNS, overflow="fold")
        else:
            table.add_column(column, justify="right", no_wrap=True)
    return table
