"""A cluster's row is its newest rollup by the metrics, and its alarms by the evaluator."""

from __future__ import annotations

import pytest

from local.alarms import RecordedHistory
from local.rehearsal.overview import Overview

NOW_S = 1_800_000_030
NEWEST_S = 1_799_999_940
NAMESPACE = "Neuron/Cluster"


@pytest.fixture
def history():
    """Two clusters over half an hour, the newest minute missing: one idle, one busy."""
    recorded = RecordedHistory()
    for age in range(1, 31):
        for cluster, idle_percent in (("research", 51.0), ("serving", 0.0)):
            for name, value in (
                ("Instances", 4),
                ("BusyCores", age),
                ("IdleCorePercent", idle_percent),
                ("SilentInstances", idle_percent // 50),
            ):
                dimensions = {"ClusterName": cluster}
                recorded.put(NAMESPACE, name, dimensions, NEWEST_S - 60 * age, [value])
    return recorded


@pytest.fixture
def overview(repository, history):
    """The repository's own alarms on that history."""
    return Overview(repository / "template.yaml", {}, {}, history)


@pytest.mark.parametrize(("later_s", "shown"), [(9.9, "OK"), (10.0, "EccErrors")])
def test_alarms_are_evaluated_every_ten_seconds(overview, history, later_s, shown):
    """The figures are read each time; seven alarms over an hour would keep a small machine busy."""
    assert "OK" == overview.rows(["serving"], NOW_S)[0].alarm
    dimensions = {"ClusterName": "serving"}
    history.put(NAMESPACE, "EccUncorrectedRise", dimensions, NEWEST_S - 60, [1])
    assert shown == overview.rows(["serving"], NOW_S + later_s)[0].alarm


def test_a_cluster_without_a_rollup_shows_nothing(overview):
    """It is known to the fleet, and to no metric yet."""
    (row,) = overview.rows(["unheard-of"], NOW_S)
    assert row.minute_s is None
    assert {} == row.figures
    assert "-" == row.alarm


def test_alarms_that_are_not_evaluated_are_said(tmp_path, history):
    """One sentence for all on other metrics, and one for each that cannot be evaluated."""
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
    cannot, elsewhere = overview.left_out
    assert "the alarm Duration cannot be evaluated" in cannot
    assert "the alarms on metrics of AWS/Lambda (1)" in elsewhere
    research, serving = overview.rows(["research", "serving"], NOW_S)
    assert ("Own", "-") == (research.alarm, serving.alarm)
