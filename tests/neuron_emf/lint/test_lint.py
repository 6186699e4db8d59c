"""
`neuron-emf lint`: lines that lose a metric, warnings, and the output of the command.

`--update-golden` writes the part of the page between its markers.
"""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.cli import cli
from neuron_emf.lint import LINT_ADVICE, LINT_ERRORS, LONG_BYTES, command, judge
from neuron_wire.extraction import MAX_EXTRACTED_BYTES, violations
from neuron_wire.names import HOUR_MS

LINT_NOW_MS = 1_790_000_000_000


def document(**root):
    """Return a document that CloudWatch extracts unchanged; *root* adds members."""
    metric = {"Name": "Latency", "Unit": "Milliseconds"}
    directive = {"Namespace": "Shop", "Dimensions": [["Service"]], "Metrics": [metric]}
    metadata = {"Timestamp": LINT_NOW_MS, "CloudWatchMetrics": [directive]}
    return {"_aws": metadata, "Service": "cart", "Latency": 12.5, **root}


def changed(path, value):
    """Return the document with *value* at *path*, a list of names and places."""
    whole = document()
    at = whole
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return whole


DIRECTIVE_PLACE = ("_aws", "CloudWatchMetrics", 0)
METRIC_PLACE = (*DIRECTIVE_PLACE, "Metrics", 0)


def judged(line, now_ms=LINT_NOW_MS):
    """Return lint's verdict on *line*: bytes, a text or a document."""
    text = line if isinstance(line, (str, bytes)) else json.dumps(line)
    return judge(text if isinstance(text, bytes) else text.encode(), now_ms)


GOOD_LINE = json.dumps(document())
RAW_LINE = {"Schema": 1, "Kind": "raw", "Report": {"Tag": GOOD_LINE, "x": document()}}
ROOM = LONG_BYTES - len(json.dumps(document(filler="")))
DIMENSIONS_PLACE = (*DIRECTIVE_PLACE, "Dimensions")


# --- laws ---


@given(st.binary(max_size=200), st.sampled_from([b"", b'{"_aws":', b'"_aws" {', b"'_AWS'"]))
def test_whatever_a_line_is_there_is_a_judgement(noise, start):
    """Every line has a verdict, and a line that was meant to be EMF has a reason."""
    verdict = judged(start + noise)
    assert verdict.kind in ("emf", "text", "json", "blank")
    assert (verdict.kind == "emf") == bool(verdict.violations or verdict.metrics)
    assert {violation.rule for violation in verdict.violations} <= LINT_ADVICE.keys()


@given(
    st.dictionaries(
        st.sampled_from(["Latency", "Service", "_aws", "Note"]),
        st.none() | st.booleans() | st.floats() | st.text(max_size=4) | st.lists(st.integers()),
    )
)
def test_a_line_is_refused_as_an_emitter_would_refuse_it(changes):
    """Lint refuses every line that an emitter would refuse; the rules are one set."""
    line = json.dumps({**document(), **changes})
    expected = [violation.rule for violation in violations(line, now_ms=LINT_NOW_MS)]
    rules = [violation.rule for violation in judged(line).violations]
    assert expected == [rule for rule in rules if rule in LINT_ERRORS]


# --- verdicts ---


def by_dimension(name, value):
    """Return the document with one more dimension, named by two sets."""
    return {**changed(DIMENSIONS_PLACE, [[name], ["Service", name]]), name: value}


def twice(namespace):
    """Return the document with its directive a second time, in *namespace*."""
    repeated = document()
    directives = repeated["_aws"]["CloudWatchMetrics"]
    directives.append({**directives[0], "Namespace": namespace})
    return repeated


LINES_JUDGED = [
    # not meant to be EMF
    "", "  \t", "START RequestId: 1", 'he said "_aws" and left',
    '{"level":"INFO","message":"done"}',
    '{"note":"a line has a member \\"_aws\\""}', '{"note":"_aws"}', '{"broken',
    json.dumps(RAW_LINE),  # a process can choose any tag
    # meant to be EMF, and not extracted
    str(document()), GOOD_LINE + ",", "metrics: " + GOOD_LINE, '  "_aws": {',
    b'{"Who":"caf\xe9","_aws":{}}',
    GOOD_LINE + " " * MAX_EXTRACTED_BYTES, [document()], {"message": GOOD_LINE},
    {**RAW_LINE, "Kind": "other"}, {"_AWS": document()["_aws"], "Latency": 1},
    document(Service=" "),
    GOOD_LINE.replace("12.5", "1" * 5000),  # JSON has no bound for a number
    # extracted, perhaps otherwise than its writer thinks: on both sides of a boundary
    document(), document(filler="x" * ROOM), document(filler="x" * (ROOM + 1)),
    "2026-11-20T08:00:00.000Z " + GOOD_LINE,
    "[INFO]\t2026-11-20T08:00:00.000Z\t989ffbf8\t" + GOOD_LINE,
    "2026-11-20T08:00:00.000000000Z stdout F " + GOOD_LINE,
    document(Latency={"Max": 2, "Min": 1, "Count": 2, "Sum": (1 << 53) + 1}),
    changed(DIMENSIONS_PLACE, []), changed(("_aws", "LogGroup"), "x"),
    changed((*METRIC_PLACE, "storage_resolution"), "x"),
    changed(("_aws", "LogGroupName"), "group"),  # a line of the CloudWatch agent
    changed(METRIC_PLACE, {"Name": "Latency"}), changed((*METRIC_PLACE, "Unit"), "None"),
    changed(DIMENSIONS_PLACE, [["Service"]] * 2), twice("Other"), twice("Shop"),
    document(Latency=1 << 53), document(Latency=(1 << 53) + 1),
    *(by_dimension(name, "1") for name in ("RequestId", "trace_id", "uuid")),
    by_dimension("Who", "989ffbf8-9ace-4817-a57c-e4dd734019ee"), by_dimension("Who", "1790000000"),
    by_dimension("Who", "2026-11-20T08:00:00Z"), by_dimension("InstanceId", "i-0123456789abcdef0"),
]  # fmt: skip


