"""
What the template's alarms wait for, ask for and say.
"""

from __future__ import annotations

import re
from itertools import product

import pytest

from neuron_wire import CLUSTER_NAMESPACE
from neuron_wire.catalogue import ROLLUP
from tests.stack.template_resources import of_type

ALARM = "AWS::CloudWatch::Alarm"
CHOICES = [
    {"ClusterName": cluster, "Local": local}
    for cluster, local in product(["", "training"], ["false", "true"])
]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_one_alarm_watches_idle_cores_whatever_the_parameters_say(deployed, choice):
    """
    All but the rehearsal with every cluster, whose evaluator runs the query itself.
    """
    expected = 0 if choice == {"ClusterName": "", "Local": "true"} else 1
    assert expected == len(of_type(deployed(**choice), ALARM))


def alarms(template):
    """
    Every alarm, whatever its condition.
    """
    return of_type(template["Resources"], ALARM).items()


def test_an_alarm_waits_for_the_points_that_are_late(template):
    """
    Rollups arrive 2 to 4 minutes after their minute: M of N, N at least 10, M at most N - 5.
    """
    for name, alarm in alarms(template):
        assert alarm["EvaluationPeriods"] >= 10, name
        assert alarm["DatapointsToAlarm"] <= alarm["EvaluationPeriods"] - 5, name


def test_an_alarm_states_what_missing_data_means_and_why(template, template_text):
    """
    TreatMissingData on each, with its reason on the same line.
    """
    stated = [line for line in template_text.splitlines() if "TreatMissingData:" in line]
    assert len(stated) == len(alarms(template))
    assert all(re.search(r"TreatMissingData: \w+ # \w+", line) for line in stated)


def test_an_alarm_says_where_to_read_on(template, repository):
    """
    Its description is what arrives at three in the morning, and the section is there.
    """
    readme = (repository / "README.md").read_text(encoding="utf-8")
    assert re.search(r"^#+ Alarms\b", readme, re.MULTILINE)
    for name, alarm in alarms(template):
        assert "README.md, section Alarms." in alarm["AlarmDescription"]["Fn::Sub"], name


def test_an_alarm_asks_for_a_metric_that_rollups_have(template):
    """
    The namespace, the name and the dimension are those of neuron_wire.
    """
    for name, alarm in alarms(template):
        if "Metrics" in alarm:
            (query,) = [metric["Expression"] for metric in alarm["Metrics"]]
            asked = re.fullmatch(
                r'SELECT (AVG|MAX|MIN)\((\w+)\) FROM SCHEMA\("([\w/]+)", ClusterName\)'
                r" GROUP BY ClusterName ORDER BY \1\(\) DESC",
                query,
            )
            assert asked, name
            metric, namespace = asked[2], asked[3]
        else:
            assert [one["Name"] for one in alarm["Dimensions"]] == ["ClusterName"], name
            metric, namespace = alarm["MetricName"], alarm["Namespace"]
        assert metric in ROLLUP, name
        assert namespace == CLUSTER_NAMESPACE, name


def test_both_alarms_on_idle_cores_ask_the_same(template):
    """
    Naming one cluster changes how it is asked, not what.
    """
    one, every = (dict(alarm) for _, alarm in alarms(template))
    for alarm in (one, every):
        for member in ("Metrics", "Namespace", "MetricName", "Dimensions", "Statistic", "Period"):
            alarm.pop(member, None)
        alarm.pop("AlarmDescription")
    assert one == every


def test_alarms_without_a_topic_have_no_actions(deployed):
    """
    An empty topic is no action, and a topic is told of both changes.
    """
    topic = "arn:aws:sns:us-east-1:123456789012:people"
    for given, expected in (("", None), (topic, [topic])):
        for alarm in of_type(deployed(AlarmTopicArn=given), ALARM).values():
            assert expected == alarm.get("AlarmActions") == alarm.get("OKActions")
