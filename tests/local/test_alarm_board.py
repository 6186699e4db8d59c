"""Alarm states on the board are the evaluator's, and an alarm that was not evaluated is not OK."""

from __future__ import annotations

import pytest

from local.alarms.template import Template, load_template
from local.pump import extract
from local.rehearsal.alarm_board import EVALUATE_EACH_S, NOT_EVALUATED, AlarmBoard
from tests.neuron_emf.page.page_account import FIRING_CLUSTERS
from tests.neuron_emf.page.page_account import PAGE_NOW_S as HOUR_READ_S
from tests.recorded_history import RecordedHistory
from tests.stack.stack_template import SUBJECTS

ALARMS_NOW_S = 1_800_000_030.0


class AlarmWorld:
    """The template's alarms without recorded metrics."""

    def __init__(self, repository, now_s=ALARMS_NOW_S):
        self.now_s = now_s
        self.history = RecordedHistory()
        template = Template(load_template(repository / "template.yaml"))
        self.board = AlarmBoard(template, self.history, lambda: self.now_s)

    def alarms(self):
        """Return every alarm by its title."""
        return {alarm["title"]: alarm for alarm in self.board.read_alarms()}


@pytest.fixture
def world(repository):
    """Return the repository's own alarms without recorded metrics."""
    return AlarmWorld(repository)


def test_every_alarm_is_judged_or_has_a_reason(world):
    """Alarms on the project's metrics are evaluated; all other alarms have a reason."""
    alarms = world.board.read_alarms()
    judged = {alarm["name"] for alarm in alarms if alarm["state"] != NOT_EVALUATED}
    assert "rehearsal-NoMinuteClosedAlarm" in judged
    assert {f"rehearsal-{subject}Alarm" for subject in SUBJECTS} < judged
    assert all(alarm["reason"] and alarm["description"] for alarm in alarms)
    assert len(world.board.properties) == len(alarms)


def test_an_alarm_that_warms_up_does_not_fire_yet(world):
    """
    An alarm in warm-up does not fire, although missing minutes breach and all minutes are missing.
    """

    def found():
        return world.alarms()["No minute closed"]

    assert "INSUFFICIENT_DATA" == found()["state"]
    assert "it warms up" == found()["reason"]
    world.now_s += 15 * 60 - 1
    assert "INSUFFICIENT_DATA" == found()["state"]
    world.now_s += EVALUATE_EACH_S
    assert "ALARM" == found()["state"]


def test_the_page_of_the_hour_shows_what_the_rehearsal_fires(repository, hour):
    """
    The README's sample, its pictures and `make demo` show one world: fleet, prices and alarms.
    """
    world = AlarmWorld(repository, HOUR_READ_S)
    for line in hour.rollups:
        for datum in extract(line, round(1000 * HOUR_READ_S)).data:
            place = datum.namespace, datum.name, dict(datum.dimensions)
            world.history.put(*place, datum.timestamp_ms / 1000, datum.counts)
    firing = {
        (state.alarm.logical_id, dict(state.contributor)["ClusterName"])
        for state in world.board.firing_on_clusters()
    }
    assert {
        (name, cluster) for name, clusters in FIRING_CLUSTERS.items() for cluster in clusters
    } == firing
