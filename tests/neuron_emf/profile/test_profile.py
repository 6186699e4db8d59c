"""`neuron-emf profile` turns one summary into one line; its output, delivery and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.cli import cli
from neuron_emf.profile.profile_line import FRACTIONS, MAX_OTHER, profile_of, summaries_in
from neuron_emitter.errors import DeliveryError, SourceError
from neuron_wire.catalogue import PROFILE_METRICS, members_of
from neuron_wire.extraction import violations
from proof.factories.records import RECORDS_GROUP
from proof.logs.logs_service import LogsService
from proof.logs.service_faults import DENIED_FAULT
from tests.neuron_wire.emf_documents import undocumented

PROFILE_FOLDER = Path(__file__).resolve().parents[2] / "data" / "profile"
AT_MS = 1_795_161_600_000  # 2026-11-20T08:00:00Z
SUBJECT = ("training", "llama-8b", AT_MS)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
SUMMARY_KEYS = st.sampled_from(
    [*FRACTIONS, "nc_idx", "hbm_read_bytes", "spill_reload_bytes", "x_y"]
)


@given(st.dictionaries(SUMMARY_KEYS | st.text(max_size=8), SCALARS | st.lists(SCALARS, max_size=2)))
def test_whatever_a_summary_holds_its_line_is_extracted(values):
    """CloudWatch extracts the line of any summary; a line without metrics is not EMF."""
    text = profile_of(values, *SUBJECT).line
    line = json.loads(text)
    assert [] == undocumented(line)
    assert ("_aws" in line) == bool(PROFILE_METRICS.keys() & line.keys())
    assert [] == (violations(text, now_ms=AT_MS) if "_aws" in line else [])


def test_the_lines_of_the_made_file_are_as_ever(golden):
    """The lines of the made file equal the golden file and have every member but bounds."""
    lines = [profile_of(values, *SUBJECT, name).line for name, values in made()]
    golden(PROFILE_FOLDER / "workers.lines.jsonl", "".join(f"{line}\n" for line in lines))
    written = {member for line in lines for member in json.loads(line)}
    missing = {"Timestamp", "KeysDropped"}
    assert members_of("profile").keys() - missing == written - {"_aws"}


def test_values_not_reported_have_no_member_and_strange_values_are_counted():
    """An unreported value has no member, zero stays zero, and odd values are counted."""
    odd = {"nested": {}, "long": "x" * 257, "1a": 1, "esc": "\x1b", "none": None, "big": 10**400}
    many = {f"key_{number}": number for number in range(MAX_OTHER + 5)}
    values = {"mfu_estimated_percent": 41.2, "total_time": 0, "transpose_flops": 1, **odd, **many}
    found = profile_of({**values, "hardware_flops": 0}, *SUBJECT)
    line = json.loads(found.line)
    assert 0 == line["TotalSeconds"]
    assert 41.2 == line["Other"]["mfu_estimated_percent"]
    assert not {"MfuPercent", "TransposePercent", "Findings"} & line.keys()
    assert MAX_OTHER == len(line["Other"])
    assert 5 + 6 == line["KeysDropped"]
    assert "profiler version unknown" in found.doubts[0]
    assert "percentages already" in found.doubts[1]


@pytest.mark.parametrize(
    ("rule", "key", "inside", "outside", "others"),
    [
        ("transpose", "transpose_flops", 10, 11, {"hardware_flops": 100}),
        ("spill", "spill_reload_bytes", 25, 26, {"hbm_read_bytes": 100}),
        (
            *("low_model_flops", "mfu_estimated_percent", 0.3, 0.29),
            {"tensor_engine_active_time_percent": 0.6},
        ),
        ("throttled", "throttle_active_nc0_time_ns", 9.9e7, 1e8, {"total_active_time": 2}),
        ("throttled", "throttle_activity_1_active_time_nc0_percent", 0.049, 0.05, {}),
        ("throttled", "throttle_avg_util_limit_nc0_percent", 0.951, 0.95, {}),
    ],
    ids=["transpose", "spill", "model", "time", "share", "limit"],
)
def test_a_rule_is_broken_beyond_its_bound(rule, key, inside, outside, others):
    """A rule is broken beyond its bound, not at the bound, and not without all of its values."""
    assert {} == profile_of({**others, key: inside}, *SUBJECT).broken_rules
    assert [rule] == [*profile_of({**others, key: outside}, *SUBJECT).broken_rules]
    assert {} == profile_of(others, *SUBJECT).broken_rules


def made():
    """Return the summaries of two cores; the second core breaks every rule of thumb."""
    return summaries_in(PROFILE_FOLDER / "workers.json")


WORKERS = PROFILE_FOLDER / "workers.json"
AT = ("--time", "2026-11-20T08:00:00Z")
SUMMARY = {"mfu_estimated_percent": 0.5, "nc_idx": 1}


def profile(*words, stdin=None):
    """Return the command's standard output and standard error."""
    typed = ["profile", *map(str, words)]
    ended = CliRunner().invoke(
        cli, typed, input=stdin, standalone_mode=False, catch_exceptions=False
    )
    assert 0 == ended.return_value
    return ended.stdout, ended.stderr


