"""What the benchmarks send to says yes, counts, and can be gone."""

from __future__ import annotations

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ConnectionClosedError, EndpointConnectionError

from benchmarks.sink import PUT_LOG_EVENTS, PUT_METRIC_DATA, Sink

ONCE = Config(retries={"total_max_attempts": 1})
PLACE = {"logGroupName": "group", "logStreamName": "stream"}


@pytest.fixture
def sink(monkeypatch):
    with Sink() as running:
        for name, value in running.variables.items():
            monkeypatch.setenv(name, value)
        yield running


def put(logs, *lines):
    events = [{"timestamp": 1, "message": line} for line in lines]
    logs.put_log_events(**PLACE, logEvents=events)


def test_it_counts_requests_and_bytes_by_operation_and_keeps_lines_in_order(sink):
    """In both protocols that botocore speaks to it."""
    logs, metrics = boto3.client("logs", config=ONCE), boto3.client("cloudwatch", config=ONCE)
    put(logs, "a", "b")
    put(logs, "c")
    metrics.put_metric_data(Namespace="N", MetricData=[{"MetricName": "m", "Value": 1.0}])
    assert {PUT_LOG_EVENTS: 2, PUT_METRIC_DATA: 1} == sink.calls
    assert ["a", "b", "c"] == sink.lines
    before = sink.sent_bytes[PUT_LOG_EVENTS]
    put(logs, "c" + 1_000 * "x")
    assert 1_000 + before * 0.4 < sink.sent_bytes[PUT_LOG_EVENTS] - before < 1_000 + before * 0.6


def test_while_it_is_gone_nobody_is_answered_and_nothing_counted(sink):
    """Also not on a connection that was open before; then it is back on the same port."""
    logs = boto3.client("logs", config=ONCE)
    put(logs, "before")
    sink.vanish()
    for expected in (ConnectionClosedError, EndpointConnectionError):
        with pytest.raises(expected):
            put(logs, "lost")
    sink.come_back()
    put(logs, "after")
    assert ["before", "after"] == sink.lines
    assert 2 == sink.calls[PUT_LOG_EVENTS]
