"""The idle report: the amounts of a period, how much was read, and the sentences about both."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_accounts.savings import savings_of
from neuron_emf import command_output
from neuron_emf.cost.tariff import TABLES
from neuron_emf.reading import periods
from neuron_emf.report.cost_table import ROW_LABELS, row_name, then_table
from neuron_wire.names import HOUR_MS, MINUTE_MS
from neuron_words.quantity_words import counted, duration, joined, moment
from neuron_words.then_words import (
    MAX_NAMED,
    core_hours,
    gap_sentences,
    headline,
    price_sentences,
    savings_sentences,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from neuron_accounts.then import Then
    from neuron_emf.reading.periods import Period
    from neuron_emf.report.cost_table import CostTable, TableRow
    from neuron_emf.report.settings import IdleReportSettings
    from neuron_wire.line_members import JsonObject

TEAM_HINT: Final = (
    "Teams are those that schedulers report. To name teams, use --teams FILE with a rule per line, "
    "CLUSTER|OWNER=TEAM, such as research|slurm:*=ml; the first match counts."
)

PART_WORDS: Final = TABLES["report"]["parts"]
"""The parts of idle cost, and how to save each."""


class Span(NamedTuple):
    """
    Hours of the period that are in no sum.

    Attributes:
        where: The source that lacks the hours, such as the name of a ledger.
    """

    where: str
    start_ms: int
    end_ms: int


@dataclass(slots=True, kw_only=True)
class Reading:
    """
    The amount of input that a report was made from.

    Attributes:
        origin: Name of the source for people.

        is_ledger: True for rows of a ledger, False for minute lines.

        hours: Number of hours of the period that any source has.

        missing: Hours of the period that are in no sum, in order.

        damaged: Objects and rows of the ledger that could not be read, by problem.

        ledger_rows: Rows of the ledger that were read.

        copies: Rows of instance-hours that an earlier ledger has too.

        minute_lines: Distinct records of the period and cluster.

        outside: Records of other times or clusters.

        repeated: Lines with a record that had been read before.

        unreadable: Lines that are not minute lines, or are damaged.
    """

    origin: str
    is_ledger: bool
    hours: int
    missing: Sequence[Span]
    damaged: Counter[str] = field(default_factory=Counter)
    ledger_rows: int = 0
    copies: int = 0
    minute_lines: int = 0
    outside: int = 0
    repeated: int = 0
    unreadable: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleReport:
    """
    The idle report, of a ledger, of a bill or of one team. Every output reads only this.

    Attributes:
        start_ms: Start of the period, milliseconds since the Unix epoch.

        end_ms: End of the period, milliseconds since the Unix epoch.

        made_ms: Time at which the report was made, milliseconds since the Unix epoch.

        cluster: The selected cluster; empty for all.

        team: The selected team; empty for all.

        by: Key of the rows on the terminal, in CSV and in JSON, one of *keys*.

        keys: Keys of the tables.

        table: A function that returns the table by one of *keys*.

        headline: The first sentence.

        lead: The basis of amounts, missing hours, the most expensive owner, and how teams are set.

        notes: The possible savings and their measures, the prices, and the amount of input.

        then: Bases, idle time without a price, and hours for savings.

        currency: Currency of all amounts.

        problems: Reasons for which a bill is refused, as in JSON. The table is then empty.
    """

    start_ms: int
    end_ms: int
    made_ms: int
    cluster: str = ""
    team: str = ""
    by: str
    keys: Sequence[str] = (*ROW_LABELS,)
    table: Callable[[str], CostTable]
    headline: str
    lead: Sequence[str]
    notes: Sequence[str]
    then: Then
    reading: Reading
    currency: str = "USD"
    problems: Sequence[JsonObject] = ()

    @property
    def hours(self) -> int:
        """The number of hours of the period, including partial hours."""
        return hours_between(self.start_ms, self.end_ms)

    def period(self) -> str:
        """The period and the clusters, as a sentence."""
        clusters = (
            f"cluster {command_output.shown_name(self.cluster)}" if self.cluster else "all clusters"
        )
        length = duration((self.end_ms - self.start_ms) // MINUTE_MS)
        covered = f"{self.reading.hours:,} of {counted(self.hours, 'hour')} covered"
        return (
            f"{moment(self.start_ms)} to {moment(self.end_ms)} ({length}), {clusters}; {covered}."
        )


def ledger_report(
    settings: IdleReportSettings, period: Period, then: Then, reading: Reading
) -> IdleReport:
    """Return the report of *then*, the sums of a ledger or of minute lines in *period*."""
    hours = hours_between(period.start_ms, period.end_ms)
    table = partial(then_table, then)
    owners = table("owner")
    lead = lead_of(then, owners, reading, hours)
    if then.total.unpriced and then.total.million_executions_cost:
        lead.append("USD per million executions counts only hours in which all cores have a price.")
    return IdleReport(
        start_ms=period.start_ms,
        end_ms=period.end_ms,
        made_ms=periods.now_ms(),
        cluster=settings.cluster,
        by=settings.by,
        table=table,
        headline=headline(then.total),
        lead=[*lead, *team_hint(settings)],
        notes=notes_of(then, owners.total, reading, hours),
        then=then,
        reading=reading,
    )


def hours_between(start_ms: int, end_ms: int) -> int:
    """Return the number of hours of a period, including partial hours."""
    return -(-end_ms // HOUR_MS) - start_ms // HOUR_MS


def lead_of(then: Then, owners: CostTable, reading: Reading, hours: int) -> list[str]:
    """Return the prices of *then*, the missing of *hours*, and the most expensive of *owners*."""
    return [*price_sentences(then), *_missing(reading, hours), *most_idle(owners, "USD")]


def team_hint(settings: IdleReportSettings) -> list[str]:
    """Return how to name teams, if rows are by team and no rule names one."""
    return [TEAM_HINT] if settings.by == "team" and settings.teams is None else []


def notes_of(then: Then, total: TableRow, reading: Reading, hours: int) -> list[str]:
    """Return how idle cost is saved, gaps in prices and time, the input, and the savings."""
    setting = "PriceOverrides=" if reading.is_ledger else "--price-overrides "
    parts = [words for name, words in PART_WORDS.items() if total.exact.amount(name.lower())]
    savings = savings_sentences(savings_of(then.cluster_hours, hours), hours)
    return [*parts, *gap_sentences(then, setting), *read_sentences(reading), *savings]


def missing_spans(where: str, hours: range, known: Collection[int]) -> list[Span]:
    """Return the spans of *hours* that *where* lacks, because they are not *known*."""
    return [
        Span(where, start * HOUR_MS, end * HOUR_MS) for start, end in periods.gaps(hours, known)
    ]


def most_idle(owners: CostTable, currency: str) -> list[str]:
    """Return the owner with the highest idle cost; empty if no owner was idle."""
    row = max(
        owners.rows,
        key=lambda row: (row.exact.amount("idle") or 0, row.exact.time.idle),
        default=None,
    )
    if row is None or not row.exact.time.idle:
        return []
    idle_cost = row.cells()["idle"]
    if row.exact.amount("idle") is not None:
        idle_cost += f" {currency}"
    busy = f", {core_hours(row.exact.time.busy)} busy" if row.exact.time.busy else ""
    idle = core_hours(row.exact.time.idle)
    name = row_name(owners.by, row.labels)
    return [f"Most idle: {name}: {idle_cost}, {idle} idle{busy}."]


def _missing(reading: Reading, hours: int) -> list[str]:
    sentences = []
    what = "not settled" if reading.is_ledger else "without a minute line"
    now = "; neuron-emf top shows now" if reading.is_ledger else ""
    for where, spans_there in groupby(reading.missing, attrgetter("where")):
        missing = [*spans_there]
        count = sum(span.end_ms - span.start_ms for span in missing) // HOUR_MS
        named = [
            f"{moment(span.start_ms)} to {moment(span.end_ms)}" for span in missing[:MAX_NAMED]
        ]
        sentences.append(
            f"In no sum: {count:,} of {counted(hours, 'hour')}, {what} in {where}: "
            f"{joined(named, len(missing) - MAX_NAMED)}{now}."
        )
    return sentences


def read_sentences(read: Reading) -> list[str]:
    """Return sentences about how much was read, and which input is in no sum."""
    what = counted(read.ledger_rows, "row") if read.is_ledger else ""
    sentences = [f"{what or counted(read.minute_lines, 'minute line')} read from {read.origin}."]
    if read.damaged:
        named = [f"{problem} ({number:,})" for problem, number in read.damaged.items()]
        sentences.append(
            f"Damaged and in no sum: {joined(named[:MAX_NAMED], len(named) - MAX_NAMED)}. Let "
            "settle write these hours again while their minutes exist, or restore the objects."
        )
    for number, noun, why in (
        (read.copies, "row", "of instance-hours that an earlier --ledger has, left out"),
        (read.repeated, "line", "repeated, counted once"),
        (read.unreadable, "line", "could not be read"),
    ):
        if number:
            sentences.append(f"{counted(number, noun)} {why}.")
    return sentences
