"""The path of lines to the stack and to metrics, and the probe line that check sends."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.alarms.template import load_template
from neuron_emf.check.log_groups import (
    KIND,
    PATTERN,
    probe_line,
    selects,
)
from neuron_wire import parse
from neuron_wire.catalogue import EMITTED
from neuron_wire.line import OtherRecord
from proof.factories.records import RECORDS_GROUP


@pytest.mark.parametrize(
    "criteria",
    [
        'LogGroupName = "/a"',
        'LogGroupName IN ["/a"] AND LogGroupNamePrefix IN ["/b"]',
        "LogGroupName IN [/a]",
        "LogGroupName IN [1]",
        "LogGroupName IN " + "[" * 10_000 + "]" * 10_000,
    ],
    ids=["equals", "two", "no JSON", "a number", "nested"],
)
def test_an_undocumented_form_is_not_guessed(criteria):
    """Criteria in an undocumented form are a warning that names the policy."""
    assert selects(criteria, "/a/b") is None


PROBE_NAMES = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60)


@pytest.fixture(scope="module")
def template(repository):
    return load_template(repository / "template.yaml")["Resources"]


@given(PROBE_NAMES, PROBE_NAMES, st.integers(0, 2**45))
def test_no_probe_is_a_record(cluster, instance_id, at_ms):
    """A probe with any cluster and instance is a valid line of a kind that no reader counts."""
    line = probe_line(cluster, instance_id, at_ms)
    assert OtherRecord(KIND) == parse(line)
    assert KIND not in EMITTED
    assert "_aws" not in json.loads(line)
    assert "CloudWatchMetrics" not in json.loads(line)


def test_the_subscription_of_the_template_passes_no_probe_on(template):
    """The template's subscription is the expected one, and its quoted term is not in a probe."""
    pattern = template["RecordsSubscription"]["Properties"]["FilterPattern"]
    assert PATTERN == pattern
    assert pattern.strip('"') not in probe_line("blue", "i-0", 0)


def test_one_stream_and_one_line_are_all_that_changes(checked, reach, monitor):
    """Every check uses the same log stream: a check each hour leaves one stream, not thousands."""
    for count in (1, 2):
        assert 0 == checked("--monitor-command", monitor).code
        assert {"check/i-0123456789abcdef0"} == reach.rules.groups[RECORDS_GROUP]
        assert count == len(reach.rules.applied)
    assert 2 == len({event.message for event in reach.rules.applied})
    writing = {"PutLogEvents", "CreateLogStream"}
    others = {name for name in reach.operations if name not in writing}
    assert all(name.startswith(("Describe", "Get")) for name in others), others


def test_a_line_the_service_did_not_take_is_a_failure(checked, reach, monitor):
    """A line that PutLogEvents drops for its time in a successful answer is a failure."""
    put = reach.rules.operations["PutLogEvents"]
    reach.rules.operations["PutLogEvents"] = lambda document: {
        **put(document),
        "rejectedLogEventsInfo": {"tooNewLogEventStartIndex": 0},
    }
    run = checked("--monitor-command", monitor)
    assert "failed" == run.states["log line"]
    assert "rejected the timestamp (tooNewLogEventStartIndex)" in run.of("log line")["found"]
    assert "not tried" == run.states["read back"]
