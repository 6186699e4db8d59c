"""Events on an EventBridge bus, and rejected events, which the next run sends."""

from __future__ import annotations

import json
import time

import pytest

from aggregator import runtime
from aggregator.close import function as close
from aggregator.ingest.intake import take_in
from aggregator.storage.table import Table
from neuron_accounts.findings import EVENT_SOURCE, FINDING_DETAIL_TYPE, FindingsState
from proof.factories.invocations import Context
from proof.factories.records import MINUTE, lines
from tests.aggregator.findings.findings_fleet import idle


@pytest.fixture
def accepted(functions):  # noqa: ARG001 - the table is in the same pretended AWS
    """Return the entries that were put on the default bus, as they were sent."""
    entries = []

    def keep(params, **_others):
        entries.extend(json.loads(params["body"])["Entries"])

    close._bus.cache_clear()
    close._bus("default").client.meta.events.register("before-call.eventbridge.PutEvents", keep)
    yield entries
    close._bus.cache_clear()


def close_an_idle_minute(monkeypatch, bus):
    """Run the handler once after a minute with an idle instance."""
    monkeypatch.setenv("FINDINGS_BUS", bus)
    runtime.stack.cache_clear()
    table = Table.connect("records")
    seconds = iter((MINUTE * 60 + 60, MINUTE * 60 + 185))
    monkeypatch.setattr(time, "time", lambda: next(seconds, MINUTE * 60 + 185))
    take_in(lines(idle(minute=MINUTE)), table, 120, time.time, in_packs=False)
    close.handler({}, Context())
    return {
        place: FindingsState.unpacked(finding.payload)
        for place, finding in table.read_findings().items()
    }


def test_the_handler_puts_events_on_the_bus_of_its_environment(accepted, monkeypatch):
    """The handler puts events on the bus of its environment, and no event stays due."""
    states = close_an_idle_minute(monkeypatch, "default")
    (entry,) = accepted
    assert "default" == entry["EventBusName"]
    assert EVENT_SOURCE == entry["Source"]
    assert FINDING_DETAIL_TYPE == entry["DetailType"]
    detail = json.loads(entry["Detail"])
    assert "idle-instance" == detail["Kind"]
    assert "opened" == detail["Change"]
    assert [[]] == [state.due for state in states.values()]


def test_without_a_bus_there_are_no_findings(accepted, monkeypatch):
    """Without a bus, no finding is stored or sent."""
    assert {} == close_an_idle_minute(monkeypatch, "")
    assert [] == accepted
