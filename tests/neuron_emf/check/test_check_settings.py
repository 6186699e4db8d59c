"""Where each value came from, and settings that nothing can be done with."""

from __future__ import annotations

import dataclasses

import pytest

from emitter.settings import RunSettings
from neuron_emf.check.sequence import check_settings
from neuron_emf.check.settings import CheckSettings
from tests.neuron_emf.check.rows import CHECKS

pytestmark = [pytest.mark.usefixtures("reach")]


def origins(found):
    return {one["setting"]: (one["value"], one["from"]) for one in found.document["settings"]}


def test_every_setting_of_run_is_listed(checked, monitor):
    """
    With its value, in the order of the help, and nothing that `run` does not have but the stack.
    """
    listed = list(origins(checked("--monitor-command", monitor)))
    expected = [one.name.replace("_", "-") for one in dataclasses.fields(RunSettings)]
    assert [*expected, "stack-name", "rehearsal", "monitor-seconds"] == listed


def test_each_value_says_where_it_came_from(checked, monitor, monkeypatch, tmp_path):
    """The flag wins over the variable, the variable over the file, the file over the default."""
    file = tmp_path / "config.toml"
    file.write_text(
        'cluster = "of the file"\nperiod = 7\nmetrics = "none"\ntag = ["team=search", "a=b"]\n'
    )
    monkeypatch.setenv("NEURON_EMF_PERIOD", "9")
    monkeypatch.setenv("NEURON_EMF_SPREAD_SECONDS", "12")
    found = origins(checked("--config", file, "--monitor-command", monitor))
    assert ("blue", "--cluster") == found["cluster"]
    assert ("9", "NEURON_EMF_PERIOD") == found["period"]
    assert ("12.0", "NEURON_EMF_SPREAD_SECONDS") == found["spread-seconds"]
    assert ("none", str(file)) == found["metrics"]
    assert ("team=search,a=b", str(file)) == found["tag"]
    assert ("1.0", "default") == found["idle-below-percent"]
    assert (None, "default") == found["monitor-config"]


def test_a_password_in_an_address_is_not_shown(shown, monitor):
    """It belongs into no setting, and a list that is pasted into a ticket must not have it."""
    address = "team=https://somebody:secret@127.0.0.1/"
    words = ("--output", "stdout", "--tag", address, "--monitor-command", monitor)
    for more in ((), ("--json",)):
        text, code = shown("--cluster", "blue", *words, *more)
        assert "secret" not in text
        assert "127.0.0.1" in text
        assert 0 == code


def test_no_secret_of_the_environment_is_shown(shown, monitor, monkeypatch):
    """Credentials are used and never printed, whatever AWS answers."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret-of-mine")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "a-token-of-mine")
    for more in ((), ("--json",)):
        text, _ = shown("--cluster", "blue", "--monitor-command", monitor, *more)
        assert [] == [word for word in ("a-secret", "a-token") if word in text]


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
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_settings_that_run_would_refuse_fail(values, words):
    """In the words of `run`."""
    result, configuration = check_settings(CheckSettings(**values), ())
    assert ("failed", "") == (result.state, configuration)
    assert words in result.found
    assert "correct it; run would exit with code 2" == result.advice


def test_what_does_not_depend_on_them_is_tried_all_the_same(checked, monitor):
    """Nobody knows what the monitor is to be asked for; the list is whole."""
    states = checked("--monitor-command", monitor, "--groups", "weather").states
    changed = {"settings": "failed", "neuron-monitor": "not tried", "devices": "not tried"}
    assert {**CHECKS, **changed, "instance": "warning", "price": "warning"} == states


def test_what_run_would_warn_of_is_a_warning(checked, monitor):
    """Such as names that an old script had and these metrics have not."""
    found = checked("--monitor-command", monitor, "--metrics", "legacy")
    assert "warning" == found.states["settings"]
    assert "neuron-monitor-cloudwatch.py" in found.of("settings")["found"]
    assert 0 == found.code
