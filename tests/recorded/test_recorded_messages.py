"""The members that explain takes from CloudWatch's message have its names and its shapes."""

from __future__ import annotations

import json
import re

import pytest

from aggregator.explain.event import transition_of
from aggregator.explain.notification import notify
from proof.factories.alarms import ENVIRONMENT, RANG_S, of_a_contributor, of_an_alarm
from proof.memory_table import MemoryTable
from tests.recorded.recording import each


def paths(value, at=""):
    """Every member that is no object, by its path."""
    for name, one in value.items():
        path = f"{at}.{name}" if at else name
        yield from paths(one, path) if isinstance(one, dict) else [path]


@each("messages_of_alarms")
@pytest.mark.parametrize("event", [of_an_alarm(), of_a_contributor()], ids=["alarm", "contributor"])
def test_a_message_has_the_members_of_the_recorded_one(row, event):
    """Subject, moment, and each metric of the trigger; no member that CloudWatch does not write."""
    transition = transition_of(event)
    message = notify(
        transition, MemoryTable(), ENVIRONMENT, lambda *_: None, RANG_S, printer=lambda _: None
    ).message
    found = json.loads(message.document)
    assert set(row["members"]) <= found.keys()
    assert row["subject"].partition(" ")[0] == message.subject.partition(" ")[0] == "ALARM:"
    assert re.sub("[0-9]", "0", row["moment"]) == re.sub("[0-9]", "0", found["StateChangeTime"])
    assert {"Metrics"} == found["Trigger"].keys()
    for metric in found["Trigger"]["Metrics"]:
        assert set(paths(metric)) <= set(row["metrics"])
        for dimension in metric.get("MetricStat", {}).get("Metric", {}).get("Dimensions", []):
            assert {"name", "value"} == dimension.keys()
