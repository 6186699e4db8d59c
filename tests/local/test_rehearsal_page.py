"""
The page of a rehearsal: its own port or a free one, deployed names, the lines that the pump saw.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from local.alarms import CloudWatchHistory, RecordedHistory
from local.alarms.template import load
from local.page import AccountEndpoint, LogLines
from local.page.server import HOST, PORT
from local.pump import LogEvent
from local.rehearsal.page import opened, view_of
from local.rehearsal.stack import STACK_NAME, DeployedStack
from neuron_emf.account import REHEARSAL

QUEUE_URL = "http://127.0.0.1:4566/000000000000/neuron-emf-Undelivered-1"
RESOURCES = {
    "CloseFunction": "neuron-emf-Close-1",
    "RollupsLogGroup": "/r",
    "UndeliveredQueue": QUEUE_URL,
}


@pytest.fixture
def document(repository):
    """The repository's own template."""
    return load((repository / "template.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def stack():
    """A stack without metrics."""
    return SimpleNamespace(
        resources=RESOURCES,
        readings=RecordedHistory(),
        lines=LogLines(3600),
        place=AccountEndpoint("http://127.0.0.1:4566", "us-east-1", "/records", "/r", STACK_NAME),
    )


def dimensions(page):
    """Every value of a dimension that a series of the page has."""
    series = [one for widget in page["widgets"] for one in widget.get("series", [])]
    return {value for one in series for value in one["dimensions"].values()}


def test_the_page_shows_what_is_deployed(stack, document):
    """
    Names of functions, queue and log groups as they are here, the alarms as they would be on AWS.
    """
    page = view_of(stack, document).page()
    assert {"neuron-emf-Close-1", "neuron-emf-Undelivered-1", "/r"} <= dimensions(page)
    alarms = {one["name"] for widget in page["widgets"] for one in widget.get("alarms", [])}
    assert "IdleCoresByClusterAlarm" in alarms
    assert any("red graphs" in sentence for sentence in page["limits"])


def test_where_commands_look_they_are_named(stack, document, capsys, monkeypatch):
    """At the port that `--rehearsal` asks, and at no other."""
    assert f"http://{HOST}:{PORT}/rehearsal.json" == REHEARSAL
    with opened(stack, document, 0) as first:
        free = first.port
        assert "--rehearsal" not in capsys.readouterr().out
    monkeypatch.setattr("local.rehearsal.page.PORT", free)
    with opened(stack, document, free):
        assert ".venv/bin/neuron-emf top --rehearsal" in capsys.readouterr().out


# --- the stack ---


class Turns:
    """A pump with what each of its turns brings."""

    def __init__(self, *turns):
        self._turns = list(turns)

    def turn(self):
        return self._turns.pop(0)


def test_the_lines_that_the_pump_sees_are_the_pages(monkeypatch):
    """Nothing is read twice; of all three log groups."""
    client = SimpleNamespace(meta=SimpleNamespace(endpoint_url="http://127.0.0.1:1"))
    aws = SimpleNamespace(endpoint_url="http://127.0.0.1:1", client=lambda _: client)
    outputs = {
        "EmitterLogGroupName": "/e", "RollupsLogGroupName": "/r", "CloseFunctionName": "close",
        "RecordsTableName": "table", "IngestLogGroupName": "/i",
    }  # fmt: skip
    deployment = SimpleNamespace(outputs=outputs, resources={}, stack_name="mine")
    stack = DeployedStack(aws, deployment, 0)
    event = LogEvent("s", 1_800_000_000_000, 0, '{"Kind":"event"}')
    monkeypatch.setattr(stack, "pump", Turns({"/e": [event], "/r": [], "/i": [event]}))
    assert 0 == stack.look()
    assert [[event.message]] * 2 == [[one.text for one in stack.lines.of(g)] for g in ("/e", "/i")]
    assert [] == stack.lines.of("/r")
    assert isinstance(stack.history, CloudWatchHistory)
    assert (
        AccountEndpoint("http://127.0.0.1:1", stack.place.region, "/e", "/r", "mine") == stack.place
    )


# --- the command line ---
