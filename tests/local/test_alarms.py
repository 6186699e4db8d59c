"""
The template's alarms with its parameters: when an alarm fires and, above all, when it does not.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from local.alarms.definition import (
    Alarm,
    MetricsInsightsQuery,
    MetricSource,
    parse_query,
)
from local.alarms.evaluation import State, evaluate, judge
from local.alarms.template import AlarmDefinitionError
from tests.recorded_history import RecordedHistory


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
    """An unsupported query is refused, never evaluated in part."""
    with pytest.raises(AlarmDefinitionError, match="does not know the query"):
        parse_query(text)


ALARMS_NOW_S = 1_800_000_030.0  # 30 seconds into a minute
NEWEST_S = 1_799_999_940  # the newest whole minute

THREE = Alarm(
    logical_id="Test",
    source=MetricSource("Neuron/Cluster", "IdleCorePercent", (("ClusterName", "a"),), "Average"),
    comparison="GreaterThanOrEqualToThreshold",
    threshold=20.0,
    period_s=60,
    evaluation_periods=3,
    datapoints_to_alarm=3,
    missing="missing",
)
IDLE_ALARM = replace(THREE, evaluation_periods=15, datapoints_to_alarm=10, missing="notBreaching")
EVERY_CLUSTER = replace(
    IDLE_ALARM,
    source=MetricsInsightsQuery(
        "AVG", "IdleCorePercent", "Neuron/Cluster", ("ClusterName",), ("ClusterName",)
    ),
)
POINT_VALUES = {"0": 0.0, "X": 20.0, "-": None}
KEEPS = "keeps its state"

# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html:
# data points oldest first, then the state for missing, ignore, breaching and notBreaching.
THREE_OF_THREE = [
    ("0 - X - X", "OK", "OK", "OK", "OK"),
    ("0 - - - -", "OK", "OK", "OK", "OK"),
    ("- - - - -", "INSUFFICIENT_DATA", KEEPS, "ALARM", "OK"),
    ("0 X X - X", "ALARM", "ALARM", "ALARM", "ALARM"),
    ("- - X - -", "ALARM", KEEPS, "ALARM", "OK"),
]
TWO_OF_THREE = [
    ("0 - X - X", "ALARM", "ALARM", "ALARM", "ALARM"),
    ("0 0 X 0 X", "ALARM", "ALARM", "ALARM", "ALARM"),
    ("0 - X - -", "OK", "OK", "ALARM", "OK"),
    ("- - - - 0", "OK", "OK", "ALARM", "OK"),
    ("- - - X -", "ALARM", KEEPS, "ALARM", "OK"),
]
TABLE_ROWS = [(3, row) for row in THREE_OF_THREE] + [(2, row) for row in TWO_OF_THREE]


def newest_first(drawn: str) -> list[float | None]:
    """Return a row of the documentation's tables, newest first; the row is drawn oldest first."""
    return [POINT_VALUES[mark] for mark in reversed(drawn.split())]


@pytest.mark.parametrize(("needed", "row"), TABLE_ROWS)
@pytest.mark.parametrize("column", [1, 2, 3, 4])
@pytest.mark.parametrize("previous", list(State))
def test_the_tables_of_the_documentation_hold(needed, row, column, previous):
    """Every cell of both tables holds, from every previous state of the alarm."""
    treatment = ("missing", "ignore", "breaching", "notBreaching")[column - 1]
    alarm = replace(THREE, datapoints_to_alarm=needed, missing=treatment)
    expected = previous if row[column] == KEEPS else State(row[column])
    state, reason = judge(alarm, newest_first(row[0]), previous)
    assert expected is state
    assert reason


def recorded(clusters: dict[str, dict[int, float]], **more_dimensions: str) -> RecordedHistory:
    """Return IdleCorePercent by cluster and age in minutes; 0 is the newest whole minute."""
    history = RecordedHistory()
    for cluster, by_age in clusters.items():
        for age, percent in by_age.items():
            dimensions = {"ClusterName": cluster, **more_dimensions}
            at_s = NEWEST_S - 60 * age
            history.put("Neuron/Cluster", "IdleCorePercent", dimensions, at_s, [percent])
    return history


def minutes(first: int, last: int, percent: float) -> dict[int, float]:
    """Return the same percentage at each age from *first* to *last*."""
    return dict.fromkeys(range(first, last + 1), percent)


def state_of(alarm: Alarm, history: RecordedHistory) -> dict[str, State]:
    """Return states by cluster."""
    return {
        dict(contributor.contributor).get("ClusterName", ""): contributor.state
        for contributor in evaluate(alarm, history, ALARMS_NOW_S)
    }


def test_a_metric_of_other_dimensions_is_another_metric():
    """A metric with other dimensions differs: idle cores of a type are not those of a cluster."""
    assert {"a": State.OK} == state_of(IDLE_ALARM, recorded({"b": minutes(0, 20, 90.0)}))
    history = recorded({"a": minutes(0, 20, 90.0)}, InstanceType="trn1.32xlarge")
    assert {"": State.OK} == state_of(EVERY_CLUSTER, history)
    assert {"a": State.OK} == state_of(IDLE_ALARM, history)
    missing = replace(IDLE_ALARM, missing="missing")
    assert {"a": State.INSUFFICIENT_DATA} == state_of(missing, history)
