"""Which lines are meant to be EMF, and what makes one of them lose a metric."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.lint.advice import RULES
from neuron_emf.lint.lines import KEPT_BYTES, FileLine
from neuron_emf.lint.verdict import judge
from neuron_wire.extraction import violations
from tests.neuron_emf.lint.linted import NOW_MS, document, errors, judged, warnings

# --- laws ---


@given(st.binary(max_size=200), st.sampled_from([b"", b'{"_aws":', b'"_aws" {', b"'_AWS'"]))
def test_whatever_a_line_is_there_is_a_judgement(noise, start):
    """Also of bytes that are no text; what is not extracted has a reason or was not meant to be."""
    found = judged(start + noise)
    assert found.kind in ("emf", "text", "json", "blank")
    assert (found.kind == "emf") == bool(found.errors or found.document is not None)
    assert {one.rule for one in found.errors} <= RULES.keys()


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


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60))
def test_text_that_does_not_speak_of_emf_is_left_alone(text):
    """A log group may hold anything else."""
    if "_aws" not in text.lower() and "cloudwatchmetrics" not in text.lower():
        found = judged(text.replace("\n", " "))
        assert ((), ()) == (found.errors, found.warnings)
        assert "emf" != found.kind


# --- examples ---


def test_a_line_by_the_rules_surprises_nobody():
    """What the tests beside this one change is in order as it stands."""
    found = judged(document())
    assert ("emf", (), ()) == (found.kind, found.errors, found.warnings)
    assert document() == found.document


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("", "blank"),
        ("  \t", "blank"),
        ("START RequestId: 1", "text"),
        ('he said "_aws" and left', "text"),
        ('{"level":"INFO","message":"done"}', "json"),
        ('{"note":"a line has a member \\"_aws\\""}', "json"),
        ('{"note":"_aws"}', "json"),
        ('{"broken', "json"),
    ],
)
def test_what_is_not_meant_to_be_emf(line, kind):
    """It costs no metric, whatever it is."""
    found = judged(line)
    assert (kind, ()) == (found.kind, found.errors)


@pytest.mark.parametrize(
    ("line", "rule", "words"),
    [
        (str(document()), "json", "double quotes at character 2"),
        (json.dumps(document())[:-9], "json", "the line is not one JSON value: "),
        (json.dumps(document()) + ",", "json", "Extra data at character "),
        (json.dumps(document(Share=float("nan"))), "json", "NaN is not JSON"),
        ("metrics: " + json.dumps(document()), "json", "there is text before the document"),
        ('  "_aws": {', "json", "spans several lines"),
        (json.dumps([document()]), "object", "not an object"),
        (b'{"Who":"caf\xe9","_aws":{}}', "json", "not UTF-8 at byte 12"),
        (json.dumps({"message": json.dumps(document())}), "wrapped", "nested in a member"),
        (json.dumps({"log": {"fields": document()}}), "wrapped", "nested in a member"),
        (json.dumps({"_AWS": document()["_aws"], "Latency": 1}), "metadata", "no object _aws"),
        (json.dumps(document()["_aws"]), "metadata", "no object _aws"),
    ],
    ids=lambda one: ascii(one)[:24],
)
def test_a_line_that_was_meant_to_be_emf_says_why_it_is_not(line, rule, words):
    """A dictionary as Python shows it, a cut line, a logger's wrapping: each with its reason."""
    found = judged(line)
    assert "emf" == found.kind
    assert [rule] == [one.rule for one in found.errors]
    assert words in found.errors[0].sentence


def test_the_place_of_a_wrapped_document_is_said():
    """At whatever depth of objects."""
    (found,) = judged({"log": {"fields": {"event": json.dumps(document())}}}).errors
    assert "$.log.fields.event" == found.path


@pytest.mark.parametrize(
    "prefix",
    [
        "2026-11-20T08:00:00.000Z ",
        "2026-11-20T08:00:00+00:00 shop/cart/1 ",
        "2026-11-20T08:00:00.000Z\t989ffbf8-9ace-4817-a57c-e4dd734019ee\tINFO\t",
        "[INFO]\t2026-11-20T08:00:00.000Z\t989ffbf8-9ace-4817-a57c-e4dd734019ee\t",
    ],
)
def test_a_time_before_the_document_is_a_warning(prefix):
    """Lambda puts it there and CloudWatch accepts it; an export puts it there afterwards."""
    line = prefix + json.dumps(document())
    assert ([], ["prefixed"]) == (errors(line), warnings(line))
    broken = prefix + json.dumps(document(Latency="12"))
    assert (["value"], []) == (errors(broken), warnings(broken))


def test_a_number_of_five_thousand_digits_costs_only_its_metric():
    """JSON has no bound for a number, though Python has one for reading it."""
    digits = "1" * 5000
    line = json.dumps(document(Note=0))
    assert [] == errors(line.replace('"Note": 0', f'"Note": {digits}'))
    assert ["value"] == errors(line.replace("12.5", digits))


def test_a_line_that_is_too_long_is_refused_by_its_beginning():
    """Only what was kept of it is looked at."""
    content = json.dumps(document()).encode()
    found = judge(FileLine(1, content, KEPT_BYTES + 1), NOW_MS)
    assert ["size"] == [one.rule for one in found.errors]
    assert str(KEPT_BYTES + 1) in found.errors[0].sentence


def test_a_raw_report_is_no_emf_whatever_it_holds():
    """A process may choose any tag; the same in a line of anybody else is a document in another."""
    report = {"neuron_runtime_data": [{"neuron_runtime_tag": json.dumps(document())}]}
    line = {"Schema": 1, "Kind": "raw", "Report": {**report, "x": document()}}
    assert ("json", ()) == (judged(line).kind, judged(line).errors)
    assert ["wrapped"] == errors({**line, "Kind": "other"})
