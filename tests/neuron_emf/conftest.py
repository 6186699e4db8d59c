"""Fixtures of several commands: how a command is typed, and the schemas of its JSON."""

from __future__ import annotations

import json
import subprocess

import pytest

from neuron_emf.account import Account
from neuron_emf.cli import main
from tests.neuron_emf.page.page_account import double_of


@pytest.fixture
def typed(capsys):
    """Return a function that runs `neuron-emf`; it gives exit code, standard output and error."""

    def call(*words):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err

    return call


@pytest.fixture
def double(monkeypatch):
    """Return an empty account at the end of the recorded hour; the environment leads to it."""
    with double_of(monkeypatch) as made:
        yield made


@pytest.fixture
def clients(monkeypatch):
    """Return clients by service, which replace those of any account; at first none."""
    replaced = {}
    real = Account.client

    def client(account, service):
        return replaced.get(service) or real(account, service)

    monkeypatch.setattr(Account, "client", client)
    return replaced


@pytest.fixture
def follows_schema(repository, program_of, tmp_path):
    """Return a function that checks answers against a schema in `neuron_emf/schemas/`."""

    def check(name, *documents):
        paths = []
        for number, document in enumerate(documents):
            paths.append(tmp_path / f"{name}-{number}.json")
            paths[-1].write_text(json.dumps(document), encoding="utf-8")
        schema = repository / "neuron_emf" / "schemas" / f"{name}.json"
        program = program_of(".venv-tools", "check-jsonschema")
        done = subprocess.run(
            [program, "--schemafile", schema, *paths], capture_output=True, text=True, check=False
        )
        assert 0 == done.returncode, done.stdout

    return check
