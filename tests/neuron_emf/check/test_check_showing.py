"""What people and programs see: the pages, a terminal, a pipe, names that are not harmless."""

from __future__ import annotations

import io
import json
import re

import pytest
from rich.console import Console

from neuron_emf.check import listing
from neuron_emf.check.result import STATES, CheckResult, failed, ok
from neuron_emf.check.sequence import CheckSection
from neuron_emf.check.settings import Origin
from proof.account.account_faults import break_account
from tests.neuron_emf.check.example import example

EVIL = "a\x1b[31mb\x07[bold]c[/bold]\r\nd\u202e\u2028"


def shown_on(sections, origins=(), **options):
    """What a console of that kind gets."""
    out = io.StringIO()
    console = Console(file=out, highlight=False, emoji=False, markup=False, **options)
    for part in listing.parts(sections, origins):
        console.print(part)
    return out.getvalue()


@pytest.mark.usefixtures("_surroundings")
def test_the_page_shows_what_the_command_says(reach, monitor, tmp_path, repository, marked):
    """Against an account on this machine with one fault; `--update-golden` writes it again."""
    break_account(reach, "emitter's permissions only")
    shown = f"```\n{example(tmp_path / 'spool', monitor)}```\n"
    page = repository / "docs" / "reference" / "check.md"
    marked(page, "check-with-the-emitters-permissions", shown)


def test_the_page_names_every_check_and_state(repository, checked, monitor, reach):
    """Whoever meets a word in the list finds it there."""
    del reach
    page = (repository / "docs" / "reference" / "check.md").read_text(encoding="utf-8")
    rows = " ".join(re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE))
    assert [] == [state for state in STATES if state not in rows]
    checks = checked("--monitor-command", monitor).states
    assert [] == [name for name in checks if name.removesuffix(" class") not in rows]


def test_names_that_are_not_harmless_are_shown_and_not_obeyed():
    """
    Neither by the terminal nor as markup: such a name may come from a tag or from AWS's words.
    """
    sections = [CheckSection("one", (failed("log group", EVIL, EVIL),))]
    origins = [Origin("cluster", EVIL, "--cluster")]
    for is_terminal in (False, True):
        text = shown_on(sections, origins, width=200, force_terminal=is_terminal)
        plain = re.sub(r"\x1b\[[0-9;]*m", "", text) if is_terminal else text
        assert "a?[31mb?[bold]c[/bold]??d??" in plain
        assert "\x1b" not in plain
        assert "\u202e" not in plain


@pytest.mark.parametrize("state", STATES)
def test_a_state_is_a_word_before_it_is_a_colour(state):
    """The same words with colours and without."""
    sections = [CheckSection("one", (CheckResult("spool", state, "found"),))]
    plain = shown_on(sections, width=100)
    coloured = shown_on(sections, width=100, force_terminal=True, color_system="standard")
    assert f"  {state}" in plain
    assert plain != coloured
    assert plain == re.sub(r"\x1b\[[0-9;]*m", "", coloured)


@pytest.mark.parametrize("columns", [20, 40, 100, 200])
def test_nothing_is_cut_off(columns):
    """On a narrow terminal it is folded: an ARN is of no use without its end."""
    arn = "arn:aws:logs:us-west-2:123456789012:log-group:/neuron-emf/records:*"
    text = shown_on([CheckSection("one", (ok("spool", arn),))], width=columns)
    assert arn[-10:] in "".join(text.split()) or columns < 60
    assert max(len(line) for line in text.splitlines()) <= columns


def test_a_program_gets_the_same(checked, reach, monitor):
    """Counts that add up, nothing for what is not there, and pure ASCII."""
    break_account(reach, "subscription missing")
    found = checked("--monitor-command", monitor)
    document = found.document
    assert ["ok", "counts", "checks", "settings"] == list(document)
    assert len(document["checks"]) == sum(document["counts"].values())
    assert list(STATES) == list(document["counts"])
    assert 1 == document["counts"]["failed"]
    assert document["ok"] is False
    assert json.dumps(document).isascii()
    assert all(one["advice"] for one in document["checks"] if one["state"] == "failed")
    assert all(one["advice"] is None for one in document["checks"] if one["state"] == "ok")
