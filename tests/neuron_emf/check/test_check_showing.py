"""What people and programs see of a check: the page, a terminal, foreign names, origins."""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.core import ParameterSource
from rich.console import Console

from neuron_emf.check import command
from neuron_emf.check.command import for_people
from neuron_emf.check.sequence import check_settings, run_checks
from neuron_emf.check.settings import CheckSettings, Origin, origins
from neuron_emf.checks import failed, section
from neuron_emf.printing import show
from proof.account.account_faults import break_account

if TYPE_CHECKING:
    from pathlib import Path

    from neuron_emf.checks import CheckResult

GIVEN = ("cluster", "region")
MONITOR = "/opt/aws/neuron/bin/neuron-monitor"
SPOOL = "/var/lib/neuron-emf"
ROLE = "arn:aws:sts::123456789012:assumed-role/trainers/i-0123456789abcdef0"


def example(folder: Path, monitor: Path) -> str:
    """
    What `neuron-emf check --cluster blue --region us-west-2` prints.

    Without the white space at the ends of lines, by which tables are filled up.
    """
    settings = CheckSettings(
        cluster="blue", region="us-west-2", monitor_command=str(monitor), spool_dir=folder
    )
    given = origins(settings, dict.fromkeys(GIVEN, ParameterSource.COMMANDLINE), None)
    results = run_checks(settings, given, lambda *_: None)
    out = io.StringIO()
    with redirect_stdout(out):
        show(*for_people([_usual(result, folder, monitor) for result in results], given))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _usual(result: CheckResult, folder: Path, monitor: Path) -> CheckResult:
    def usual(text: str) -> str:
        text = text.replace(str(monitor), MONITOR).replace(str(folder), SPOOL)
        text = text.replace("arn:aws:iam::123456789012:user/testing", ROLE)
        text = re.sub(r"within \d+\.\d s$", "within 1.2 s", text)
        return re.sub(r"(?<=, )\d+ MiB free", "18432 MiB free", text)

    return replace(result, found=usual(result.found), advice=usual(result.advice))


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


def test_a_program_gets_the_same(checked, reach, monitor, follows_schema):
    """Counts that add up, nothing for what is not there, and pure ASCII."""
    break_account(reach, "subscription missing")
    document = checked("--monitor-command", monitor).document
    follows_schema("check", document)
    assert len(document["checks"]) == sum(document["counts"].values())
    assert (1, False) == (document["counts"]["failed"], document["ok"])
    assert json.dumps(document).isascii()
    assert all(result["advice"] for result in document["checks"] if result["state"] == "failed")
    assert all(result["advice"] is None for result in document["checks"] if result["state"] == "ok")


pytestmark = [pytest.mark.usefixtures("reach")]


def origins_of(found):
    return {row["setting"]: (row["value"], row["from"]) for row in found.document["settings"]}


def test_each_value_says_where_it_came_from(checked, monitor, monkeypatch, tmp_path):
    """The flag wins over the variable, the variable over the file, the file over the default."""
    file = tmp_path / "config.toml"
    file.write_text(
        'cluster = "of the file"\nperiod = 7\nmetrics = "none"\ntag = ["team=search", "a=b"]\n'
    )
    monkeypatch.setenv("NEURON_EMF_PERIOD", "9")
    monkeypatch.setenv("NEURON_EMF_SPREAD_SECONDS", "12")
    found = origins_of(checked("--config", file, "--monitor-command", monitor))
    assert ("blue", "--cluster") == found["cluster"]
    assert ("9", "NEURON_EMF_PERIOD") == found["period"]
    assert ("12.0", "NEURON_EMF_SPREAD_SECONDS") == found["spread-seconds"]
    assert ("none", str(file)) == found["metrics"]
    assert ("team=search,a=b", str(file)) == found["tag"]
    assert ("1.0", "default") == found["idle-below-percent"]
    assert (None, "default") == found["monitor-config"]


def test_no_secret_is_shown(shown, monitor, monkeypatch):
    """A password in an address and credentials: a list that is pasted into a ticket has neither."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret-of-mine")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "a-token-of-mine")
    tag = ("--tag", "team=https://somebody:secret@127.0.0.1/")
    for more in ((), ("--json",)):
        text, _ = shown("--cluster", "blue", *tag, "--monitor-command", monitor, *more)
        assert [] == [word for word in ("a-secret", "a-token", ":secret") if word in text]
        assert "127.0.0.1" in text


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"tag": ("nothing",)}, "--tag"),
        (
            {"metrics": "none", "high_resolution_metrics": True},
            "--high-resolution-metrics needs metrics, but --metrics is none",
        ),
        ({"groups": ("weather",)}, "Unknown group in --groups: weather"),
        ({"log_stream": "{nobody}"}, "unknown placeholder {nobody}"),
        ({"log_group": "a b"}, "Invalid --log-group"),
    ],
    ids=lambda values: next(iter(values)) if isinstance(values, dict) else "",
)
def test_settings_that_run_would_refuse_fail(values, words):
    """In the words of `run`."""
    result, configuration = check_settings(CheckSettings(**values), ())
    assert ("failed", "") == (result.state, configuration)
    assert words in result.found
    assert "correct it; run would exit with code 2" == result.advice
