"""
What readers of an account are answered: log groups, events, saved queries, alarms.

A page may be empty although more follows, which is where readers go wrong: the first page of
FilterLogEvents is empty here, unless a test says otherwise, and one more follows the last event.
Of queries it plays what `report` asks: filters on Kind and ClusterName, then one `stats`
of `latest`. What another query would answer, acceptance asks AWS.
"""

from __future__ import annotations

import json
import re
import uuid
from typing import TYPE_CHECKING, Any

from proof.logs.forms import INVALID, NOT_PLAYED, ServiceError
from proof.logs.rules import NOT_FOUND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from proof.logs.rules import Applied, LogRules

    Document = dict[str, Any]

DAY_MS = 86_400_000
MAX_EVENTS = 10_000
MAX_BYTES = 1_048_576
MAX_DESCRIBED = 50
TOKENS = {"nextToken", "NextToken"}
MALFORMED = "MalformedQueryException"
TOO_EARLY = (
    "Query's end date and time is either before the log groups creation time or exceeds the log"
    " groups log retention settings"
)
_TERM = re.compile(r'\s*([?-]?)(?:"([^"\\]*)"|(\w+))')
_FILTER = re.compile(r'filter (Kind|ClusterName) = "([^"\\]*)"')
_STATS = re.compile(r"stats ((?:latest\(@?\w+\) as \w+(?:,\s*)?)+)\s+by (\w+(?:, ?\w+)*)")


