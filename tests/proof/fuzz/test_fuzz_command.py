"""`python -m proof.fuzz`: what it refuses, and what it says when there is nothing to fuzz with."""

from __future__ import annotations

import importlib.util

import pytest

from proof.fuzz import __main__ as command
from proof.fuzz.run import FuzzRun


@pytest.fixture
def fuzzed(monkeypatch):
    """Runs that come of fuzzing, told beforehand."""
    told = {}
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    monkeypatch.setattr(command, "fuzzed", lambda name, *_: told[name])
    return told


def test_an_unknown_target_is_wrong_use(capsys):
    """The sentence lists those that there are."""
    assert 2 == command.main(["no such", "--seconds", "1"])
    assert "'no such'; the targets are reports, " in capsys.readouterr().err


@pytest.mark.parametrize(("words", "code"), [([], 0), (["--record"], 2)])
def test_without_atheris_it_says_so(monkeypatch, capsys, words, code):
    """Nothing fuzzed is no failure; but it is no figure either."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert code == command.main(words)
    assert "atheris is not installed" in capsys.readouterr().err


def test_a_row_says_what_was_read_and_found(fuzzed, capsys):
    """Executions, seconds, findings and memory; without a finding it ends with 0."""
    fuzzed["log lines"] = FuzzRun("log lines", 12_345, 7.4, 99, (), "")
    assert 0 == command.main(["log lines"])
    row = capsys.readouterr().out.splitlines()[1].split()
    assert ["log", "lines", "12,345", "7", "0", "99", "MiB"] == row


def test_a_finding_is_shown_and_ends_with_1(fuzzed, capsys, tmp_path):
    """The input is printed, and where it is kept."""
    path = tmp_path / "0123456789ab"
    path.write_bytes(b"\x00junk")
    fuzzed["log lines"] = FuzzRun("log lines", 5, 1.0, 99, (path,), "INFO: x\nAssertionError\n")
    assert 1 == command.main(["log lines"])
    written = capsys.readouterr().out
    assert "  AssertionError\n  5 bytes: b'\\x00junk'\n" in written
    assert f"git add {path}" in written
    assert "INFO" not in written


def test_a_process_that_ends_without_an_input_is_a_finding_too(fuzzed):
    """One that was killed left none."""
    fuzzed["log lines"] = FuzzRun("log lines", 0, 1.0, 0, (), "Killed")
    assert 1 == command.main(["log lines"])
