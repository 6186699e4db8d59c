"""
The pump: what CloudWatch would extract, sent to a loopback address only, each event once.
"""

from __future__ import annotations

import json
from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from local import pump as pump_module
from local.embedded_aws.processes import EmbeddedAwsError
from local.pump import Datum, EmfPump, LogTail, extract, publish

NOW_MS = 1_800_000_000_000


def line(metrics, *, sets=(("ClusterName",),), timestamp_ms=NOW_MS, **properties):
    """One EMF document with *metrics* as (definition, value) by name."""
    directive = {
        "Namespace": "Neuron/Cluster",
        "Dimensions": [list(names) for names in sets],
        "Metrics": [{"Name": name, **extra} for name, (extra, _) in metrics.items()],
    }
    values = {name: value for name, (_, value) in metrics.items()}
    aws = {"Timestamp": timestamp_ms, "CloudWatchMetrics": [directive]}
    return json.dumps({"_aws": aws, "ClusterName": "a", **properties, **values})


def test_a_number_becomes_one_value_with_everything_the_line_says():
    """Namespace, name, dimensions, unit, resolution, and the line's own timestamp."""
    definition = {"Unit": "Count", "StorageResolution": 1}
    text = line({"BusyCores": (definition, 7)}, timestamp_ms=NOW_MS - 3_600_000)
    (datum,) = extract(text, NOW_MS).data
    assert ("Neuron/Cluster", "BusyCores") == (datum.namespace, datum.name)
    assert (("ClusterName", "a"),) == datum.dimensions
    assert ("Count", 1) == (datum.unit, datum.resolution_s)
    assert NOW_MS - 3_600_000 == datum.timestamp_ms
    assert {7.0: 1} == datum.counts
    (datum,) = extract(line({"A": ({}, 0)}), NOW_MS).data
    assert ("None", 60) == (datum.unit, datum.resolution_s)  # CloudWatch's defaults


@given(st.lists(st.sampled_from([0.0, 0.5, 99.25, 100.0]), min_size=1, max_size=100))
def test_an_array_keeps_every_value(values):
    """As values with their counts: nothing is averaged, so percentiles stay true."""
    (datum,) = extract(line({"NeuronCoreUtilization": ({}, values)}), NOW_MS).data
    again = [value for value, count in datum.counts.items() for _ in range(count)]
    assert sorted(values) == sorted(again)


@pytest.mark.parametrize(
    "text",
    [
        '{"_aws": {"Timestamp": 1800000000000, "CloudWatchMe',
        '{"_aws": {"Timestamp": 1}, "A": NaN}',
        '{"_aws": 7}',
    ],
)
def test_an_unreadable_line_is_refused(text):
    """Half a line, a number that is not JSON, a member that is no object."""
    found = extract(text, NOW_MS)
    assert () == found.data
    assert found.refused


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (line({"A": ({}, True)}), "value"),
        (line({"A": ({}, "7")}), "value"),
        (line({"A": ({}, [1.0] * 101)}), "values"),
        (line({"A": ({"Unit": "Cores"}, 1)}), "unit"),
        (line({"A": ({"StorageResolution": 5}, 1)}), "resolution"),
        (line({"A": ({}, 1)}, sets=[("Missing",)]), "dimension_value"),
        (line({"A": ({}, 1)}).replace('[["ClusterName"]]', "null"), "dimensions"),
        (line({"A": ({}, 1)}, timestamp_ms=NOW_MS + 2 * 3_600_000 + 1), "timestamp"),
        (line({"A": ({}, 1)}, timestamp_ms=NOW_MS - 14 * 86_400_000 - 1), "timestamp"),
    ],
)
def test_one_bad_metric_loses_the_whole_line_and_is_counted(text, rule):
    """As CloudWatch does: the line stays in the log, its metrics do not exist."""
    found = extract(text, NOW_MS)
    assert () == found.data
    assert (rule,) == found.refused


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
    """As others saw it: OpenTelemetry's exporters leave them out, a blank value strays."""
    (datum,) = extract(text, NOW_MS).data
    assert ((), {1.0: 1}) == (datum.dimensions, datum.counts)


class CloudWatch:
    """Remembers what it was given."""

    def __init__(self, endpoint_url="http://127.0.0.1:4566"):
        self.meta = SimpleNamespace(endpoint_url=endpoint_url)
        self.calls = []

    def put_metric_data(self, **request):
        """As boto3 spells it."""
        self.calls.append(request)