class AccountAnswers:
    """
    What is in an account, and what is answered of it.

    Attributes:
        rules: What was put; its groups are those of the account.

        arn: What the name of a log group stands behind, `arn:aws:logs:REGION:ACCOUNT:log-group:`.

        made_ms: When all log groups were made.

        classes: Of log groups, by name.

        days: That events are kept, by the name of a log group.

        empty_pages: So many pages without an event come before the first with one.

        empty_reads: So many answers of GetLogEvents are empty that could have events.

        lag_ms: So long after it was taken an event is found.

        next_ends: How the next queries end, one each, where that is not Complete.

        page_rows: As many rows of a query are in one answer.

        started_queries: The requests, in order.

        subscriptions: Subscription filters of all groups, as AWS describes them.

        policies: Account policies, as AWS describes them.

        saved: Saved queries, as AWS describes them.

        alarms: As AWS describes them, by logical id; all OK at first.

        alarms_page: Most of them in one answer.

        alarms_made_s: When they changed their state.
    """

    def __init__(self, rules: LogRules, arn: str) -> None:
        self.rules = rules
        self.arn = arn
        self.made_ms = round(rules.clock() * 1000)
        self.classes: dict[str, str] = {}
        self.days: dict[str, int] = {}
        self.empty_pages = self.empty_reads = 1
        self.lag_ms = 0.0
        self.next_ends: list[str] = []
        self.page_rows = MAX_EVENTS
        self.started_queries: list[Document] = []
        self.subscriptions: list[Document] = []
        self.policies: list[Document] = []
        self.saved: list[Document] = []
        self.alarms: dict[str, Document] = {}
        self.alarms_page = MAX_DESCRIBED
        self.alarms_made_s = rules.clock()
        self._contributors: dict[str, list[Document]] = {}
        self._queries: dict[str, tuple[list[str], list[Any], Document]] = {}
        self._places: dict[str, tuple[str, Any]] = {}
        rules.groups.clear()
        rules.operations |= {
            "DescribeAccountPolicies": self._describe_account_policies,
            "DescribeAlarmContributors": self._describe_alarm_contributors,
            "DescribeAlarms": self._describe_alarms,
            "DescribeLogGroups": self._describe_log_groups,
            "DescribeQueryDefinitions": self._describe_query_definitions,
            "DescribeSubscriptionFilters": self._describe_subscription_filters,
            "FilterLogEvents": self._filter_log_events,
            "GetLogEvents": self._get_log_events,
            "GetQueryResults": self._get_query_results,
            "StartQuery": self._start_query,
            "StopQuery": self._stop_query,
        }

    def add_group(self, name: str, log_group_class: str = "STANDARD", days: int = 30) -> None:
        """Make a log group."""
        self.rules.groups.setdefault(name, set())
        self.classes[name], self.days[name] = log_group_class, days

    def remove_group(self, name: str) -> None:
        """Delete a log group with all that is in it."""
        del self.rules.groups[name]
        self.subscriptions[:] = [one for one in self.subscriptions if one["logGroupName"] != name]
        self.rules.applied[:] = [one for one in self.rules.applied if one.group != name]

    def add_alarm(self, stack: str, logical_id: str, properties: Mapping[str, Any]) -> None:
        """An alarm of the template, with its functions resolved."""
        kept = ("AlarmDescription", "Metrics", "Namespace", "MetricName", "Dimensions", "Threshold")
        self.alarms[logical_id] = {
            "AlarmName": f"{stack}-{logical_id}-0A1B2C3D4E5F",
            "StateValue": "OK",
            "StateReason": "Threshold Crossed: no datapoint was greater than the threshold.",
            "StateTransitionedTimestamp": self.alarms_made_s,
            **{name: properties[name] for name in kept if name in properties},
        }

    def fire_alarm(self, logical_id: str, *clusters: str, reason: str = "Threshold") -> None:
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

    # --- requests ---

    def _give(self, document: Document, at: Any) -> str:
        """A token for what comes after the place *at* of the answer to a request."""
        token = uuid.uuid4().hex
        self._places[token] = _asked(document), at
        return token

    def _take(self, document: Document) -> Any:
        """The place that a request's token stands for; None where it has none."""
        token = document.get("nextToken", document.get("NextToken"))
        if token is None:
            return None
        asked, at = self._places.get(token, ("", None))
        if asked != _asked(document):
            raise ServiceError(INVALID, "The specified nextToken is invalid.")
        return at

    def _page(
        self,
        document: Document,
        found: Sequence[Any],
        size: int = MAX_DESCRIBED,
        token: str = "nextToken",
    ) -> tuple[list[Any], dict[str, str]]:
        """At most *size* of what was *found*, from the token on, and the token of the rest."""
        start = self._take(document) or 0
        end = start + size
        more = {token: self._give(document, end)} if end < len(found) else {}
        return list(found[start:end]), more

    def _group_in(self, document: Document, operation: str = "") -> str:
        """The log group that a request is for, of class Standard for an *operation* that reads."""
        name = str(document["logGroupName"])
        if name not in self.rules.groups:
            raise ServiceError(NOT_FOUND, "The specified log group does not exist.")
        if operation and self.classes[name] != "STANDARD":
            words = f"{operation} is supported for log groups of the Standard log class only."
            raise ServiceError(INVALID, words)
        return name

    def _events(self, group: str) -> Iterator[tuple[tuple[int, int, int], Applied]]:
        """Events that can be found now, each after what it is sorted by."""
        now_ms = round(self.rules.clock() * 1000)
        for number, one in enumerate(self.rules.applied):
            is_kept = one.timestamp_ms >= now_ms - self.days[group] * DAY_MS
            if one.group == group and is_kept and one.ingested_ms + self.lag_ms <= now_ms:
                yield (one.timestamp_ms, one.ingested_ms, number), one

    # --- descriptions ---

    def _describe_log_groups(self, document: Document) -> Document:
        prefix = document.get("logGroupNamePrefix", "")
        found = [
            {
                "logGroupName": name,
                "creationTime": self.made_ms,
                "arn": f"{self.arn}{name}:*",
                "deletionProtectionEnabled": False,
                "logGroupClass": self.classes[name],
                "logGroupArn": f"{self.arn}{name}",
                "retentionInDays": self.days[name],
            }
            for name in sorted(self.rules.groups)
            if name.startswith(prefix)
        ]
        page, more = self._page(document, found, document.get("limit", MAX_DESCRIBED))
        return {"logGroups": page, **more}

    def _describe_subscription_filters(self, document: Document) -> Document:
        group = self._group_in(document)
        found = [one for one in self.subscriptions if one["logGroupName"] == group]
        page, more = self._page(document, sorted(found, key=lambda one: str(one["filterName"])))
        return {"subscriptionFilters": page, **more}

    def _describe_account_policies(self, document: Document) -> Document:
        found = [one for one in self.policies if one["policyType"] == document["policyType"]]
        page, more = self._page(document, found)
        return {"accountPolicies": page, **more}

    def _describe_query_definitions(self, document: Document) -> Document:
        prefix = document.get("queryDefinitionNamePrefix", "")
        return {"queryDefinitions": [one for one in self.saved if one["name"].startswith(prefix)]}

    def _describe_alarms(self, document: Document) -> Document:
        prefix = document.get("AlarmNamePrefix", "")
        found = [one for one in self.alarms.values() if one["AlarmName"].startswith(prefix)]
        found.sort(key=lambda one: str(one["AlarmName"]))
        page, more = self._page(document, found, self.alarms_page, "NextToken")
        return {"MetricAlarms": page, "CompositeAlarms": [], **more}

    def _describe_alarm_contributors(self, document: Document) -> Document:
        found = self._contributors.get(document["AlarmName"], [])
        page, more = self._page(document, found, self.alarms_page, "NextToken")
        return {"AlarmContributors": page, **more}

    # --- events ---

    def _filter_log_events(self, document: Document) -> Document:
        group = self._group_in(document, "FilterLogEvents")
        matches = matcher(document.get("filterPattern", ""))
        empty, after = self._take(document) or (self.empty_pages, (0,))
        found = [
            (key, one)
            for key, one in sorted(self._events(group))
            if key > after
            and document.get("startTime", 0) <= one.timestamp_ms
            and one.timestamp_ms <= document.get("endTime", one.timestamp_ms)
            and matches(one.message)
        ]
        if found and empty:
            more = {"nextToken": self._give(document, (empty - 1, after))}
            return {"events": [], "searchedLogStreams": [], **more}
        taken, size = [], 0
        for key, one in found[: document.get("limit", MAX_EVENTS)]:
            size += len(one.message.encode())
            if taken and size > MAX_BYTES:
                break
            taken.append((key, one))
        # Also after the last event: what follows is a page without any.
        more = {"nextToken": self._give(document, (0, taken[-1][0]))} if taken else {}
        events = [
            {"logStreamName": one.stream, **_plain(one), "eventId": f"{key[2]:056d}"}
            for key, one in taken
        ]
        return {"events": events, "searchedLogStreams": [], **more}

    def _get_log_events(self, document: Document) -> Document:
        """The first page of one stream."""
        if not document.get("startFromHead"):
            raise ServiceError(NOT_PLAYED, "only startFromHead is played here", 501)
        group = self._group_in(document, "GetLogEvents")
        if document["logStreamName"] not in self.rules.groups[group]:
            raise ServiceError(NOT_FOUND, "The specified log stream does not exist.")
        found = [
            one
            for _, one in sorted(self._events(group))
            if one.stream == document["logStreamName"]
            and document.get("startTime", 0) <= one.timestamp_ms
        ]
        if found and self.empty_reads:
            self.empty_reads -= 1
            found = []
        return {"events": [_plain(one) for one in found]}

    # --- queries ---

    def _start_query(self, document: Document) -> Document:
        """Run it on what is there now; the answer comes step by step."""
        filters, columns = _played(document["queryString"])
        group = self._group_in(document)
        start_ms, end_ms = document["startTime"] * 1000, document["endTime"] * 1000
        kept_from_ms = round(self.rules.clock() * 1000) - self.days[group] * DAY_MS
        if end_ms < max(kept_from_ms, self.made_ms):
            raise ServiceError(MALFORMED, TOO_EARLY)
        self.started_queries.append(document)
        scanned = [
            one.message
            for _, one in sorted(self._events(group))
            if start_ms <= one.timestamp_ms <= end_ms
        ]
        told: dict[tuple[str | None, ...], dict[str, str]] = {}
        for message in scanned:
            members = _members_of(message)
            if any(members.get(name) != value for name, value in filters.items()):
                continue
            identity = tuple(members.get(name) for name, called in columns.items() if not called)
            row = {called or name: members.get(name) for name, called in columns.items()}
            told.setdefault(identity, {}).update(
                (name, value) for name, value in row.items() if value is not None
            )
        rows = [[{"field": name, "value": one[name]} for name in one] for one in told.values()]
        statistics = {
            "recordsScanned": float(len(scanned)),
            "bytesScanned": float(sum(len(message.encode()) for message in scanned)),
        }
        query_id = str(uuid.uuid4())
        states = ["Scheduled", "Running", self.next_ends.pop(0) if self.next_ends else "Complete"]
        rows = rows[: document.get("limit", MAX_EVENTS)]
        self._queries[query_id] = states, rows, statistics
        return {"queryId": query_id}

    def _get_query_results(self, document: Document) -> Document:
        """How far it is, a step for each time that somebody asks, and the rows that there are."""
        states, rows, statistics = self._queries[document["queryId"]]
        state = states.pop(0) if len(states) > 1 else states[0]
        answer = {"queryLanguage": "CWLI", "status": state}
        if state != "Complete":
            part = rows[: len(rows) // 2] if state == "Running" else []
            return {**answer, "results": part, "statistics": dict.fromkeys(statistics, 0.0)}
        page, more = self._page(document, rows, self.page_rows)
        return {**answer, "results": page, "statistics": statistics, **more}

    def _stop_query(self, document: Document) -> Document:
        self._queries[document["queryId"]][0][:] = ["Cancelled"]
        return {"success": True}


def matcher(pattern: str) -> Callable[[str], bool]:
    """
    Whether a message matches a *pattern* of terms, as recorded (`tests/recorded`).

    It has all plain terms, in any order, and no term with a minus; one of those with a
    question mark is asked for only where every term has one.

    Raises:
        ServiceError: If it cannot be, or is of a sort that is not played here.
    """
    if pattern.lstrip().startswith(("{", "[", "%")):
        raise ServiceError(NOT_PLAYED, f"only terms are played here, found {pattern}", 501)
    terms: dict[str, list[str]] = {"": [], "?": [], "-": []}
    place = 0
    while pattern[place:].strip():
        found = _TERM.match(pattern, place)
        if found is None:
            rest = pattern[place:].split(maxsplit=1)[0]
            raise ServiceError(INVALID, f"Invalid character(s) in term '{rest}'")
        terms[found[1]].append(found[2] or found[3] or "")
        place = found.end()
    optional = [] if terms[""] or terms["-"] else terms["?"]

    def matches(message: str) -> bool:
        has_optional = not optional or any(term in message for term in optional)
        has_all = all(term in message for term in terms[""])
        return has_optional and has_all and not any(term in message for term in terms["-"])

    return matches


def _played(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """What a query filters by; and members by what it calls them, empty for its groups."""
    commands = [one.strip() for one in re.sub(r"(?m)^#.*$", "", text).split("|")]
    filters = [_FILTER.fullmatch(one) for one in commands[:-1]]
    stats = _STATS.fullmatch(commands[-1])
    if stats is None or None in filters:
        raise ServiceError(NOT_PLAYED, f"this query is not played here: {text[:200]}", 501)
    groups = dict.fromkeys(stats[2].replace(" ", "").split(","), "")
    picks = dict(re.findall(r"latest\((@?\w+)\) as (\w+)", stats[1]))
    return {one[1]: one[2] for one in filters if one}, {**groups, **picks}


def _members_of(message: str) -> dict[str, str]:
    """The members of a line as an answer has them; none of what is no JSON object."""
    try:
        found = json.loads(message)
    except ValueError:
        found = {}
    members = found if isinstance(found, dict) else {}
    texts = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in members.items()
    }
    return {**texts, "@message": message}


def _asked(document: Document) -> str:
    """What must be the same from page to page."""
    may_differ = {*TOKENS, "limit"}
    return repr(sorted((name, one) for name, one in document.items() if name not in may_differ))


def _plain(one: Applied) -> Document:
    return {"timestamp": one.timestamp_ms, "message": one.message, "ingestionTime": one.ingested_ms}
