"""The idle report: the amounts of a period, how much was read, and the sentences about both."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_accounts.core_time import Leaf
from neuron_accounts.savings import savings_of
from neuron_accounts.then import dearest
from neuron_emf import command_output
from neuron_emf.cost.tariff import TABLES
from neuron_emf.report.cost_table import ROW_LABELS, owner_labels, then_table
from neuron_wire.names import HOUR_MS, MINUTE_MS
from neuron_words.quantity_words import counted, duration, joined, moment
from neuron_words.then_words import (
    MAX_NAMED,
    core_hours,
    gap_sentences,
    headline,
    name_of,
    price_sentences,
    savings_sentences,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neuron_accounts.savings import Saving
    from neuron_accounts.then import Then
    from neuron_emf.report.chargeback_rows import Chargeback
    from neuron_emf.report.cost_table import CostTable

TEAM_HINT: Final = (
    "Teams are those that schedulers report. To name teams, use --teams FILE with a rule per line, "
    "CLUSTER|OWNER=TEAM, such as research|slurm:*=ml; the first match counts."
)

NO_SAVINGS: Final = (
    "Savings are unknown: they need the summaries of one ledger, in its bucket or a whole copy."
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
    The idle report.

    Attributes:
        start_ms: Start of the period, milliseconds since the Unix epoch.

        end_ms: End of the period, milliseconds since the Unix epoch.

        made_ms: Time at which the report was made, milliseconds since the Unix epoch.

        cluster: The selected cluster; empty for all.

        by: Key of the rows, one of `ROW_LABELS`.

        team: The selected team; empty for all.

        has_rules: True if the command has rules of teams.

        currency: Currency of all amounts.

        bill: A month's bill split by the ledger; None for list prices.
    """

    start_ms: int
    end_ms: int
    made_ms: int
    cluster: str
    by: str
    then: Then
    reading: Reading
    team: str = ""
    has_rules: bool = False
    currency: str = "USD"
    bill: Chargeback | None = None

    def table(self, by: str = "") -> CostTable:
        """Return the table by *by*, or by the report's own key."""
        by = by or self.by
        return then_table(self.then, by) if self.bill is None else self.bill.table(by)

    @property
    def keys(self) -> Sequence[str]:
        """The keys of the report's tables."""
        return (*ROW_LABELS,)

    @property
    def hours(self) -> int:
        """The number of hours of the period, including partial hours."""
        return -(-self.end_ms // HOUR_MS) - self.start_ms // HOUR_MS

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

    def lead(self) -> list[str]:
        """The basis of amounts, missing hours, the most expensive owner, and how teams are set."""
        if self.bill is None:
            sentences = [*price_sentences(self.then), *_missing(self), *_who(self)]
            if self.then.total.unpriced and self.then.total.million_executions_cost:
                sentences.append(
                    "USD per million executions: of hours in which all cores have a price."
                )
        else:
            sentences = self.bill.sentences()
        if self.by == "team" and not self.has_rules:
            sentences.append(TEAM_HINT)
        return sentences

    def notes(self) -> list[str]:
        """The possible savings and their measures, the prices, and the amount of input."""
        setting = "PriceOverrides=" if self.reading.is_ledger else "--price-overrides "
        gaps = gap_sentences(self.then, setting)
        savings = savings_sentences(self.savings(), self.hours)
        if self.bill is not None and not self.then.cluster_hours:
            savings = [NO_SAVINGS]
        leaves = self.then.total.leaves
        parts = [words for name, words in PART_WORDS.items() if leaves[Leaf[name]]]
        return [*parts, *gaps, *read_sentences(self.reading), *savings]

    def savings(self) -> list[Saving]:
        """The possible savings of each cluster, highest amount first."""
        return savings_of(self.then.cluster_hours, self.hours)

    def headline(self) -> str:
        """The first sentence of the report."""
        return headline(self.then.total) if self.bill is None else self.bill.headline()


def spans(where: str, hours: Iterable[int]) -> list[Span]:
    """Return the spans of consecutive *hours*, which are ascending."""
    found: list[Span] = []
    for hour in hours:
        start_ms = hour * HOUR_MS
        if found and found[-1].end_ms == start_ms:
            start_ms = found.pop().start_ms
        found.append(Span(where, start_ms, (hour + 1) * HOUR_MS))
    return found


def _who(report: IdleReport) -> list[str]:
    if not report.then.total.idle:
        return []
    ((key, time),) = dearest(report.then.owners, 1)
    labels = owner_labels("owner", owner=key.owner, cluster=key.cluster, team=key.team)
    owners = report.table("owner")
    rows = {row.labels: row.cells()["idle"] for row in owners.printed(len(owners.rows))}
    cost = rows[labels] if time.idle_cost is None else f"{rows[labels]} {report.currency}"
    busy = f", {core_hours(time.busy)} busy" if time.busy else ""
    return [f"Most of it: {name_of(key)}: {cost}, {core_hours(time.idle)} idle{busy}."]


def _missing(report: IdleReport) -> list[str]:
    by_place: dict[str, list[Span]] = {}
    for span in report.reading.missing:
        by_place.setdefault(span.where, []).append(span)
    sentences = []
    for where, missing in by_place.items():
        hours = sum(span.end_ms - span.start_ms for span in missing) // HOUR_MS
        named = [
            f"{moment(span.start_ms)} to {moment(span.end_ms)}" for span in missing[:MAX_NAMED]
        ]
        what = "not settled" if report.reading.is_ledger else "without a minute line"
        now = "; neuron-emf top shows now" if report.reading.is_ledger else ""
        sentences.append(
            f"In no sum: {hours:,} of {counted(report.hours, 'hour')}, {what} in {where}: "
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
            f"Damaged, in no sum: {joined(named[:MAX_NAMED], len(named) - MAX_NAMED)}. Have settle "
            "write these hours again while their minutes last, or restore the objects."
        )
    for number, noun, why in (
        (read.copies, "row", "of instance-hours that an earlier --ledger has, left out"),
        (read.repeated, "line", "repeated, counted once"),
        (read.unreadable, "line", "could not be read"),
    ):
        if number:
            sentences.append(f"{counted(number, noun)} {why}.")
    return sentences
