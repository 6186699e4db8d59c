"""What the rehearsal asks explain, and what it makes of the answer."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace

import pytest

from aggregator.explain.event import transition_of
from local.alarms import Alarm, MetricSource, State
from local.alarms.evaluation import AlarmState
from local.alarms.insights import parse_query
from local.embedded_aws import EmbeddedAwsError
from local.rehearsal.notice import ask, events_of, is_chosen, ringing

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


def test_each_cluster_that_has_one_gets_one_alarm_explained():
    """That on idle cores, whichever comes first; none for a cluster without."""
    serving = (("ClusterName", "serving"),)
    states = [
        found("LowUtilizationAlarm"),
        found("IdleCoresAlarm"),
        found("IdleCostAlarm"),
        found("IdleCoresAlarm", State.OK, serving),
        found("SilentInstancesAlarm", State.INSUFFICIENT_DATA, serving),
    ]
    assert ["IdleCoresAlarm"] == [one.alarm.logical_id for one in ringing(states)]


def test_explain_reads_the_event_of_a_query_as_cloudwatchs():
    """State, moment, metric and cluster: all that decides what is said."""
    properties = {"Metrics": [{"Id": "idle", "Expression": QUERY, "ReturnData": True}]}
    state = found("IdleCoresAlarm")
    itself, of_contributor = events_of(state, [state], properties, AT_S)
    rules = [{"EventPattern": {"detail-type": [of_contributor["detail-type"]]}}]
    assert [False, True] == [is_chosen(one, rules) for one in (itself, of_contributor)]
    read = transition_of(of_contributor)
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
    (event,) = events_of(state, [state], properties, AT_S)
    read = transition_of(event)
    assert ("ALARM", "OK", "training") == (read.state, read.before, read.cluster)
    assert ("SilentInstances",) == read.metrics


def functions(answer, error=None):
    """A Lambda that answers so."""
    payload = io.BytesIO(json.dumps(answer).encode())
    said = {"Payload": payload, **({"FunctionError": error} if error else {})}
    return SimpleNamespace(invoke=lambda **_: said)


def test_the_answer_is_what_people_would_be_told():
    """Subject and text as they are."""
    told = ask(functions({"Subject": "s", "Text": "t"}), "explain", {})
    assert ("s", "t") == (told.subject, told.text)


@pytest.mark.parametrize(
    ("answer", "error"), [({"errorMessage": "no table"}, "Unhandled"), (None, None), ({}, None)]
)
def test_a_failed_explanation_is_an_error(answer, error):
    """A rehearsal in which nobody would be told anything is no success."""
    with pytest.raises(EmbeddedAwsError, match="explain failed for an alarm"):
        ask(functions(answer, error), "explain", {})
