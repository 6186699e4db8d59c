"""
What people run today is measured fairly: it sends what the reports say, and so does the emitter.
"""

from __future__ import annotations

import io
import json
from types import SimpleNamespace

import pytest
from aws_embedded_metrics.environment import environment_detector
from aws_embedded_metrics.environment.local_environment import LocalEnvironment
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import reports
from benchmarks.instance import MeasuredEmitter
from benchmarks.others import costs, embedded, losses
from benchmarks.others.losses import Arrived
from benchmarks.others.metric_calls import MetricCaller
from benchmarks.others.metrics import metrics_of
from emitter.delivery.lines_out import StreamDestination

NAMES = st.lists(st.sampled_from([f"line {number}" for number in range(9)]))


@pytest.fixture(scope="module")
def usual():
    return reports.usual()


@pytest.fixture(autouse=True)
def _outside_lambda(monkeypatch):
    monkeypatch.setattr(environment_detector.EnvironmentCache, "environment", LocalEnvironment())


def test_a_report_is_25_metrics_and_one_of_each_core(usual):
    """27 on an inf2.xlarge, as many as users of PutMetricData tell."""
    wide = json.loads(reports.wide(32)[0])
    for report, cores in ((json.loads(usual[0]), 2), (wide, 32)):
        names = [one.name for one in metrics_of(report)]
        assert 25 + cores == len(names) == len(set(names))
        assert cores == sum(name.startswith("NeuronCoreUtilizationNC") for name in names)


def test_several_runtimes_are_added_and_the_longest_latency_counts():
    """A core that two runtimes list has the greater utilization."""
    report = json.loads(reports.long()[0])
    runtimes = [one["report"] for one in report["neuron_runtime_data"]]
    assert len(runtimes) > 1
    found = {one.name: one.value for one in metrics_of(report)}
    stats = [one["execution_stats"] for one in runtimes]
    completed = sum(one["execution_summary"]["completed"] for one in stats)
    longest = max(one["latency_stats"]["total_latency"]["p99"] for one in stats)
    uses = [one["neuroncore_counters"]["neuroncores_in_use"]["5"] for one in runtimes]
    busiest = max(one["neuroncore_utilization"] for one in uses)
    names = ("Executions_completed", "ExecutionLatency_p99", "NeuronCoreUtilizationNC5")
    assert [completed, longest, busiest] == [found[name] for name in names]


def test_the_embedded_way_prints_a_document_of_all_metrics_for_each_report(usual, capsys):
    """With the values of the report, and a metric for each core."""
    for line in usual[:2]:
        embedded.emit(line)
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for line, document in zip(usual[:2], printed, strict=True):
        (directive,) = document["_aws"]["CloudWatchMetrics"]
        expected = metrics_of(json.loads(line))
        assert [one.name for one in expected] == [one["Name"] for one in directive["Metrics"]]
        assert [one.value for one in expected] == [document[one.name] for one in expected]
        assert [["InstanceId"]] == directive["Dimensions"]


def test_the_calling_way_makes_one_request_of_all_metrics_for_each_report(usual, monkeypatch):
    """Each with its unit, the instance and a time."""
    asked = []
    client = SimpleNamespace(put_metric_data=lambda **request: asked.append(request))
    monkeypatch.setattr("boto3.client", lambda _service: client)
    MetricCaller().emit(usual[0])
    (request,) = asked
    expected = metrics_of(json.loads(usual[0]))
    assert [tuple(one) for one in expected] == [
        (one["MetricName"], one["Value"], one["Unit"]) for one in request["MetricData"]
    ]
    assert {"InstanceId"} == {one["Dimensions"][0]["Name"] for one in request["MetricData"]}


def test_our_minute_is_one_line_of_all_its_reports(usual, tmp_path):
    """Off the disk when it has been taken; the next minute is the next line."""
    printed = io.StringIO()
    instance = MeasuredEmitter(tmp_path, StreamDestination(printed))
    for _ in range(2):
        instance.minute(usual)
    first, second = (json.loads(line) for line in printed.getvalue().splitlines())
    assert (12, 2) == (first["Reports"], first["NeuronCores"])
    assert 60_000 == second["_aws"]["Timestamp"] - first["_aws"]["Timestamp"]
    assert [] == instance.spool.oldest(10, 1 << 20)
    instance.close()


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_requests_are_counted_of_each_way(tmp_path):
    """A request for each of twelve reports, and one for the minute."""
    found = costs.compared("sent-2", tmp_path / "sent", 2)
    assert (1, 12) == (found.ours_calls, found.theirs_calls)
    assert found.theirs_bytes > found.ours_bytes > 1_000


@given(NAMES, NAMES, NAMES)
def test_what_did_not_arrive_is_lost_and_what_arrived_again_is_a_copy(before, meanwhile, found):
    """Of what was handed over; a line that came twice makes up for no other."""
    handed = list(dict.fromkeys([*before, *meanwhile]))
    expected = Arrived(
        handed=len(handed),
        lost=len({*handed} - {*found}),
        lost_while_away=len({*meanwhile} - {*found}),
        twice=len(found) - len({*found}),
    )
    assert expected == losses._arrived(handed, list(dict.fromkeys(meanwhile)), found)
