"""
The report of one team: its owners and clusters, the change, and what the amounts leave out.

It reads tables by owner, from a ledger or from a bill, so that both give the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from rich.text import Text

from neuron_accounts.core_time import Leaf
from neuron_accounts.then import Then
from neuron_emf.command_output import shown_name
from neuron_emf.reading.minute_lines import other_names
from neuron_emf.report.cost_table import UNOWNED, CostTable, part_table
from neuron_emf.report.idle_report import IdleReport, read_sentences
from neuron_emf.report.settings import TEAM_BY
from neuron_emf.report.terminal import TableLines
from neuron_emitter.errors import SettingsError
from neuron_wire.names import MINUTE_MS, PLACEHOLDER_OWNERS
from neuron_wire.owners import UNNAMED_OWNER
from neuron_words.name_words import printable, safe_name
from neuron_words.quantity_words import duration, iso, joined
from neuron_words.then_words import core_hours, price_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from neuron_emf.report.cost_table import PrintedRow

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
_LEAST_OF_CENTS: Final = 100  # rates below this have more than two decimals, in USD per hour
_WITHOUT_TEAM: Final = UNOWNED | PLACEHOLDER_OWNERS | {UNNAMED_OWNER}


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamPeriod:
    """
    The rows of one team in a period.

    Attributes:
        words: The name of the period, such as `2026-10` or `the 7 d before`.

        hours: Covered hours.

        owners: Rows by owner; empty if the team had no core.

        not_in_it: Rows of clusters of the team, or of unknown clusters, without a named owner.
    """

    words: str
    hours: int
    owners: CostTable
    not_in_it: CostTable

    @property
    def total(self) -> PrintedRow:
        """The total as people see it."""
        return self.owners.printed(1)[-1]

    def table(self, by: str) -> CostTable:
        """Return the rows by one of `TEAM_BY`."""
        if by == "owner":
            return self.owners
        return part_table(by, [(row.labels[-1:], row) for row in self.owners.rounded()])


def team_period(
    team: str, table: CostTable, *, words: str, hours: int, unassigned: str = ""
) -> TeamPeriod:
    """
    Return the rows of *team* in *table*, which has all rows by owner.

    *unassigned* is the owner and team of cost without an owner, if `--unassigned` names one.
    """
    rows = [(row.labels, row) for row in table.rounded()]
    owners = [(labels, row) for labels, row in rows if labels[1] == team]
    clusters = {None, *[cluster for (*_, cluster), _ in owners]}
    names = _WITHOUT_TEAM | {unassigned}
    not_in_it = [
        (labels, row)
        for labels, row in rows
        if labels[0] in names and labels[1] in {None, unassigned} - {team}
        and labels[-1] in clusters
    ]  # fmt: skip
    return TeamPeriod(
        words=words,
        hours=hours,
        owners=part_table(table.by, owners),
        not_in_it=part_table(table.by, not_in_it),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamReport(IdleReport):
    """
    The report of one team; `then` contains the team's owners only.

    Attributes:
        now: Rows of the period.

        before: Rows of the period before; None if no hour of that period could be read.
    """

    now: TeamPeriod
    before: TeamPeriod | None

    @property
    def keys(self) -> Sequence[str]:
        """The keys of the report's tables."""
        return TEAM_BY

    def table(self, by: str = "") -> CostTable:
        """Return the rows by one of `TEAM_BY`."""
        return self.now.table(by or self.by)

    def headline(self) -> str:
        """Return the first sentence: the cost of the team."""
        name = safe_name(self.team, _LONGEST_NAME)
        total = self.now.total
        if total.row.leaves is None:
            return f"What team {name} cost in {self.now.words} is unknown: no core has a price."
        cost = f"{_money(total.column_cents('cost'))} {self.currency}"
        idle = _money(total.column_cents("idle"))
        avoidable = _money(total.cents[Leaf.AVOIDABLE])
        return (
            f"Team {name} cost {cost} in {self.now.words}, of which {idle} idle: at most "
            f"{avoidable} avoidable."
        )

    def lead(self) -> list[str]:
        """Return the source of the amounts, the missing hours, and the most expensive owner."""
        is_billed = self.now.total.row.billed is not None
        return self._basis() if is_billed else IdleReport.lead(self)

    def _basis(self) -> list[str]:
        if self.now.total.row.billed is None:
            return price_sentences(self.then)
        listed = _money(self.now.total.list_cents)
        return [f"Cost by the bill, with credits; at list price {listed} USD."]

    def notes(self) -> list[str]:
        """Return the change, what the amounts leave out, and what was read."""
        return [
            _change(self.now, self.before),
            *_not_in_it(self.now, self.currency),
            *read_sentences(self.reading),
        ]

    def parts(self, rows: int | None = None) -> list[RenderableType]:
        """Return at most 15 lines for a terminal, or more for more *rows* of owners."""
        owners = part_table("owner", [
            ((safe_name(row.labels[0] or "", _LONGEST_NAME), None, None), row)
            for row in self.now.owners.rounded()
        ])  # fmt: skip
        prices = " ".join(self._basis())
        return [
            Text(self.headline(), style="bold"),
            Text(self.period()),
            *map(Text, [printable(prices, _LONGEST_LINE)] if prices else []),
            TableLines(owners, rows or _MAX_ROWS, self.currency, _COLUMNS),
            Text(_clusters(self.now, self.currency)),
            *map(Text, self.notes()[:-1]),
        ]


