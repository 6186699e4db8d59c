"""
The stack's saved queries, run by Logs Insights when a user presses a button next to a price.

The price covers all lines of the time: one minute of each log group is read, which costs nothing,
and multiplied by the number of minutes. Data that an index skips is not billed, so a query may cost
less. https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_StartQuery.html
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from neuron_emf.account import documented
from neuron_emf.reading import LogGroup
from neuron_emitter.errors import SettingsError, SourceError
from neuron_wire.names import MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from neuron_emf.account import Account
    from neuron_wire.line_members import JsonObject

ACTIONS_ON_GROUPS: Final = ("logs:StartQuery",)
OTHER_ACTIONS: Final = ("logs:DescribeQueryDefinitions", "logs:GetQueryResults")
MAX_ROWS_OF_QUERY: Final = 1_000
USD_PER_GB_SCANNED: Final = 0.005  # us-east-1, list price of November 2026
SAMPLED_BEFORE_MS: Final = 10 * MINUTE_MS
"""The counted minute is so far in the past that its lines have arrived."""

_QUERY_TIMEOUT_S: Final = 60.0
_QUERY_POLL_S: Final = 0.5
_UNFINISHED: Final = frozenset({"Scheduled", "Running", "Unknown"})


class PaidQueries:
    """The saved queries of one stack that need only a time."""

    def __init__(
        self,
        account: Account,
        logs: Any,  # noqa: ANN401  # a boto3 client
        now_ms: Callable[[], int],
    ) -> None:
        """Read nothing yet; *logs* is a client of *account*."""
        self._account = account
        self._logs = logs
        self._now_ms = now_ms

    def price_queries(self, minutes: int) -> list[JsonObject]:
        """
        Return each query by name, with the highest cost of a run over *minutes*, in USD.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        definitions = self._definitions()
        groups = {group for group, _ in definitions.values()}
        scanned = {group: self._bytes_of_a_minute(group) * minutes for group in sorted(groups)}
        return [_priced(name, scanned[group]) for name, (group, _) in sorted(definitions.items())]

    def run_query(self, name: str, minutes: int) -> JsonObject:
        """
        Return the rows of the query *name* over the last *minutes*; CloudWatch bills it.

        Raises:
            SettingsError: If there is no such query.
            SourceError: If CloudWatch Logs refuses, does not answer, or is too slow.
        """
        group, text = self._definitions().get(name, ("", ""))
        if not group:
            msg = "The stack has no saved query of that name. Choose another one."
            raise SettingsError(msg)
        now_s = self._now_ms() // 1000
        with documented(ACTIONS_ON_GROUPS[0]):
            query_id = self._logs.start_query(
                logGroupName=group,
                queryString=text,
                startTime=now_s - minutes * 60,
                endTime=now_s,
                limit=MAX_ROWS_OF_QUERY,
            )["queryId"]
        answer = self._answer(query_id)
        scanned = round(answer.get("statistics", {}).get("bytesScanned", 0))
        rows = [
            {str(cell["field"]): str(cell.get("value", "")) for cell in row}
            for row in answer.get("results", [])
        ]
        columns = list(dict.fromkeys(name for row in rows for name in row if name != "@ptr"))
        cells = [[row.get(column, "") for column in columns] for row in rows]
        return {**_priced(name, scanned), "columns": columns, "rows": cells}

    def _answer(self, query_id: str) -> JsonObject:
        waited_s = 0.0
        while True:
            with documented(OTHER_ACTIONS[1]):
                answer: JsonObject = self._logs.get_query_results(queryId=query_id)
                status = answer["status"]
            if status == "Complete":
                return answer
            if status not in _UNFINISHED or waited_s >= _QUERY_TIMEOUT_S:
                state = f"The query is {str(status)[:40]} after {waited_s:.0f} s"
                msg = f"{state}. Choose a shorter time and run it again."
                raise SourceError(msg)
            time.sleep(_QUERY_POLL_S)
            waited_s += _QUERY_POLL_S

    def _definitions(self) -> dict[str, tuple[str, str]]:
        """
        Return log group and text by name, without the stack's name.

        Queries that need a value or several log groups are omitted.
        """
        prefix = f"{self._account.stack_name}/"
        request = {"queryDefinitionNamePrefix": prefix}
        definitions: dict[str, tuple[str, str]] = {}
        while True:
            with documented(OTHER_ACTIONS[0]):
                answer = self._logs.describe_query_definitions(**request)
                for definition in answer.get("queryDefinitions", []):
                    groups = definition.get("logGroupNames", [])
                    if len(groups) == 1 and not definition.get("parameters"):
                        definitions[definition["name"].removeprefix(prefix)] = (
                            groups[0],
                            definition["queryString"],
                        )
            if not answer.get("nextToken"):
                return definitions
            request["nextToken"] = answer["nextToken"]

    def _bytes_of_a_minute(self, name: str) -> int:
        end_ms = (self._now_ms() - SAMPLED_BEFORE_MS) // MINUTE_MS * MINUTE_MS
        group = LogGroup(self._account, name, self._logs)
        for _ in group.read_lines(end_ms - MINUTE_MS, end_ms):
            pass
        return group.bytes_read


def _priced(name: str, scanned: int) -> JsonObject:
    return {"name": name, "bytes": scanned, "usd": scanned / 1e9 * USD_PER_GB_SCANNED}
