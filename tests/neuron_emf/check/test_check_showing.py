"""What people and programs see: the pages, a terminal, a pipe, names that are not harmless."""

from __future__ import annotations

import io
import json
import re

import pytest
from rich.console import Console

from neuron_emf.check import command
from neuron_emf.check.settings import Origin
from neuron_emf.checks import STATES, CheckResult, failed, ok, section
from proof.account.account_faults import break_account
from tests.neuron_emf.check.example import example

EVIL = "a\x1b[31mb\x07[bold]c[/bold]\r\nd\u202e\u2028"


def shown_on(result, origins=(), **options):
    """What a console of that kind gets."""
    out = io.StringIO()
    console = Console(file=out, highlight=False, emoji=False, markup=False, **options)
    for part in command.for_people(section("one", {"spool": result}), origins):
        console.print(part)
    return out.getvalue()


@pytest.mark.usefixtures("_surroundings")
def test_the_page_shows_what_the_command_says(reach, monitor, tmp_path, repository, marked):
    """Against an account on this machine with one fault; `--update-golden` writes it again."""
    break_account(reach, "emitter's permissions only")
    shown = f"```\n{example(tmp_path / 'spool', monitor)}```\n"
    page = repository / "docs" / "reference" / "check.md"
    marked(page, "check-with-the-emitters-permissions", shown)


def test_names_that_are_not_harmless_are_shown_and_not_obeyed():
    """
    Neither by the terminal nor as markup: such a name may come from a tag or from AWS's words.
    """
    origins = [Origin("cluster", EVIL, "--cluster")]
    for is_terminal in (False, True):
        text = shown_on(failed(EVIL, EVIL), origins, width=200, force_terminal=is_terminal)
        plain = re.sub(r"\x1b\[[0-9;]*m", "", text) if is_terminal else text
        assert 3 == plain.count("a?[31mb?[bold]c[/bold]??d??")
        assert "\x1b" not in plain


@pytest.mark.parametrize("state", STATES)
def test_a_state_is_a_word_before_it_is_a_color(state):
    """The same words with colors and without."""
    result = CheckResult(state, "found")
    plain = shown_on(result, width=100)
    colored = shown_on(result, width=100, force_terminal=True, color_system="standard")
    assert f"  {state}" in plain
    assert plain != colored
    assert plain == re.sub(r"\x1b\[[0-9;]*m", "", colored)


@pytest.mark.parametrize("columns", [40, 100])
def test_nothing_is_cut_off(columns):
    """On a narrow terminal it is folded: an ARN is of no use without its end."""
    arn = "arn:aws:logs:us-west-2:123456789012:log-group:/neuron-emf/records:*"
    text = shown_on(ok(arn), width=columns)
    assert arn[-10:] in "".join(text.split())
    assert max(len(line) for line in text.splitlines()) <= columns


def test_a_program_gets_the_same(checked, reach, monitor, follows_schema):
    """Counts that add up, nothing for what is not there, and pure ASCII."""
    break_account(reach, "subscription missing")
    document = checked("--monitor-command", monitor).document
    follows_schema("check", document)
    assert len(document["checks"]) == sum(document["counts"].values())
    assert (1, False) == (document["counts"]["failed"], document["ok"])
    assert json.dumps(document).isascii()
    assert all(one["advice"] for one in document["checks"] if one["state"] == "failed")
    assert all(one["advice"] is None for one in document["checks"] if one["state"] == "ok")
