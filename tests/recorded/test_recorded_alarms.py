"""The alarm evaluator says what CloudWatch said: state by state, at the moments of recordings."""

from __future__ import annotations

import pytest

from local.alarms import (
    Alarm,
    AlarmDefinitionError,
    MetricsInsightsQuery,
    MetricSource,
    RecordedHistory,
    State,
    Template,
    evaluate,
    read_alarms,
)
from tests.recorded.recording import (
    CONTRIBUTORS,
    DISCOVERY,
    EVALUATION,
    LIFETIME,
    SAMPLES,
)

DAY_S = 1_800_000_000 // 86_400 * 86_400
VANISHED = "No data was returned for this contributor"
STATES = {"OK": State.OK, "ALARM": State.ALARM, "-": State.INSUFFICIENT_DATA}


def at(clock):
    """A time of day in seconds since the epoch."""
    hours, minutes, seconds = clock.split(":")
    return DAY_S + int(hours) * 3600 + int(minutes) * 60 + float(seconds)


# --- one metric: periods of 10 s, N = 3, above 50 ---

SAMPLE_TIMES = {  # (time, value) in the order in which they were published
    "a": [("05:42:25", 100), ("05:42:35", 0), ("05:42:45", 100)],
    "b": [("05:46:55", 100)],
    "c": [("05:49:05", 0), ("05:49:15", 0), ("05:49:25", 0)],
    "d": [("05:50:55", 0), ("05:51:15", 100), ("05:51:35", 100)],
    "e": [("05:54:15", 0)],
}
SCALAR = [  # case, missing data, M, published, before, time, after
    ("dense-nonconsecutive-m2", "missing", 2, "a", "OK", "05:43:07.551", "ALARM"),
    ("dense-real-over-breaching", "breaching", 3, "a", "ALARM", "05:43:04.472", "OK"),
    ("dense-real-over-ignore", "ignore", 3, "a", "-", "05:43:00.813", "OK"),
    ("dense-m3-good-point", "missing", 3, "a", "-", "05:42:58.775", "OK"),
    ("dense-oldest-breach-expires", "missing", 2, "a", "ALARM", "05:44:17.553", "OK"),
    ("dense-last-breach-ages", "missing", 2, "a", "OK", "05:44:27.550", "ALARM"),
    ("dense-all-points-expire", "missing", 3, "a", "ALARM", "05:44:38.775", "-"),
    ("isolated-premature-m2, one before", "missing", 2, "ab", "-", "05:47:17.551", "-"),
    ("isolated-premature-m2", "missing", 2, "ab", "-", "05:47:27.551", "ALARM"),
    ("isolated-premature-m3, two before", "missing", 3, "ab", "-", "05:47:18.775", "-"),
    ("isolated-premature-m3, one before", "missing", 3, "ab", "-", "05:47:28.775", "-"),
    ("isolated-premature-m3", "missing", 3, "ab", "-", "05:47:38.775", "ALARM"),
    ("isolated-breach-expires", "missing", 3, "ab", "ALARM", "05:48:48.774", "-"),
    ("sparse-partial-window", "missing", 3, "abcd", "-", "05:51:48.775", "OK"),
    ("sparse-real-over-breaching", "breaching", 3, "abcd", "ALARM", "05:51:54.473", "OK"),
    ("sparse-nonconsecutive-m2", "missing", 2, "abcd", "-", "05:51:57.551", "ALARM"),
    ("sparse-old-good-expires", "missing", 3, "abcd", "OK", "05:52:48.775", "ALARM"),
    ("sparse-all-points-expire", "missing", 3, "abcd", "ALARM", "05:53:28.775", "-"),
    ("single-good-over-breaching", "breaching", 3, "abcde", "ALARM", "05:54:34.473", "OK"),
    ("single-good-m2", "missing", 2, "abcde", "-", "05:54:37.550", "OK"),
    ("single-good-expires, one before", "breaching", 3, "abcde", "OK", "05:55:54.474", "OK"),
    ("single-good-expires-to-breaching", "breaching", 3, "abcde", "OK", "05:56:04.474", "ALARM"),
]
SIGNAL = MetricSource("N", "Signal", (("Probe", "p"),), "Average")


@pytest.mark.parametrize("row", SCALAR, ids=lambda row: f"{EVALUATION}: {row[0]}")
def test_one_metric(row):
    """The state that history shows at the moment of the evaluation, from the one before."""
    case, missing, needed, published, before, clock, after = row
    history = RecordedHistory()
    for batch in published:
        for time, value in SAMPLE_TIMES[batch]:
            history.put("N", "Signal", {"Probe": "p"}, at(time), [value])
    alarm = Alarm("A", SIGNAL, "GreaterThanThreshold", 50, 10, 3, needed, missing)
    previous = {SIGNAL.dimensions: STATES[before]}
    (found,) = evaluate(alarm, history, at(clock), previous)
    assert STATES[after] is found.state, (case, found.reason)


# --- a query with groups: periods of 60 s, above 10; teams by the age of their points ---

