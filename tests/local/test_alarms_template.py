"""The alarms are the template's own, with its parameters, and nothing is guessed."""

from __future__ import annotations

import pytest

from local.alarms.definition import Alarm, MetricSource, read_alarms
from local.alarms.expressions import MetricsInsightsQuery, parse_query
from local.alarms.template import AlarmDefinitionError, Template, load, load_template

QUERY = (
    'SELECT AVG(IdleCorePercent) FROM SCHEMA("Neuron/Cluster", ClusterName) '
    "GROUP BY ClusterName ORDER BY AVG() DESC"
)
TEMPLATE = """
Parameters:
  ClusterName: { Type: String, Default: '' }
  Threshold: { Type: Number, Default: 20 }
  Local: { Type: String, Default: 'false' }
Conditions:
  One: !Not [!Equals [!Ref ClusterName, '']]
  Every: !And [!Not [!Condition One], !Equals [!Ref Local, 'false']]
Resources:
  Queue: { Type: AWS::SQS::Queue }
  OneAlarm:
    Type: AWS::CloudWatch::Alarm
    Condition: One
    Properties:
      AlarmDescription: !Sub '${Threshold} % in ${AWS::StackName}, ${!literal}, ${Queue.Arn}'
      Namespace: Neuron/Cluster
      MetricName: IdleCorePercent
      Dimensions: [{ Name: ClusterName, Value: !Ref ClusterName }]
      Statistic: Average
      Period: 60
      EvaluationPeriods: 15
      DatapointsToAlarm: 10
      ComparisonOperator: GreaterThanOrEqualToThreshold
      Threshold: !Ref Threshold
      TreatMissingData: !If [One, notBreaching, missing]
      AlarmActions: !If [Every, [!Ref Queue], !Ref AWS::NoValue]
  EveryAlarm:
    Type: AWS::CloudWatch::Alarm
    Condition: Every
    Properties:
      Metrics: [{ Id: q, Expression: 'THE QUERY', Period: 60, ReturnData: true }]
      EvaluationPeriods: 15
      ComparisonOperator: GreaterThanThreshold
      Threshold: !Ref Threshold
""".replace("THE QUERY", QUERY)


def alarms(**parameters: str):
    """The alarms of the template above."""
    return read_alarms(Template(load(TEMPLATE), parameters))


def test_parameters_conditions_and_functions_are_resolved():
    """The alarm of one cluster, with the cluster and threshold that were asked for."""
    (alarm,) = alarms(ClusterName="prod", Threshold="35")
    dimensions = (("ClusterName", "prod"),)
    source = MetricSource("Neuron/Cluster", "IdleCorePercent", dimensions, "Average")
    operator = "GreaterThanOrEqualToThreshold"
    assert Alarm("OneAlarm", source, operator, 35, 60, 15, 10, "notBreaching") == alarm


def test_without_a_cluster_the_query_alarm_exists_instead():
    """Its M is its N and its missing-data rule is CloudWatch's default."""
    (alarm,) = alarms()
    names = ("ClusterName",)
    source = MetricsInsightsQuery("AVG", "IdleCorePercent", "Neuron/Cluster", names, names)
    assert Alarm("EveryAlarm", source, "GreaterThanThreshold", 20, 60, 15, 15, "missing") == alarm
    assert [] == alarms(Local="true")


def test_a_query_may_select_metrics_and_make_one_series_of_them():
    """Dimension values in single quotes, joined by AND, with groups or without."""
    query = "SELECT SUM(M) FROM SCHEMA(\"AWS/Logs\", A, B) WHERE A = '/a b' AND B = 'c'"
    where = (("A", "/a b"), ("B", "c"))
    expected = MetricsInsightsQuery("SUM", "M", "AWS/Logs", ("A", "B"), (), where)
    assert expected == parse_query(query)
    grouped = MetricsInsightsQuery("SUM", "M", "AWS/Logs", ("A", "B"), ("A",), where)
    assert grouped == parse_query(f"{query} GROUP BY A ORDER BY SUM()")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SELECT P99(M) FROM SCHEMA(N, A) GROUP BY A ORDER BY AVG()",
        "SELECT AVG(M) FROM SCHEMA(N, A) WHERE A = b",
        "SELECT AVG(M) FROM SCHEMA(N, A) GROUP BY A",
        "SELECT AVG(M) FROM SCHEMA(N, A) GROUP BY A ORDER BY MAX()",
        "SELECT AVG(M) FROM SCHEMA(N, A) GROUP BY A ORDER BY AVG() LIMIT 3",
    ],
)
def test_another_query_is_refused(text):
    """Never half understood."""
    with pytest.raises(AlarmDefinitionError, match="does not know the query"):
        parse_query(text)


@pytest.mark.parametrize("cluster", ["", "training"])
def test_the_repositorys_own_alarms_can_all_be_evaluated(repository, cluster):
    """At least one alarm watches idle cores, for one cluster as for every cluster."""
    template = Template(load_template(repository / "template.yaml"), {"ClusterName": cluster})
    found = read_alarms(template)
    assert any("IdleCorePercent" == alarm.source.metric for alarm in found)
