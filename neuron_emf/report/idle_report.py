"""The idle report: *then* of a period, what was read for it, and what both mean in sentences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_accounts.core_time import CoreTime, Part
from neuron_accounts.savings import savings_of
from neuron_accounts.then import dearest
from neuron_emf import command_output
from neuron_wire.names import DAY_MS, HOUR_MS, MINUTE_MS
from neuron_words.quantity_words import counted, duration, iso, joined, moment
from neuron_words.then_words import (
    MAX_NAMED,
    basis_sentences,
    core_hours,
    headline,
    name_of,
    savings_sentences,
    usd_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neuron_accounts.savings import Saving
    from neuron_accounts.then import Then

Labels = tuple[str | None, ...]

ROW_LABELS: Final = {
    "owner": ("owner", "team", "cluster"),
    "team": ("team",),
    "cluster": ("cluster",),
    "instance": ("instance_id", "instance_type", "cluster"),
    "day": ("day",),
}
"""Labels of the rows of each table."""


class Span(NamedTuple):
    """
    Hours of the period that are in no sum.

    Attributes:
        where: What does not have them, such as the name of a ledger.
    """

    where: str
    start_ms: int
    end_ms: int


@dataclass(slots=True, kw_only=True)
class Reading:
    """
    What was read.

    Attributes:
        origin: The source, as a person would name it.

        is_ledger: Rows of a ledger, not minute lines.

        missing: Hours of the period that are in no sum, in order.

        damaged: How many objects and rows of the ledger could not be read, by what is wrong.

        ledger_rows: Rows in them that were read.

        copies: Rows of instance-hours that an earlier ledger has.

        minute_lines: Distinct records of the period and cluster.

        outside: Records of other times or clusters.

        repeated: Lines that had been read before.

        unreadable: Lines that are none of ours, or damaged.
    """

    origin: str
    is_ledger: bool
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

        end_ms: Its end.

        made_ms: When it was made.

        cluster: The selected cluster; empty for all.

        by: Which of `ROW_LABELS` the rows are by.
    """

    start_ms: int
    end_ms: int
    made_ms: int
    cluster: str
    by: str
    then: Then
    reading: Reading

    def rows(self, by: str = "") -> list[tuple[Labels, CoreTime]]:
        """A row for each owner, team and so on, most expensive idle time first; days in order."""
        then = self.then
        by = by or self.by
        if by == "day":
            return [((iso(day * DAY_MS)[:10],), time) for day, time in sorted(then.days.items())]
        if by == "instance":
            named = (
                ((key.instance_id, then.types.get(key), key.cluster), time)
                for key, time in then.instances.items()
            )
            return _ordered(named)
        return _ordered(
            (tuple(getattr(key, label) for label in ROW_LABELS[by]), time)
            for key, time in then.owners.items()
        )

    def period(self) -> str:
        """The period and the clusters, as a sentence."""
        whose = (
            f"cluster {command_output.shown_name(self.cluster)}" if self.cluster else "all clusters"
        )
        length = duration((self.end_ms - self.start_ms) // MINUTE_MS)
        return f"{moment(self.start_ms)} to {moment(self.end_ms)} ({length}), {whose}."

    def lead(self) -> list[str]:
        """The most expensive owner, and the hours that are missing."""
        return [*_who(self.then), *_missing(self)]

    def notes(self) -> list[str]:
        """What could be saved and how, the prices, and what was read."""
        setting = "PriceOverrides=" if self.reading.is_ledger else "--price-overrides "
        basis = basis_sentences(self.then, setting)
        savings = savings_sentences(self.savings(), self.hours)
        return [*_parts(self.then.total), *basis, *_read(self.reading), *savings]

    def savings(self) -> list[Saving]:
        """What each cluster could have saved, most money first."""
        return savings_of(self.then.cluster_hours, self.hours)

    @property
    def hours(self) -> int:
        """Hours of the period, whole or in part."""
        return -(-self.end_ms // HOUR_MS) - self.start_ms // HOUR_MS

    def headline(self) -> str:
        """The first sentence of the report."""
        return headline(self.then.total)


def spans(where: str, hours: Iterable[int]) -> list[Span]:
    """Spans of consecutive *hours*, which are ascending."""
    found: list[Span] = []
    for hour in hours:
        start_ms = hour * HOUR_MS
        if found and found[-1].end_ms == start_ms:
            start_ms = found.pop().start_ms
        found.append(Span(where, start_ms, (hour + 1) * HOUR_MS))
    return found


def _ordered(named: Iterable[tuple[Labels, CoreTime]]) -> list[tuple[Labels, CoreTime]]:
    times: dict[Labels, CoreTime] = {}
    for labels, time in named:
        times.setdefault(labels, CoreTime()).fold_time(time)
    return dearest(times, len(times))


def _who(then: Then) -> list[str]:
    if not then.total.idle:
        return []
    ((key, time),) = dearest(then.owners, 1)
    busy = f", {core_hours(time.busy)} busy" if time.busy else ""
    said = f"{name_of(key)}: {usd_of(time.idle_cost)}, {core_hours(time.idle)} idle{busy}"
    return [f"Most of it: {said}."]


def _missing(report: IdleReport) -> list[str]:
    by_place: dict[str, list[Span]] = {}
    for span in report.reading.missing:
        by_place.setdefault(span.where, []).append(span)
    said = []
    for where, theirs in by_place.items():
        hours = sum(span.end_ms - span.start_ms for span in theirs) // HOUR_MS
        named = [f"{moment(span.start_ms)} to {moment(span.end_ms)}" for span in theirs[:MAX_NAMED]]
        what = "not settled" if report.reading.is_ledger else "without a minute line"
        now = "; neuron-emf top shows now" if report.reading.is_ledger else ""
        said.append(
            f"In no sum: {hours:,} of {counted(report.hours, 'hour')}, {what} in {where}: "
            f"{joined(named, len(theirs) - MAX_NAMED)}{now}."
        )
    return said


def _parts(total: CoreTime) -> list[str]:
    """What could be saved by what, each idle core in exactly one of the sentences."""
    said = []
    if total.avoidable:
        said.append(
            f"Avoidable: at most {usd_of(total.avoidable_cost)}, by stopping instances while all "
            f"their cores are idle ({usd_of(total.idle_cost_of([Part.AVOIDABLE_ALLOCATED]))} "
            "allocated to an owner, "
            f"{usd_of(total.idle_cost_of([Part.AVOIDABLE_UNALLOCATED]))} to none)."
        )
    if total.idle_of([Part.SHARED]):
        said.append(
            f"Shared: {usd_of(total.idle_cost_of([Part.SHARED]))}, idle cores on instances that "
            "work, or of which not all is known. Pack work onto fewer instances."
        )
    if total.idle_of([Part.COMMITTED]):
        said.append(
            f"Committed: {usd_of(total.idle_cost_of([Part.COMMITTED]))}, paid even if stopped. "
            "Give them work: stopping them saves nothing."
        )
    return said


def _read(read: Reading) -> list[str]:
    what = counted(read.ledger_rows, "row") if read.is_ledger else ""
    said = [f"{what or counted(read.minute_lines, 'minute line')} read from {read.origin}."]
    if read.damaged:
        named = [f"{problem} ({number:,})" for problem, number in read.damaged.items()]
        said.append(
            f"Damaged, in no sum: {joined(named[:MAX_NAMED], len(named) - MAX_NAMED)}. Have settle "
            "write these hours again while their minutes last, or restore the objects."
        )
    for number, noun, why in (
        (read.copies, "row", "of instance-hours that an earlier --ledger has, left out"),
        (read.repeated, "line", "repeated, counted once"),
        (read.unreadable, "line", "could not be read"),
    ):
        if number:
            said.append(f"{counted(number, noun)} {why}.")
    return said
