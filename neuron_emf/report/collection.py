"""
Collect an idle report from files, or from the ledger and the log groups of a stack.

Of the lines of an account it reads piece by piece in order of time, so that the lines of a
few hours are in memory and not those of a month; files may be in any order and
are counted when all are read.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from emitter.errors import SourceError
from neuron_emf import figures
from neuron_emf.account import account
from neuron_emf.payment import payment
from neuron_emf.prices import prices
from neuron_emf.printing import progress
from neuron_emf.reading import LogGroup, Records, lines_in, pattern_of, periods
from neuron_emf.reading.periods import Period
from neuron_emf.report.comparison import PublishedRollups, compare
from neuron_emf.report.counting import Counting
from neuron_emf.report.idle_report import Provenance, idle_report
from neuron_emf.report.ledger_reading import SettledPart, not_counted, settled_part
from neuron_emf.report.log_queries import (
    MINUTES_QUERY,
    ROLLUPS_QUERY,
    USD_PER_GB_SCANNED,
    LogQueries,
    restricted,
)
from neuron_emf.report.settings import LINES, SINCE
from neuron_emf.teams import teams
from neuron_wire.names import MINUTE_MS
from neuron_wire.phrases import counted, moment
from neuron_wire.teams import team_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from neuron_emf.account import Account
    from neuron_emf.report.idle_report import IdleReport
    from neuron_emf.report.settings import IdleReportSettings

FIRST_PIECE_MINUTES: Final = 60
RECORDS_IN_A_PIECE: Final = 200_000  # 100 MB of instances with 32 cores
GROWTH: Final = 4  # a piece is at most so many times as long as the one before
LATEST_PUBLICATION_MS: Final = 25 * 3_600_000
"""
How long after its minute a rollup may be printed again: the stack's parameter
LateMinutes is at most a day.
"""

_ROLLUP_TERM: Final = '"RollupId"'  # what only lines of rollups have
_ROLLUP_MARK: Final = '"Kind":"rollup"'
_COLUMNS: Final = {
    "ClusterName": "ClusterName",
    "Minute": "Minute",
    "Number": "Publication",
    "RecordsCounted": "Records",
    "CoreMinutes": "IdleCoreMinutes",
    "Usd": "IdleCost",
}
"""Columns of the query of rollups, and the members they come from."""


def collect(settings: IdleReportSettings, files: Sequence[Path]) -> IdleReport:
    """
    Read, count and compare.

    Raises:
        SettingsError: If a setting cannot be used.
        SourceError: If lines cannot be read, or there is none in the period.
    """
    made_ms = periods.now_ms()
    since = settings.since or ("" if files else SINCE)
    asked = periods.period_between(since, settings.until, made_ms) if since else None
    within = asked or _until(settings, made_ms)
    settled, problem = (None, "") if files else _settled(settings, within)
    if settled is not None:
        within = asked = settled.period
    counting = _counting(settings, within, settled)
    published = PublishedRollups(within, settings.cluster)
    if files:
        provenance = from_files(files, counting, published)
    elif settled is not None:
        provenance = from_ledger(settings, settled, counting)
    else:
        provenance = _of_account(settings, within, counting, published)
    provenance = replace(provenance, ledger_problem=problem)
    if not counting.instances and not counting.settled_hours:
        if settings.cluster and not files:
            counting.others.add_account(account(settings), min(within.end_ms, made_ms))
        raise SourceError(_nothing(settings, asked, provenance, counting))
    return idle_report(
        counting,
        compare(counting, published, made_ms),
        provenance,
        asked=asked,
        made_ms=made_ms,
        worst_cores=settings.rows,
    )


def _settled(settings: IdleReportSettings, within: Period) -> tuple[SettledPart | None, str]:
    """What is read from the ledger; without it why not, empty where nobody asked for it."""
    if settings.from_lines:
        return None, ""
    if settings.has_own_rules:
        problem = "--idle-after, --price-overrides and --paid-by-type need the minute lines."
    else:
        try:
            part = settled_part(account(settings), "".join(settings.ledger[:1]), within)
        except SourceError as error:
            problem = str(error)
        else:
            if part.hours:
                return part, ""
            problem = f"No hour of this time is settled in bucket {part.bucket.name}."
    if sys.stderr is not None:
        sys.stderr.write(f"Minute lines are read instead of the ledger: {problem}\n")
    return None, problem


def _counting(
    settings: IdleReportSettings, within: Period, settled: SettledPart | None
) -> Counting:
    stack = settled.parameters if settled is not None else {}
    own_teams = teams(settings.teams)
    return Counting(
        within,
        int(stack.get("IdleAfterMinutes") or settings.idle_after),
        prices(settings.price_overrides or stack.get("PriceOverrides", ""), settings.region),
        settings.cluster,
        teams=own_teams if settings.teams else team_rules(stack.get("Teams", "")),
        payment=payment(settings.paid_by_type or stack.get("PaidByType", "")),
    )


def from_ledger(
    settings: IdleReportSettings, settled: SettledPart, counting: Counting
) -> Provenance:
    """
    Count the settled hours by the ledger, the others by lines.

    Raises:
        SourceError: If AWS refuses or does not answer.
    """
    source = account(settings)
    with progress("Reading the ledger") as advance:
        damaged = settled.count(counting, advance)
    read = Provenance(origin="")
    for period in settled.others:
        of_period = _of_account(settings, period, counting, None)
        read = replace(
            of_period,
            records=read.records + of_period.records,
            repeated=read.repeated + of_period.repeated,
            unreadable=read.unreadable + of_period.unreadable,
            outside=of_period.outside,
            bytes_scanned=_sum(read.bytes_scanned, of_period.bytes_scanned),
        )
    return replace(
        read,
        settled_hours=len(settled.hours),
        rows=counting.ledger_rows,
        damaged=damaged,
        not_counted=not_counted(source, settled.period),
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)


def _until(settings: IdleReportSettings, now_ms: int) -> Period:
    if not settings.until:
        return periods.ALWAYS
    return periods.period_between("1970-01-01", settings.until, now_ms)


def _of_account(
    settings: IdleReportSettings,
    asked: Period,
    counting: Counting,
    published: PublishedRollups | None,
) -> Provenance:
    """Without *published* no rollup is read."""
    source = account(settings)
    if source.is_rehearsal or settings.read == LINES:
        return from_lines(source, asked, settings.cluster, counting, published)
    _announce_cost(source, asked)
    return from_queries(source, asked, settings.cluster, counting, published)


def _announce_cost(source: Account, asked: Period) -> None:
    """Before, because afterwards it is paid."""
    if sys.stderr is not None:
        sys.stderr.write(
            f"Logs Insights scans {source.log_group} from {moment(asked.start_ms)} to "
            f"{moment(asked.end_ms)}, billed at {USD_PER_GB_SCANNED} USD "
            "per GB (list price); --read lines costs nothing but takes longer.\n"
        )


def _nothing(
    settings: IdleReportSettings, asked: Period | None, provenance: Provenance, counting: Counting
) -> str:
    when = ""
    if asked is not None:
        when = f" from {moment(asked.start_ms)} to {moment(asked.end_ms)}"
    if settings.cluster:
        return (
            f"No minute line of cluster {figures.name(settings.cluster)}{when} in "
            f"{provenance.origin}. {counting.others.beside(settings.cluster)}; check --cluster, "
            "--since and --until."
        )
    others = (
        f"{counted(provenance.outside, 'line')} of other times or clusters and "
        f"{counted(provenance.unreadable, 'line')} that could not be read"
    )
    return (
        f"No minute lines{when} in {provenance.origin}, only {others}. "
        "Check --since and --until, and that the emitters run."
    )


def from_files(
    paths: Sequence[Path], counting: Counting, published: PublishedRollups
) -> Provenance:
    """
    Count the lines of files, minutes and rollups in any order.

    Raises:
        SourceError: If a file cannot be read.
    """
    records = Records()
    with progress("Reading lines") as advance:
        for record in records.of(_with_rollups(lines_in(paths, advance), published)):
            counting.add(record)
    counting.close()
    names = ", ".join("standard input" if str(path) == "-" else str(path) for path in paths)
    return _provenance(names, records, counting)


def from_lines(
    account: Account,
    period: Period,
    cluster: str,
    counting: Counting,
    published: PublishedRollups | None,
) -> Provenance:
    """
    Count the lines of an account, fetched one by one; without *published* no rollups.

    Raises:
        SourceError: If CloudWatch Logs refuses or does not answer.
    """
    group, records = LogGroup(account, account.log_group), Records()
    pattern = pattern_of(cluster) if cluster else pattern_of()
    start_ms, minutes = period.start_ms, FIRST_PIECE_MINUTES
    with progress("Reading lines") as advance:
        while start_ms < period.end_ms:
            end_ms = min(start_ms + minutes * MINUTE_MS, period.end_ms)
            before = records.read
            for record in records.of(group.lines(start_ms, end_ms, pattern)):
                counting.add(record)
            counting.close()
            advance(end_ms - period.start_ms, period.end_ms - period.start_ms)
            start_ms = end_ms
            fitting = minutes * RECORDS_IN_A_PIECE // max(1, records.read - before)
            minutes = max(1, min(fitting, GROWTH * minutes))
    problem = ""
    try:
        if published is not None:
            _read_rollups(account, _of_rollups(period), published)
    except SourceError as error:
        problem = str(error)
    origin = f"the lines of log group {account.log_group}"
    return _provenance(origin, records, counting, rollups_problem=problem)


def _read_rollups(account: Account, period: Period, published: PublishedRollups) -> None:
    group = LogGroup(account, account.rollups_log_group)
    with progress("Reading rollups") as advance:
        for line in group.lines(period.start_ms, period.end_ms, _ROLLUP_TERM, advance=advance):
            published.add_line(line)


def from_queries(
    account: Account,
    period: Period,
    cluster: str,
    counting: Counting,
    published: PublishedRollups | None,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> Provenance:
    """
    Count what Logs Insights gives; without *published* no rollups.

    Raises:
        SourceError: If CloudWatch Logs refuses or does not answer.
    """
    queries, records = LogQueries(account, sleep), Records()
    text = restricted(MINUTES_QUERY, cluster)
    with progress("Querying lines") as advance:
        for rows in queries.pieces(account.log_group, text, period, advance):
            for record in records.of(row.get("Line", "") for row in rows):
                counting.add(record)
            counting.close()
    problem = ""
    try:
        if published is not None:
            _query_rollups(queries, account.rollups_log_group, cluster, period, published)
    except SourceError as error:
        problem = str(error)
    return _provenance(
        f"Logs Insights on log group {account.log_group}",
        records,
        counting,
        bytes_scanned=queries.bytes_scanned,
        rollups_problem=problem,
    )


def _query_rollups(
    queries: LogQueries, group: str, cluster: str, period: Period, published: PublishedRollups
) -> None:
    text = restricted(ROLLUPS_QUERY, cluster)
    with progress("Querying rollups") as advance:
        for rows in queries.pieces(group, text, _of_rollups(period), advance):
            for row in rows:
                published.add_members(
                    {member: row.get(column) for column, member in _COLUMNS.items()}
                )


def _with_rollups(lines: Iterable[str], published: PublishedRollups) -> Iterator[str]:
    for line in lines:
        if _ROLLUP_MARK in line:
            published.add_line(line)
        yield line


def _of_rollups(period: Period) -> Period:
    """When the rollups of *period* were printed; the future has none."""
    now_ms = periods.now_ms() // MINUTE_MS * MINUTE_MS
    latest_ms = min(period.end_ms + LATEST_PUBLICATION_MS, now_ms)
    return Period(period.start_ms, max(latest_ms, period.end_ms))


def _provenance(
    origin: str,
    records: Records,
    counting: Counting,
    *,
    bytes_scanned: int | None = None,
    rollups_problem: str = "",
) -> Provenance:
    return Provenance(
        origin=origin,
        records=records.read - counting.outside,
        repeated=records.repeated,
        unreadable=records.unreadable,
        outside=counting.outside,
        bytes_scanned=bytes_scanned,
        rollups_problem=rollups_problem,
    )
