"""`neuron-emf profile` as it is typed: what it prints and sends, and what it refuses."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from emitter.errors import DeliveryError, SettingsError, SourceError
from neuron_emf.cli import cli
from proof.logs.faults import DENIED
from proof.logs.service import LogsService
from tests.neuron_emf.profile.test_profile_line import FOLDER

WORKERS = FOLDER / "workers.json"
GROUP = "/neuron-emf/records"
AT = ("--time", "2026-11-20T08:00:00Z")
SUMMARY = {"mfu_estimated_percent": 0.5, "nc_idx": 1}


def profile(*words, stdin=None):
    """What the command prints on standard output and standard error."""
    typed = ["profile", *map(str, words)]
    ended = CliRunner().invoke(
        cli, typed, input=stdin, standalone_mode=False, catch_exceptions=False
    )
    assert 0 == ended.return_value
    return ended.stdout, ended.stderr


def test_lines_are_on_standard_output_and_the_summary_on_standard_error():
    """So that a pipe gets lines only."""
    words = ("--cluster", "training", "--model", "llama-8b", *AT)
    out, err = profile("-", *words, stdin=WORKERS.read_text("utf-8"))
    assert (FOLDER / "workers.lines.jsonl").read_text("utf-8") == out
    rules = ["transpose", "spill", "low_model_flops", "throttled"]
    *said, last = err.splitlines()
    assert [f"- llama_rank_1.ntff: {rule}" for rule in rules] == [
        line.partition(f": {rule}: ")[0] + f": {rule}"
        for line, rule in zip(said, rules, strict=True)
    ]
    assert "84.2 % of the active time, to 64.1 % on average" in err
    assert "2 profiles, 1 of them without a finding." == last


@pytest.mark.parametrize(
    ("document", "names"),
    [
        (SUMMARY, [None]),
        ({"a": SUMMARY, "b": {"nc_idx": 2}, "version": 3, "c": {"nc_idx": {}}}, ["a", "b"]),
        ({"summary": [SUMMARY], "instruction": [{"nc_idx": 1}]}, [None]),
    ],
    ids=["alone", "by profile", "with instructions"],
)
def test_every_shape_is_read(tmp_path, document, names):
    """The model is called by its file, and a name tells a terminal nothing."""
    path = tmp_path / "llama.json"
    path.write_text(json.dumps(document), "utf-8")
    out, _ = profile(path, "--cluster", "c")
    found = [json.loads(one) for one in out.splitlines()]
    assert names == [one.get("Profile") for one in found]
    assert {"llama"} == {one["Model"] for one in found}
    path.write_text(json.dumps({"\x1b[31mred": SUMMARY}), "utf-8")
    assert "\x1b" not in "".join(profile(path, "--cluster", "c"))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((WORKERS,), "No cluster name is set"),
        ((WORKERS, "--cluster", "c", "--model", "caf\u00e9"), "Choose a name with --model"),
        (("none.json", "--cluster", "c"), "Cannot open none.json"),
    ],
    ids=lambda one: str(one)[-20:],
)
def test_wrong_use_is_one_sentence(words, expected):
    """Expected, found, what to do."""
    with pytest.raises(SettingsError, match=expected):
        profile(*words)


@pytest.mark.parametrize(
    "content", [b"hello", b"\xff\xfe{", b"[" * 100_000, b"{}", b"3", b'{"summary": []}']
)
def test_what_holds_no_summary_is_refused_and_nothing_is_printed(tmp_path, capsys, content):
    """All lines or none: whoever types it again has no profile twice."""
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=r"other\.json is not .*summary-json"):
        profile(WORKERS, path, "--cluster", "c")
    assert "" == capsys.readouterr().out


def test_profiles_arrive_in_the_log_group_of_the_fleet(monkeypatch):
    """In a stream of their own; what is too old or refused is one sentence, exit code 4."""
    words = (WORKERS, "--cluster", "training", "--region", "us-west-2", "--output", "logs")
    with LogsService() as service:
        monkeypatch.setenv("AWS_ENDPOINT_URL_CLOUDWATCH_LOGS", service.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        service.rules.groups.setdefault(GROUP, set())
        assert f"2 lines are in {GROUP}, stream profiles/training" in profile(*words)[1]
        arrived = [json.loads(one.message) for one in service.rules.applied]
        assert [0, 1] == [one["CoreIndex"] for one in arrived]
        assert {"profiles/training"} == service.rules.groups[GROUP]
        with pytest.raises(DeliveryError, match="line 1: too_old; see --time"):
            profile(*words, "--time", "15d")
        service.next_faults["PutLogEvents"] += [DENIED] * 3
        with pytest.raises(DeliveryError, match="logs:PutLogEvents") as caught:
            profile(*words)
        assert (4, 2) == (caught.value.exit_code, len(service.rules.applied))
