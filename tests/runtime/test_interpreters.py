"""Which Python stands for which of Lambda's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.runtime.interpreters import interpreter_of

OURS = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Put a command onto PATH, before all others."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def make(name, text):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    return make


def test_a_command_that_refuses_is_passed_over(command):
    """
    As version managers leave them on PATH for every version; the real one is found beside ours.
    """
    command(f"python{OURS}", "echo 'not chosen' >&2; exit 127")
    found = interpreter_of(OURS)
    assert found is not None
    assert Path(sys.base_prefix) in found.parents


def test_a_command_is_asked_what_it_is(command):
    """Its name alone says nothing, and where it leads is what is started."""
    command("python3.99", f'exec {sys.executable} "$@"')
    assert interpreter_of("3.99") is None
    path = command(f"python{OURS}", f'exec {sys.executable} "$@"')
    assert path != interpreter_of(OURS)


def test_none_is_found_where_there_is_none():
    """So that the tests can be left out with a reason."""
    assert interpreter_of("3.99") is None
