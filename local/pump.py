"""
The EMF extraction pump: log lines in, metrics out, on the embedded AWS only.

On AWS no program calls PutMetricData: CloudWatch itself extracts the metrics of every Embedded
Metric Format line. No emulator does that, so the rehearsal uses this pump. It uses only public
APIs, it has the one call of PutMetricData in this repository, and it refuses to make that call to
anything except a loopback address.

`neuron_wire.extraction` decides which lines are rejected, so the rehearsal and the emitter cannot
disagree about the rules; the extraction follows the specification:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
The limits of a call are those of
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricData.html
"""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from local.embedded_aws.clients import require_loopback
from neuron_wire.extraction import dimension_sets, violations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


_EMF_MARK: Final = '"_aws"'  # every EMF line has this member at its root
_STRAY: Final = frozenset({"dimension_blank", "no_dimensions"})  # extracted, without dimensions


@dataclass(frozen=True, slots=True)
class Datum:
    """
    One metric at one time, in the form of PutMetricData.

    Attributes:
        dimensions: Names with values, in the order of the line.

        counts: The number of times that each value occurred: 31 idle cores are `{0.0: 31}`.

        resolution_s: Storage resolution, 1 or 60.
    """

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...]
    timestamp_ms: int
    unit: str
    counts: dict[float, int]
    resolution_s: int


@dataclass(frozen=True, slots=True)
class Extraction:
    """
    The result for one line.

    Attributes:
        data: The metrics; none for a line that is not an EMF document.

        refused: The names of the rules that it breaks; nothing is extracted then.
    """

    data: tuple[Datum, ...] = ()
    refused: tuple[str, ...] = ()


def extract(message: str, now_ms: int) -> Extraction:
    """Return the metrics of one log line that arrived at *now_ms*."""
    if not message.lstrip().startswith("{") or _EMF_MARK not in message:
        return Extraction()  # an ordinary log line
    found = dict.fromkeys(violation.rule for violation in violations(message, now_ms=now_ms))
    rules = tuple(rule for rule in found if rule not in _STRAY)
    if rules:
        return Extraction(refused=rules)
    return Extraction(data=tuple(_data(json.loads(message))))


def _data(document: dict[str, Any]) -> Iterator[Datum]:
    timestamp_ms: int = document["_aws"]["Timestamp"]
    for directive in document["_aws"]["CloudWatchMetrics"]:
        # Every dimension set makes its own metric, also from the same value. Without a set, or with
        # a blank value in one, CloudWatch makes one without dimensions, as recorded.
        for names in dimension_sets(directive):
            dimensions = tuple((name, document[name]) for name in names)
            if not all(value.strip() for _, value in dimensions):
                dimensions = ()
            for definition in directive["Metrics"]:
                value = document[definition["Name"]]
                values = value if isinstance(value, list) else [value]
                yield Datum(
                    namespace=directive["Namespace"],
                    name=definition["Name"],
                    dimensions=dimensions,
                    timestamp_ms=timestamp_ms,
                    unit=definition.get("Unit", "None"),
                    counts=dict(Counter(float(value) for value in values)),
                    resolution_s=definition.get("StorageResolution", 60),
                )


MAX_EVENTS_PER_PAGE: Final = 10_000  # the most that FilterLogEvents returns
_STREAMS_PER_CALL: Final = 100  # FilterLogEvents accepts no more names
_OVERLAP_MS: Final = 2_000
"""
The overlap of two readings: a stream that was written this shortly before a reading is read again.
"""


@dataclass(frozen=True, slots=True)
class LogEvent:
    """
    One log event.

    Attributes:
        timestamp_ms: The writer's timestamp, milliseconds since the epoch.
    """

    stream: str
    timestamp_ms: int
    message: str


