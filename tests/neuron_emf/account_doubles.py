"""
The account as readers of saved queries, of alarms and of the ledger see it.

Of queries it plays filters on Kind and ClusterName, then one `stats` of `latest`.
What another query would answer, acceptance asks AWS.
"""

from __future__ import annotations

import io
import json
import re
import uuid
from typing import TYPE_CHECKING, Any, Final

from proof.account.account import DAY_MS, MAX_DESCRIBED, MAX_EVENTS, AccountDouble, page
from proof.logs.rules import NOT_PLAYED, ServiceError
from proof.logs.wire import JsonWire

if TYPE_CHECKING:
    from collections.abc import Mapping

# The protocol of CloudWatch is JSON 1.0, which the SDK takes by default.
ALARM_WIRE = ("monitoring", "application/x-amz-json-1.0", "GraniteServiceVersion20100801.")
MALFORMED = "MalformedQueryException"
OWN_QUERY = "rollups-by-minute"
"""Somebody saved it in the stack's folder; the stack's own are not played."""

ROLLUPS_QUERY = """filter Kind = "rollup"
| stats latest(Publication) as Number, latest(IdleCost) as Usd by ClusterName, Minute, RollupId"""

TOO_EARLY = (
    "Query's end date and time is either before the log groups creation time or exceeds the log"
    " groups log retention settings"
)
FILTER = re.compile(r'filter (Kind|ClusterName) = "([^"\\]*)"')
STATS = re.compile(r"stats ((?:latest\(@?\w+\) as \w+(?:,\s*)?)+)\s+by (\w+(?:, ?\w+)*)")


