"""
Moments of the events in a PutLogEvents call: order, age and span.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proof.logs.rules import RECORDS_GROUP, LogRules, ServiceError
from tests.recorded.recording import (
    DAY_MS,
    HOUR_MS,
    NOW_MS,
    NOW_S,
    PLACE,
)

PUT = "PutLogEvents"
EDGES_MS = sorted(
    edge_ms + step_ms
    for edge_ms in (-3 * HOUR_MS, -2 * HOUR_MS, 0, 22 * HOUR_MS, DAY_MS, 14 * DAY_MS, 15 * DAY_MS)
    for step_ms in (-1, 0, 1)
)


def of_ages(ages_ms, retention_ms=None):
    """The rules, and what they answer to events of these ages; None when the call failed."""
    rules = LogRules(lambda: NOW_S, {RECORDS_GROUP: {"i-0"}}, retention_ms)
    sent = [{"timestamp": NOW_MS - age_ms, "message": f"{age_ms}"} for age_ms in ages_ms]
    try:
        answer = rules.call(PUT, {**PLACE, "logEvents": sent})
    except ServiceError:
        return rules, None
    return rules, answer.get("rejectedLogEventsInfo", {})


@given(
    st.lists(st.sampled_from(EDGES_MS), min_size=1, max_size=6).map(
        lambda ages: sorted(ages, reverse=True)
    ),
    st.sampled_from([None, 22 * HOUR_MS, 15 * DAY_MS]),
)
def test_what_is_not_taken_is_named_once_or_the_call_failed(ages_ms, retention_ms):
    """In order, an event is taken when its age is allowed; if those span a day at most."""
    oldest_ms = min(14 * DAY_MS, retention_ms or 14 * DAY_MS)
    allowed = [age_ms for age_ms in ages_ms if -2 * HOUR_MS <= age_ms <= oldest_ms]
    rules, told = of_ages(ages_ms, retention_ms)
    if allowed and allowed[0] - allowed[-1] > DAY_MS:
        assert (None, []) == (told, rules.applied)
        return
    assert [str(age_ms) for age_ms in allowed] == [one.message for one in rules.applied]
    old = sum(age_ms > 14 * DAY_MS for age_ms in ages_ms)
    expired = sum(age_ms > oldest_ms for age_ms in ages_ms)
    new = sum(age_ms < -2 * HOUR_MS for age_ms in ages_ms)
    expected = {
        "tooOldLogEventEndIndex": old or None,
        "expiredLogEventEndIndex": expired if expired > old else None,
        "tooNewLogEventStartIndex": len(ages_ms) - new if new else None,
    }
    assert {name: place for name, place in expected.items() if place is not None} == told


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6))
def test_order_is_asked_of_the_whole_call(ages_ms):
    """Equal moments are in order; one event out of it costs all of them."""
    rules, told = of_ages(ages_ms)
    in_order = ages_ms == sorted(ages_ms, reverse=True)
    assert (in_order, len(ages_ms) if in_order else 0) == (told is not None, len(rules.applied))
