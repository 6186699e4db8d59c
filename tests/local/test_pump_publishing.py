"""Metrics go to a loopback address or nowhere, in as few calls as possible."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest

from local.embedded_aws.processes import EmbeddedAwsError
from local.pump import pump as pumping_module
from local.pump.extraction import Datum
from local.pump.pump import Counts, EmfPump, publish
from local.pump.tail import LogEvent


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


def test_the_pump_counts_what_cloudwatch_would_count(monkeypatch):
    """Extracted lines, unreadable ones and refused ones, apart from ordinary ones."""
    good = (
        '{"_aws":{"Timestamp":1800000000000,"CloudWatchMetrics":[{"Namespace":"N",'
        '"Dimensions":[[]],"Metrics":[{"Name":"A"}]}]},"A":1}'
    )
    lines = [good, good, '{"_aws": 7', good.replace('"A":1}', '"A":"1"}'), "START"]

    class Tail:
        def __init__(self, _logs, group, _since_ms):
            self.group = group

        def new_events(self):
            found, lines[:] = [LogEvent("s", 1, text) for text in lines], []
            return found

    monkeypatch.setattr(pumping_module, "LogTail", Tail)
    monkeypatch.setattr(pumping_module.time, "time_ns", lambda: 1_800_000_000_000 * 1_000_000)
    service = CloudWatch()
    pump = EmfPump(CloudWatch(), service, ["/g"], 0)
    assert 5 == len(pump.turn()["/g"])
    assert Counts(4, 2, Counter(json=1, value=1)) == pump.counts
    assert {"/g": []} == pump.turn()
    assert 1 == len(service.calls)
