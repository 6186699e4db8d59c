"""Events on a bus of EventBridge, and what a refusal leaves to the next run."""

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


class Client:
    """EventBridge that gives one answer."""

    def __init__(self, answer):
        self.answer = answer

    def put_events(self, **_request):
        return self.answer


@pytest.fixture
def accepted(functions):  # noqa: ARG001 - the table is in the same pretended AWS
    """The entries that were put on the default bus, as they went over the wire."""
    entries = []

    def keep(params, **_others):
        entries.extend(json.loads(params["body"])["Entries"])

    close._bus.cache_clear()
    close._bus("default").client.meta.events.register("before-call.eventbridge.PutEvents", keep)
    yield entries
    close._bus.cache_clear()


def close_an_idle_minute(monkeypatch, bus):
    """One run of the handler after a minute with an idle instance."""
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
    """As a rule sees them, and then nothing is due any more."""
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
    """Nothing is kept and nothing sent."""
    assert {} == close_an_idle_minute(monkeypatch, "")
    assert [] == accepted
