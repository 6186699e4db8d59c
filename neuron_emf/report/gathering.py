"""
Where the lines of an idle report come from: files, or the log groups of a stack.

Of an account it reads piece by piece in order of time, so that the lines of a
few hours are in memory and not those of a month; files may be in any order and
are counted when all are read.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from emitter.errors import SourceError
from neuron_emf.printing import progress
from neuron_emf.reading import LogGroup, Records, lines_in, pattern_of
from neuron_emf.report import clock
from neuron_emf.report.insights import MINUTES_QUERY, ROLLUPS_QUERY, SavedQueries
from neuron_emf.report.outcome import Reading
from neuron_emf.report.period import Period
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from neuron_emf.account import Account
    from neuron_emf.report.counting import Counting
    from neuron_emf.report.published import Published

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
"""Columns of the saved query of rollups, and the members they come from."""


def from_files(paths: Sequence[Path], counting: Counting, published: Published) -> Reading:
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
    return _reading(names, records, counting)


def from_lines(
    account: Account, period: Period, cluster: str, counting: Counting, published: Published
) -> Reading:
    """
    Count the lines of an account, fetched one by one.

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
    rollups = _of_rollups(period)
    try:
        with progress("Reading rollups") as advance:
            lines = LogGroup(account, account.rollups_log_group).lines(
                rollups.start_ms, rollups.end_ms, _ROLLUP_TERM, advance=advance
            )
            for line in lines:
                published.add_line(line)
    except SourceError as error:
        problem = str(error)
    origin = f"the lines of log group {account.log_group}"
    return _reading(origin, records, counting, rollups_problem=problem)


def from_queries(
    account: Account,
    period: Period,
    cluster: str,
    counting: Counting,
    published: Published,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> Reading:
    """
    Count what the stack's saved queries give.

    Raises:
        SourceError: If CloudWatch Logs refuses, does not answer, or lacks the queries.
    """
    queries, records = SavedQueries(account, sleep), Records()
    text = queries.text(MINUTES_QUERY, cluster)
    with progress("Querying lines") as advance:
        for rows in queries.pieces(account.log_group, text, period, advance):
            for record in records.of(row.get("Line", "") for row in rows):
                counting.add(record)
            counting.close()
    problem = ""
    try:
        text = queries.text(ROLLUPS_QUERY, cluster)
        with progress("Querying rollups") as advance:
            for rows in queries.pieces(
                account.rollups_log_group, text, _of_rollups(period), advance
            ):
                for row in rows:
                    published.add_members(
                        {member: row.get(column) for column, member in _COLUMNS.items()}
                    )
    except SourceError as error:
        problem = str(error)
    return _reading(
        f"Logs Insights on log group {account.log_group}",
        records,
        counting,
        bytes_scanned=queries.bytes_scanned,
        rollups_problem=problem,
    )


def _with_rollups(lines: Iterable[str], published: Published) -> Iterator[str]:
    for line in lines:
        if _ROLLUP_MARK in line:
            published.add_line(line)
        yield line


def _of_rollups(period: Period) -> Period:
    """When the rollups of *period* were printed; the future has none."""
    now_ms = clock.now_ms() // MINUTE_MS * MINUTE_MS
    latest_ms = min(period.end_ms + LATEST_PUBLICATION_MS, now_ms)
    return Period(period.start_ms, max(latest_ms, period.end_ms))


def _reading(
    origin: str,
    records: Records,
    counting: Counting,
    *,
    bytes_scanned: int | None = None,
    rollups_problem: str = "",
) -> Reading:
    return Reading(
        origin=origin,
        records=records.read - counting.outside,
        repeated=records.repeated,
        unreadable=records.unreadable,
        outside=counting.outside,
        bytes_scanned=bytes_scanned,
        rollups_problem=rollups_problem,
    )
