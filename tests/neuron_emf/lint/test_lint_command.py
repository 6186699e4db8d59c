"""`neuron-emf lint` as it is typed: its files, its exit code, what it prints."""

from __future__ import annotations

import gzip
import json
import sys
import tracemalloc
from datetime import datetime, timezone
from pathlib import Path

import pytest
from click.testing import CliRunner

from emitter.errors import SettingsError, SourceError
from neuron_emf.cli import cli
from neuron_emf.lint import listing as lines
from neuron_emf.lint.listing import Tally
from neuron_emf.lint.verdict import ADVICE, judge
from tests.neuron_emf.lint.linted import NOW_MS, document

AT = datetime.fromtimestamp(NOW_MS / 1000, tz=timezone.utc).isoformat()


def lint(*words, stdin=None):
    """What the command prints, and its exit code."""
    ended = CliRunner().invoke(
        cli, ["lint", *map(str, words)], input=stdin, standalone_mode=False, catch_exceptions=False
    )
    return ended.output, ended.return_value


def written(folder, *texts, name="lines.jsonl"):
    """A file of lines."""
    path = folder / name
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return path


GOOD = json.dumps(document())
BAD = json.dumps(document(Latency="12.5"))
STRANGE = json.dumps({**document(), "Latency": 1 << 60})


@pytest.mark.parametrize(
    ("texts", "expected"),
    [((GOOD,), 0), ((GOOD, BAD), 1), ((STRANGE,), 0), (("hello", '{"a":1}', ""), 0), ((), 0)],
    ids=["good", "bad", "warning", "no EMF", "empty"],
)
def test_it_ends_with_1_when_a_line_would_lose_a_metric(tmp_path, texts, expected):
    """A warning, or a line of another kind, is no failure."""
    path = written(tmp_path, *texts)
    for how in ((), ("--json",)):
        _, code = lint(path, "--now", AT, *how)
        assert expected == code


def test_what_is_found_stands_with_its_file_line_member_and_advice(tmp_path):
    """One place, one sentence, and the advice with the first of its rule."""
    path = written(tmp_path, GOOD, "hello", BAD, "", BAD)
    said, _ = lint(path, "--now", AT)
    flat = " ".join(said.split())
    assert f"{path.name}:3: error value at $.Latency" in said
    assert f"{path.name}:5: error value at $.Latency" in said
    assert 2 == flat.count("has a value that is not a number within 2^360.")
    assert 1 == flat.count(ADVICE["value"])
    assert (
        "5 lines: 3 EMF, of which 2 would lose a metric; not EMF 1 text, 0 JSON, 1 blank." in flat
    )
    assert "CloudWatch would make 1 metric of them." in flat


def test_a_program_gets_the_same_as_one_document(tmp_path):
    """Counts by rule are whole; findings are the first of each rule."""
    path = written(tmp_path, GOOD, STRANGE, *[BAD] * 4, "x", '{"a":1}', "")
    said, _ = lint(path, "--now", AT, "--json", "--limit", 3)
    found = json.loads(said)
    assert {"lines": 6, "extracted": 2, "lossy": 4} == found["emf"]
    assert {"text": 1, "json": 1, "blank": 1} == found["not_emf"]
    assert {
        "precision": {"level": "warning", "count": 1},
        "value": {"level": "error", "count": 4},
    } == found["rules"]
    assert [2, 3, 4, 5] == [one["line"] for one in found["findings"]]
    assert 1 == found["findings_left_out"]
    assert {"distinct": 1, "or_more": False} == found["metrics"]
    first = found["findings"][1]
    assert ("Latency", "$.Latency", "error") == (first["member"], first["path"], first["level"])


def test_the_age_of_a_line_is_that_at_the_moment_given(tmp_path):
    """By the clock, by --now, or not at all."""
    old = document()
    old["_aws"]["Timestamp"] = 1_600_000_000_000
    path = written(tmp_path, json.dumps(old))
    assert 1 == lint(path)[1]
    assert 1 == lint(path, "--now", AT)[1]
    assert 0 == lint(path, "--now", "2020-09-13T12:30:00Z")[1]
    assert 0 == lint(path, "--no-age")[1]


