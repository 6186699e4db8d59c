"""
A cluster's row is its newest rollup by the metrics, and its alarm by the evaluator.
"""

from __future__ import annotations

import pytest

from local.alarms import RecordedHistory
from local.rehearsal.overview import Overview

NOW_S = 1_800_000_030
NEWEST_S = 1_799_999_940
NAMESPACE = "Neuron/Cluster"


@pytest.fixture
def history():
    """
    Two clusters over half an hour, the newest minute missing: one idle, one busy.
    """
    recorded = RecordedHistory()
    for age in range(1, 31):
        for cluster, idle_percent in (("research", 51.0), ("serving", 0.0)):
            for name, value in (
                ("Instances", 4),
                ("BusyCores", age),
                ("IdleCorePercent", idle_percent),
            ):
                dimensions = {"ClusterName": cluster}
                recorded.put(NAMESPACE, name, dimensions, NEWEST_S - 60 * age, [value])
    return recorded


@pytest.fixture
def overview(repository, history):
    """
    The repository's own alarms on that history.
    """
    return Overview(repository / "template.yaml", {}, {}, history)


def test_each_cluster_shows_its_newest_minute(overview):
    """
    Not an average over minutes, and nothing that was not reported.
    """
    rows = overview.rows(["research", "serving"], NOW_S)
    assert [("research", NEWEST_S - 60), ("serving", NEWEST_S - 60)] == [
        (row.cluster, row.minute_s) for row in rows
    ]
    assert {"Instances": 4, "BusyCores": 1} == rows[0].figures


def test_each_cluster_shows_its_own_alarm(overview):
    """
    By the template's alarm on every cluster, with the reason.
    """
    research, serving = overview.rows(["research", "serving"], NOW_S)
    assert ("ALARM", "OK") == (research.alarm, serving.alarm)
    assert "15 of 15 data points at or above" in research.reason


def test_a_cluster_without_a_rollup_shows_nothing(overview):
    """
    It is known to the fleet, and to no metric yet.
    """
    (row,) = overview.rows(["unheard-of"], NOW_S)
    assert row.minute_s is None
    assert {} == row.figures
    assert "-" == row.alarm


def test_a_restated_minute_shows_the_greater_value(overview, history):
    """
    A late record adds an instance: the average of both lines would be no count at all.
    """
    for instances in (3, 5):
        dimensions = {"ClusterName": "research"}
        history.put(NAMESPACE, "Instances", dimensions, NEWEST_S, [instances])
    (row,) = overview.rows(["research"], NOW_S)
    assert (NEWEST_S, 5) == (row.minute_s, row.figures["Instances"])


def test_alarms_on_other_metrics_are_left_out_by_name(tmp_path, history):
    """
    Said, with the reason, rather than shown in a state that nobody evaluated.
    """
    template = tmp_path / "template.yaml"
    template.write_text(
        """
        Resources:
          Errors:
            Type: AWS::CloudWatch::Alarm
            Properties: { Namespace: AWS/Lambda, MetricName: Errors, Statistic: Sum, Period: 60,
              EvaluationPeriods: 1, ComparisonOperator: GreaterThanThreshold, Threshold: 0 }
          Duration:
            Type: AWS::CloudWatch::Alarm
            Properties: { Namespace: AWS/Lambda, MetricName: Duration, ExtendedStatistic: p99 }
          Own:
            Type: AWS::CloudWatch::Alarm
            Properties: { Namespace: Neuron/Cluster, MetricName: BusyCores, Statistic: Maximum,
              Dimensions: [{ Name: ClusterName, Value: research }], Period: 60,
              EvaluationPeriods: 1, ComparisonOperator: LessThanThreshold, Threshold: 3 }
        """,
        encoding="utf-8",
    )
    overview = Overview(template, {}, {}, history)
    assert ["Own"] == [alarm.logical_id for alarm in overview.alarms]
    assert ["Duration", "Errors"] == sorted(overview.left_out)
    assert "AWS/Lambda" in overview.left_out["Errors"]
    research, serving = overview.rows(["research", "serving"], NOW_S)
    assert ("ALARM", "-") == (research.alarm, serving.alarm)
