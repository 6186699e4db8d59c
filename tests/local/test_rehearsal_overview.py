"""A cluster's row is its newest rollup by its lines, and its alarms by the evaluator."""

from __future__ import annotations

import pytest

from local.alarms import RecordedHistory
from local.pump import LogEvent
from local.rehearsal.figures import RollupLines
from local.rehearsal.overview import Overview
from tests.neuron_emf.page.rollup_lines import MINUTE_MS, START_MS, line

NEWEST_S = START_MS // 1000
NOW_S = NEWEST_S + 90
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
def rollups():
    """Two minutes of both clusters, the newest one of research published twice."""
    texts = [
        line(cluster, at, BusyCores=at) for cluster in ("research", "serving") for at in (0, 1)
    ]
    texts.append(line("research", 1, 2, BusyCores=77))
    found = RollupLines()
    found.add(LogEvent("s", START_MS + MINUTE_MS, 0, text) for text in texts)
    return found


@pytest.fixture
def overview(repository, history):
    """The repository's own alarms on that history."""
    return Overview(repository / "template.yaml", {}, {}, history, lambda: NOW_S)


def test_a_row_is_what_was_published_last_of_the_newest_minute(overview, rollups):
    """A restated minute shows what was stated last; which alarms fire, and why."""
    research, serving = overview.rows(["research", "serving"], rollups)
    assert (77, 1) == (research.figures["BusyCores"], serving.figures["BusyCores"])
    assert NEWEST_S + 60 == research.minute_s
    assert research.alarm.startswith("IdleCores")
    assert research.notes[0].startswith("IdleCoresAlarm is in alarm: 15 of 15 data points")
    assert "OK" == serving.alarm


def test_a_cluster_without_a_rollup_shows_nothing(overview, rollups):
    """It is known to the fleet, and in no line yet."""
    (row,) = overview.rows(["unheard-of"], rollups)
    assert row.minute_s is None
    assert {} == row.figures
    assert "-" == row.alarm


def test_alarms_that_are_not_evaluated_are_said(tmp_path, history, rollups):
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
    overview = Overview(template, {}, {}, history, lambda: NOW_S)
    assert ["Own"] == [one.alarm.logical_id for one in overview.states()]
    cannot, elsewhere = overview.left_out
    assert "the alarm Duration cannot be evaluated" in cannot
    assert "the alarms on metrics of AWS/Lambda (1)" in elsewhere
    research, serving = overview.rows(["research", "serving"], rollups)
    assert ("Own", "-") == (research.alarm, serving.alarm)