def test_lines_are_on_standard_output_and_the_summary_on_standard_error():
    """Lines are on standard output, and the summary is on standard error."""
    words = ("--cluster", "training", "--model", "llama-8b", *AT)
    out, err = profile("-", *words, stdin=WORKERS.read_text("utf-8"))
    assert (PROFILE_FOLDER / "workers.lines.jsonl").read_text("utf-8") == out
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
    """Every shape of a summary is read, and names cannot act on a terminal."""
    path = tmp_path / "llama.json"
    path.write_text(json.dumps(document), "utf-8")
    out, _ = profile(path, "--cluster", "c")
    lines = [json.loads(line) for line in out.splitlines()]
    assert names == [line.get("Profile") for line in lines]
    assert {"llama"} == {line["Model"] for line in lines}
    path.write_text(json.dumps({"\x1b[31mred": SUMMARY}), "utf-8")
    assert "\x1b" not in "".join(profile(path, "--cluster", "c"))


def test_log_lines_around_a_summary_are_skipped(tmp_path):
    """Only a document that begins a line counts; the profiler's own log lines are skipped."""
    path = tmp_path / "llama.txt"
    log = 'time="08:00" level=info msg="{"\n[INFO] {}\n'
    summary = json.dumps({"a": SUMMARY}, indent=1)
    for text, count in ((f"{log}{summary}\n{log}", 1), (f"{summary}\n{log}{summary}", 2)):
        path.write_text(text, "utf-8")
        assert count * ["a"] == [name for name, _ in summaries_in(path)]
    path.write_text(log + summary[:-1], "utf-8")
    with pytest.raises(SourceError):
        summaries_in(path)


@pytest.mark.parametrize(
    "content", [b"hello", b"\xff\xfe{", b"[" * 100_000, b"{}", b"3", b'{"summary": []}']
)
def test_a_file_without_a_summary_is_refused_and_nothing_is_printed(tmp_path, capsys, content):
    """If one file has no summary, nothing is printed, so that a repeated call makes no copies."""
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=r"other\.json is not .*summary-json"):
        profile(WORKERS, path, "--cluster", "c")
    assert "" == capsys.readouterr().out


def test_profiles_arrive_in_the_log_group_of_the_fleet(monkeypatch):
    """Profiles go to their own stream of the fleet's log group; a rejected line is exit code 4."""
    words = (WORKERS, "--cluster", "training", "--region", "us-west-2", "--output", "logs")
    with LogsService() as service:
        monkeypatch.setenv("AWS_ENDPOINT_URL_CLOUDWATCH_LOGS", service.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        service.rules.groups.setdefault(RECORDS_GROUP, set())
        assert f"Lines in {RECORDS_GROUP}, stream profiles/training: 2" in profile(*words)[1]
        arrived = [json.loads(event.message) for event in service.rules.applied]
        assert [0, 1] == [line["CoreIndex"] for line in arrived]
        assert {"profiles/training"} == service.rules.groups[RECORDS_GROUP]
        with pytest.raises(DeliveryError, match="line 1: too_old; see --time"):
            profile(*words, "--time", "15d")
        service.next_faults["PutLogEvents"] += [DENIED_FAULT] * 3
        with pytest.raises(DeliveryError, match="logs:PutLogEvents") as caught:
            profile(*words)
        assert 4 == caught.value.exit_code
        assert 2 == len(service.rules.applied)
