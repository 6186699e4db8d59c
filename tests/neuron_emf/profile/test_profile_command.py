"""`neuron-emf profile` as it is typed: what it prints where, and how it ends."""

from __future__ import annotations

import json
import time

import pytest
from click.testing import CliRunner

from emitter.errors import SettingsError, SourceError
from neuron_emf.cli import cli
from neuron_emf.profile import command
from tests.neuron_emf.profile.profiled import AT_MS, FOLDER

WORKERS = FOLDER / "workers.json"
AT = "2026-11-20T08:00:00Z"


def profile(*words, stdin=None):
    """What the command prints on standard output and standard error."""
    ended = CliRunner().invoke(
        cli,
        ["profile", *map(str, words)],
        input=stdin,
        standalone_mode=False,
        catch_exceptions=False,
    )
    assert 0 == ended.return_value
    return ended.stdout, ended.stderr


def test_each_worker_is_a_line_on_standard_output_and_findings_are_on_standard_error():
    """So that a pipe gets lines only."""
    out, err = profile(WORKERS, "--cluster", "training", "--model", "llama-8b", "--time", AT)
    assert (FOLDER / "workers.lines.jsonl").read_text("utf-8") == out
    said = err.splitlines()
    rules = ["transpose", "spill", "low_model_flops", "throttled"]
    assert [f"{WORKERS} llama_rank_1.ntff: {rule}" for rule in rules] == [
        line.rpartition(f": {rule}: ")[0] + f": {rule}"
        for line, rule in zip(said, rules, strict=True)
    ]


def test_several_files_are_several_models():
    """Each called by its file where nobody says how; one name for all where somebody does."""
    out, _ = profile(WORKERS, FOLDER / "kernel.json", "--cluster", "training")
    assert ["workers", "workers", "kernel"] == [
        json.loads(one)["Model"] for one in out.splitlines()
    ]
    out, _ = profile(WORKERS, FOLDER / "kernel.json", "--cluster", "training", "--model", "m")
    assert ["m"] * 3 == [json.loads(one)["Model"] for one in out.splitlines()]


def test_a_profile_is_of_now_unless_somebody_says_of_when():
    """And of an instance when somebody says of which."""
    before_ms = int(time.time() * 1000)
    out, _ = profile(WORKERS, "--cluster", "c", "--instance-id", "i-0")
    now = json.loads(out.splitlines()[0])
    assert before_ms <= now["_aws"]["Timestamp"] <= int(time.time() * 1000)
    assert "i-0" == now["InstanceId"]
    out, _ = profile("-", "--cluster", "c", "--time", AT, stdin=WORKERS.read_text("utf-8"))
    then = json.loads(out.splitlines()[0])
    assert (AT_MS, "profile") == (then["_aws"]["Timestamp"], then["Model"])
    assert "InstanceId" not in then


def test_findings_alone_need_no_cluster():
    """For a person as text, for a program as JSON: all that is found, and no line."""
    out, err = profile(FOLDER / "later.json", WORKERS, "--findings")
    assert "" == err
    flat = " ".join(out.split())
    assert "_aws" not in out
    assert "3 profiles, 2 of them without a finding." in flat
    assert "transpose: 15.8 % of the tensor engine's operations" in flat
    assert "doubt: it is of profiler 2.33" in flat
    found = json.loads(profile(WORKERS, "--findings", "--json")[0])
    assert [[], ["transpose", "spill", "low_model_flops", "throttled"]] == [
        [each["rule"] for each in one["findings"]] for one in found
    ]
    assert [[], []] == [one["doubts"] for one in found]


def test_what_is_said_on_standard_error_is_bounded(monkeypatch):
    """128 cores that all break a rule are told as one number beyond the bound."""
    monkeypatch.setattr(command, "MAX_SAID", 2)
    _, err = profile(WORKERS, "--cluster", "c")
    assert 3 == len(err.splitlines())
    assert "2 more: --findings shows all" in err


def test_names_of_a_file_cannot_tell_a_terminal_anything(tmp_path):
    """A profile may be called anything."""
    path = tmp_path / "summary.json"
    throttled = {"total_active_time": 1, "throttle_active_nc0_time_ns": 1e9}
    path.write_text(json.dumps({"\x1b[31mred": throttled}), "utf-8")
    for words in (["--cluster", "c"], ["--findings"]):
        out, err = profile(path, *words)
        assert "\x1b" not in out + err
        assert "throttled" in out + err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((WORKERS,), "No cluster name is set"),
        ((WORKERS, "--cluster", "caf\u00e9"), "printable ASCII"),
        ((WORKERS, "--cluster", "c", "--model", "caf\u00e9"), "Choose a name with --model"),
        ((WORKERS, "--cluster", "c", "--instance-id", ""), "instance ID"),
        ((WORKERS, "--cluster", "c", "--time", "noon"), "--time"),
        (("none.json", "--cluster", "c"), "none.json"),
    ],
    ids=lambda one: str(one)[-20:],
)
def test_wrong_use_is_one_sentence(words, expected):
    """Expected, found, what to do."""
    with pytest.raises(SettingsError, match=expected):
        profile(*words)


def test_nothing_is_printed_when_one_file_holds_no_summary(tmp_path, capsys):
    """All lines or none: whoever types it again has no profile twice."""
    path = tmp_path / "other.json"
    path.write_text("{}", "utf-8")
    with pytest.raises(SourceError, match=r"other\.json"):
        profile(WORKERS, path, "--cluster", "c")
    assert "" == capsys.readouterr().out
