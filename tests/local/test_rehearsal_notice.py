"""What the rehearsal asks explain, and what it makes of the answer."""

from __future__ import annotations

from aggregator.explain.event import transition_of
from local.alarms import Alarm, MetricSource, State
from local.alarms.evaluation import AlarmState
from local.alarms.insights import parse_query
from local.rehearsal.notice import event_of

QUERY = (
    'SELECT AVG(IdleCorePercent) FROM SCHEMA("Neuron/Cluster", ClusterName)'
    " GROUP BY ClusterName ORDER BY AVG() DESC"
)
TRAINING = (("ClusterName", "training"),)
AT_S = 1_768_000_015


def alarm(logical_id, source):
    """An alarm of 10 of 15 minutes."""
    return Alarm(logical_id, source, "GreaterThanOrEqualToThreshold", 20, 60, 15, 10, "missing")


def found(logical_id, state=State.ALARM, contributor=TRAINING):
    """An alarm's state as the evaluator says it."""
    return AlarmState(alarm(logical_id, parse_query(QUERY)), contributor, state, "15 of 15")


def test_explain_reads_the_event_of_a_query_as_cloudwatchs():
    """State, moment, metric and cluster: all that decides what is said."""
    properties = {"Metrics": [{"Id": "idle", "Expression": QUERY, "ReturnData": True}]}
    read = transition_of(event_of(found("IdleCoresByClusterAlarm"), properties, AT_S))
    assert ("ALARM", AT_S, ("IdleCorePercent",)) == (read.state, read.at_s, read.metrics)
    assert ("training", "15 of 15") == (read.cluster, read.reason)


def test_explain_reads_the_event_of_a_metric_as_cloudwatchs():
    """With the state before, which an alarm on a metric has."""
    properties = {
        "Namespace": "Neuron/Cluster",
        "MetricName": "SilentInstances",
        "Statistic": "Maximum",
    }
    source = MetricSource("Neuron/Cluster", "SilentInstances", TRAINING, "Maximum")
    state = AlarmState(alarm("SilentInstancesAlarm", source), TRAINING, State.ALARM, "5 of 10")
    read = transition_of(event_of(state, properties, AT_S))
    assert ("ALARM", "OK", "training") == (read.state, read.before, read.cluster)
    assert ("SilentInstances",) == read.metrics
