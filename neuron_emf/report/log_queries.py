"""
The queries of the idle report, run by Logs Insights.

A query gives at most 10,000 rows, so a period is asked for in pieces that are
made smaller when one is full and greater when one is nearly empty. CloudWatch
bills what a query scans, also of a piece that has to be asked for again.
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_StartQuery.html
"""

from __future__ import annotations

import contextlib
import re
import time
from typing import TYPE_CHECKING, Any, Final

from emitter.errors import SourceError
from neuron_emf.account import documented, error_code
from neuron_emf.reading import periods
from neuron_emf.reading.periods import Period
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from neuron_emf.account import Account
    from neuron_emf.printing import Advance

MINUTES_QUERY: Final = """filter Kind = "minute"
| stats latest(@message) as Line by InstanceId, Boot, Seq"""
"""Each line once, however often it came; arrays of cores are added up here."""

ROLLUPS_QUERY: Final = """filter Kind = "rollup"
| stats latest(Publication) as Number, latest(Records) as RecordsCounted,
    latest(IdleCoreMinutes) as CoreMinutes, latest(IdleCost) as Usd
  by ClusterName, Minute, RollupId"""
"""Idle time as each publication of a rollup told it."""

MAX_ROWS: Final = 10_000
USD_PER_GB_SCANNED: Final = 0.005  # us-east-1, list price of November 2026
FIRST_PIECE_MINUTES: Final = 60
LONGEST_PIECE_MINUTES: Final = 1440

_GROWTH: Final = 4  # a piece is at most so much longer than the one before
_FILLED: Final = 0.7  # how full the next piece should be
_PATIENCE_S: Final = 900.0
_POLLS_S: Final = (0.2, 0.4, 0.8, 1.5)  # then the last again and again
_BUSY: Final = "LimitExceededException"
_BUSY_WAIT_S: Final = 5.0
_DAY_MS: Final = 1440 * MINUTE_MS
_RUNNING: Final = frozenset({"Scheduled", "Running", "Unknown"})
_PLAIN_NAME: Final = re.compile(r'[^"\\]+')

Row = dict[str, str]


