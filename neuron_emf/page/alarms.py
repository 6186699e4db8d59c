"""
The stack's alarms, by DescribeAlarms and DescribeAlarmContributors, and explain's messages.

An alarm on a query is in ALARM for some clusters and not for others: CloudWatch lists only the
clusters in ALARM, as contributors. A message of explain is a line of Kind `message`: the last day
is read once, and each minute the newest again. It stays the newest one about an alarm until the
alarm is over, and may cover the alarms on several metrics.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarmContributors.html
"""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING, Any, Final

import msgspec

from neuron_emf.account import documented, rehearsal_document
from neuron_emf.reading import LogGroup
from neuron_emf.reading.now_reader import ROLLUP_AHEAD_MS, start_of_reading
from neuron_wire import CLUSTER_NAMESPACE
from neuron_wire.catalogue import ALARMS
from neuron_wire.names import CLUSTER_DIMENSION, MESSAGE_KIND, MINUTE_MS
from neuron_words.now_words import NOW, TODAY, URGENCIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from neuron_emf.account import Account
    from neuron_wire.line_members import Entries, JsonObject

IN_ALARM: Final = "ALARM"
URGENCY: Final = {
    "NoMinuteClosed": NOW,
    "LinesNotStored": NOW,
    **{name: alarm.urgency for name, alarm in ALARMS.items()},
}
"""Urgency of an alarm without a message, by logical ID; every other alarm is for today."""

REHEARSAL_ALARMS: Final = "rehearsal-alarms.json"
"""The rehearsal's document with the states from its evaluator."""

ALARM_PERMISSIONS: Final = ("cloudwatch:DescribeAlarms", "cloudwatch:DescribeAlarmContributors")
_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SHORT: Final = frozenset({"Ecc", "Emf"})
_CONTRIBUTORS_MARK: Final = "GROUP BY"
_METRIC: Final = re.compile(r'"MetricName": "(\w+)"|SELECT \w+\((\w+)\)')
MESSAGES_MINUTES: Final = 1440
_MESSAGES: Final = '"AlarmName"'


def alarm_status(logical_id: str, properties: JsonObject, name: str, now: JsonObject) -> JsonObject:
    """
    Return the alarm *name*, *logical_id* in the template, as `schemas/now.json` describes it.

    Its *properties* have the form of CloudFormation or DescribeAlarms. *now* has its `state`, the
    `reason`, maybe `since_ms`, and its `contributors`: the clusters or functions for which an alarm
    on a query is in ALARM.
    """
    subject = logical_id.removesuffix("Alarm")
    first, *rest = _WORD.split(subject)
    metrics = _METRIC.findall(json.dumps(properties, default=str))
    description, _, runbook = properties.get("AlarmDescription", "").partition(" Runbook:")
    return {
        "name": name,
        "title": " ".join([first.upper() if first in _SHORT else first, *map(str.lower, rest)]),
        "description": description.strip(),
        "runbook": runbook.strip(),
        "is_pipeline": not is_about_clusters(properties),
        "metrics": list(dict.fromkeys(plain or queried for plain, queried in metrics)),
        "since_ms": None,
        "urgency": URGENCY.get(subject, TODAY),
        **now,
    }


def urgency_rank(row: JsonObject) -> int:
    """Return the rank of an alarm, or of its contributor: the most urgent first."""
    return URGENCIES.index(row["urgency"])


def by_urgency(alarms: Iterable[JsonObject], messages: Entries) -> list[JsonObject]:
    """
    Return *alarms*, the most urgent first, with the message and urgency of each contributor.

    The message is the newest of *messages* about the contributor. Without a message the urgency
    is the alarm's own.
    """
    rows = []
    for alarm in alarms:
        contributors = [
            {**row, **_message_of(alarm, row["name"], messages)} for row in alarm["contributors"]
        ]
        contributors.sort(key=urgency_rank)
        newest = _message_of(alarm, None, messages)
        first = contributors[0]["urgency"] if contributors else newest["urgency"]
        rows.append({**alarm, **newest, "urgency": first, "contributors": contributors})
    return sorted(rows, key=urgency_rank)


def _message_of(alarm: JsonObject, name: str | None, messages: Entries) -> JsonObject:
    for message in messages:
        is_about = message["alarm"] == alarm["name"] or {*message["metrics"]} & {*alarm["metrics"]}
        if message["state"] == IN_ALARM and is_about and name in (None, message["cluster"]):
            return {"message": message, "urgency": message["urgency"] or alarm["urgency"]}
    return {"message": None, "urgency": alarm["urgency"]}