def test_each_line_has_its_verdict(golden, repository):
    """Each line has the reason why it is not extracted, or a warning."""
    lines = []
    for line in LINES_JUDGED:
        text = line if isinstance(line, (str, bytes)) else json.dumps(line)
        verdict = judged(line)
        whole = ascii(text)
        lines.append(f"{whole[:60]} ... {whole[-60:]}" if len(whole) > 130 else whole)
        lines.append(f"  {verdict.kind}, {len(verdict.metrics)} metrics")
        lines += [f"  {row.rule}: {row.sentence} ({row.path})" for row in verdict.violations]
    golden(repository / "tests/data/shown/lint.txt", "\n".join([*lines, ""]))


def test_old_points_appear_late():
    """Points of 3 hours and older appear up to 2 hours later, of a day at least 48 hours later."""
    assert () == judged(document(), LINT_NOW_MS + 3 * HOUR_MS).violations
    (late,) = judged(document(), LINT_NOW_MS + 3 * HOUR_MS + 1).violations
    assert "late" == late.rule
    (day,) = judged(document(), LINT_NOW_MS + 24 * HOUR_MS).violations
    (more,) = judged(document(), LINT_NOW_MS + 24 * HOUR_MS + 1).violations
    assert "take up to 2 hours" in day.sentence
    assert "take at least 48 hours" in more.sentence


def lint(path, options=("--no-age",)):
    """Return the command's output and exit code."""
    typed = ["lint", str(path), *options]
    ended = CliRunner().invoke(cli, typed, standalone_mode=False, catch_exceptions=False)
    return ended.output, ended.return_value


def written(folder, *texts):
    """Write a file of lines."""
    path = folder / "lines.jsonl"
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return path


BAD = json.dumps(document(Latency="12.5"))
STRANGE = json.dumps({**document(), "Latency": 1 << 60})


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((GOOD_LINE,), 0), ((GOOD_LINE, BAD), 1), ((STRANGE,), 0),
        ((GOOD_LINE, "hello", '{"a":1}', ""), 0),
        (("hello", '{"a":1}', ""), 1), ((), 1),
    ],
    ids=["good", "bad", "warning", "others", "no EMF", "empty"],
)  # fmt: skip
def test_it_ends_with_1_when_a_line_would_lose_a_metric_or_none_has_any(tmp_path, texts, expected):
    """Exit code 1 means that a line loses a metric, or that no line has one."""
    path = written(tmp_path, *texts)
    assert expected == lint(path)[1]


def test_a_program_gets_the_same(tmp_path, follows_schema):
    """JSON has all counts, the first line of each rule, and the overall result."""
    printed, code = lint(written(tmp_path, GOOD_LINE, *9 * [BAD], STRANGE), ("--no-age", "--json"))
    answer = json.loads(printed)
    follows_schema("lint", answer)
    assert 1 == code
    assert answer["ok"] is False
    assert 9 == answer["lossy"]
    assert 11 == answer["lines"]["emf"]
    assert {"value": 9, "precision": 1} == {row["rule"]: row["count"] for row in answer["rules"]}
    assert command.SHOWN_PER_RULE + 1 == len(answer["violations"])


def test_names_of_a_line_cannot_tell_a_terminal_anything(tmp_path):
    """Control characters in names appear as numbers, and markup in names appears as text."""
    name = "\x1b[31mred\x1b[0m\u202e[bold]x[/bold]"
    bad = document()
    bad["_aws"]["CloudWatchMetrics"][0]["Metrics"] = [{"Name": name, "Unit": "None"}]
    path = written(tmp_path, json.dumps(bad))
    printed, _ = lint(path)
    assert "\x1b" not in printed
    assert "\u202e" not in printed
    assert r"\u001b[31mred\u001b[0m\u202e[bold]x[/bold]" in printed


def test_every_rule_that_is_found_has_its_advice(repository):
    """Every rule has advice, and every advice belongs to a rule."""
    sources = [
        repository / "lambda" / "neuron_wire" / "extraction.py",
        *(repository / "neuron_emf" / "lint").glob("*.py"),
    ]
    rules = {
        name
        for path in sources
        for name in re.findall(r'Violation\(\s*"([a-z_]+)"', path.read_text(encoding="utf-8"))
    }
    assert LINT_ADVICE.keys() == rules