class LogTail:
    """One log group, read from *since_ms* on."""

    def __init__(self, logs: Any, group: str, since_ms: int) -> None:  # noqa: ANN401  # a client
        self._logs = logs
        self._since_ms = since_ms
        self._read_ms: dict[str, int] = {}
        self._seen: Counter[tuple[object, ...]] = Counter()
        self.group = group

    def read_new_events(self) -> list[LogEvent]:
        """Return events that no earlier call returned, in time order within a call."""
        events: list[LogEvent] = []
        asked_ms = time.time_ns() // 1_000_000
        # A stream may be listed twice: one that is created while we read pages shifts the others.
        changed = list(dict.fromkeys(self._changed_streams()))
        for start in range(0, len(changed), _STREAMS_PER_CALL):
            names = changed[start : start + _STREAMS_PER_CALL]
            events.extend(self._unseen(self._read(names)))
            self._read_ms |= dict.fromkeys(names, asked_ms)
        return events

    def _changed_streams(self) -> Iterator[str]:
        pages = self._logs.get_paginator("describe_log_streams").paginate(logGroupName=self.group)
        for page in pages:
            for row in page["logStreams"]:
                name = row["logStreamName"]
                written_ms = row.get("lastIngestionTime")
                if written_ms is None:
                    continue  # created, and still empty
                if written_ms >= self._read_ms.get(name, 0) - _OVERLAP_MS:
                    yield name

    def _read(self, streams: Sequence[str]) -> list[dict[str, Any]]:
        """
        Return all events of *streams*.

        AWS continues a long answer with a nextToken. The embedded AWS has none and stops at the
        limit, somewhere within the last millisecond.
        """
        rows: list[dict[str, Any]] = []
        start_ms = self._since_ms
        while True:
            page: list[dict[str, Any]] = self._logs.filter_log_events(
                logGroupName=self.group,
                logStreamNames=list(streams),
                startTime=start_ms,
                limit=MAX_EVENTS_PER_PAGE,
            )["events"]
            if len(page) < MAX_EVENTS_PER_PAGE:
                return rows + page
            last_ms = page[-1]["timestamp"]
            if last_ms == start_ms:
                msg = f"log group {self.group} has more events at {last_ms} than one call returns"
                raise RuntimeError(msg)
            rows.extend(row for row in page if row["timestamp"] < last_ms)
            start_ms = last_ms

    def _unseen(self, rows: Sequence[dict[str, Any]]) -> Iterator[LogEvent]:
        in_this_read: Counter[tuple[object, ...]] = Counter()
        for row in rows:
            event = LogEvent(row["logStreamName"], row["timestamp"], row["message"])
            key = event, row.get("ingestionTime")
            in_this_read[key] += 1
            if in_this_read[key] > self._seen[key]:
                self._seen[key] += 1
                yield event


MAX_DATA_PER_CALL: Final = 1_000


class EmfPump:
    """
    The replacement for CloudWatch's own extraction.

    Attributes:
        emf_lines: EMF lines so far.

        refused: EMF lines from which CloudWatch would extract nothing.

        broken_rules: The number of times that they broke each rule.
    """

    def __init__(self, logs: Any, cloudwatch: Any, groups: Sequence[str], since_ms: int) -> None:  # noqa: ANN401  # boto3 clients
        """
        Read *groups* from *since_ms* on, milliseconds since the epoch.

        Raises:
            EmbeddedAwsError: If a client would talk to anything but a loopback address.
        """
        for used in (logs, cloudwatch):
            require_loopback(used.meta.endpoint_url)
        self._cloudwatch = cloudwatch
        self._tails = [LogTail(logs, group, since_ms) for group in groups]
        self.emf_lines = self.refused = 0
        self.broken_rules: Counter[str] = Counter()

    def extract_new_lines(self) -> dict[str, list[LogEvent]]:
        """Extract the new lines. Return the new events by log group."""
        now_ms = time.time_ns() // 1_000_000
        data: list[Datum] = []
        new: dict[str, list[LogEvent]] = {}
        for tail in self._tails:
            new[tail.group] = tail.read_new_events()
            for event in new[tail.group]:
                extraction = extract(event.message, now_ms)
                self.emf_lines += bool(extraction.data or extraction.refused)
                self.refused += bool(extraction.refused)
                self.broken_rules.update(extraction.refused)
                data.extend(extraction.data)
        publish(self._cloudwatch, data)
        return new


def publish(cloudwatch: Any, data: Iterable[Datum]) -> None:  # noqa: ANN401  # a boto3 client
    """
    Put *data* in as few calls as PutMetricData allows.

    Raises:
        EmbeddedAwsError: If the client would send anywhere but to a loopback address.
    """
    require_loopback(cloudwatch.meta.endpoint_url)
    by_namespace: dict[str, list[Datum]] = {}
    for datum in data:
        by_namespace.setdefault(datum.namespace, []).append(datum)
    for namespace, rows in by_namespace.items():
        for start in range(0, len(rows), MAX_DATA_PER_CALL):
            batch = rows[start : start + MAX_DATA_PER_CALL]
            cloudwatch.put_metric_data(Namespace=namespace, MetricData=_members(batch))


def _members(batch: Sequence[Datum]) -> list[dict[str, Any]]:
    return [
        {
            "MetricName": datum.name,
            "Dimensions": [{"Name": name, "Value": value} for name, value in datum.dimensions],
            "Timestamp": datum.timestamp_ms / 1000,
            "Unit": datum.unit,
            "Values": list(datum.counts),  # an EMF array has at most 100, so it always fits
            "Counts": [float(count) for count in datum.counts.values()],
            "StorageResolution": datum.resolution_s,
        }
        for datum in batch
    ]
