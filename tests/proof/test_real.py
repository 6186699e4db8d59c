"""
Parts of `make proof-real`: which parts run, which are skipped, and which failure fails the run.
"""

import shutil
from types import SimpleNamespace

import pytest

from proof.real import __main__ as real
from proof.real.shown_commands import shown_commands
from tests.neuron_emf.page.test_page_modules import require


def part(reason, run):
    """Return a part that runs *run*, or is missing for *reason*."""
    return SimpleNamespace(
        TITLE="T", CLAIM="C.", missing=lambda: reason, versions=dict, run=lambda _: run()
    )


@pytest.mark.parametrize("fails", [False, True])
def test_a_part_that_fails_stops_no_other_and_fails_the_run(fails, monkeypatch, capsys):
    """
    A failed part stops no other part and fails the run. A missing part is named with its reason.
    """

    def maybe():
        assert not fails, "3 of 4 rows"
        return ["4 rows."]

    parts = {"a": part("no x", maybe), "b": part(None, maybe), "c": part(None, lambda: ["Ran."])}
    monkeypatch.setattr(real, "read_parts", lambda: parts)
    monkeypatch.setattr("sys.argv", ["real"])
    monkeypatch.setenv(real.IS_OVER, "1")
    assert int(fails) == real.main()
    output = capsys.readouterr().out
    expected = ("a: skipped: no x", "3 of 4 rows" if fails else "4 rows.", "Ran.")
    assert [] == [text for text in expected if text not in output]


def test_every_file_that_shows_commands_is_read():
    """Commands of tables, programs and the page's modules are read; none has an unfilled gap."""
    require(shutil.which("node"), "node was not found: install Node.js 20 or later")
    commands, unfilled = shown_commands()
    assert [] == unfilled
    assert [] == [command for command in commands if any("${" in word for word in command.words)]
    pages = {"docs/operations.md", "neuron_emf/tables.toml", "tests/data/messages/texts.txt"}
    assert pages <= {command.page for command in commands}
