"""What the numbers of an idle report mean, in sentences: the same on every surface."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from neuron_emf import figures
from neuron_emf.payment import AVOIDABLE, Saving
from neuron_emf.report.comparison import Cause
from neuron_emf.report.log_queries import usd_of
from neuron_wire.phrases import counted, dollars, duration, joined, moment, usd

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from neuron_emf.report.comparison import ByCause
    from neuron_emf.report.counting import InstanceTime
    from neuron_emf.report.idle_report import IdleReport

MAX_NAMED: Final = 5
_ALL: Final = 100.0


def headline(report: IdleReport) -> str:
    """The one sentence that everybody reads."""
    idle, known = report.total.idle, report.total.cores.known
    share = figures.percent(figures.share(idle.core_minutes, known))
    hours = f"{figures.hours(idle.core_minutes)} core hours"
    if not idle.core_minutes:
        return f"No core was idle{_partly(report)}."
    if idle.usd is None:
        return (
            f"Cores were idle for {hours}, {share} of the known time; their price is unknown"
            f"{_partly(report)}."
        )
    basis = report.price_words
    cost = f"Idle cores cost {usd(idle.usd)}{f' ({basis})' if basis else ''}"
    avoidable = idle.usd_of(*AVOIDABLE)
    saved = f", of which {dollars(avoidable)} avoidable" if avoidable else ""
    return f"{cost}{saved}: {hours}, {share} of the known time{_partly(report)}."


def _partly(report: IdleReport) -> str:
    """How much of the time there are data for, unless it is all of it."""
    told = report.told_percent
    if told is None or told >= _ALL:
        return ""
    return f"; data for {_below(told)} of the requested time"


def _below(told: float) -> str:
    # Rounded down: 99.96 % is not all.
    return figures.percent(math.floor(10 * told) / 10)


def rate(report: IdleReport) -> str:
    """What it costs in a month if it goes on like this; empty where nobody knows."""
    idle = report.total.idle
    month, avoidable = report.a_month(idle.usd), report.a_month(idle.usd_of(*AVOIDABLE))
    if not month:
        return ""
    saved = f", of which {dollars(avoidable)} avoidable" if avoidable else ""
    return (
        f"At this rate: {usd(month)} per month{saved} ({figures.MONTH_HOURS} h; measured over "
        f"{duration(report.told_minutes)} with data)."
    )


def period(report: IdleReport) -> str:
    """From when to when, and whose."""
    whose = f"cluster {figures.name(report.cluster)}" if report.cluster else "all clusters"
    return (
        f"{moment(report.start_ms)} to {moment(report.end_ms)} "
        f"({duration(report.minutes)}), {whose}."
    )


def savings(report: IdleReport) -> list[str]:
    """What could be saved by what, each idle core in exactly one of the sentences."""
    idle = report.total.idle
    if not idle.core_minutes:
        return ["Nothing: no core was idle."]
    sentences = []
    avoidable = [one for one in report.instances if one.idle.micros_of(*AVOIDABLE)]
    if avoidable:
        minutes = sum(instance.avoidable_minutes for instance in avoidable)
        # The ledger has core-minutes.
        hours = (
            "" if report.provenance.settled_hours else f", {figures.hours(minutes)} instance hours"
        )
        sentences.append(
            f"Avoidable: at most {_usd(idle.usd_of(*AVOIDABLE))}, by stopping instances while all "
            f"their cores are idle ({_usd(idle.usd_of(Saving.HELD))} attached to an owner, "
            f"{_usd(idle.usd_of(Saving.UNHELD))} to none): "
            f"{counted(len(avoidable), 'instance')}{hours}."
        )
    else:
        sentences.append(
            "Avoidable: nothing. No instance whose stop saves money had all its cores idle at once."
        )
    if idle.micros_of(Saving.SHARED):
        sentences.append(
            f"Shared: {_usd(idle.usd_of(Saving.SHARED))}, idle cores on instances with executions, "
            "or with cores that were busy, not idle for long enough or unknown. Pack work onto "
            "fewer instances: an instance is paid as a whole."
        )
    if idle.micros_of(Saving.SUNK):
        sentences.append(
            f"Sunk: {_usd(idle.usd_of(Saving.SUNK))}, paid even if stopped. Give them work: "
            "stopping them saves nothing."
        )
    return [*sentences, *_without_busy_core(report.without_busy_core)]


def _without_busy_core(instances: Sequence[InstanceTime]) -> Iterator[str]:
    """A service may execute and keep no core busy: that it never worked, only lines can tell."""
    for found, said in (
        ([one for one in instances if one.executions], "little used, without a busy core"),
        ([one for one in instances if one.executions == 0], "without a busy core or an execution"),
        (
            [one for one in instances if one.executions is None],
            "without a busy core, executions not told",
        ),
    ):
        names = [
            figures.name(one.instance_id)
            + (f" ({counted(one.executions, 'execution')})" if one.executions else "")
            for one in found[:MAX_NAMED]
        ]
        if found:
            shown = joined(names, len(found) - MAX_NAMED)
            yield f"{counted(len(found), 'instance')} {said}: {shown}."


def coverage(report: IdleReport) -> list[str]:
    """How much of the truth this is."""
    total = report.total
    if report.provenance.settled_hours:
        return _coverage_by_ledger(report)
    sentences = [
        (
            f"Telemetry covers {figures.percent(total.coverage.percent)} of the time between the "
            "first and the last line of each instance; "
            f"{counted(total.coverage.missing, 'instance-minute')} without a line."
        )
    ]
    if total.cores.unknown:
        sentences.append(
            f"{figures.hours(total.cores.unknown)} core hours are unknown: not counted as idle "
            "and not in any percentage."
        )
    if (told := report.told_percent) is not None and told < _ALL:
        sentences.append(
            f"There are lines for {duration(report.told_minutes)} of the requested "
            f"{duration(report.minutes)}, {_below(told)}: sums and shares cover only that."
        )
    duplicates = sum(one.duplicate_minutes for one in report.instances)
    if duplicates:
        sentences.append(
            f"Two emitters reported {duplicates:,} instance-minutes: one of them counts."
        )
    return sentences


def _coverage_by_ledger(report: IdleReport) -> list[str]:
    """The same of the ledger, where minutes in which an instance was missed are unknown."""
    cores = report.total.cores
    known = figures.percent(figures.share(cores.known, cores.known + cores.unknown))
    sentences = [
        (
            f"Telemetry covers {known} of the core hours; {figures.hours(cores.unknown)} are "
            "unknown, with the minutes in which an instance was missed: not counted as idle."
        )
    ]
    missing = report.minutes - report.told_minutes
    if missing:
        sentences.append(
            f"{duration(missing)} of the requested {duration(report.minutes)} are neither in the "
            "ledger nor in lines: sums and shares leave them out."
        )
    return sentences


def flops(report: IdleReport) -> list[str]:
    """What the chips did of what they could, and what that is not; empty where nobody told any."""
    share = report.total.flops.percent_of_peak
    if share is None:
        return []
    by_cluster = [
        f"{figures.name(name)} {figures.percent(sums.flops.percent_of_peak)}"
        for name, sums in report.clusters
        if sums.flops.percent_of_peak is not None
    ]
    named = joined(by_cluster[:MAX_NAMED], len(by_cluster) - MAX_NAMED)
    return [f"{figures.percent(share)} ({named}): {figures.PEAK_WORDS}."]


def money(report: IdleReport) -> list[str]:
    """What the prices are, and what has none."""
    sentences = []
    basis = report.basis
    if unpriced := basis.unpriced_names():
        named = [
            f"{figures.name(name)} ({figures.hours(basis.unpriced[name])} core hours)"
            for name in unpriced[:MAX_NAMED]
        ]
        sentences.append(
            "Idle without a price, not in any amount: "
            f"{joined(named, len(unpriced) - MAX_NAMED)}; set one with --price-overrides."
        )
    if words := report.price_words:
        on_demand = " On demand, before discounts, reservations and capacity blocks."
        sentences.append(f"Prices: {words}.{on_demand if 'list price' in words else ''}")
    return sentences


def method(report: IdleReport) -> list[str]:
    """How it was counted."""
    return [
        (
            f"A core is idle from {report.idle_after_minutes} whole minutes without work on; the "
            "minutes before are not counted."
        ),
        (
            "An owner is who held the idle core by its minute line; one held by several is "
            "split evenly. [others]: owners a line had no room for; [not told]: not named by "
            "an older emitter; [unallocated]: held by nobody."
        ),
    ]


def reading(report: IdleReport) -> list[str]:
    """What was read, and what that cost."""
    read = report.provenance
    sentences = [f"Not read from the ledger: {read.ledger_problem}"] if read.ledger_problem else []
    if read.settled_hours:
        sentences.append(
            f"{counted(read.settled_hours, 'settled hour')}, {counted(read.rows, 'row')}, read "
            f"from the ledger; {counted(read.records, 'minute line')} of other hours"
            + (f" from {read.origin}." if read.origin else ".")
        )
        sentences += _not_counted(report)
    else:
        sentences.append(f"{counted(read.records, 'minute line')} read from {read.origin}.")
    if read.damaged:
        sentences.append(f"{counted(read.damaged, 'row')} of the ledger could not be read.")
    if read.repeated:
        repeated = counted(read.repeated, "line")
        sentences.append(f"{repeated} repeated, counted once.")
    if read.unreadable:
        sentences.append(f"{counted(read.unreadable, 'line')} could not be read.")
    if read.bytes_scanned is not None:
        scanned = read.bytes_scanned
        sentences.append(
            f"Logs Insights scanned {figures.gigabytes(scanned)}: "
            f"{usd(usd_of(scanned))} at list price."
        )
    return sentences


def _not_counted(report: IdleReport) -> list[str]:
    counts = report.provenance.not_counted
    if counts is None:
        return ["How many records came too late for the ledger or were refused is not known."]
    named = [f"{count:,} {_NOT_COUNTED[name]}" for name, count in counts.items() if count]
    if not named:
        return ["No record came too late for the ledger, and none was refused."]
    return [f"Not in the ledger: {joined(named)}. --from-lines counts what its lines still say."]


def rollups(report: IdleReport) -> list[str]:
    """Where the rollups of the stack say something else."""
    compared = report.comparison
    if report.provenance.settled_hours:
        return ["The rollups were not compared: the ledger has the records that they have."]
    if report.provenance.rollups_problem:
        return [f"The rollups were not compared: {report.provenance.rollups_problem}."]
    if not compared.rollups:
        return ["The rollups were not compared: there are none."]
    sentences = []
    if compared.unreadable:
        sentences.append(f"{counted(compared.unreadable, 'rollup')} could not be read.")
    if not compared.differing_minutes:
        return [
            *sentences,
            f"The rollups agree in all {compared.equal_minutes:,} cluster-minutes.",
        ]
    sentences.append(
        f"The rollups agree in {compared.equal_minutes:,} cluster-minutes and differ in "
        f"{compared.differing_minutes:,}. They have {_usd(compared.usd)} and "
        f"{figures.hours(compared.core_minutes)} core hours in total."
    )
    sentences += [
        _cause(cause, compared.causes[cause]) for cause in Cause if cause in compared.causes
    ]
    return sentences


def _cause(cause: Cause, by_cause: ByCause) -> str:
    more = "are short by" if by_cause.core_minutes >= 0 else "exceed the lines by"
    amount = f"{figures.hours(abs(by_cause.core_minutes))} core hours and {usd(abs(by_cause.usd))}"
    where = f"{counted(by_cause.minutes, 'minute')}"
    hint = _HINTS.get(cause, "")
    return f"{where}: {cause.value}; the rollups {more} {amount}{hint}."


def _usd(value: float | None) -> str:
    return "an unknown amount" if value is None else usd(value)


_NOT_COUNTED: Final = {
    "RecordsTooLate": "later than LateMinutes",
    "RecordsRejected": "unreadable or, at each reading, over MaxClusters or another bound",
}
"""By the stack's metric."""

_HINTS: Final = {
    Cause.TOO_LATE: " (later than LateMinutes; the alarms and the dashboard never show them)",
    Cause.WITHOUT_LINES: " (lines not given, or deleted by the log group's retention)",
    Cause.RULES: " (different IdleAfterMinutes or prices, or an amount published too high)",
}
