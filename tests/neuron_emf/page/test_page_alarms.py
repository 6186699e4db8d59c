"""Alarms and messages of the stack: found by its name, each once, of the last day."""

from __future__ import annotations

import json

import pytest

from neuron_emf.account import account
from neuron_emf.command_options import AccountSettings
from neuron_emf.page.alarms import URGENCY, AccountAlarms, MessageLines, by_urgency
from neuron_wire.catalogue import ALARMS
from tests.neuron_emf.page.page_account import (
    EXPLAIN_GROUP,
    IDLE_TEXT,
    PAGE_NOW_S,
    double_of,
    message,
)
from tests.neuron_emf.page.test_page_state import evaluate


@pytest.fixture
def alarms(double):  # noqa: ARG001  # the environment leads there
    """Return the alarms of the account."""
    return AccountAlarms(account(AccountSettings()))


def test_every_alarm_of_the_template_is_shown(alarms, double):
    """
    Every alarm of the template is shown, over several pages, either of clusters or of the pipeline.
    """
    double.alarms_page = 3
    shown = {alarm["title"]: alarm for alarm in alarms.read_alarms()}
    assert len(double.alarms) == len(shown)
    assert len(ALARMS) == sum(not alarm["is_pipeline"] for alarm in shown.values())
    assert not shown["Idle cores"]["is_pipeline"]
    assert shown["No minute closed"]["is_pipeline"]
    assert [["IdleCorePercent"], ["IdleCostPerHour"], ["NeuronCoreUtilization"]] == [
        shown[title]["metrics"] for title in ("Idle cores", "Idle cost", "Low utilization")
    ]
    assert all(alarm["description"] for alarm in shown.values())
    assert "http" not in "".join(alarm["description"] for alarm in shown.values())


def test_contributors_are_asked_for_where_an_alarm_fires(alarms, double):
    """Contributors of a firing alarm are read over several pages; an alarm that is OK has none."""
    double.alarms_page = 2
    double.fire_alarm("SilentInstancesAlarm", "a", "b", "c", reason="1 datapoint")
    (firing,) = [alarm for alarm in alarms.read_alarms() if alarm["state"] == "ALARM"]
    assert ["a", "b", "c"] == [contributor["name"] for contributor in firing["contributors"]]
    assert {"1 datapoint"} == {contributor["reason"] for contributor in firing["contributors"]}
    assert round(double.alarms_made_s * 1000) == firing["contributors"][0]["since_ms"]
    assert 2 == double.operations.count("DescribeAlarmContributors")


def test_another_stack_whose_name_begins_with_ours_is_left_out(alarms, double):
    """Alarms of a stack whose name begins with ours are not shown."""
    count = len(alarms.read_alarms())
    double.add_alarm("neuron-emf-test", "Other", {"Namespace": "Neuron/Cluster"})
    assert count == len(alarms.read_alarms())


PAGE_NOW_MS = round(PAGE_NOW_S * 1000)


def put(double, *texts):
    """Return a function that puts lines into explain's log group at their own times."""
    for text in texts:
        double.put(
            EXPLAIN_GROUP, "explain", [(json.loads(text).get("Timestamp", PAGE_NOW_MS), text)]
        )


def test_the_latest_comes_first_and_a_copy_is_none(double):
    """The newest message comes first, copies count once, and other lines of explain are skipped."""
    first = message(double, "IdleCoresAlarm", "research", IDLE_TEXT, at_s=PAGE_NOW_S - 7200)
    second = message(
        double, "IdleCoresAlarm", "a", "a: over\nNow.", at_s=PAGE_NOW_S - 60, state="OK"
    )
    put(double, first, second, first, json.dumps({"AlarmName": "x", "message": "alarm told"}))
    put(double, json.dumps({**json.loads(first), "Text": None}))
    found = account(AccountSettings())
    lines = MessageLines(found, found.client("logs"), lambda: PAGE_NOW_MS)
    shown = lines.read_newest_first()
    assert [("OK", "a: over\nNow."), ("ALARM", IDLE_TEXT)] == [
        (message["state"], message["text"]) for message in shown
    ]


