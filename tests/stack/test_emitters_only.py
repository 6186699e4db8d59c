"""emitters.yaml: alone it watches one or two instances, and template.yaml can take over from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from local.alarms.template import load
from local.pump import extract
from neuron_emitter.lines import LineWriter
from neuron_emitter.settings import MinuteSettings
from proof.factories.records import record
from tests.stack.metric_points import FIRST_POINT_MINUTE, ArrivedMinutes, ringing
from tests.stack.stack_template import stated

SENT_AFTER_S = 90.0
EMITTERS_CLUSTER = "neuron"  # as the parameter has it
BUSY_RECORD = record(cluster=EMITTERS_CLUSTER, core_state="bb", utilization_percent=(80.0, 60.0))
IDLE_RECORD = replace(BUSY_RECORD, core_state="au", utilization_percent=(0.0, 0.0))
UNKNOWN_RECORD = replace(
    BUSY_RECORD, core_state="??", utilization_percent=(), covered_seconds=0.0, execution_errors=None
)
FAILING_RECORD = replace(BUSY_RECORD, execution_errors=10)


@pytest.fixture(scope="module")
def text(repository):
    """The template as it is written."""
    return (repository / "emitters.yaml").read_text("utf-8")


@pytest.fixture(scope="module")
def emitters(text):
    """The template with its functions unresolved."""
    return load(text)


@pytest.fixture(scope="module")
def alarms(emitters):
    """Its alarms as typed values."""
    return stated(emitters, **{"AWS::AccountId": "111122223333"})


def rung(alarms, *acts):
    """In which minutes alarms on the emitters' metrics are firing: pairs of minutes and records."""
    lines = LineWriter(MinuteSettings(metrics="cluster"))
    history = ArrivedMinutes()
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
                history.put_value(metric, minute, value, SENT_AFTER_S, count)
    return {
        name: minutes
        for name in ("IdleCoresAlarm", "ExecutionErrorsAlarm")
        if (minutes := ringing(alarms[name], history, len(played)))
    }


# --- the alarms ---


def test_half_the_cores_idle_for_a_quarter_of_an_hour_fire(alarms):
    """Counted over all instances; it fires once and ends when there is work again."""
    found = rung(
        alarms,
        (30, [BUSY_RECORD, BUSY_RECORD]),
        (40, [BUSY_RECORD, IDLE_RECORD]),
        (30, [BUSY_RECORD, BUSY_RECORD]),
    )
    (minutes,) = found.values()
    assert ["IdleCoresAlarm"] == list(found)
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
    ids=["a pause", "10 % idle", "unknown", "nobody"],
)
def test_what_is_short_little_or_unknown_fires_nothing(alarms, acts):
    """Unknown is not idle, and neither is an instance that is gone."""
    assert {} == rung(alarms, *acts)


def test_failing_executions_fire_at_the_third_minute(alarms):
    """Beside an instance that fails nothing."""
    found = rung(
        alarms,
        (20, [BUSY_RECORD, BUSY_RECORD]),
        (10, [BUSY_RECORD, FAILING_RECORD]),
        (30, [BUSY_RECORD, BUSY_RECORD]),
    )
    assert ["ExecutionErrorsAlarm"] == list(found)
    assert 20 + 3 <= found["ExecutionErrorsAlarm"][0] <= 20 + 3 + 2


def test_a_quarter_of_an_hour_without_lines_fires(alarms):
    """No point at all, which is all that CloudWatch Logs says of silence."""
    alarm = alarms["NoLinesAlarm"]
    history = ArrivedMinutes()
    metric = (alarm.source.namespace, alarm.source.metric, dict(alarm.source.dimensions))
    for minute in range(30):
        history.put_value(metric, minute, 1, SENT_AFTER_S)
    # Before minute 0 there was no line either.
    found = [minute for minute in ringing(alarm, history, 60) if minute > 15]
    assert 30 + 15 <= found[0] <= 30 + 15 + 4
    assert list(range(found[0], 60)) == found


# --- beside template.yaml ---


def test_names_and_log_group_are_those_of_the_whole_stack(emitters, template):
    """So that it can adopt the group, and instances find the same outputs."""
    for name, parameter in emitters["Parameters"].items():
        said = {"Description", "ConstraintDescription"}
        if name != "ClusterName":  # there it may be empty: every cluster
            stated = template["Parameters"][name]
            own = parameter
            assert {key: value for key, value in own.items() if key not in said} == {
                key: value for key, value in stated.items() if key not in said
            }, name
    ours, theirs = (document["Resources"]["RecordsLogGroup"] for document in (emitters, template))
    for member in ("Condition", "DeletionPolicy", "UpdateReplacePolicy"):
        assert theirs[member] == ours[member]
    for member in ("LogGroupName", "LogGroupClass", "RetentionInDays", "KmsKeyId"):
        assert theirs["Properties"][member] == ours["Properties"][member]
    for name, output in emitters["Outputs"].items():
        assert template["Outputs"][name]["Value"] == output["Value"]
        assert template["Outputs"][name].get("Export") == output.get("Export")
    policies = [
        document["Resources"]["EmitterPolicy"]["Properties"] for document in (emitters, template)
    ]
    assert policies[0]["PolicyDocument"] == policies[1]["PolicyDocument"]