def datum(number=0, namespace="Neuron/Cluster"):
    """32 cores, one of them at work."""
    dimensions, counts = (("ClusterName", "a"),), {0.0: 31, 7.5: 1}
    return Datum(namespace, f"M{number}", dimensions, 1_800_000_060_000, "Count", counts, 60)


@pytest.mark.parametrize(
    "endpoint_url",
    [
        "https://monitoring.us-east-1.amazonaws.com", "http://localhost:4566", "127.0.0.1:4566",
        "http://0.0.0.0:4566", "http://169.254.169.254", "http://127.0.0.1.example.com:4566", "",
    ],
)  # fmt: skip
def test_anything_but_a_loopback_address_is_refused(endpoint_url):
    """An account, a name that may resolve to anything, a neighbour: nothing is sent."""
    service = CloudWatch(endpoint_url)
    with pytest.raises(EmbeddedAwsError, match="nothing was sent"):
        publish(service, [datum()])
    assert [] == service.calls
    with pytest.raises(EmbeddedAwsError, match="nothing was sent"):
        EmfPump(CloudWatch(), service, [], 0)
    with pytest.raises(EmbeddedAwsError, match="nothing was sent"):
        EmfPump(service, CloudWatch(), [], 0)


@pytest.mark.parametrize(("data", "calls"), [(0, 0), (1, 1), (1000, 1), (1001, 2)])
def test_a_call_carries_a_thousand_metrics(data, calls):
    """The limit is inclusive: 1,000 is one call, one more is two."""
    service = CloudWatch()
    publish(service, [datum(number) for number in range(data)])
    assert calls == len(service.calls)
    assert data == sum(len(call["MetricData"]) for call in service.calls)


class Logs:
    """The two calls that the tail makes, a long answer cut off without a word."""

    def __init__(self):
        self.events = []
        self.calls = Counter()
        self.clock_ms = 0

    def put(self, stream, timestamp_ms, message):
        """Store one event, as of now."""
        row = {
            "logStreamName": stream,
            "timestamp": timestamp_ms,
            "ingestionTime": self.clock_ms,
            "message": message,
        }
        self.events.append(row)

    def get_paginator(self, name):
        """Only streams are paged through."""
        assert "describe_log_streams" == name
        return self

    def paginate(self, logGroupName):  # noqa: N803  # boto3's own spelling
        """Streams in the order of their names, an empty one among them."""
        assert "/g" == logGroupName
        self.calls["describe"] += 1
        newest = {event["logStreamName"]: event["ingestionTime"] for event in self.events}
        rows = [
            {"logStreamName": name, "lastIngestionTime": newest[name]} for name in sorted(newest)
        ]
        rows.append({"logStreamName": "empty"})
        for start in range(0, len(rows), 2):
            yield {"logStreams": rows[start : start + 2]}

    def filter_log_events(self, **request):
        """Events in time order, at most `limit` of them."""
        self.calls["filter"] += 1
        asked, since_ms = request["logStreamNames"], request["startTime"]
        chosen = [
            event
            for event in sorted(self.events, key=lambda event: event["timestamp"])
            if event["logStreamName"] in asked and event["timestamp"] >= since_ms
        ]
        return {"events": chosen[: request["limit"]]}


def test_an_event_is_found_once_also_with_an_old_timestamp(monkeypatch):
    """Two equal lines of one millisecond are two events; a late one comes behind newer ones."""
    logs = Logs()
    monkeypatch.setattr(pump_module.time, "time_ns", lambda: logs.clock_ms * 1_000_000)
    tail = LogTail(logs, "/g", 0)
    for stored in (["same", "same"], ["same"], []):
        for message in stored:
            logs.put("i-1", 5_000_000, message)
        assert stored == [event.message for event in tail.read_new_events()]
    logs.clock_ms += 60_000
    logs.put("i-1", 1_400_000, "late")
    assert ["late"] == [event.message for event in tail.read_new_events()]


@given(times=st.lists(st.integers(0, 12), max_size=30), limit=st.integers(8, 12))
def test_long_answers_lose_and_repeat_nothing(times, limit):
    """Silently cut off, as by the embedded AWS."""
    logs = Logs()
    for number, timestamp_ms in enumerate(times):
        # Some lines are equal on purpose.
        logs.put(f"fn-{number % 3}", timestamp_ms, f"line {number // 4}")
    assume(max(Counter(times).values(), default=0) < limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pump_module, "MAX_EVENTS_PER_PAGE", limit)
        events = LogTail(logs, "/g", 0).read_new_events()
    found = Counter((event.stream, event.timestamp_ms, event.message) for event in events)
    expected = Counter(
        (row["logStreamName"], row["timestamp"], row["message"]) for row in logs.events
    )
    assert expected == found
