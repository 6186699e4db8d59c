"""emitters.yaml monitors one or two instances alone, and template.yaml can adopt its resources."""

from __future__ import annotations

from dataclasses import replace

import pytest

from local.alarms.template import load
from local.pump import extract
from neuron_emitter.lines import LineWriter
from neuron_emitter.settings import MinuteSettings
from proof.factories.records import record
from tests.recorded_history import RecordedHistory
from tests.stack.metric_points import FIRST_POINT_MINUTE, minutes_in_alarm, put_value
from tests.stack.stack_template import stated

SENT_AFTER_S = 90.0
EMITTERS_CLUSTER = "neuron"  # the parameter's default
BUSY_RECORD = record(cluster=EMITTERS_CLUSTER, core_state="bb", utilization_percent=(80.0, 60.0))
IDLE_RECORD = replace(BUSY_RECORD, core_state="au", utilization_percent=(0.0, 0.0))
UNKNOWN_RECORD = replace(
    BUSY_RECORD, core_state="??", utilization_percent=(), covered_seconds=0.0, execution_errors=None
)
FAILING_RECORD = replace(BUSY_RECORD, execution_errors=10)


@pytest.fixture(scope="module")
def text(repository):
    """Return the template's text."""
    return (repository / "emitters.yaml").read_text("utf-8")


@pytest.fixture(scope="module")
def emitters(text):
    """Return the template with unresolved functions."""
    return load(text)


@pytest.fixture(scope="module")
def alarms(emitters):
    """Return the template's alarms as typed values."""
    return stated(emitters, **{"AWS::AccountId": "111122223333"})


def alarm_minutes(alarms, *acts):
    """
    Return a function that returns the minutes in which alarms on the emitters' metrics fire, for
    pairs of minutes and records.
    """
    lines = LineWriter(MinuteSettings(metrics="cluster"))
    history = RecordedHistory()
    played = [records for minutes, records in acts for _ in range(minutes)]
    for minute, records in enumerate(played):
        at_ms = (FIRST_POINT_MINUTE + minute) * 60_000
        written = [
            line
            for record in records
            for line in [
                record.line for record in lines.minute_records(replace(record, minute_ms=at_ms))
            ]
        ]
        for datum in (
            extracted for line in written for extracted in extract(line, at_ms + 60_000).data
        ):
            metric = (datum.namespace, datum.name, dict(datum.dimensions))
            for value, count in datum.counts.items():
                put_value(history, metric, minute, value, SENT_AFTER_S, copies=count)
    return {
        name: minutes
        for name in ("IdleCoresAlarm", "ExecutionErrorsAlarm")
        if (minutes := minutes_in_alarm(alarms[name], history, len(played)))
    }


# --- the alarms ---


def test_half_the_cores_idle_for_a_quarter_of_an_hour_fire(alarms):
    """
    Half of all cores idle for 15 minutes fire the alarm once, and it ends when they work again.
    """
    fired = alarm_minutes(
        alarms,
        (30, [BUSY_RECORD, BUSY_RECORD]),
        (40, [BUSY_RECORD, IDLE_RECORD]),
        (30, [BUSY_RECORD, BUSY_RECORD]),
    )
    (minutes,) = fired.values()
    assert ["IdleCoresAlarm"] == list(fired)
    assert 30 + 15 <= minutes[0] <= 30 + 15 + 2
    assert list(range(minutes[0], minutes[-1] + 1)) == minutes
    assert minutes[-1] < 70 + 10


@pytest.mark.parametrize(
    "acts",
    [
        ((30, [BUSY_RECORD]), (14, [IDLE_RECORD]), (30, [BUSY_RECORD])),
        ((30, [BUSY_RECORD] * 9 + [IDLE_RECORD]), (30, [BUSY_RECORD])),
        ((40, [UNKNOWN_RECORD]),),
        ((10, [BUSY_RECORD]), (40, [])),
    ],
    ids=["a pause", "10 % idle", "unknown", "no instance"],
)
def test_what_is_short_little_or_unknown_fires_nothing(alarms, acts):
    """Unknown cores and missing instances fire nothing."""
    assert {} == alarm_minutes(alarms, *acts)


def test_failing_executions_fire_at_the_third_minute(alarms):
    """Failing executions fire at the third minute, next to an instance without failures."""
    minutes = alarm_minutes(
        alarms,
        (20, [BUSY_RECORD, BUSY_RECORD]),
        (10, [BUSY_RECORD, FAILING_RECORD]),
        (30, [BUSY_RECORD, BUSY_RECORD]),
    )
    assert ["ExecutionErrorsAlarm"] == list(minutes)
    assert 20 + 3 <= minutes["ExecutionErrorsAlarm"][0] <= 20 + 3 + 2


def test_a_quarter_of_an_hour_without_lines_fires(alarms):
    """15 minutes without lines, for which CloudWatch Logs has no data points, fire the alarm."""
    alarm = alarms["NoLinesAlarm"]
    history = RecordedHistory()
    metric = (alarm.source.namespace, alarm.source.metric, dict(alarm.source.dimensions))
    for minute in range(30):
        put_value(history, metric, minute, 1, SENT_AFTER_S)
    # There is no line before minute 0 either.
    minutes = [minute for minute in minutes_in_alarm(alarm, history, 60) if minute > 15]
    assert 30 + 15 <= minutes[0] <= 30 + 15 + 4
    assert list(range(minutes[0], 60)) == minutes


# --- next to template.yaml ---


def test_names_and_log_group_are_those_of_the_whole_stack(emitters, template):
    """
    Names and log group are the whole stack's, so that it can adopt the group and instances find the
    same outputs.
    """
    for name, parameter in emitters["Parameters"].items():
        texts = {"Description", "ConstraintDescription"}
        if name != "ClusterName":  # in template.yaml it may be empty: every cluster
            stated = template["Parameters"][name]
            own = parameter
            assert {key: value for key, value in own.items() if key not in texts} == {
                key: value for key, value in stated.items() if key not in texts
            }, name
    ours, adopted = (document["Resources"]["RecordsLogGroup"] for document in (emitters, template))
    for member in ("Condition", "DeletionPolicy", "UpdateReplacePolicy"):
        assert adopted[member] == ours[member]
    for member in ("LogGroupName", "LogGroupClass", "RetentionInDays", "KmsKeyId"):
        assert adopted["Properties"][member] == ours["Properties"][member]
    for name, output in emitters["Outputs"].items():
        assert template["Outputs"][name]["Value"] == output["Value"]
        assert template["Outputs"][name].get("Export") == output.get("Export")
    policies = [
        document["Resources"]["EmitterPolicy"]["Properties"] for document in (emitters, template)
    ]
    assert policies[0]["PolicyDocument"] == policies[1]["PolicyDocument"]
