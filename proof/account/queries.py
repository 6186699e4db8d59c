"""
StartQuery, GetQueryResults and StopQuery: queries that `local.insights` runs on what was put.

A query is first Scheduled, then Running with a part of its rows, then Complete,
a step for each time that somebody asks.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from local.insights.engine import applied, told
from local.insights.fields import row_of
from local.insights.tree import QueryError
from proof.account.log_groups import DAY_MS
from proof.account.model import check
from proof.account.query_text import (
    MALFORMED,
    before_stats,
    columns_of,
    commands_of,
    computed_by,
    moment,
    moments_of,
    text_of,
)
from proof.logs.forms import INVALID, ServiceError
from proof.logs.rules import NOT_FOUND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from local.insights.tree import Command
    from proof.account.log_groups import StoredGroups
    from proof.account.pages import Tokens

LIMIT = "LimitExceededException"
MAX_ROWS = 10_000
MAX_AT_ONCE = 100
ENDED = ("Complete", "Failed", "Cancelled", "Timeout")
TOO_EARLY = (
    "Query's end date and time is either before the log groups creation time or exceeds the log"
    " groups log retention settings"
)

Rows = list[list[dict[str, str]]]


@dataclass
class RunningQuery:
    """
    One that was started.

    Attributes:
        steps: The states that it is yet to have, the first one first.

        scanned: Events in the time range, and their bytes.
    """

    rows: Rows
    steps: list[str]
    scanned: tuple[int, int]
    matched: int
    status: str = "Scheduled"


@dataclass
class Queries:
    """
    The queries of one account.

    Attributes:
        steps: The states of every query that is started from here on.

        next_ends: How the next queries end, one each, where that is not Complete.

        max_rows: As many rows are kept where neither query nor request has a limit.

        page_rows: As many are in one answer.

        decimals: Of a number that the query computed; no page says how many there are.

        started: The requests, in order.
    """

    groups: StoredGroups
    tokens: Tokens
    steps: tuple[str, ...] = ("Scheduled", "Running")
    next_ends: list[str] = field(default_factory=list)
    max_rows: int = MAX_ROWS
    page_rows: int = MAX_ROWS
    decimals: int = 4
    started: list[dict[str, Any]] = field(default_factory=list)
    answers: dict[str, Any] = field(init=False)
    _queries: dict[str, RunningQuery] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.answers = {
            "GetQueryResults": self.get_query_results,
            "StartQuery": self.start_query,
            "StopQuery": self.stop_query,
        }

    def start_query(self, document: dict[str, Any]) -> dict[str, Any]:
        """Run it on what is there now; the answer comes step by step."""
        times = "startTime", "endTime"
        check("StartQuery", document, "logGroupName", "queryString", *times, "limit")
        commands = commands_of(document["queryString"])
        group = self.groups.named_in(document)
        self._check_times(document, group)
        if sum(one.status not in ENDED for one in self._queries.values()) >= MAX_AT_ONCE:
            words = f"You have reached the limit of {MAX_AT_ONCE} concurrent queries."
            raise ServiceError(LIMIT, words)
        self.started.append(document)
        query_id = str(uuid.uuid4())
        end = self.next_ends.pop(0) if self.next_ends else "Complete"
        query = self._run(document, commands, group)
        query.steps = [*self.steps, end if query.status == "Scheduled" else query.status]
        query.status = "Scheduled"
        self._queries[query_id] = query
        return {"queryId": query_id}

    def get_query_results(self, document: dict[str, Any]) -> dict[str, Any]:
        """How far it is, and the rows of it that there are."""
        check("GetQueryResults", document, "queryId")
        query = self._query(document)
        if query.steps and "nextToken" not in document:
            query.status = query.steps.pop(0)
        found = {"Complete": query.rows, "Running": query.rows[: len(query.rows) // 2]}
        rows = found.get(query.status, [])
        page, more = self.tokens.page("GetQueryResults", document, rows, self.page_rows)
        records, size_bytes = query.scanned
        is_done = query.status == "Complete"
        statistics = {
            "recordsMatched": float(query.matched if is_done else 0),
            "recordsScanned": float(records if is_done else 0),
            "bytesScanned": float(size_bytes if is_done else 0),
            "estimatedRecordsSkipped": 0.0,
            "estimatedBytesSkipped": 0.0,
            "logGroupsScanned": 1.0,
        }
        return {
            "queryLanguage": "CWLI",
            "status": query.status,
            "results": page,
            "statistics": statistics,
            **(more if is_done else {}),
        }

    def stop_query(self, document: dict[str, Any]) -> dict[str, Any]:
        """End it where it is."""
        check("StopQuery", document, "queryId")
        query = self._query(document)
        if query.status in ENDED:
            raise ServiceError(INVALID, "The specified query is not running.")
        query.status, query.steps = "Cancelled", []
        return {"success": True}

    def _query(self, document: dict[str, Any]) -> RunningQuery:
        try:
            return self._queries[document["queryId"]]
        except KeyError:
            raise ServiceError(NOT_FOUND, "The specified query does not exist.") from None

    def _check_times(self, document: dict[str, Any], group: str) -> None:
        start_s, end_s = document["startTime"], document["endTime"]
        if end_s < start_s:
            raise ServiceError(INVALID, "startTime must not be after endTime.")
        now_ms = round(self.groups.rules.clock() * 1000)
        days = self.groups.of(group).retention_days
        kept_from_ms = 0 if days is None else now_ms - days * DAY_MS
        if end_s * 1000 < max(kept_from_ms, self.groups.made_ms):
            raise ServiceError(MALFORMED, TOO_EARLY)

    def _run(
        self, document: dict[str, Any], commands: Sequence[Command], group: str
    ) -> RunningQuery:
        start_ms, end_ms = document["startTime"] * 1000, document["endTime"] * 1000
        events = sorted(
            (
                found
                for found in self.groups.events(group)
                if start_ms <= found[1].timestamp_ms <= end_ms
            ),
            reverse=True,  # the newest first, where nobody sorts
        )
        rows = [
            row_of(
                one.timestamp_ms,
                one.message,
                **{
                    "@logStream": one.stream,
                    "@ingestionTime": one.ingested_ms,
                    "@ptr": f"{number:040d}",
                },
            )
            for (_, _, number), one in events
        ]
        scanned = len(rows), sum(len(one.message.encode()) for _, one in events)
        before = [*before_stats(commands)]
        limit = document.get("limit", self.max_rows)
        try:
            matched = applied(before, rows, {})
            kept = applied(commands[len(before) :], matched, {})[:limit]
        except QueryError:
            return RunningQuery([], [], scanned, 0, "Failed")
        found = told(kept, columns_of(commands))
        times, computed = moments_of(commands), computed_by(commands)
        written = [
            [
                {"field": name, "value": moment(one) if name in times else one}
                for name, one in row.items()
            ]
            for row in found
        ]
        for row in written:
            for one in row:
                decimals = self.decimals if one["field"] in computed else None
                one["value"] = text_of(one["value"], decimals)
        return RunningQuery(written, [], scanned, len(matched))