def test_a_message_begins_without_its_cluster_and_its_commands_are_found():
    """The page shows the cluster next to the first sentence; a numbered line is a command."""
    expression = "[page.firstSentence(one), page.commandsIn(one).map(([, , text]) => text)]"
    ((sentence, commands),) = evaluate(
        expression, [{"cluster": "research", "text": IDLE_TEXT}], "alarms.js"
    )
    assert IDLE_TEXT.splitlines()[0].removeprefix("research: ") == sentence
    assert ["scontrol show job 4711"] == commands


def test_only_idle_alarms_may_be_muted():
    """A mute covers eight hours of an alarm about idle cores; faults would go unnoticed."""
    alarms = [{"name": "x", "metrics": [name]} for name in ("IdleCorePercent", "HardwareErrors")]
    expression = f"page.muteOf(one, {PAGE_NOW_MS}, 'us-west-2')"
    muted, kept = evaluate(expression, alarms, "alarms.js")
    assert "at(2026-11-20T09:02)" in muted["text"]
    assert muted["text"].endswith("AlarmNames=x --region us-west-2")
    assert "" == kept["text"]


def test_later_ones_come_and_those_of_yesterday_go(monkeypatch):
    """A minute later the newest five minutes are read again, and a day later nothing is left."""
    now = [PAGE_NOW_S]
    with double_of(monkeypatch, lambda: now[0]) as double:
        put(double, message(double, "IdleCoresAlarm", "a", IDLE_TEXT, at_s=PAGE_NOW_S - 60))
        found = account(AccountSettings())
        lines = MessageLines(found, found.client("logs"), lambda: round(now[0] * 1000))
        assert 1 == len(lines.read_newest_first())
        put(double, message(double, "IdleCoresAlarm", "b", IDLE_TEXT, at_s=PAGE_NOW_S + 30))
        now[0] += 60
        assert ["b", "a"] == [message["cluster"] for message in lines.read_newest_first()]
        now[0] += 86_400
        assert [] == lines.read_newest_first()


def firing(title, metric, *clusters, urgency="can wait"):
    """Return an alarm that fires for these clusters."""
    rows = [{"name": name, "reason": "", "since_ms": None} for name in clusters]
    return {
        "name": title,
        "title": title,
        "state": "ALARM",
        "metrics": [metric],
        "urgency": urgency,
        "contributors": rows,
    }


def test_what_cannot_wait_comes_first():
    """
    The most urgent alarm comes first: the newest message decides, otherwise the alarm's urgency.
    """
    alarms = [
        firing("Idle cores", "IdleCorePercent", "a", "b"),
        firing("Hours not settled", "HoursWaiting", urgency="today"),
        firing("Low utilization", "NeuronCoreUtilization", "a"),
    ]
    messages = [
        {
            "alarm": "Idle cores",
            "metrics": ["IdleCorePercent"],
            "state": state,
            "cluster": cluster,
            "urgency": urgency,
        }
        for cluster, state, urgency in (
            ("b", "OK", "today"),
            ("b", "ALARM", "now"),
            ("b", "ALARM", "can wait"),
            ("a", "ALARM", None),
        )
    ]
    shown = by_urgency(reversed(alarms), messages)
    found = [
        (row["title"], one["name"], one["urgency"])
        for row in shown
        for one in row["contributors"] or [{"name": None, "urgency": row["urgency"]}]
    ]
    assert [
        ("Idle cores", "b", "now"),
        ("Idle cores", "a", "can wait"),
        ("Hours not settled", None, "today"),
        ("Low utilization", "a", "can wait"),
    ] == found


def test_each_alarm_of_the_template_has_an_urgency(alarms, double):
    """Each name in the table of urgencies is an alarm of the template."""
    names = {name.removesuffix("Alarm") for name in double.alarms}
    assert set(URGENCY) <= names
    assert {"now", "today", "can wait"} == {alarm["urgency"] for alarm in alarms.read_alarms()}
