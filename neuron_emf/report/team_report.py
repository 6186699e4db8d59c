"""
The report of one team: its owners and clusters, the change, and what the amounts leave out.

It reads tables by owner, from a ledger or from a bill, so that both give the same answer.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from rich.text import Text

from neuron_accounts.core_time import Leaf
from neuron_accounts.then import Then
from neuron_emf.command_output import shown_name
from neuron_emf.reading.minute_lines import other_names
from neuron_emf.report.cost_table import UNOWNED, CostTable, part_table
from neuron_emf.report.idle_report import lead_of, read_sentences
from neuron_emf.report.terminal import TableLines
from neuron_emitter.errors import SettingsError
from neuron_wire.names import MINUTE_MS, PLACEHOLDER_OWNERS
from neuron_wire.owners import UNNAMED_OWNER
from neuron_words.name_words import printable, safe_name
from neuron_words.quantity_words import duration, iso, joined
from neuron_words.then_words import core_hours

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from neuron_emf.report.cost_table import TableRow
    from neuron_emf.report.idle_report import IdleReport

TEAM_BY: Final = ("owner", "cluster")
"""The keys of a team's tables."""

_COLUMNS: Final = (
    "core hours",
    "busy share",
    "cost",
    "idle",
    "avoidable",
    "spread",
    "per million",
)
_MAX_ROWS: Final = 2  # rows by owner, and by cluster: the answer has at most 15 lines
_LONGEST_NAME: Final = 24
_LONGEST_LINE: Final = 100
_WITHOUT_TEAM: Final = UNOWNED | PLACEHOLDER_OWNERS | {UNNAMED_OWNER}


