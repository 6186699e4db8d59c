"""
The page of a rehearsal: its own port or a free one, deployed names, the lines that the pump saw.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from local.alarms import CloudWatchHistory, RecordedHistory
from local.alarms.template import load_template
from local.page import AccountEndpoint, LogLines
from local.page.server import HOST, PORT
from local.pump import LogEvent
from local.rehearsal import command_line
from local.rehearsal.page import opened, served, view_of
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
    return load_template(repository / "template.yaml")


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
    assert "IdleCoresAlarm" in alarms
    assert any("empty graphs" in sentence for sentence in page["limits"])


def test_where_commands_look_they_are_named(stack, document, capsys, monkeypatch):
    """At the port that `--rehearsal` asks, and at no other."""
    assert f"http://{HOST}:{PORT}/rehearsal.json" == REHEARSAL
    with opened(stack, document, 0) as first:
        free = first.port
        assert "--rehearsal" not in capsys.readouterr().out
    monkeypatch.setattr("local.rehearsal.page.PORT", free)
    with opened(stack, document, free):
        assert ".venv/bin/neuron-emf top --rehearsal" in capsys.readouterr().out


def test_a_port_that_is_taken_is_said_and_another_one_found(stack, document, capsys):
    """Two rehearsals can run beside each other."""
    with opened(stack, document, 0) as first:
        capsys.readouterr()
        with opened(stack, document, first.port) as second:
            assert first.port != second.port
            said = capsys.readouterr().out
            assert f"Port {first.port} is in use" in said
            assert f"Open {second.url}" in said


def test_another_trouble_than_a_taken_port_is_raised(stack, document, monkeypatch):
    """A free port would not help."""

    def fail(*_):
        raise OSError(99, "cannot assign")

    monkeypatch.setattr("local.rehearsal.page.PageServer", fail)
    with pytest.raises(OSError, match="cannot assign"):
        served(view_of(stack, document), 8600)


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


@pytest.fixture
def asked(monkeypatch):
    """The port that a command line asks for."""

    def port(*arguments):
        found = []

        class Rehearsal:
            def __init__(self, *given):
                found.append(given[-1])
                raise command_line.StoppedError(2)

        monkeypatch.setattr(command_line, "Rehearsal", Rehearsal)
        command_line.main(arguments)
        return found[0]

    return port


@pytest.mark.parametrize(("text", "port"), [("0", 0), ("8601", 8601), ("65535", 65_535)])
def test_the_port_can_be_chosen(asked, text, port):
    """And is 8600 otherwise, where `--rehearsal` looks."""
    assert port == asked("--page-port", text)
    assert 8600 == asked()


@pytest.mark.parametrize("text", ["65536", "-1", "x", "", "1e3", "٣"])
def test_what_is_no_port_is_wrong_use(text, capsys):
    """One sentence."""
    with pytest.raises(SystemExit) as caught:
        command_line.main(["--page-port", text])
    assert 2 == caught.value.code
    assert "expected a port from 0 to 65535" in capsys.readouterr().err