class AccountAlarms:
    """The alarms of a stack in an account."""

    def __init__(self, account: Account) -> None:
        """
        Find the alarms whose names CloudFormation made from the stack's name.

        Raises:
            SettingsError: If no client can be made.
        """
        self._cloudwatch = account.client("cloudwatch")
        self._prefix = f"{account.stack_name}-"
        # Another stack's name may begin with ours: neuron-emf-test-IdleCoresAlarm-0A1B2C.
        self._name = re.compile(rf"{re.escape(self._prefix)}([0-9A-Za-z]+)-[0-9A-Za-z]+")

    def read_alarms(self) -> list[JsonObject]:
        """
        Return all alarms of the stack as they are now.

        Raises:
            SourceError: If CloudWatch refuses or does not answer.
        """
        pages = self._cloudwatch.get_paginator("describe_alarms")
        with documented(ALARM_PERMISSIONS[0]):
            return [
                self._status(match[1], alarm)
                for page in pages.paginate(AlarmNamePrefix=self._prefix, AlarmTypes=["MetricAlarm"])
                for alarm in page.get("MetricAlarms", ())
                if (match := self._name.fullmatch(alarm["AlarmName"]))
            ]

    def _status(self, logical_id: str, alarm: JsonObject) -> JsonObject:
        is_grouped = _CONTRIBUTORS_MARK in json.dumps(alarm.get("Metrics", []), default=str)
        now = {"state": alarm["StateValue"], **_since(alarm), "contributors": []}
        if is_grouped and alarm["StateValue"] == IN_ALARM:
            with documented(ALARM_PERMISSIONS[1]):
                now["contributors"] = list(self._contributors(alarm["AlarmName"]))
        return alarm_status(logical_id, alarm, alarm["AlarmName"], now)

    def _contributors(self, name: str) -> Iterator[JsonObject]:
        request: dict[str, Any] = {"AlarmName": name}
        while True:
            answer = self._cloudwatch.describe_alarm_contributors(**request)
            for contributor in answer["AlarmContributors"]:
                attributes: dict[str, str] = contributor["ContributorAttributes"]
                name = attributes.get(CLUSTER_DIMENSION) or ", ".join(attributes.values())
                yield {"name": name, **_since(contributor)}
            if not answer.get("NextToken"):
                return
            request["NextToken"] = answer["NextToken"]


def alarms_reader(account: Account) -> Callable[[], list[JsonObject]]:
    """
    Return a reader of the alarms of *account*.

    Raises:
        SettingsError: If no client can be made.
    """
    return read_rehearsal_alarms if account.is_rehearsal else AccountAlarms(account).read_alarms


def read_rehearsal_alarms() -> list[JsonObject]:
    """
    Return the rehearsal's alarms by its own evaluator: the emulator's states are wrong.

    Raises:
        SourceError: If no rehearsal runs.
    """
    with documented("the rehearsal's alarms"):
        return list(rehearsal_document(REHEARSAL_ALARMS)["alarms"])


def is_about_clusters(properties: JsonObject) -> bool:
    """Return True if an alarm, in CloudFormation's or DescribeAlarms' form, watches clusters."""
    queries = json.dumps(properties.get("Metrics", []), default=str)
    return properties.get("Namespace") == CLUSTER_NAMESPACE or CLUSTER_NAMESPACE in queries


def _since(row: JsonObject) -> JsonObject:
    """Return CloudWatch's reason for the state of an alarm or contributor, and its start."""
    since = row.get("StateTransitionedTimestamp")
    since_ms = None if since is None else round(since.timestamp() * 1000)
    return {"reason": row.get("StateReason", ""), "since_ms": since_ms}


def messages_group(account: Account) -> str:
    """Return the log group of the stack's function explain."""
    return f"/neuron-emf/{account.stack_name}/explain"


class MessageLines:
    """The messages of one stack; any thread may ask."""

    def __init__(self, account: Account, logs: Any, now_ms: Callable[[], int]) -> None:  # noqa: ANN401  # a boto3 client
        """Read nothing yet; *logs* is a client of *account*."""
        self._group = LogGroup(account, messages_group(account), logs)
        self._now_ms = now_ms
        self._lock = threading.Lock()
        self._read_ms = 0  # never
        self._messages: dict[tuple[object, ...], JsonObject] = {}

    def read_newest_first(self) -> list[JsonObject]:
        """
        Return all messages of the last day, the newest first.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        with self._lock:
            now_ms = self._now_ms()
            start_ms = start_of_reading(now_ms, self._read_ms, MESSAGES_MINUTES)
            if start_ms is not None:
                for text in self._group.read_lines(start_ms, now_ms + ROLLUP_AHEAD_MS, _MESSAGES):
                    self._take(text)
                self._read_ms = now_ms
                oldest_ms = now_ms - MESSAGES_MINUTES * MINUTE_MS
                newest = sorted(self._messages.items(), key=lambda pair: -pair[1]["at_ms"])
                self._messages = {
                    key: message for key, message in newest if message["at_ms"] >= oldest_ms
                }
            return [*self._messages.values()]

    def _take(self, text: str) -> None:
        try:
            line = msgspec.json.decode(text, type=_MessageLine)
        except msgspec.MsgspecError:
            return
        if line.kind == MESSAGE_KIND:
            key = line.alarm_name, line.cluster_name, line.state, line.timestamp
            self._messages[key] = {
                "at_ms": line.timestamp,
                "alarm": line.alarm_name,
                "cluster": line.cluster_name,
                "metrics": line.metrics,
                "state": line.state,
                "urgency": line.urgency if line.urgency in URGENCIES else None,
                "subject": line.subject,
                "text": line.text,
            }


class _MessageLine(msgspec.Struct, rename="pascal"):
    """The members of a line of Kind `message`; any other member is ignored."""

    kind: str
    timestamp: int
    alarm_name: str
    state: str
    subject: str
    text: str
    cluster_name: str | None = None
    metrics: list[str] = []
    urgency: str | None = None
