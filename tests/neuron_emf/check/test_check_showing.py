"""The output of a check for people and programs: terminals, foreign names, origins of values."""

from __future__ import annotations

import io
import json
import re

import pytest
from rich.console import Console

from neuron_emf.check import listing
from neuron_emf.check.sequence import check_settings
from neuron_emf.check.settings import CheckSettings, Origin
from neuron_emf.check_results import failed, section
from tests.neuron_emf.check.account_faults import break_account

EVIL_FOUND = "a\x1b[31mb\x07[bold]c[/bold]\r\nd\u202e\u2028"


def shown_on(result, origins=(), **options):
    """Return what a console of that kind gets."""
    out = io.StringIO()
    console = Console(file=out, highlight=False, emoji=False, markup=False, **options)
    for part in listing.for_people(section("one", {"spool": result}), origins):
        console.print(part)
    return out.getvalue()


def test_names_that_are_not_harmless_are_shown_and_not_obeyed():
    """Names from tags or from AWS cannot control the terminal or act as markup."""
    origins = [Origin("cluster", EVIL_FOUND, "--cluster")]
    for is_terminal in (False, True):
        text = shown_on(
            failed(EVIL_FOUND, EVIL_FOUND), origins, width=200, force_terminal=is_terminal
        )
        plain = re.sub(r"\x1b\[[0-9;]*m", "", text) if is_terminal else text
        assert 3 == plain.count("a?[31mb?[bold]c[/bold]??d??")
        assert "\x1b" not in plain


def test_a_program_gets_the_same(checked, reach, monitor, follows_schema):
    """JSON has counts that add up, null for empty fields, and only ASCII."""
    break_account(reach, "subscription missing")
    document = checked("--monitor-command", monitor).document
    follows_schema("check", document)
    assert len(document["checks"]) == sum(document["counts"].values())
    assert 1 == document["counts"]["failed"]
    assert document["ok"] is False
    assert json.dumps(document).isascii()
    assert all(result["advice"] for result in document["checks"] if result["state"] == "failed")
    assert all(result["advice"] is None for result in document["checks"] if result["state"] == "ok")


pytestmark = [pytest.mark.usefixtures("reach")]


def origins_of(found):
    return {row["setting"]: (row["value"], row["from"]) for row in found.document["settings"]}


def test_each_value_is_shown_with_its_source(checked, monitor, monkeypatch, tmp_path):
    """Each value has its origin: flags override variables, variables the file, files defaults."""
    file = tmp_path / "config.toml"
    file.write_text(
        'cluster = "of the file"\nperiod = 7\nmetrics = "none"\ntag = ["team=search", "a=b"]\n'
    )
    monkeypatch.setenv("NEURON_EMF_PERIOD", "9")
    monkeypatch.setenv("NEURON_EMF_SPREAD_SECONDS", "12")
    origins = origins_of(checked("--config", file, "--monitor-command", monitor))
    expected = {
        "cluster": ("blue", "--cluster"),
        "period": ("9", "NEURON_EMF_PERIOD"),
        "spread-seconds": ("12.0", "NEURON_EMF_SPREAD_SECONDS"),
        "metrics": ("none", str(file)),
        "tag": ("team=search,a=b", str(file)),
        "idle-below-percent": ("1.0", "default"),
        "monitor-config": (None, "default"),
    }
    assert expected.items() <= origins.items()


def test_no_secret_is_shown(shown, monitor, monkeypatch):
    """The output contains neither credentials nor the password in a proxy's address."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret-of-mine")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "a-token-of-mine")
    tag = ("--tag", "team=https://user:secret@127.0.0.1/")
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
        ({"groups": ("unknown",)}, "Unknown group in --groups: unknown"),
        ({"log_stream": "{absent}"}, "unknown placeholder {absent}"),
        ({"log_group": "a b"}, "Invalid --log-group"),
    ],
    ids=lambda values: next(iter(values)) if isinstance(values, dict) else "",
)
def test_settings_that_run_would_refuse_fail(values, words):
    """Settings that `run` would refuse fail with the sentence of `run`."""
    result, configuration = check_settings(CheckSettings(**values), ())
    assert "failed" == result.state
    assert "" == configuration
    assert words in result.found
    assert "correct it; run would exit with code 2" == result.advice
