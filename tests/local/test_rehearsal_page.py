"""
The page of a rehearsal: its own port or a free one, its account, its evaluator's alarms.
"""

from __future__ import annotations

import json
import urllib.request
from types import SimpleNamespace

import pytest

from local.alarms.template import load_template
from local.rehearsal.page import AccountEndpoint, open_page
from local.rehearsal.stack import STACK_NAME
from neuron_emf import account as accounts
from neuron_emf.options import AccountSettings
from neuron_emf.page.alarms import AlarmStatus, Contributor, RehearsalAlarms
from neuron_emf.page.server import HOST, TOKEN_HEADER

PLACE = AccountEndpoint("http://127.0.0.1:9", "us-east-1", "/records", "/r", STACK_NAME)
FIRING = AlarmStatus(
    "rehearsal-IdleCoresAlarm", "Idle cores", "ALARM", "15 of 15", "Cores idle.",
    is_pipeline=False, contributors=(Contributor("research", "15 of 15"),),
)  # fmt: skip
ALARMS = SimpleNamespace(read_alarms=lambda: [FIRING])


@pytest.fixture
def document(repository):
    """The repository's own template."""
    return load_template(repository / "template.yaml")


def asked(server, path, token=""):
    """The document at a path of the page."""
    address = f"http://{HOST}:{server.port}{path}"
    request = urllib.request.Request(address, headers={TOKEN_HEADER: token})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)


def test_the_alarms_are_the_evaluators(document):
    """For the page itself, with its token."""
    with open_page(PLACE, ALARMS, document, 0) as server:
        (alarm,) = asked(server, "/alarms.json", server.token)["alarms"]
    assert ("Idle cores", "research") == (alarm["title"], alarm["contributors"][0]["name"])


def test_commands_find_the_rehearsal_and_its_alarms(document, monkeypatch):
    """`--rehearsal` reads where it is and, for the page, what its evaluator says; without token."""
    with open_page(PLACE, ALARMS, document, 0) as server:
        address = f"http://{HOST}:{server.port}/rehearsal.json"
        monkeypatch.setattr(accounts, "REHEARSAL", address)
        found = accounts.account(AccountSettings(rehearsal=True))
        assert found.is_rehearsal
        names = ("log_group", "rollups_log_group", "stack_name")
        assert all(getattr(PLACE, name) == getattr(found, name) for name in names)
        assert PLACE.endpoint_url == found.client("logs").meta.endpoint_url
        assert [FIRING] == RehearsalAlarms().read_alarms()


def test_a_port_that_is_taken_is_said_and_another_one_found(document, capsys):
    """Two rehearsals can run beside each other."""
    with open_page(PLACE, ALARMS, document, 0) as first:
        capsys.readouterr()
        with open_page(PLACE, ALARMS, document, first.port) as second:
            assert first.port != second.port
            said = capsys.readouterr().out
            assert f"Port {first.port} is in use" in said
            assert f"Open {second.url}" in said
