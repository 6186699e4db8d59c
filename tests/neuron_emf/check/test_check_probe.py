"""The probe: tried for real, and harmless whoever reads the log group."""

from __future__ import annotations

import json
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.alarms.template import load_template
from neuron_emf.check import log_groups
from neuron_emf.check.aws_client import Answer
from neuron_emf.check.log_groups import KIND, PATTERN, probe_line
from neuron_wire import parse
from neuron_wire.catalogue import EMITTED
from neuron_wire.line import OtherRecord
from proof.account.account_faults import EMITTER_ACTIONS, break_account

GROUP = "/neuron-emf/records"
NAMES = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60)


@pytest.fixture(scope="module")
def template(repository):
    return load_template(repository / "template.yaml")["Resources"]


@given(NAMES, NAMES, st.integers(0, 2**45))
def test_no_probe_is_a_record(cluster, instance_id, at_ms):
    """Whatever cluster and instance are called: a line of ours, of a kind that nobody counts."""
    line = probe_line(cluster, instance_id, at_ms)
    assert OtherRecord(KIND) == parse(line)
    assert KIND not in EMITTED
    assert "_aws" not in json.loads(line)
    assert "CloudWatchMetrics" not in json.loads(line)


def test_the_subscription_of_the_template_passes_no_probe_on(template):
    """Its pattern is a term in quotes, which the line does not have; and it is the one expected."""
    pattern = template["RecordsSubscription"]["Properties"]["FilterPattern"]
    assert PATTERN == pattern
    assert pattern.strip('"') not in probe_line("blue", "i-0", 0)


def test_every_action_of_the_probe_is_one_the_emitter_may_do(template):
    """But for reading, which the policy of the stack gives nobody."""
    (statement,) = template["EmitterPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    assert EMITTER_ACTIONS == set(statement["Action"])


def test_one_stream_and_one_line_are_all_that_changes(checked, reach, monitor):
    """The next check uses the same stream: a check each hour leaves one, not thousands."""
    for count in (1, 2):
        assert 0 == checked("--monitor-command", monitor).code
        assert {"check/i-0123456789abcdef0"} == reach.rules.groups[GROUP]
        assert count == len(reach.rules.applied)
    assert 2 == len({one.message for one in reach.rules.applied})
    writing = {"PutLogEvents", "CreateLogStream"}
    others = {name for name in reach.operations if name not in writing}
    assert all(name.startswith(("Describe", "Get")) for name in others), others


def test_a_line_the_service_did_not_take_is_a_failure(checked, reach, monitor):
    """PutLogEvents answers with success also when it drops the line for its time."""
    reach.service.instead = lambda answer: (
        {**answer, "rejectedLogEventsInfo": {"tooNewLogEventStartIndex": 0}}
        if "nextSequenceToken" in answer
        else answer
    )
    found = checked("--monitor-command", monitor)
    assert "failed" == found.states["log line"]
    assert "rejected the timestamp (tooNewLogEventStartIndex)" in found.of("log line")["found"]
    assert "not tried" == found.states["read back"]


def test_without_a_stack_nothing_of_it_is_asked(checked, reach, monitor):
    """Lines alone are of use: with --stack-name '' only their group is looked at."""
    break_account(reach, "rollups group missing")
    break_account(reach, "subscription missing")
    found = checked("--monitor-command", monitor, "--stack-name", "")
    assert 0 == found.code
    for check in ("rollups log group", "rollups log group class", "subscription"):
        assert "not needed" == found.states[check]


def test_a_line_that_appears_after_minutes_is_read_back(monkeypatch):
    """Empty answers until then say nothing."""
    slept = []
    monkeypatch.setattr(log_groups.time, "sleep", slept.append)
    answers = lambda: [{"message": "line"}] if sum(slept) >= 95 else []  # noqa: E731
    aws = Mock()
    aws.ask.side_effect = lambda *_, **__: Answer("GetLogEvents", {"events": answers()})
    assert "ok" == log_groups.Probe(aws, Mock(), "i-0", now_ms=0).read_back("line").state


def test_another_line_is_not_taken_for_this_one(checked, reach, monitor):
    """Somebody else may check from the same instance at the same moment."""
    others = [{"timestamp": 1, "message": probe_line("blue", "i-0", 1), "ingestionTime": 1}]
    reach.service.instead = lambda answer: (
        {**answer, "events": others} if "events" in answer else answer
    )
    found = checked("--monitor-command", monitor)
    assert "warning" == found.states["read back"]
    assert "cannot be read after" in found.of("read back")["found"]