class LogQueries:
    """
    Queries on the log groups of one account.

    Attributes:
        bytes_scanned: What CloudWatch bills, so far.
    """

    def __init__(self, account: Account, sleep: Callable[[float], None] = time.sleep) -> None:
        """
        Those of *account*; *sleep* waits between two questions.

        Raises:
            SettingsError: If no client can be made.
        """
        self.bytes_scanned = 0
        self._logs = account.client("logs")
        self._sleep = sleep

    def pieces(
        self, group: str, text: str, period: Period, advance: Advance | None = None
    ) -> Iterator[list[Row]]:
        """
        The rows of query *text* on log group *group*, by pieces of *period* in order of time.

        Raises:
            SourceError: If a minute has more rows than a query gives, or
                CloudWatch Logs refuses or does not answer.
        """
        kept_from_ms = self._kept_from_ms(group)
        # A query may begin before what the log group keeps, and not end there.
        unkept_minutes = max(0, kept_from_ms - period.start_ms) // MINUTE_MS
        start_ms, minutes = period.start_ms, unkept_minutes + FIRST_PIECE_MINUTES
        while start_ms < period.end_ms:
            end_ms = min(start_ms + minutes * MINUTE_MS, period.end_ms)
            is_kept = end_ms > kept_from_ms
            rows = self._rows(group, text, Period(start_ms, end_ms)) if is_kept else []
            asked_minutes = (end_ms - start_ms) // MINUTE_MS
            if len(rows) >= MAX_ROWS:
                if asked_minutes <= 1:
                    msg = (
                        f"{group} has {MAX_ROWS:,} or more rows in one minute, too many for a "
                        "query. Use --read lines, or one --cluster."
                    )
                    raise SourceError(msg)
                minutes = max(1, asked_minutes // 2)
                continue
            yield rows
            start_ms = end_ms
            fitting = int(asked_minutes * _FILLED * MAX_ROWS / max(1, len(rows)))
            minutes = max(1, min(fitting, minutes * _GROWTH, LONGEST_PIECE_MINUTES))
            if advance is not None:
                advance(start_ms - period.start_ms, period.end_ms - period.start_ms)

    def _rows(self, group: str, text: str, period: Period) -> list[Row]:
        query_id = self._start(group, text, period)
        try:
            answer = self._answer(query_id)
        except BaseException:
            self._stop(query_id)
            raise
        with documented("logs:GetQueryResults"):
            return self._rows_of(query_id, answer)

    def _rows_of(self, query_id: str, answer: dict[str, Any]) -> list[Row]:
        self.bytes_scanned += round(answer.get("statistics", {}).get("bytesScanned", 0))
        if answer["status"] != "Complete":
            msg = (
                f"A Logs Insights query ended as {answer['status'][:40]}. "
                "Try again, or use --read lines."
            )
            raise SourceError(msg)
        rows = answer.get("results", [])
        while answer.get("nextToken"):
            answer = self._results(query_id, nextToken=answer["nextToken"])
            rows += answer.get("results", [])
        return [
            {str(one["field"]): str(one["value"]) for one in row if "value" in one} for row in rows
        ]

    def _kept_from_ms(self, group: str) -> int:
        """Since when *group* has lines: a query that ends before is refused. 0 if nobody says."""
        try:
            with documented("logs:DescribeLogGroups"):
                answer = self._logs.describe_log_groups(logGroupNamePrefix=group)
                for described in answer.get("logGroups", []):
                    if described.get("logGroupName") == group:
                        days = described.get("retentionInDays")
                        oldest_ms = periods.now_ms() - days * _DAY_MS if days else 0
                        return max(oldest_ms, int(described.get("creationTime", 0)))
        except SourceError:
            return 0  # whoever may not ask can have it said by StartQuery
        return 0

    def _start(self, group: str, text: str, period: Period) -> str:
        request = {
            "logGroupName": group,
            "queryString": text,
            "startTime": period.start_ms // 1000,
            "endTime": period.end_ms // 1000 - 1,  # theirs is the last second that is read
            "limit": MAX_ROWS,
        }
        waited_s = 0.0
        while True:
            try:
                with documented(f"logs:StartQuery on {group}"):
                    return str(self._logs.start_query(**request)["queryId"])
            except SourceError as error:
                if error_code(error.__cause__) != _BUSY or waited_s >= _PATIENCE_S:
                    raise
            # Others' queries use up what the account may run at once.
            self._sleep(_BUSY_WAIT_S)
            waited_s += _BUSY_WAIT_S

    def _answer(self, query_id: str) -> dict[str, Any]:
        waited_s, polls = 0.0, 0
        while True:
            answer = self._results(query_id)
            with documented("logs:GetQueryResults"):
                if answer["status"] not in _RUNNING:
                    return answer
            if waited_s >= _PATIENCE_S:
                msg = (
                    f"A Logs Insights query did not complete within {_PATIENCE_S:.0f} s. "
                    "Use a shorter --since and --until, or --read lines."
                )
                raise SourceError(msg)
            pause_s = _POLLS_S[min(polls, len(_POLLS_S) - 1)]
            self._sleep(pause_s)
            waited_s, polls = waited_s + pause_s, polls + 1

    def _results(self, query_id: str, **page: str) -> dict[str, Any]:
        with documented("logs:GetQueryResults"):
            answer: dict[str, Any] = self._logs.get_query_results(queryId=query_id, **page)
            return answer

    def _stop(self, query_id: str) -> None:
        """Nobody waits for it any more; that it cannot be stopped changes nothing."""
        with contextlib.suppress(SourceError), documented("logs:StopQuery"):
            self._logs.stop_query(queryId=query_id)


def usd_of(bytes_scanned: int) -> float:
    """List price of a query that scanned so much."""
    return bytes_scanned / 1e9 * USD_PER_GB_SCANNED


def restricted(text: str, cluster: str) -> str:
    """
    *text* with a condition before it: an index then spares other clusters' lines.

    A name that would have to be escaped is left to whoever counts.
    """
    if not cluster or not _PLAIN_NAME.fullmatch(cluster):
        return text
    return f'filter ClusterName = "{cluster}"\n| {text}'
