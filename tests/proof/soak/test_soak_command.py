"""`python -m proof.soak`: what it prints, keeps and ends with."""

from __future__ import annotations

import pytest

from benchmarks import record
from proof.soak import __main__ as command
from tests.proof.soak.soak_examples import made


@pytest.fixture
def run(monkeypatch, tmp_path):
    """
    The command, with soaks that nobody runs; where it keeps records and pictures is the test's.
    """

    def with_soaks(soaked, *arguments):
        monkeypatch.setattr(command, "_soak", lambda *_asked: soaked)
        monkeypatch.setattr(command, "PAINTER", tmp_path / "no-python")
        monkeypatch.setattr(command, "keep", lambda kept: record.Record.write(kept, tmp_path))
        return command.main(arguments)

    return with_soaks


def test_a_soak_without_a_broken_promise_ends_with_0(run, capsys):
    """Its table is on standard output, and nothing is kept unasked."""
    assert 0 == run(made())
    printed = capsys.readouterr()
    assert "--output logs" in printed.out
    assert "" == printed.err


def test_a_broken_promise_ends_with_1_and_is_never_kept(run, capsys, tmp_path):
    """A figure of a run that failed is no figure."""
    assert 1 == run(made(left=3), "--record")
    assert "--output logs: 3 records were left in the spool" in capsys.readouterr().err
    assert [] == list(tmp_path.glob("*.json"))


def test_a_record_has_the_table_and_what_the_picture_shows(run, capsys, tmp_path):
    """Without the environment that draws, it says how to draw it later."""
    assert 0 == run(made(), "--record", "--weeks", "1")
    kept = record.read("soak", tmp_path)
    assert "make soak WEEKS=1" == kept.command
    assert 1 == kept.facts["weeks"]
    assert {"title", "curves", "limits", "warm_hours", "gone_hours"} == kept.facts["drawn"].keys()
    assert "picture.py" in capsys.readouterr().out


@pytest.mark.parametrize("weeks", ["0", "9", "many"])
def test_wrong_use_ends_with_2(weeks, capsys):
    """And says what was expected."""
    with pytest.raises(SystemExit, match="2"):
        command.main(["--weeks", weeks])
    assert "--weeks" in capsys.readouterr().err