def team_report(
    report: IdleReport, before: IdleReport | None, team: str, month: str, unassigned: str = ""
) -> IdleReport:
    """
    Return the report of *team* from *report*; *month* is empty if the period is not a month.

    *before* is the report of the period before; None if no hour of that period could be read.
    *unassigned* is as in `rows_not_in_it`.

    Raises:
        SettingsError: If no owner of *report* has the team.
    """
    length = duration((report.end_ms - report.start_ms) // MINUTE_MS)
    words = month or length
    table = report.table("owner")
    owners = _owners_of(team, table)
    if not owners.rows:
        others = other_names("team", team, filter(None, (row.labels[1] for row in table.rows)))
        hint = f"{others}; check --team, --month and --teams."
        msg = f"No owner of team {shown_name(team)} in {words}. {hint}"
        raise SettingsError(msg)
    tables = {
        "owner": owners,
        "cluster": part_table(
            "cluster", [row._replace(labels=row.labels[-1:]) for row in owners.rows]
        ),
    }
    total = owners.total
    lead = lead_of(report.then, owners, report.reading, report.hours)
    if total.exact.billed is not None:
        lead = [f"Cost by the bill, with credits; at list price {total.usd('list price')} USD."]
    change = "The change is unknown: no hour before this period can be read."
    if before is not None and before.reading.hours and report.reading.hours:
        words_before = iso(before.start_ms)[:7] if month else "the period before"
        total_before = _owners_of(team, before.table("owner")).total
        hours = report.reading.hours, before.reading.hours
        change = _change(total, total_before, hours, words_before)
    rest = rows_not_in_it(team, table, unassigned).total
    return replace(
        report,
        team=team,
        keys=TEAM_BY,
        table=lambda by: tables[by],
        headline=_headline(safe_name(team, _LONGEST_NAME), words, total, report.currency),
        lead=lead,
        notes=[
            change,
            *_not_in_it(total, rest, report.currency),
            *read_sentences(report.reading),
        ],
        then=Then(bases=report.then.bases),
    )


def _owners_of(team: str, table: CostTable) -> CostTable:
    """Return the rows of *team* in *table*, by owner; empty if the team had no core."""
    return part_table("owner", [row for row in table.rows if row.labels[1] == team])


def rows_not_in_it(team: str, table: CostTable, unassigned: str) -> CostTable:
    """
    Return the rows of clusters of *team*, or of unknown clusters, without a named owner.

    *unassigned* is the owner and team of cost without an owner, if `--unassigned` names one.
    """
    clusters = {None, *(row.labels[-1] for row in table.rows if row.labels[1] == team)}
    names = _WITHOUT_TEAM | {unassigned}
    teams = {None, unassigned} - {team}
    rows = []
    for row in table.rows:
        owner, owner_team, cluster = row.labels
        if owner in names and owner_team in teams and cluster in clusters:
            rows.append(row)
    return part_table("owner", rows)


def team_parts(report: IdleReport, rows: int | None = None) -> list[RenderableType]:
    """Return at most 15 lines for a terminal, or more for more *rows* of owners."""
    table = report.table("owner")
    short_names = part_table("owner", [
        row._replace(labels=(safe_name(row.labels[0] or "", _LONGEST_NAME), None, None))
        for row in table.rows
    ])  # fmt: skip
    clusters = [
        f"{safe_name(row.labels[0] or '', _LONGEST_NAME)} {row.cells()['cost']}"
        for row in report.table("cluster").printed(_MAX_ROWS)[:-1]
    ]
    return [
        Text(report.headline, style="bold"),
        Text(report.period()),
        *[Text(printable(sentence, _LONGEST_LINE)) for sentence in report.lead[:1]],
        TableLines(short_names, rows or _MAX_ROWS, report.currency, _COLUMNS),
        Text(f"Clusters, {report.currency}: {joined(clusters)}."),
        *map(Text, report.notes[:-1]),
    ]


def _headline(name: str, words: str, total: TableRow, currency: str) -> str:
    if total.exact.leaves is None:
        return f"What team {name} cost in {words} is unknown: no core has a price."
    return (
        f"Team {name} cost {total.usd('cost')} {currency} in {words}, of which "
        f"{total.usd('idle')} idle: at most {total.usd('avoidable')} avoidable."
    )


def _change(now: TableRow, before: TableRow, hours: Sequence[int], words: str) -> str:
    """
    Compare list prices, per covered hour if the periods differ in covered *hours*.

    *words* name the period before.
    """
    if now.exact.listed is None or before.exact.listed is None:
        return f"The change against {words} is unknown: no core has a price."
    hours_now, hours_before = hours
    cents = now.column_cents("list price")
    cents_before = before.column_cents("list price")
    share = "from nothing"
    if cents_before:
        ratio = Fraction(cents * hours_before, cents_before * hours_now)
        share = f"{float(100 * (ratio - 1)):+.1f} %"
    basis = ", list price" if now.exact.billed is not None else ""
    if now.exact.time.unpriced or before.exact.time.unpriced:
        basis += ", priced cores"
    change = f"Change{basis}: {Decimal(cents - cents_before).scaleb(-2):+,} USD ({share})"
    if hours_now != hours_before:
        change = (
            f"Change per covered hour{basis}: {share} ({hours_now:,} and {hours_before:,} hours)"
        )
    return f"{change}; {words} cost {before.usd('list price')} USD."


def _not_in_it(own: TableRow, rest: TableRow, currency: str) -> list[str]:
    """Return what the total *own* of a team leaves out; *rest* is cost without a named owner."""
    parts = []
    if own.exact.billed is None and own.exact.time.unpriced:
        parts.append(f"{core_hours(own.exact.time.unpriced)} without a price")
    time = rest.exact.time
    if time.allocated or rest.column_cents("cost"):
        amount = f"{rest.usd('cost')} {currency}"
        if rest.exact.leaves is None:
            amount = core_hours(time.allocated)
        parts.append(f"{amount} without a named owner in its clusters")
    if time.unknown or rest.cents[Leaf.UNKNOWN]:
        cost = f"{rest.usd('unknown')} {currency}"
        parts.append(f"{cost} of that without telemetry ({core_hours(time.unknown)})")
    if own.column_cents("spread"):
        parts.append(f"{own.usd('spread')} {currency} spread to it")
    return [f"Not included: {joined(parts)}."] if parts else []