QUERY = MetricsInsightsQuery("MAX", "Load", "N", ("Team",), ("Team",))
SPARSE = {"a": {1: 20}, "b": {1: 5}, "c": {1: 30, 3: 30}}
RECOVERED = {
    team: {0: 2, 1: 2, 2: value, 3: value} for team, value in (("a", 25), ("b", 5), ("c", 35))
}
GROUPED = [  # recording, missing data, N, M, points, teams before, alarm and teams in ALARM
    (SAMPLES, "missing", 3, 2, SPARSE, "", "ALARM", "ac"),
    (SAMPLES, "ignore", 3, 2, SPARSE, "", "ALARM", "c"),
    (SAMPLES, "breaching", 3, 2, SPARSE, "", "ALARM", "abc"),
    (SAMPLES, "notBreaching", 3, 2, SPARSE, "", "ALARM", "c"),
    (SAMPLES, "missing", 3, 2, {}, "ac", "-", ""),
    (SAMPLES, "ignore", 3, 2, {}, "ac", "ALARM", ""),
    (SAMPLES, "breaching", 3, 2, {}, "ac", "ALARM", ""),
    (SAMPLES, "notBreaching", 3, 2, {}, "ac", "OK", ""),
    (SAMPLES, "missing", 3, 2, RECOVERED, "ac", "OK", ""),
    (SAMPLES, "ignore", 3, 2, RECOVERED, "ac", "OK", ""),
    (SAMPLES, "breaching", 3, 2, RECOVERED, "ac", "OK", ""),
    (SAMPLES, "notBreaching", 3, 2, RECOVERED, "ac", "OK", ""),
    (CONTRIBUTORS, "notBreaching", 1, 1, {}, "", "OK", ""),
    (LIFETIME, "notBreaching", 1, 1, {"b": {0: 30}}, "a", "ALARM", "b"),
]


@pytest.mark.parametrize("row", GROUPED, ids=lambda row: f"{row[0]}: {row[1]}")
def test_a_query_with_groups(row):
    """The contributors in ALARM, and the alarm's own state; who is gone is OK, with that reason."""
    recording, missing, periods, needed, points, before, parent, teams = row
    history, now_s = RecordedHistory(), at("21:08:21.561")
    for team, by_age in points.items():
        for age, value in by_age.items():
            history.put("N", "Load", {"Team": team}, now_s // 60 * 60 - 60 * (age + 1), [value])
    alarm = Alarm("A", QUERY, "GreaterThanThreshold", 10, 60, periods, needed, missing)
    previous = {(("Team", team),): State.ALARM for team in before}
    found = {one.contributor: one for one in evaluate(alarm, history, now_s, previous)}
    ringing = {dict(key)["Team"] for key, one in found.items() if key and one.state is State.ALARM}
    assert set(teams) == ringing, recording
    itself = found[()].state if () in found else State.ALARM if ringing else State.OK
    assert STATES[parent] is itself
    gone = {(("Team", team),) for team in before if team not in points}
    assert {VANISHED} >= {found[key].reason.partition(";")[0] for key in gone}
    assert ("No time series" in found[()].reason) if () in found else points


def test_where_the_range_is_not_known_both_states_are_shown():
    """At 60 s nobody has measured it: N + 2 periods decide, and N + 6 is said where it differs."""
    history, now_s = RecordedHistory(), at("21:08:21")
    history.put("N", "Signal", {"Probe": "p"}, at("21:01:00"), [0])
    alarm = Alarm("A", SIGNAL, "GreaterThanThreshold", 50, 60, 3, 3, "breaching")
    (found,) = evaluate(alarm, history, now_s)
    assert State.ALARM is found.state
    assert found.reason.endswith("; OK if CloudWatch looks at 9 periods, not 5")


# --- what an alarm on a query may be ---

GROUPED_TEXT = 'SELECT MAX(Load) FROM SCHEMA("N", Team) GROUP BY Team ORDER BY MAX() DESC'
ADMISSION = [  # recording, query, period, N, whether PutMetricAlarm takes it
    (SAMPLES, GROUPED_TEXT, 10, 3, False), (SAMPLES, GROUPED_TEXT, 30, 3, False),
    (SAMPLES, GROUPED_TEXT, 60, 179, True), (SAMPLES, GROUPED_TEXT, 60, 180, True),
    (SAMPLES, GROUPED_TEXT, 60, 181, False), (SAMPLES, GROUPED_TEXT, 300, 36, True),
    (SAMPLES, GROUPED_TEXT, 300, 37, False), (SAMPLES, GROUPED_TEXT, 10_800, 1, True),
    (SAMPLES, GROUPED_TEXT, 10_860, 1, False),
    (DISCOVERY, GROUPED_TEXT.partition(" ORDER")[0], 60, 1, False),
    (DISCOVERY, "SEARCH('{N,Team} Load', 'Maximum')", 60, 1, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("recording", "query", "period_s", "periods", "is_taken"),
    ADMISSION,
    ids=[f"{row[0]}: {row[1][:6]} {row[2]} x {row[3]}" for row in ADMISSION],
)
def test_a_query_that_an_alarm_may_have(recording, query, period_s, periods, is_taken):
    """What CloudWatch refuses to make is not evaluated here either."""
    properties = {
        "ComparisonOperator": "GreaterThanThreshold", "Threshold": 10,
        "EvaluationPeriods": periods, "DatapointsToAlarm": 1,
        "Metrics": [{"Id": "q", "Expression": query, "Period": period_s}],
    }  # fmt: skip
    resources = {"A": {"Type": "AWS::CloudWatch::Alarm", "Properties": properties}}
    template = Template({"Resources": resources}, {})
    if is_taken:
        assert [period_s] == [one.period_s for one in read_alarms(template)], recording
    else:
        with pytest.raises(AlarmDefinitionError):
            read_alarms(template)
