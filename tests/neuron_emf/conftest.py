"""What the tests of several commands share: how a command is typed, and what its JSON must be."""

from __future__ import annotations

import json
import subprocess

import pytest

from neuron_emf.cli import main
from tests.neuron_emf.page.page_account import double_of


@pytest.fixture
def typed(capsys):
    """Type `neuron-emf` and what follows; give its exit code, standard output and error."""

    def call(*words):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        found = capsys.readouterr()
        return ended.value.code, found.out, found.err

    return call


@pytest.fixture
def double(monkeypatch):
    """An empty account at the end of the recorded hour, to which the environment leads."""
    with double_of(monkeypatch) as made:
        yield made


@pytest.fixture
def follows_schema(repository, program_of, tmp_path):
    """Hold the answers of a command against its schema in `neuron_emf/schemas/`."""

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