class QueriedAccount(AccountDouble):
    """
    An account with the stack's saved queries.

    Attributes:
        next_ends: How the next queries end, one each, where that is not Complete.

        page_rows: As many rows of a query are in one answer.

        started_queries: The requests, in order.

        saved: Saved queries, as AWS describes them.
    """

    def __init__(self, *given):
        super().__init__(*given)
        self.next_ends = []
        self.page_rows = MAX_EVENTS
        self.started_queries = []
        self.saved = [
            _saved(properties)
            for _, properties in self.template.resources("AWS::Logs::QueryDefinition")
        ]
        own = {"Name": f"{self.stack_name}/{OWN_QUERY}", "LogGroupNames": [self.rollups_group]}
        self.saved.append(_saved({**own, "QueryString": ROLLUPS_QUERY}))
        self._queries = {}
        self.rules.operations |= {
            "DescribeQueryDefinitions": self._describe_query_definitions,
            "GetQueryResults": self._get_query_results,
            "StartQuery": self._start_query,
            "StopQuery": lambda _document: {"success": True},
        }

    def _describe_query_definitions(self, document):
        prefix = document.get("queryDefinitionNamePrefix", "")
        return {
            "queryDefinitions": [
                definition for definition in self.saved if definition["name"].startswith(prefix)
            ]
        }

    def _start_query(self, document):
        """Run it on what is there now; the answer comes step by step."""
        filters, columns = _played(document["queryString"])
        group = self.group_in(document)
        start_ms, end_ms = document["startTime"] * 1000, document["endTime"] * 1000
        kept_from_ms = round(self.rules.clock() * 1000) - self.days[group] * DAY_MS
        if end_ms < max(kept_from_ms, self.made_ms):
            raise ServiceError(MALFORMED, TOO_EARLY)
        self.started_queries.append(document)
        scanned = [
            event.message
            for event in self.events(group)
            if start_ms <= event.timestamp_ms <= end_ms
        ]
        rows = {}
        for message in scanned:
            line = json.loads(message) if message.startswith("{") else {}
            members = {name: _text(value) for name, value in line.items()} | {"@message": message}
            if any(members.get(name) != value for name, value in filters.items()):
                continue
            identity = tuple(members.get(name) for name, called in columns.items() if not called)
            row = {called or name: members.get(name) for name, called in columns.items()}
            known = {name: value for name, value in row.items() if value is not None}
            rows.setdefault(identity, {}).update(known)
        query_id = str(uuid.uuid4())
        states = ["Scheduled", "Running", self.next_ends.pop(0) if self.next_ends else "Complete"]
        found = [
            [{"field": name, "value": value} for name, value in row.items()]
            for row in rows.values()
        ]
        statistics = {"bytesScanned": float(sum(len(message.encode()) for message in scanned))}
        self._queries[query_id] = states, found[: document["limit"]], statistics
        return {"queryId": query_id}

    def _get_query_results(self, document):
        """How far it is, a step for each time that somebody asks, and the rows that there are."""
        states, rows, statistics = self._queries[document["queryId"]]
        state = states.pop(0) if len(states) > 1 else states[0]
        if state != "Complete":
            part = rows[: len(rows) // 2] if state == "Running" else []
            return {"status": state, "results": part, "statistics": {"bytesScanned": 0.0}}
        answer = page(document, "results", rows, self.page_rows)
        return {"status": state, "statistics": statistics, **answer}


class WatchedAccount(QueriedAccount):
    """
    An account with the stack's alarms, too.

    Attributes:
        alarms: As AWS describes them, by logical id; all OK at first.

        alarms_page: Most of them in one answer.

        alarms_made_s: When they changed their state.
    """

    def __init__(self, *given):
        super().__init__(*given)
        self.service.wires.append(JsonWire(*ALARM_WIRE))
        self.alarms_page = MAX_DESCRIBED
        self.alarms_made_s = self.rules.clock()
        self.alarms = {}
        self._contributors = {}
        for logical_id, properties in self.template.resources("AWS::CloudWatch::Alarm"):
            self.add_alarm(self.stack_name, logical_id, properties)
        self.rules.operations |= {
            "DescribeAlarmContributors": self._describe_alarm_contributors,
            "DescribeAlarms": self._describe_alarms,
        }

    def add_alarm(self, stack, logical_id, properties):
        """An alarm of the template, with its functions resolved."""
        kept = ("AlarmDescription", "Metrics", "Namespace", "MetricName", "Dimensions", "Threshold")
        self.alarms[logical_id] = {
            "AlarmName": f"{stack}-{logical_id}-0A1B2C3D4E5F",
            "StateValue": "OK",
            "StateReason": "Threshold Crossed: no datapoint was greater than the threshold.",
            "StateTransitionedTimestamp": self.alarms_made_s,
            **{name: properties[name] for name in kept if name in properties},
        }

    def fire_alarm(self, logical_id, *clusters, reason="Threshold"):
        """Have an alarm be in ALARM, for *clusters* where it is one on a query."""
        self.alarms[logical_id] |= {"StateValue": "ALARM", "StateReason": reason}
        self._contributors[self.alarms[logical_id]["AlarmName"]] = [
            {
                "ContributorId": f"{number:016x}",
                "ContributorAttributes": {"ClusterName": cluster},
                "StateReason": reason,
                "StateTransitionedTimestamp": self.alarms_made_s,
            }
            for number, cluster in enumerate(clusters)
        ]

    def _describe_alarms(self, document):
        prefix = document.get("AlarmNamePrefix", "")
        found = [alarm for alarm in self.alarms.values() if alarm["AlarmName"].startswith(prefix)]
        found.sort(key=lambda alarm: alarm["AlarmName"])
        return page(document, "MetricAlarms", found, self.alarms_page, "NextToken")

    def _describe_alarm_contributors(self, document):
        found = self._contributors.get(document["AlarmName"], [])
        return page(document, "AlarmContributors", found, self.alarms_page, "NextToken")


def _saved(properties):
    found = {
        "name": properties["Name"],
        "queryString": properties["QueryString"],
        "logGroupNames": properties.get("LogGroupNames", []),
    }
    if "Parameters" in properties:
        found["parameters"] = [
            {name[0].lower() + name[1:]: value for name, value in parameter.items()}
            for parameter in properties["Parameters"]
        ]
    return found


def _played(text):
    """What a query filters by; and members by what it calls them, empty for its groups."""
    commands = [word.strip() for word in re.sub(r"(?m)^#.*$", "", text).split("|")]
    filters = [FILTER.fullmatch(command) for command in commands[:-1]]
    stats = STATS.fullmatch(commands[-1])
    if stats is None or None in filters:
        raise ServiceError(NOT_PLAYED, f"this query is not played here: {text[:200]}", 501)
    groups = dict.fromkeys(stats[2].replace(" ", "").split(","), "")
    picks = dict(re.findall(r"latest\((@?\w+)\) as (\w+)", stats[1]))
    return {match[1]: match[2] for match in filters}, {**groups, **picks}


def _text(value):
    return value if isinstance(value, str) else json.dumps(value)


_PAGE: Final = 1_000  # the most keys that ListObjectsV2 gives at once


class LedgerObjectsDouble:
    """
    Objects by key.

    Attributes:
        calls: How many of each were made.
    """

    def __init__(self, objects: Mapping[str, bytes], page: int = _PAGE) -> None:
        """Answer about *objects*, *page* keys at a time."""
        self._objects = objects
        self._page = page
        self.calls = {"list": 0, "get": 0}

    def list_objects_v2(
        self,
        Prefix: str,  # noqa: N803  # as boto3 has it
        ContinuationToken: str = "0",  # noqa: N803
        **_: object,
    ) -> dict[str, Any]:
        """A page of keys."""
        self.calls["list"] += 1
        keys = sorted(key for key in self._objects if key.startswith(Prefix))
        start = int(ContinuationToken)
        end = start + self._page
        answer: dict[str, Any] = {"Contents": [{"Key": key} for key in keys[start:end]]}
        if end < len(keys):
            return {**answer, "IsTruncated": True, "NextContinuationToken": str(end)}
        return {**answer, "IsTruncated": False}

    def get_object(self, Key: str, **_: object) -> dict[str, Any]:  # noqa: N803  # as boto3 has it
        """One object."""
        self.calls["get"] += 1
        return {"Body": io.BytesIO(self._objects[Key])}
