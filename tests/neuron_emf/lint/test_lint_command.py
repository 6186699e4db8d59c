"""`neuron-emf lint` as it is typed: its exit code, what it prints."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from neuron_emf.cli import cli
from neuron_emf.lint import ADVICE, command
from tests.neuron_emf.lint.linted import document


def lint(path, options=("--no-age",), stdin=None):
    """What the command prints, and its exit code."""
    typed = ["lint", str(path), *options]
    ended = CliRunner().invoke(
        cli, typed, input=stdin, standalone_mode=False, catch_exceptions=False
    )
    return ended.output, ended.return_value


def written(folder, *texts):
    """A file of lines."""
    path = folder / "lines.jsonl"
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return path


GOOD = json.dumps(document())
BAD = json.dumps(document(Latency="12.5"))
STRANGE = json.dumps({**document(), "Latency": 1 << 60})


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((GOOD,), 0), ((GOOD, BAD), 1), ((STRANGE,), 0), ((GOOD, "hello", '{"a":1}', ""), 0),
        (("hello", '{"a":1}', ""), 1), ((), 1),
    ],
    ids=["good", "bad", "warning", "others", "no EMF", "empty"],
)  # fmt: skip
def test_it_ends_with_1_when_a_line_would_lose_a_metric_or_none_has_any(tmp_path, texts, expected):
    """A warning, or a line of another kind, is no failure: no metric at all is one."""
    path = written(tmp_path, *texts)
    assert expected == lint(path)[1]


def test_what_is_found_stands_with_its_file_line_member_and_advice(tmp_path):
    """One place, one sentence, and the advice with the first of its rule."""
    path = written(tmp_path, GOOD, "hello", BAD, "", BAD)
    said, _ = lint(path)
    flat = " ".join(said.split())
    assert f"{path.name}:3: error value at $.Latency" in said
    assert f"{path.name}:5: error value at $.Latency" in said
    assert 2 == flat.count("has a value that is not a number within 2^360.")
    assert 1 == flat.count(ADVICE["value"])
    assert (
        "5 lines: 3 EMF, of which 2 would lose a metric; not EMF 1 text, 0 JSON, 1 blank." in flat
    )
    assert "CloudWatch would make 1 metric of them." in flat


def test_a_program_gets_the_same(tmp_path, follows_schema):
    """Counts of all, the first of each rule, and whether all is well."""
    said, code = lint(written(tmp_path, GOOD, *9 * [BAD], STRANGE), ("--no-age", "--json"))
    found = json.loads(said)
    follows_schema("lint", found)
    assert (1, False, 9, 11) == (code, found["ok"], found["lossy"], found["lines"]["emf"])
    assert {"value": 9, "precision": 1} == {one["rule"]: one["count"] for one in found["rules"]}
    assert command.SHOWN_PER_RULE + 1 == len(found["violations"])


def test_names_of_a_line_cannot_tell_a_terminal_anything(tmp_path):
    """
    Control characters, of the other writing direction too, are shown as numbers; what looks like
    markup is text.
    """
    name = "\x1b[31mred\x1b[0m\u202e[bold]x[/bold]"
    bad = document()
    bad["_aws"]["CloudWatchMetrics"][0]["Metrics"] = [{"Name": name, "Unit": "None"}]
    path = written(tmp_path, json.dumps(bad))
    said, _ = lint(path)
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert r"\u001b[31mred\u001b[0m\u202e[bold]x[/bold]" in said


def test_the_age_of_a_line_is_left_out_on_demand(tmp_path):
    """By the clock, or not at all."""
    old = document()
    old["_aws"]["Timestamp"] = 1_600_000_000_000
    path = written(tmp_path, json.dumps(old))
    assert [1, 0] == [lint(path, options)[1] for options in ((), ("--no-age",))]


def test_what_is_found_often_is_shown_a_few_times():
    """Of standard input, too; all are counted."""
    said, _ = lint("-", stdin=f"{BAD}\n" * 9)
    assert command.SHOWN_PER_RULE == said.count("error value at $.Latency")
    assert "      9  error value\n" in said


def test_metrics_are_told_apart_by_namespace_name_and_dimensions(tmp_path, monkeypatch):
    """What CloudWatch bills: the same name by another value is another; within a bound."""
    texts = [json.dumps({**document(), "Service": f"s{number % 7}"}) for number in range(50)]
    path = written(tmp_path, *texts)
    assert "CloudWatch would make 7 metrics of them." in lint(path)[0]
    monkeypatch.setattr(command, "MAX_METRICS", 5)
    assert "CloudWatch would make 5 metrics or more of them." in lint(path)[0]
