"""The state of an alarm on the page is the evaluator's, and what nobody judged is not OK."""

from __future__ import annotations

import pytest

from local.alarms import RecordedHistory
from local.page.alarms import EVALUATE_EACH_S, NOT_EVALUATED, AlarmBoard
from local.page.dashboard import Dashboard
from tests.local.page.recording import template_of
from tests.stack.stated_alarms import SUBJECTS

NOW_S = 1_800_000_030.0
STACK = ("Neuron/Stack", "MinutesClosed", {"StackName": "neuron-emf"})


class World:
    """The template's alarms on a history of its own."""

    def __init__(self, repository, **parameters):
        self.now_s = NOW_S
        self.history = RecordedHistory()
        template = template_of(repository, **parameters)
        self._board = AlarmBoard(template, self.history, lambda: self.now_s)
        widgets = Dashboard.of(template).widgets("research")
        self._clusters, self._pipeline = [one for one in widgets if one.type == "alarm"]

    def rows(self):
        """Every alarm of the dashboard, by name."""
        found = {}
        for widget in (self._clusters, self._pipeline):
            found |= {row["name"]: row for row in self._board.widget(widget.properties)["alarms"]}
        return found

    def clusters(self):
        """The widget of the alarms on clusters."""
        return self._board.widget(self._clusters.properties)

    def put(self, namespace, metric, dimensions, value, minutes=range(1, 40)):
        """One *value* in each of the last *minutes*."""
        for age in minutes:
            self.history.put(namespace, metric, dimensions, self.now_s - 60 * age, [value])


@pytest.fixture
def world(repository):
    """The repository's own alarms, nothing recorded."""
    return World(repository)


def test_an_alarm_on_every_cluster_has_a_state_for_each(world):
    """What rings stands first, with the cluster that makes it ring."""
    for cluster, percent in (("research", 51.0), ("serving", 0.0)):
        world.put("Neuron/Cluster", "IdleCorePercent", {"ClusterName": cluster}, percent)
    found = world.clusters()
    assert "Alarms on clusters" == found["title"]
    first = found["alarms"][0]
    assert ("IdleCoresAlarm", "ALARM") == (first["name"], first["state"])
    assert first["reason"].startswith("research: 15 of 15 data points at or above 20")
    assert first["subject"].startswith("At least 20 % of the known cores of a cluster have not")
    assert "http" not in first["subject"]
    assert [("research", "ALARM"), ("serving", "OK")] == [
        (one["cluster"], one["state"]) for one in first["contributors"]
    ]
    assert "0 of 15" in first["contributors"][1]["reason"]


def test_every_alarm_of_the_dashboard_is_judged_or_says_why_not(world):
    """Those on our own metrics are judged."""
    rows = world.rows()
    judged = {name for name, row in rows.items() if row["state"] != NOT_EVALUATED}
    assert "NoMinuteClosedAlarm" in judged
    assert {f"{subject}Alarm" for subject in SUBJECTS} < judged
    assert all(row["reason"] and row["subject"] for row in rows.values())
    assert len(rows) == 20


def test_an_alarm_that_warms_up_does_not_ring_yet(world):
    """Missing minutes count as breaching for it, and just after the deployment all are missing."""
    assert "INSUFFICIENT_DATA" == world.rows()["NoMinuteClosedAlarm"]["state"]
    assert "warms up" in world.rows()["NoMinuteClosedAlarm"]["reason"]
    world.now_s += 15 * 60 - 1
    assert "INSUFFICIENT_DATA" == world.rows()["NoMinuteClosedAlarm"]["state"]
    world.now_s += EVALUATE_EACH_S
    assert "ALARM" == world.rows()["NoMinuteClosedAlarm"]["state"]
