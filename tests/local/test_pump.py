"""The pump sends what CloudWatch would extract, once per event, to a loopback address only."""

from __future__ import annotations

import json
from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from local import pump as pump_module
from local.embedded_aws.child_processes import EmbeddedAwsError
from local.pump import Datum, EmfPump, LogTail, extract, publish

PUMP_NOW_MS = 1_800_000_000_000


def line(metrics, *, sets=(("ClusterName",),), **properties):
    """Return an EMF document with *metrics*, which are (definition, value) by name."""
    directive = {
        "Namespace": "Neuron/Cluster",
        "Dimensions": [list(names) for names in sets],
        "Metrics": [{"Name": name, **extra} for name, (extra, _) in metrics.items()],
    }
    values = {name: value for name, (_, value) in metrics.items()}
    aws = {"Timestamp": PUMP_NOW_MS, "CloudWatchMetrics": [directive]}
    return json.dumps({"_aws": aws, "ClusterName": "a", **properties, **values})


@given(st.lists(st.sampled_from([0.0, 0.5, 99.25, 100.0]), min_size=1, max_size=100))
def test_an_array_keeps_every_value(values):
    """An array becomes values with counts, without an average, so that percentiles stay true."""
    (datum,) = extract(line({"NeuronCoreUtilization": ({}, values)}), PUMP_NOW_MS).data
    again = [value for value, count in datum.counts.items() for _ in range(count)]
    assert sorted(values) == sorted(again)


@pytest.mark.parametrize(
    "text",
    [
        line({"A": ({}, 1)}, sets=[]),
        line({"A": ({}, 1)}).replace('"Dimensions": [["ClusterName"]], ', ""),
        line({"A": ({}, 1)}, ClusterName=" "),
    ],
    ids=["no set", "no member", "a blank value"],
)
def test_without_a_dimension_it_is_a_metric_without_dimensions(text):
    """
    A metric whose dimension is missing or blank has no dimensions, as lines of other exporters
    show.
    """
    (datum,) = extract(text, PUMP_NOW_MS).data
    assert () == datum.dimensions
    assert {1.0: 1} == datum.counts


class CloudWatch:
    """A CloudWatch that keeps its calls."""

    def __init__(self, endpoint_url="http://127.0.0.1:4566"):
        self.meta = SimpleNamespace(endpoint_url=endpoint_url)
        self.calls = []

    def put_metric_data(self, **request):
        """Keep a call; the name is boto3's."""
        self.calls.append(request)


def datum(number=0, namespace="Neuron/Cluster"):
    """Return a data point of 32 cores with one busy core."""
    dimensions = (("ClusterName", "a"),)
    counts = {0.0: 31, 7.5: 1}
    return Datum(namespace, f"M{number}", dimensions, 1_800_000_060_000, "Count", counts, 60)


@pytest.mark.parametrize(
    "endpoint_url",
    [
        "https://monitoring.us-east-1.amazonaws.com",
        "http://localhost:4566",
        "127.0.0.1:4566",
        "http://0.0.0.0:4566",
        "http://169.254.169.254",
        "http://127.0.0.1.example.com:4566",
        "",
    ],
)
def test_anything_but_a_loopback_address_is_refused(endpoint_url):
    """The pump sends nothing to an account, a name or a neighbor's address."""
    service = CloudWatch(endpoint_url)
    with pytest.raises(EmbeddedAwsError, match="nothing was sent"):
        publish(service, [datum()])
    assert [] == service.calls
    with pytest.raises(EmbeddedAwsError, match="nothing was sent"):
        EmfPump(CloudWatch(), service, [], 0)
    with pytest.raises(EmbeddedAwsError, match="nothing was sent"):
        EmfPump(service, CloudWatch(), [], 0)


class PumpLogs:
    """The two calls of the tail; a long answer is cut off without an error."""

    def __init__(self):
        self.events = []
        self.clock_ms = 0

    def put(self, stream, timestamp_ms, message):
        """Store an event with the current time."""
        row = {"logStreamName": stream, "timestamp": timestamp_ms, "message": message}
        self.events.append({**row, "ingestionTime": self.clock_ms})

    def get_paginator(self, _name):
        """Return self; only streams are paged."""
        return self

    def paginate(self, **_request):
        """Yield streams by name, one of them empty."""
        newest = {event["logStreamName"]: event["ingestionTime"] for event in self.events}
        rows = [
            {"logStreamName": name, "lastIngestionTime": newest[name]} for name in sorted(newest)
        ]
        yield {"logStreams": rows[:2]}
        yield {"logStreams": [*rows[2:], {"logStreamName": "empty"}]}

    def filter_log_events(self, **request):
        """Return at most `limit` events in time order."""
        chosen = [
            event
            for event in sorted(self.events, key=lambda event: event["timestamp"])
            if event["logStreamName"] in request["logStreamNames"]
            and event["timestamp"] >= request["startTime"]
        ]
        return {"events": chosen[: request["limit"]]}


@given(
    times=st.lists(st.integers(0, 12), max_size=30),
    limit=st.integers(8, 12),
    first=st.integers(0, 30),
)
def test_every_event_is_read_once(times, limit, first):
    """
    Two reads get every event once, whatever its timestamp, although long answers are cut off
    silently.
    """
    assume(max(Counter(times).values(), default=0) < limit)
    logs = PumpLogs()
    events = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pump_module, "MAX_EVENTS_PER_PAGE", limit)
        patch.setattr("time.time_ns", lambda: logs.clock_ms * 1_000_000)
        tail = LogTail(logs, "/g", 0)
        for number, timestamp_ms in enumerate(times):
            if number == first:
                events += tail.read_new_events()
                logs.clock_ms += 60_000
            # Some lines are equal on purpose.
            logs.put(f"fn-{number % 3}", timestamp_ms, f"line {number // 4}")
        events += tail.read_new_events()
    counts = Counter((event.stream, event.timestamp_ms, event.message) for event in events)
    expected = Counter(
        (row["logStreamName"], row["timestamp"], row["message"]) for row in logs.events
    )
    assert expected == counts