def team_report(
    report: IdleReport, before: IdleReport | None, team: str, month: str, unassigned: str = ""
) -> TeamReport:
    """
    Return the report of *team* from *report*; *month* is empty if the period is not a month.

    *unassigned* is as in `team_period`.

    Raises:
        SettingsError: If no owner of *report* has the team.
    """
    length = duration((report.end_ms - report.start_ms) // MINUTE_MS)
    rows = report.table("owner")
    now = team_period(
        team, rows, words=month or length, hours=report.reading.hours, unassigned=unassigned
    )
    if not now.owners.rows:
        others = other_names("team", team, [name for (_, name, _), _ in rows.rows if name])
        hint = f"{others}; check --team, --month and --teams."
        msg = f"No owner of team {shown_name(team)} in {now.words}. {hint}"
        raise SettingsError(msg)
    period_before = None
    if before is not None:
        words = iso(before.start_ms)[:7] if month else f"the {length} before"
        period_before = team_period(
            team, before.table("owner"), words=words, hours=before.reading.hours
        )
    owners = {key: time for key, time in report.then.owners.items() if key.team == team}
    whole = {field.name: getattr(report, field.name) for field in fields(report)}
    whole |= {"team": team, "then": Then(owners=owners, bases=report.then.bases)}
    return TeamReport(**whole, now=now, before=period_before)


def _clusters(period: TeamPeriod, currency: str) -> str:
    rows = period.table("cluster").printed(_MAX_ROWS)[:-1]
    named = [
        f"{safe_name(row.labels[0] or '', _LONGEST_NAME)} {row.cells()['cost']}" for row in rows
    ]
    return f"Clusters, {currency}: {joined(named)}."


def _change(period: TeamPeriod, before: TeamPeriod | None) -> str:
    """Compare list prices, per covered hour if the periods differ in covered hours."""
    if before is None or not before.hours or not period.hours:
        return "The change is unknown: no hour before this period can be read."
    now = period.total
    then = before.total
    if now.row.listed is None or then.row.listed is None:
        return f"The change against {before.words} is unknown: no core has a price."
    cents = now.list_cents
    cents_before = then.list_cents
    share = ""
    if cents_before:
        ratio = Fraction(cents * before.hours, cents_before * period.hours)
        percent = round(float(100 * (ratio - 1)), 1)
        share = f" ({percent:+.1f} %)" if percent else " (unchanged)"
    basis = ", list price" if now.row.billed is not None else ""
    if now.row.time.unpriced or then.row.time.unpriced:
        basis += ", priced cores"
    if period.hours == before.hours:
        change = cents - cents_before
        return (
            f"Change{basis}: {'+' if change > 0 else ''}{_money(change)} USD{share}; "
            f"{before.words} cost {_money(cents_before)} USD."
        )
    return (
        f"Change per covered hour{basis}: {_per_hour(cents, period.hours)} USD{share}, "
        f"{before.words} {_per_hour(cents_before, before.hours)} "
        f"({period.hours:,} and {before.hours:,} hours)."
    )


def _not_in_it(period: TeamPeriod, currency: str) -> list[str]:
    total = period.not_in_it.printed(1)[-1]
    own = period.total.row
    parts = []
    if own.billed is None and own.time.unpriced:
        parts.append(f"{core_hours(own.time.unpriced)} without a price")
    if total.row.time.allocated or total.column_cents("cost"):
        amount = f"{_money(total.column_cents('cost'))} {currency}"
        if total.row.leaves is None:
            amount = core_hours(total.row.time.allocated)
        parts.append(f"{amount} without a named owner in its clusters")
    if total.row.time.unknown or total.cents[Leaf.UNKNOWN]:
        cost = f"{_money(total.cents[Leaf.UNKNOWN])} {currency}"
        parts.append(f"{cost} of that without telemetry ({core_hours(total.row.time.unknown)})")
    if spread := period.total.column_cents("spread"):
        parts.append(f"{_money(spread)} {currency} spread to it")
    return [f"Not included: {joined(parts)}."] if parts else []


def _per_hour(cents: int, hours: int) -> str:
    usd = cents / 100 / hours
    return f"{usd:,.2f}" if usd >= _LEAST_OF_CENTS else f"{usd:.4f}"


def _money(cents: int) -> str:
    return f"{Decimal(cents).scaleb(-2):,.2f}"