def test_standard_input_and_gzip_are_read_too(tmp_path):
    """A dash is standard input; gzip is known by its first bytes, whatever the file is called."""
    packed = tmp_path / "lines.txt"
    packed.write_bytes(gzip.compress(f"{GOOD}\n{BAD}\n".encode()))
    assert 1 == lint(packed, "--no-age")[1]
    said, code = lint("-", "--no-age", stdin=f"{BAD}\n{GOOD}")
    assert 1 == code
    assert "-:1: error value" in said


def test_a_line_without_its_end_is_a_line(tmp_path):
    """So is one that ends as on Windows."""
    path = tmp_path / "lines.jsonl"
    path.write_bytes(f"{GOOD}\r\n{BAD}".encode())
    assert 1 == lint(path, "--no-age")[1]
    found = [(one.number, one.content.decode()) for one in lines.lines_of(path, lambda *_: None)]
    assert [(1, GOOD), (2, BAD)] == found


def test_what_cannot_be_read_is_said(tmp_path, monkeypatch):
    """A missing file is a usage error; half a gzip file and a closed input are failed sources."""
    with pytest.raises(SettingsError, match=r"Cannot open .*none\.jsonl"):
        lint(tmp_path / "none.jsonl")
    packed = tmp_path / "half.gz"
    packed.write_bytes(gzip.compress(GOOD.encode() * 1000)[:-20])
    with pytest.raises(SourceError, match="damaged or cut gzip"):
        lint(packed)
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SourceError, match="Standard input is closed"):
        list(lines.lines_of(Path("-"), lambda *_: None))


def test_names_of_a_line_cannot_tell_a_terminal_anything(tmp_path):
    """
    Control characters, of the other writing direction too, are shown as numbers; what looks like
    markup is text.
    """
    name = "\x1b[31mred\x1b[0m\u202e[bold]x[/bold]"
    bad = document()
    bad["_aws"]["CloudWatchMetrics"][0]["Metrics"] = [{"Name": name, "Unit": "None"}]
    path = written(tmp_path, json.dumps(bad))
    said, _ = lint(path, "--no-age")
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert r"\u001b[31mred\u001b[0m\u202e[bold]x[/bold]" in said


def test_metrics_are_told_apart_by_namespace_name_and_dimensions(tmp_path):
    """What CloudWatch bills: the same name by another value is another metric."""
    texts = [json.dumps({**document(), "Service": f"s{number % 7}"}) for number in range(50)]
    found = json.loads(lint(written(tmp_path, *texts), "--no-age", "--json")[0])
    assert {"distinct": 7, "or_more": False} == found["metrics"]


def test_what_is_told_apart_is_bounded(monkeypatch):
    """Beyond the bound it says "or more"."""
    monkeypatch.setattr(lines, "MAX_SERIES", 10)
    found = Tally(5)
    for number in range(50):
        content = json.dumps({**document(), "Service": f"s{number}"}).encode()
        found.add("x", number, judge(lines.FileLine(number, content, len(content)), None))
    assert (10, True) == (len(found.series), found.is_full)


def test_a_file_without_lines_is_read_in_little_memory(tmp_path):
    """Forty megabytes without one newline cost as many bytes as are kept of a line, a few times."""
    path = tmp_path / "wide.jsonl"
    with path.open("wb") as file:
        file.write(GOOD[:-1].encode() + b',"filler":"')
        for _ in range(40):
            file.write(b"x" * 1_000_000)
        file.write(b'"}\n' + BAD.encode())
    tracemalloc.start()
    try:
        found = [
            (one.number, len(one.content), one.size, judge(one, None).errors[0].rule)
            for one in lines.lines_of(path, lambda *_: None)
        ]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    wide = len(GOOD) - 1 + 11 + 40_000_000 + 2
    assert [(1, lines.KEPT_BYTES, wide, "size"), (2, len(BAD), len(BAD), "value")] == found
    assert peak < 6 * lines.KEPT_BYTES


def test_how_far_it_is_is_told_in_bytes(tmp_path):
    """Of a file whose size is known."""
    path = written(tmp_path, *[GOOD] * 3000)
    told = []
    list(lines.lines_of(path, lambda done, total=None: told.append((done, total))))
    size = path.stat().st_size
    assert [size] * 3 == [total for _, total in told]
    assert sorted(told) == told
    assert told[-1][0] <= size
