"""Which lines are meant to be EMF, what makes one of them lose a metric, and what surprises."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.lint import ADVICE, LONG_BYTES
from neuron_wire.extraction import MAX_LINE_BYTES, violations
from tests.neuron_emf.lint.linted import (
    DIRECTIVE,
    METRIC,
    NOW_MS,
    changed,
    document,
    errors,
    judged,
    warnings,
)

HOUR_MS = 3_600_000
GOOD = json.dumps(document())
RAW = {"Schema": 1, "Kind": "raw", "Report": {"Tag": GOOD, "x": document()}}
ROOM = LONG_BYTES - len(json.dumps(document(filler="")))
DIMENSIONS = (*DIRECTIVE, "Dimensions")


# --- laws ---


@given(st.binary(max_size=200), st.sampled_from([b"", b'{"_aws":', b'"_aws" {', b"'_AWS'"]))
def test_whatever_a_line_is_there_is_a_judgement(noise, start):
    """Also of bytes that are no text; what is not extracted has a reason or was not meant to be."""
    found = judged(start + noise)
    assert found.kind in ("emf", "text", "json", "blank")
    assert (found.kind == "emf") == bool(found.violations or found.metrics)
    assert {one.rule for one in found.violations} <= ADVICE.keys()


@given(
    st.dictionaries(
        st.sampled_from(["Latency", "Service", "_aws", "Note"]),
        st.none() | st.booleans() | st.floats() | st.text(max_size=4) | st.lists(st.integers()),
    )
)
def test_a_line_is_refused_as_an_emitter_would_refuse_it(changes):
    """The rules are one set: lint adds reasons for lines that never got as far."""
    line = json.dumps({**document(), **changes})
    expected = [one.rule for one in violations(line, now_ms=NOW_MS)]
    assert expected == errors(line)


# --- verdicts ---


def by_dimension(name, value):
    """The document with a dimension more, named by two sets."""
    return {**changed(DIMENSIONS, [[name], ["Service", name]]), name: value}


def twice(namespace):
    """The document with its directive again, in *namespace*."""
    found = document()
    directives = found["_aws"]["CloudWatchMetrics"]
    directives.append({**directives[0], "Namespace": namespace})
    return found


KINDS = {
    "": "blank",
    "  \t": "blank",
    "START RequestId: 1": "text",
    'he said "_aws" and left': "text",
    '{"level":"INFO","message":"done"}': "json",
    '{"note":"a line has a member \\"_aws\\""}': "json",
    '{"note":"_aws"}': "json",
    '{"broken': "json",
    json.dumps(RAW): "json",  # a process may choose any tag
}


@pytest.mark.parametrize("line", KINDS)
def test_what_is_not_meant_to_be_emf_costs_no_metric(line):
    """Whatever it is."""
    assert (KINDS[line], ()) == judged(line)[:2]


@pytest.mark.parametrize(
    ("line", "rule", "words"),
    [
        (str(document()), "json", "double quotes at character 2"),
        (GOOD + ",", "json", "Extra data at character "),
        ("metrics: " + GOOD, "json", "text precedes it"),
        ('  "_aws": {', "json", "spans several lines"),
        (b'{"Who":"caf\xe9","_aws":{}}', "json", "not UTF-8 at character 12"),
        (GOOD + " " * MAX_LINE_BYTES, "size", f"more than {MAX_LINE_BYTES} bytes"),
        ([document()], "object", "not an object"),
        ({"message": GOOD}, "wrapped", "nested in a member"),
        ({**RAW, "Kind": "other"}, "wrapped", "nested in a member"),
        ({"_AWS": document()["_aws"], "Latency": 1}, "metadata", "no object _aws"),
        (document(Service=" "), "dimension_blank", "blank"),
        (GOOD.replace("12.5", "1" * 5000), "value", "Latency"),  # JSON has no bound for a number
    ],
    ids=lambda value: ascii(value)[:24],
)
def test_a_line_that_was_meant_to_be_emf_says_why_it_is_not(line, rule, words):
    """A dictionary as Python shows it, a cut line, a logger's wrapping: each with its reason."""
    found = judged(line)
    assert ("emf", [rule]) == (found.kind, [error.rule for error in found.violations])
    assert words in found.violations[0].sentence


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (document(), ""),
        (document(filler="x" * (ROOM + 1)), "long"),
        ("2026-11-20T08:00:00.000Z " + GOOD, "prefixed"),
        ("[INFO]\t2026-11-20T08:00:00.000Z\t989ffbf8\t" + GOOD, "prefixed"),
        (changed(DIMENSIONS, []), "no_dimensions"),
        (changed(("_aws", "LogGroup"), "x"), "unknown_member"),
        (changed((*METRIC, "storage_resolution"), "x"), "unknown_member"),
        (changed(("_aws", "LogGroupName"), "group"), ""),  # the CloudWatch agent's
        (changed(METRIC, {"Name": "Latency"}), "unit_missing"),
        (changed((*METRIC, "Unit"), "None"), ""),
        (changed(DIMENSIONS, [["Service"]] * 2), "counted_twice"),
        (twice("Other"), ""),
        (twice("Shop"), "counted_twice"),
        (document(Latency=1 << 53), ""),
        (document(Latency=(1 << 53) + 1), "precision"),
        *((by_dimension(name, "1"), "cardinality") for name in ("RequestId", "trace_id", "uuid")),
        (by_dimension("Who", "989ffbf8-9ace-4817-a57c-e4dd734019ee"), "cardinality"),
        (by_dimension("Who", "1790000000"), "cardinality"),
        (by_dimension("Who", "2026-11-20T08:00:00Z"), "cardinality"),
        (by_dimension("InstanceId", "i-0123456789abcdef0"), ""),
    ],
    ids=lambda value: ascii(value)[-24:],
)
def test_what_is_extracted_otherwise_than_its_writer_thinks_is_a_warning(line, expected):
    """One each at its boundary, and no error."""
    assert ([], expected.split()) == (errors(line), warnings(line))


def test_a_nested_document_is_named_by_its_path():
    """Through objects and the texts of loggers."""
    (found,) = judged({"log": {"fields": {"event": GOOD}}}).violations
    assert "$.log.fields.event" == found.path


def test_old_points_appear_late():
    """From 3 hours on up to 2 hours later, from a day on at least 48."""
    assert [] == warnings(document(), now_ms=NOW_MS + 3 * HOUR_MS)
    assert ["late"] == warnings(document(), now_ms=NOW_MS + 3 * HOUR_MS + 1)
    (day,) = judged(document(), now_ms=NOW_MS + 24 * HOUR_MS).violations
    (more,) = judged(document(), now_ms=NOW_MS + 24 * HOUR_MS + 1).violations
    assert "take up to 2 hours" in day.sentence
    assert "take at least 48 hours" in more.sentence
