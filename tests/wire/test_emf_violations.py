"""What is said of a line that breaks a rule, and where."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from neuron_wire.extraction import violations
from tests.wire.emf_documents import BOUNDARIES, directive, document, metric, rules


def test_every_violation_is_found_and_said():
    """A line that breaks three rules has three violations, each with its place and a sentence."""
    broken = {**directive(Namespace="", Dimensions=[]), "BusyCores": True}
    found = violations(json.dumps(broken))
    assert ["namespace", "no_dimensions", "value"] == [one.rule for one in found]
    assert "$.BusyCores" == found[2].path
    assert all(20 < len(one.sentence) < 200 for one in found)


def resolve(whole, path):
    """
    What stands at *path* of a document; None when only the object that should have it is there.
    """
    at = whole
    steps = re.findall(r'\.([A-Za-z_]\w*)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]', path)
    assert "$" + "".join(re.findall(r'\.[A-Za-z_]\w*|\[\d+\]|\["(?:[^"\\]|\\.)*"\]', path)) == path
    for number, (name, place, quoted) in enumerate(steps):
        key = int(place) if place else name or json.loads(f'"{quoted}"')
        if isinstance(key, str) and key not in at:
            assert len(steps) == number + 1
            return None
        at = at[key]
    return at


def test_a_violation_says_where_it_is():
    """The path leads to what is wrong, or to where it is missing."""
    for rule, _, refused in BOUNDARIES:
        for violation in violations(json.dumps(refused)):
            found = resolve(refused, violation.path)
            if rule == "namespace":
                assert refused["_aws"]["CloudWatchMetrics"][0]["Namespace"] == found
            if rule in ("value", "values", "dimension_value"):
                assert not violation.path.startswith("$._aws")
            if rule == "dimension_name":
                assert found is not None


def test_a_place_is_that_of_its_set_and_its_directive():
    """Counted from 0, each in its own array."""
    first = document()["_aws"]["CloudWatchMetrics"][0]
    second = {**first, "Dimensions": [[], ["ClusterName"], ["ClusterName", ":x"]]}
    whole = document(_aws={"Timestamp": 1, "CloudWatchMetrics": [first, second]})
    (found,) = violations(json.dumps(whole))
    assert "$._aws.CloudWatchMetrics[1].Dimensions[2][1]" == found.path
    twice = directive(Dimensions=[[], ["ClusterName", "Zone", "ClusterName"]])
    (found,) = violations(json.dumps({**twice, "Zone": "a"}))
    assert "$._aws.CloudWatchMetrics[0].Dimensions[1][2]" == found.path
    many = directive(Metrics=[{"Name": "BusyCores"}, {"Name": "BusyCores", "Unit": "x"}])
    assert ["[1].Unit", "[1].Name"] == [
        violation.path.removeprefix("$._aws.CloudWatchMetrics[0].Metrics")
        for violation in violations(json.dumps(many))
    ]


def test_the_path_to_a_strange_name_is_quoted():
    """As RFC 9535 has it: a blank, a dot or a quote is no part of a plain name."""
    (found,) = violations(json.dumps({**metric(Name='a.b "c"'), 'a.b "c"': "x"}))
    assert '$["a.b \\"c\\""]' == found.path
    assert '"x"' == json.dumps(resolve({'a.b "c"': "x"}, found.path))


@given(st.text())
def test_no_text_breaks_the_validator(text):
    """Nor does what never was JSON."""
    assert rules(text)
