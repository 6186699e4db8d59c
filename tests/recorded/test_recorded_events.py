"""Events of alarms have the members that CloudWatch's had: the factory's and the rehearsal's."""

from __future__ import annotations

import re

from local.alarms import Alarm, State
from local.alarms.evaluation import AlarmState
from local.alarms.insights import parse_query
from local.rehearsal.notice import events_of
from neuron_wire.names import OF_A_CONTRIBUTOR, OF_AN_ALARM
from proof.factories.alarms import of_a_contributor, of_an_alarm
from tests.recorded.recording import each

TEXT = (
    'SELECT AVG(IdleCorePercent) FROM SCHEMA("Neuron/Cluster", ClusterName)'
    " GROUP BY ClusterName ORDER BY AVG() DESC"
)
FOUND = AlarmState(
    Alarm("A", parse_query(TEXT), "GreaterThanThreshold", 10, 60, 1, 1, "notBreaching"),
    (("ClusterName", "training"),),
    State.ALARM,
    "1 of 1",
)
PROPERTIES = {"Metrics": [{"Id": "q", "Expression": TEXT}], "AlarmDescription": "Idle cores."}
ITSELF, CONTRIBUTOR = events_of(FOUND, [FOUND], PROPERTIES, 1_800_000_000)

OF_ANY_EVENT = {
    "version", "detail-type", "source", "account", "time", "region", "resources", "detail",
}  # fmt: skip
OF_QUERIES = {"detail.configuration.metrics.expression", "detail.configuration.metrics.period"}


def paths(value, at=""):
    """Every member of an event, by its path; those of an array's elements by the array's."""
    for name, one in value.items():
        path = f"{at}.{name}" if at else name
        yield path
        for inner in one if isinstance(one, list) else [one]:
            if isinstance(inner, dict):
                yield from paths(inner, path)


@each("events_of_alarms")
def test_an_event_has_the_members_that_were_recorded(row):
    """Of both makers, which explain and the rehearsal are tried with."""
    kind, there = row["case"], set(row["members"])
    made = {OF_A_CONTRIBUTOR: of_a_contributor(), OF_AN_ALARM: of_an_alarm()}[kind]
    rehearsed = {OF_A_CONTRIBUTOR: CONTRIBUTOR, OF_AN_ALARM: ITSELF}[kind]
    for event, expected in ((rehearsed, there), (made, there - OF_QUERIES)):
        found = set(paths(event))
        assert OF_ANY_EVENT | expected <= found
        assert not set(row["never"]) & found
        moments = event["time"], event["detail"]["state"]["timestamp"]
        assert re.fullmatch(
            r"[-0-9]{10}T[:0-9]{8}Z [-0-9]{10}T[:0-9]{8}\.\d{3}\+0000", " ".join(moments)
        )


def test_a_contributor_has_an_id_of_its_attributes_alone():
    """Sixteen hex digits, the same in every alarm."""
    other = events_of(FOUND, [FOUND], {**PROPERTIES, "AlarmDescription": "Another"}, 1_900_000_000)
    ids = {one["detail"]["alarmContributor"]["id"] for one in (CONTRIBUTOR, other[1])}
    assert 1 == len(ids)
    assert re.fullmatch("[0-9a-f]{16}", *ids)
