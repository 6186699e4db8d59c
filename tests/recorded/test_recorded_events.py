"""Events of alarms that explain is tried with have the members that CloudWatch's had."""

from __future__ import annotations

import re

from neuron_wire.names import OF_A_CONTRIBUTOR, OF_AN_ALARM
from tests.aggregator.explain.alarm_events import of_a_contributor, of_an_alarm
from tests.recorded.recording import each

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
    """But those of an alarm's queries."""
    kind, there = row["case"], set(row["members"])
    event = {OF_A_CONTRIBUTOR: of_a_contributor(), OF_AN_ALARM: of_an_alarm()}[kind]
    found = set(paths(event))
    assert OF_ANY_EVENT | (there - OF_QUERIES) <= found
    assert not set(row["never"]) & found
    moments = event["time"], event["detail"]["state"]["timestamp"]
    assert re.fullmatch(
        r"[-0-9]{10}T[:0-9]{8}Z [-0-9]{10}T[:0-9]{8}\.\d{3}\+0000", " ".join(moments)
    )
