"""Messages are lines of Kind `message`, each once, of the last day."""

from __future__ import annotations

import json

from neuron_emf.account import account
from neuron_emf.options import AccountSettings
from neuron_emf.page.alarms import MessageLines
from tests.neuron_emf.page.looked_at import EXPLAIN_GROUP, IDLE_TEXT, NOW_S, double_of, message

NOW_MS = round(NOW_S * 1000)


def put(double, *texts):
    """Lines in explain's log group, at the times that they say."""
    for text in texts:
        double.put(EXPLAIN_GROUP, "explain", [(json.loads(text).get("Timestamp", NOW_MS), text)])


def test_the_latest_comes_first_and_a_copy_is_none(double):
    """By alarm, cluster, state and time; what else explain prints is passed over."""
    first = message(double, "IdleCoresAlarm", "research", IDLE_TEXT, at_s=NOW_S - 7200)
    second = message(double, "IdleCoresAlarm", "a", "a: over\nNow.", at_s=NOW_S - 60, state="OK")
    put(double, first, second, first, json.dumps({"AlarmName": "x", "message": "alarm told"}))
    put(double, json.dumps({**json.loads(first), "Text": None}))
    found = account(AccountSettings())
    lines = MessageLines(found, found.client("logs"), lambda: NOW_MS)
    shown = lines.read_newest_first()
    told = IDLE_TEXT.splitlines()[0].removeprefix("research: ")  # which stands before it anyway
    assert [("OK", "over"), ("ALARM", told)] == [
        (one["state"], one["first_sentence"]) for one in shown
    ]


def test_later_ones_come_and_those_of_yesterday_go(monkeypatch):
    """A minute later the newest five are read again, and a day later nothing is left."""
    now = [NOW_S]
    with double_of(monkeypatch, lambda: now[0]) as double:
        put(double, message(double, "IdleCoresAlarm", "a", IDLE_TEXT, at_s=NOW_S - 60))
        found = account(AccountSettings())
        lines = MessageLines(found, found.client("logs"), lambda: round(now[0] * 1000))
        assert 1 == len(lines.read_newest_first())
        put(double, message(double, "IdleCoresAlarm", "b", IDLE_TEXT, at_s=NOW_S + 30))
        now[0] += 60
        assert ["b", "a"] == [one["cluster"] for one in lines.read_newest_first()]
        now[0] += 86_400
        assert [] == lines.read_newest_first()
