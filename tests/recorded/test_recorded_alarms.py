"""The alarm evaluator agrees with CloudWatch, state by state, at the times of recordings."""

from __future__ import annotations

import pytest

from local.alarms.definition import Alarm, MetricsInsightsQuery, MetricSource, read_alarms
from local.alarms.evaluation import State, evaluate
from local.alarms.template import AlarmDefinitionError, Template
from neuron_wire.names import VANISHED
from tests.recorded.service_recording import each
from tests.recorded_history import RecordedHistory

RECORDED_DAY_S = 1_800_000_000 // 86_400 * 86_400
ALARM_NOW_S = RECORDED_DAY_S + 21 * 3600 + 8 * 60 + 21.561
STATE_LETTERS = {"OK": State.OK, "ALARM": State.ALARM, "-": State.INSUFFICIENT_DATA}
SIGNAL = MetricSource("N", "Signal", (("Probe", "p"),), "Average")
RECORDED_QUERY = MetricsInsightsQuery("MAX", "Load", "N", ("Team",), ("Team",))


def at(clock):
    """Return a time of day in seconds since the epoch."""
    hours, minutes, seconds = clock.split(":")
    return RECORDED_DAY_S + int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def key(team):
    """Return the contributor of one team."""
    return (("Team", team),)


@each("alarms_on_one_metric")
def test_one_metric(row):
    """
    An alarm above 50 in periods of 10 s with N = 3 goes from the previous state to the recorded
    one.
    """
    history = RecordedHistory()
    for clock, value in row["points"]:
        history.put("N", "Signal", {"Probe": "p"}, at(clock), [value])
    alarm = Alarm("A", SIGNAL, "GreaterThanThreshold", 50, 10, 3, row["needed"], row["missing"])
    previous = {SIGNAL.dimensions: STATE_LETTERS[row["before"]]}
    (contributor,) = evaluate(alarm, history, at(row["at"]), previous)
    assert STATE_LETTERS[row["after"]] is contributor.state, contributor.reason


@each("alarms_on_a_query")
def test_a_query_with_groups(row):
    """
    An alarm above 10 by team in periods of 60 s has the recorded teams in ALARM and the recorded
    state.

    A team that is gone is OK, with this reason.
    """
    history = RecordedHistory()
    points = row["points"]
    for team, of_team in points.items():
        for age, value in of_team:
            history.put(
                "N", "Load", {"Team": team}, ALARM_NOW_S // 60 * 60 - 60 * (age + 1), [value]
            )
    numbers = row["periods"], row["needed"]
    alarm = Alarm("A", RECORDED_QUERY, "GreaterThanThreshold", 10, 60, *numbers, row["missing"])
    previous = {key(team): State.ALARM for team in row["before"]}
    series_by_contributor = {
        series.contributor: series for series in evaluate(alarm, history, ALARM_NOW_S, previous)
    }
    teams_in_alarm = {
        team
        for team in "abc"
        if key(team) in series_by_contributor
        and series_by_contributor[key(team)].state is State.ALARM
    }
    assert set(row["in_alarm"]) == teams_in_alarm
    state_of_teams = State.ALARM if teams_in_alarm else State.OK
    own_state = series_by_contributor[()].state if () in series_by_contributor else state_of_teams
    assert STATE_LETTERS[row["alarm"]] is own_state
    gone = [series_by_contributor[key(team)].reason for team in row["before"] if team not in points]
    assert {VANISHED} >= set(gone)
    assert points or series_by_contributor[()].reason.startswith(
        "No time series were returned by the query."
    )


@each("queries_of_alarms")
def test_a_query_that_an_alarm_may_have(row):
    """The evaluator rejects the queries that CloudWatch rejects for an alarm."""
    query = {"Id": "q", "Expression": row["query"], "Period": row["period_s"]}
    properties = {
        "ComparisonOperator": "GreaterThanThreshold",
        "Threshold": 10,
        "DatapointsToAlarm": 1,
        "EvaluationPeriods": row["periods"],
        "Metrics": [query],
    }
    resources = {"A": {"Type": "AWS::CloudWatch::Alarm", "Properties": properties}}
    template = Template({"Resources": resources}, {})
    if row["is_taken"]:
        assert [row["period_s"]] == [alarm.period_s for alarm in read_alarms(template)]
    else:
        with pytest.raises(AlarmDefinitionError):
            read_alarms(template)
