"""From reports to findings: what the emitter counts and the stack decides, minute by minute."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_service import ANY_UNKNOWN, HUNG, SILENT, STEADY, Service

from aggregator.environment import Rules
from aggregator.findings.bucket_findings import BucketFindings
from aggregator.findings.detail import EvidenceGroups
from aggregator.storage.item import BUCKETS
from neuron_wire import MinuteRecord, encode, parse
from neuron_wire.findings import FindingsState
from neuron_wire.merging import merge
from neuron_wire.prices import Prices

RULES = Rules(hung_after_minutes=12)
MINUTES = STEADY | SILENT | HUNG | ANY_UNKNOWN


def events(minutes, *, worked=30, rules=RULES):
    """Kind, change and number of the minute of each step, after so many minutes with executions."""
    service = Service.after_work(worked)
    states = {bucket: FindingsState() for bucket in range(BUCKETS)}
    findings = BucketFindings(states, rules, Prices(), EvidenceGroups("", ""))
    for number, (does, is_restart) in enumerate(minutes, 1):
        record = service.pass_minute(is_restart=is_restart, **does)
        metadata = {"Timestamp": record.minute_ms, "CloudWatchMetrics": []}
        told = parse(encode({"_aws": metadata, **record.members()}))
        assert isinstance(told, MinuteRecord)
        findings.begin(record.minute_ms // 60_000)
        findings.see(merge([told]))
        findings.keep(set(), set(), {})
        for state in states.values():
            for event in state.due:
                if event["Kind"] in {"hung-execution", "executions-stopped"}:
                    yield event["Kind"], event["Change"], number
            state.due.clear()


@settings(max_examples=100)
@given(st.lists(MINUTES, max_size=40), st.sampled_from([0, 30]))
def test_an_emitter_that_restarts_after_each_minute_gives_the_same_events(minutes, worked):
    """Also where nobody knows what was in them."""
    steady, restarted = ([(does, restarts) for does in minutes] for restarts in (False, True))
    assert [*events(steady, worked=worked)] == [*events(restarted, worked=worked)]


@settings(max_examples=100)
@given(
    st.lists(st.tuples(STEADY | ANY_UNKNOWN, st.booleans()), max_size=10),
    st.lists(st.tuples(SILENT | ANY_UNKNOWN, st.booleans()), max_size=60),
)
def test_a_steady_service_that_falls_silent_is_never_hung(works, rests):
    """For any length, with timeouts before, unknown minutes and restarts."""
    assert not [one for one in events([*works, *rests]) if "hung-execution" in one]


@settings(max_examples=50)
@given(
    st.sampled_from([{"percent": 95}, {"timed_out": 1}]),
    st.lists(st.tuples(ANY_UNKNOWN, st.booleans()), min_size=1, max_size=10),
    st.integers(9, 13),
)
def test_unknown_minutes_neither_open_nor_close(does, unknown, known):
    """The step is in a known minute, as many of them after the beginning as without."""
    hung = [(does, False)] * known
    before = [*events(hung)]
    assert before == [*events([*hung, *unknown])]
    limit = 12 if "percent" in does else 11
    expected = [("hung-execution", "opened", limit + len(unknown))]
    assert expected == [*events([hung[0], *unknown, *(hung[:1] * (limit - 1))])]


@pytest.mark.parametrize(
    ("does", "opens"), [({"percent": 95}, 60), ({"timed_out": 1}, 11), ({"hangs": (0,)}, 1)]
)
def test_each_cause_opens_at_its_limit_and_an_execution_closes(does, opens):
    """60 busy minutes, 10 after the one with timeouts, at once for the kernel's message."""
    minutes = [*[(does, False)] * opens, ({"completed": 1}, False)]
    assert [
        ("hung-execution", "opened", opens), ("hung-execution", "closed", opens + 1)
    ] == [*events(minutes, rules=Rules())]  # fmt: skip


def test_a_job_that_stops_is_found_after_an_hour():
    """By the last execution of the process that holds its cores, over restarts of the emitter."""
    minutes = [*[({}, True)] * 60, ({"completed": 1}, False)]
    assert [("executions-stopped", "opened", 60), ("executions-stopped", "closed", 61)] == [
        *events(minutes)
    ]
