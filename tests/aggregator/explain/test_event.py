"""Parsing of an alarm's event, with any part missing."""

from __future__ import annotations

import contextlib
import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.explain.event import EventError, read_transition
from tests.aggregator.explain.alarm_events import (
    OVER_AT,
    of_a_contributor,
    of_an_alarm,
    state,
)

EVENT_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=20,
)
EVENT_MEMBERS = (
    "detail-type time resources account region detail detail.alarmName detail.state"
    " detail.state.value detail.state.timestamp detail.state.reason detail.previousState"
    " detail.alarmContributor detail.alarmContributor.attributes detail.muteDetail"
    " detail.configuration detail.configuration.metrics"
)


@given(EVENT_JSON)
def test_what_is_no_event_is_an_event_error(junk):
    """
    An event of any other shape fails the invocation with one sentence instead of a stack trace.
    """
    with pytest.raises(EventError):
        read_transition({"detail": junk})
    with pytest.raises(EventError, match="detail-type"):
        read_transition({"detail-type": junk})


@given(st.sampled_from(EVENT_MEMBERS.split()), EVENT_JSON, st.booleans())
def test_an_event_with_a_member_of_another_kind_is_read_or_refused(path, junk, contributor):
    """An event with a member of another type is read or refused with an EventError."""
    event = copy.deepcopy(of_a_contributor() if contributor else of_an_alarm())
    inner = event
    *folders, last = path.split(".")
    for name in folders:
        inner = inner.setdefault(name, {})
    inner[last] = junk
    with contextlib.suppress(EventError):
        read_transition(event)


def test_a_metric_of_another_namespace_is_not_ours():
    """The project's metric names have their meaning only in the project's namespaces."""
    event = of_an_alarm("ExecutionErrors")
    (query,) = event["detail"]["configuration"]["metrics"]
    query["metricStat"]["metric"]["namespace"] = "AWS/Lambda"
    transition = read_transition(event)
    assert () == transition.metrics
    assert ("AWS/Lambda ExecutionErrors",) == transition.other_metrics
    event = of_a_contributor("ExecutionErrors")
    (query,) = event["detail"]["configuration"]["metrics"]
    query["expression"] = 'SELECT SUM(ExecutionErrors) FROM "AWS/Lambda" GROUP BY ClusterName'
    assert () == read_transition(event).metrics


def test_each_transition_has_one_identity_of_its_own():
    """
    A redelivery has the identity of its transition; another cluster, time, state or alarm differs.
    """
    redelivered = {**of_a_contributor(), "id": "another", "time": "2026-11-21T03:19:30Z"}
    events = [
        of_a_contributor(),
        redelivered,
        of_a_contributor(cluster="serving"),
        of_a_contributor(now=state("ALARM", OVER_AT)),
        of_a_contributor(now=state("OK")),
        of_a_contributor("IdleCostPerHour"),
        of_an_alarm(),
    ]
    first, again, *others = [read_transition(event).identity for event in events]
    assert first == again
    assert len(others) == len({*others} - {first})
