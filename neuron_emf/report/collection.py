"""
Collect the amounts of a period from ledgers, or from minute lines of files or of a log group.

An hour that a ledger lacks is named and is in no sum. It is never read from minute lines instead,
so that the report, the digest and the bill have one source.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count, groupby
from operator import add, itemgetter
from typing import TYPE_CHECKING, Any, Final

from neuron_accounts.core_time import DEFAULT_IDLE_AFTER_MINUTES, CostRules
from neuron_accounts.ledger import PARTS_OF_HOUR, LedgerRow
from neuron_accounts.savings import pass_rows
from neuron_accounts.then import Then
from neuron_emf.account import account
from neuron_emf.command_options import SINCE, payment, prices, teams
from neuron_emf.command_output import progress, shown_name
from neuron_emf.reading import lines_in, periods
from neuron_emf.reading.files import source_name
from neuron_emf.reading.ledger_bucket import each_once, rows
from neuron_emf.reading.minute_lines import ClusterNames, MinuteLines
from neuron_emf.reading.periods import Period
from neuron_emf.report.idle_report import Reading, ledger_report, missing_spans
from neuron_emf.report.month_ledger import ledgers_of
from neuron_emitter.errors import SettingsError, SourceError
from neuron_wire.names import DAY_HOURS, HOUR_MS, MINUTE_MS
from neuron_words.quantity_words import counted, iso, joined, moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from neuron_accounts.teams import TeamRules
    from neuron_emf.report.idle_report import IdleReport
    from neuron_emf.report.settings import IdleReportSettings

_ALIKE: Final = itemgetter(*map(LedgerRow._fields.index, (
    "cluster", "instance_id", "owner", "team", "region", "instance_type", "basis",
)))  # fmt: skip
_NUMBER_FIELDS: Final = ("allocated", *LedgerRow._fields[6:17])
_NUMBERS_OF: Final = itemgetter(*map(LedgerRow._fields.index, _NUMBER_FIELDS))
_UNKNOWN_IF_NONE: Final = ("idle_cost", "executions")
"""Numbers whose None is not 0: a known and an unknown number are different."""


def collect(settings: IdleReportSettings, files: Sequence[Path]) -> IdleReport:
    """
    Read the period and add up its rows.

    Raises:
        SettingsError: If a setting cannot be used.
        SourceError: If nothing can be read, or there is nothing in the period.
    """
    now_ms = periods.now_ms()
    is_of_lines = bool(files or settings.from_lines)
    if is_of_lines and settings.ledger:
        msg = "--ledger cannot be combined with FILES or --from-lines. Omit one or the other."
        raise SettingsError(msg)
    prices_given = settings.price_overrides or settings.paid_by_type
    if (prices_given or settings.idle_after != DEFAULT_IDLE_AFTER_MINUTES) and not is_of_lines:
        msg = (
            "--idle-after, --price-overrides and --paid-by-type need minute lines: the ledger was "
            "settled by the stack's parameters. Use them with --from-lines or FILES."
        )
        raise SettingsError(msg)
    collected = _of_lines if is_of_lines else _of_ledgers
    period, then, reading = collected(settings, files, now_ms)
    return ledger_report(settings, period, then, reading)


def collect_before(
    settings: IdleReportSettings, files: Sequence[Path], report: IdleReport
) -> IdleReport | None:
    """
    Read the month before *report*, or a period of equal length before it.

    For a bill, the amounts before it come from the ledger. Returns None if no hour can be read, or
    if FILES are read whole.
    """
    if settings.bill:
        settings = replace(settings, bill=(), by="owner")
        files = ()
    if files and not (settings.month or settings.since):
        return None
    if settings.month:
        before = replace(settings, month=iso(report.start_ms - 1)[:7])
    else:
        start_ms = 2 * report.start_ms - report.end_ms
        before = replace(settings, since=iso(start_ms), until=iso(report.start_ms))
    try:
        return collect(before, files)
    except (SettingsError, SourceError):  # a --ledger that is one file has no other month
        return None


def _asked(settings: IdleReportSettings, now_ms: int, since: str = SINCE) -> Period:
    if not settings.month:
        return periods.period_between(settings.since or since, settings.until, now_ms)
    if settings.since or settings.until:
        msg = "--month is a whole period. Omit --since and --until, or --month."
        raise SettingsError(msg)
    return periods.month_period(settings.month, now_ms)


def then_by_days(rows: Iterable[LedgerRow], rules: TeamRules) -> tuple[Then, int]:
    """
    Return the sum of *rows*, with teams by *rules*, and their number.

    *rows* are in the order of hours. Rows of a day that differ only in numbers are added up first,
    which is three times as fast.
    """
    then = Then()
    read = 0
    by_hours = groupby(rows, itemgetter(LedgerRow._fields.index("hour")))
    for _, hours in groupby(by_hours, lambda pair: pair[0] // DAY_HOURS):
        alike: dict[tuple[object, ...], tuple[LedgerRow, Sequence[int]]] = {}
        for _, of_hour in hours:
            for row in pass_rows(then.cluster_hours, of_hour):
                read += 1
                key = row.idle_cost is None, row.executions is None, not row.unpriced, *_ALIKE(row)
                numbers = [number or 0 for number in _NUMBERS_OF(row)]
                if key in alike:
                    first, before = alike[key]
                    alike[key] = first, list(map(add, before, numbers))
                else:
                    alike[key] = row, numbers
        for row, sums in alike.values():
            known: dict[str, Any] = dict(zip(_NUMBER_FIELDS, sums, strict=True))
            known |= {name: None for name in _UNKNOWN_IF_NONE if getattr(row, name) is None}
            team = rules.team_of(row.cluster, row.owner, row.team)
            then.fold_row(row._replace(team=team, **known))
    return then, read


# --- of the ledger ---


def _of_ledgers(
    settings: IdleReportSettings, _files: Sequence[Path], now_ms: int
) -> tuple[Period, Then, Reading]:
    asked = _asked(settings, now_ms)
    started = range(asked.start_ms // HOUR_MS, -(-asked.end_ms // HOUR_MS))
    ledgers = ledgers_of(settings.ledger, lambda: account(settings))
    settled = [ledger.list_settled_hours(started) for ledger in ledgers]
    # The current hour can be settled only by name, as an acceptance does. It is never missing.
    over = max(
        [now_ms // HOUR_MS, *[settled_hours[-1] + 1 for settled_hours in settled if settled_hours]]
    )
    hours = range(started.start, min(started.stop, over))
    if not hours:
        msg = "No whole hour of this period is over. Use an earlier --since, or --from-lines."
        raise SettingsError(msg)
    period = Period(hours.start * HOUR_MS, hours.stop * HOUR_MS)
    reading = Reading(
        origin=joined([f"ledger {ledger.name}" for ledger in ledgers]),
        is_ledger=True,
        hours=len(set().union(*settled).intersection(hours)),
        missing=[
            span
            for ledger, settled_hours in zip(ledgers, settled, strict=True)
            for span in missing_spans(f"ledger {ledger.name}", hours, {*settled_hours})
        ],
    )
    when = f"from {moment(period.start_ms)} to {moment(period.end_ms)}"
    if not any(settled):
        msg = f"No hour {when} is settled in {reading.origin}. Use another time, or --from-lines."
        raise SourceError(msg)
    others = ClusterNames()
    total = PARTS_OF_HOUR * sum(map(len, settled))

    def note_copy(_row: LedgerRow) -> None:
        reading.copies += 1

    done = count(1)
    with progress("Reading the ledger") as advance:

        def counted_objects(objects: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
            for payload in objects:
                yield payload
                advance(next(done), total)

        read = [
            rows(
                counted_objects(ledger.read_objects(settled_hours)),
                lambda error: reading.damaged.update([str(error)]),
            )
            for ledger, settled_hours in zip(ledgers, settled, strict=True)
        ]
        once = each_once(read, note_copy)
        own = rows_of_cluster(once, settings.cluster, others)
        then, reading.ledger_rows = then_by_days(own, teams(settings.teams))
    if settings.cluster and not then.owners:
        msg = _without_cluster("row", settings, f" {when} in {reading.origin}", others)
        raise SourceError(msg)
    return period, then, reading


def rows_of_cluster(
    rows: Iterable[LedgerRow], cluster: str, others: ClusterNames
) -> Iterator[LedgerRow]:
    """Yield *rows* of *cluster*, or all rows if it is empty. Add other clusters to *others*."""
    for row in rows:
        if cluster in {"", row.cluster}:
            yield row
        else:
            others.add_name(row.cluster)


# --- of minute lines ---


def _of_lines(
    settings: IdleReportSettings, files: Sequence[Path], now_ms: int
) -> tuple[Period, Then, Reading]:
    is_open = bool(files) and not (settings.since or settings.month)
    asked = _asked(settings, now_ms, "1970-01-01" if is_open else SINCE)
    if is_open and not settings.until:
        asked = periods.WHOLE_TIME
    rules = CostRules(
        prices(settings.price_overrides, settings.region),
        settings.idle_after,
        payment(settings.paid_by_type),
    )
    lines = MinuteLines(asked, settings.cluster, rules)
    stack = None if files else account(settings)
    with progress("Reading lines") as advance:
        if stack is None:
            origin = ", ".join(map(source_name, files))
            ledger_rows = lines.fold_lines(lines_in(files, advance))
        else:
            origin = f"log group {stack.log_group}"
            ledger_rows = lines.fold_log_group(stack, advance)
        then, _ = then_by_days(ledger_rows, teams(settings.teams))
    if lines.minutes_ms is None:
        if settings.cluster and stack is not None:
            lines.others.add_names_of_account(stack, min(asked.end_ms, now_ms))
        raise SourceError(_without_lines(settings, asked, origin, lines))
    first_ms, last_ms = lines.minutes_ms
    if is_open:
        asked = Period(first_ms, asked.end_ms if settings.until else last_ms + MINUTE_MS)
    hours = range(asked.start_ms // HOUR_MS, -(-asked.end_ms // HOUR_MS))
    reading = Reading(
        origin=origin,
        is_ledger=False,
        hours=len(lines.hours.intersection(hours)),
        missing=missing_spans(origin, hours, lines.hours),
        minute_lines=lines.records.read - lines.outside,
        outside=lines.outside,
        repeated=lines.records.repeated,
        unreadable=lines.records.unreadable,
    )
    return asked, then, reading


def _without_lines(
    settings: IdleReportSettings, asked: Period, origin: str, lines: MinuteLines
) -> str:
    place = f" in {origin}"
    if asked != periods.WHOLE_TIME:
        place = f" from {moment(asked.start_ms)} to {moment(asked.end_ms)}{place}"
    if settings.cluster:
        return _without_cluster("minute line", settings, place, lines.others)
    return (
        f"No minute lines{place}, only {counted(lines.outside, 'line')} of other times "
        f"or clusters and {counted(lines.records.unreadable, 'line')} that could not be read. "
        "Check --since and --until, and that the emitters run."
    )


def _without_cluster(
    what: str, settings: IdleReportSettings, place: str, others: ClusterNames
) -> str:
    return (
        f"No {what} of cluster {shown_name(settings.cluster)}{place}. "
        f"{others.other_clusters(settings.cluster)}; check --cluster, --since and --until."
    )
