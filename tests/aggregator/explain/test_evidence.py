"""What is read from the table for a message; damaged is missing, and the message is sent."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aggregator.explain.event import (
    ERRORS,
    IDLE_CORES,
    SILENCE,
    SUBJECTS,
    read_transition,
)
from aggregator.explain.evidence import (
    DAMAGED,
    OLD_AFTER_S,
    Evidence,
    gather_evidence,
    read_rollup,
)
from aggregator.explain.notification import notify
from aggregator.rollups.sums import FAILING
from aggregator.storage.values import Publication
from proof.memory_table import MemoryTable
from tests.aggregator.explain.alarm_events import (
    ENVIRONMENT,
    MIDNIGHT,
    MINUTE,
    RANG_S,
    of_an_alarm,
    rollup,
    table_with,
)


def evidence_of(subject, table, now_s=RANG_S):
    """What *table* knows about a subject in the cluster."""
    return gather_evidence(Evidence(subject, "us-east-1", 15), "training", table, now_s)


def published(table, minute, cluster="training", **tallies):
    """Put what has been published of a minute into the table."""
    before = table.read_publications(minute).get(cluster)
    number = before.number + 1 if before else 1
    assert table.write_publication(minute, cluster, Publication(number, tallies, "x", 1), 0)


def test_the_cost_of_today_is_that_of_each_minute_since_midnight():
    """
    Neither yesterday nor another cluster counts; of a restated minute the last publication does.
    """
    table = MemoryTable()
    published(table, MIDNIGHT - 1, IdleCost=1000.0)
    for restated in (7.0, 1.0):
        published(table, MIDNIGHT, IdleCost=restated)
    published(table, MIDNIGHT + 1, Executions=5)
    published(table, MINUTE, cluster="serving", IdleCost=1000.0)
    published(table, int(RANG_S) // 60, IdleCost=0.25)
    published(table, int(RANG_S) // 60 + 1, IdleCost=1000.0)
    found = evidence_of(IDLE_CORES, table)
    assert (1.25, 2) == (found.cost_today.usd, found.cost_today.minutes)


def test_no_price_is_no_cost():
    """Without a price the cost is unknown, not 0."""
    table = MemoryTable()
    published(table, MINUTE, Executions=5)
    assert evidence_of(IDLE_CORES, table).cost_today is None


def test_a_restated_rollup_has_only_what_was_lacking():
    """Errors are counted by what was published for the minute, not by the last line alone."""
    line = rollup(ExecutionErrors=2)
    table = table_with(line, about="errors")
    for minute, errors in ((MINUTE, 40), (MINUTE - 30, 5), (MINUTE - 70, 1000)):
        published(table, minute, ExecutionErrors=errors)
    found = evidence_of(ERRORS, table).published
    assert (40, 45) == (found.in_minute, found.in_hour)


def test_a_rollup_that_is_not_remembered_yet_counts():
    """The line is kept before its publication is remembered."""
    table = MemoryTable()
    table.write_last_rollup("errors", "training", MINUTE, json.dumps(rollup(ExecutionErrors=9)))
    found = evidence_of(ERRORS, table).published
    assert (9, 9) == (found.in_minute, found.in_hour)


@pytest.mark.parametrize(("past_s", "expected"), [(0, False), (1, True)])
def test_a_rollup_is_old_after_ten_minutes(past_s, expected):
    """Its age counts from the end of its minute."""
    now_s = (MINUTE + 1) * 60 + OLD_AFTER_S + past_s
    found = evidence_of(SILENCE, table_with(rollup()), now_s)
    assert (expected, OLD_AFTER_S + past_s) == (found.is_old, found.age_s)


ENTRY = {"InstanceId": "i-0c3f5a7b9d1e2f4a6", "InstanceType": "trn1.32xlarge"}
WHOLE = rollup(
    HardwareErrors=1, PricesOverridden=["trn2"], UnpricedTypes=["trn2"],
    StragglerInstances=[{**ENTRY, "BusyUtilization": 1, "TypeMedian": 2}],
    SilentInstanceNames=[{**ENTRY, "LastSeen": "2026-11-21T03:00Z"}],
    **{name: [{**ENTRY, amount: 1}] for name, amount in FAILING.items()},
)  # fmt: skip


def places(value):
    """The path to each member of a rollup and of the first entry of its lists."""
    for name, one in value.items():
        yield (name,)
        if isinstance(one, list) and isinstance(one[0], dict):
            yield from ((name, 0, *path) for path in places(one[0]))


PLACES = sorted(places(WHOLE), key=str)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers(-(10**400), 10**400) | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)


@pytest.mark.parametrize("metric", SUBJECTS)
@given(st.sampled_from(PLACES), ANYTHING)
@example(("TopIdleOwners", 0, "Owner"), ["ml"])
@example(("Minute",), "2026-02-30T00:00Z")
def test_no_message_waits_for_a_damaged_member(metric, path, value):
    """Whatever replaces a member, the message is sent without it; only the minute is required."""
    line = json.loads(json.dumps(WHOLE))
    holder = line
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    table = MemoryTable()
    for about in ("minute", "hardware", "errors"):
        table.write_last_rollup(about, "training", MINUTE, json.dumps(line))
    evidence = evidence_of(SUBJECTS[metric], table)
    assert (not evidence.rollup.given) == (evidence.trouble == DAMAGED)
    assert evidence.rollup.given or path == ("Minute",)
    sent = []
    transition = read_transition(of_an_alarm(metric))
    notification = notify(transition, table, ENVIRONMENT, lambda *one: sent.append(one), RANG_S + 1)
    assert ("sent", 1) == (notification.outcome, len(sent))
    assert evidence.trouble in notification.message.text.replace("\n", " ")


def test_what_is_missing_damaged_or_fills_a_message_is_not_told():
    """A number larger than any cluster has counts as missing; nothing becomes 0."""
    found = read_rollup(json.dumps(rollup(IdleCores=1e18, BusyCores="7", TopIdleInstances={})))
    assert [None, None, None, []] == [
        found.number("IdleCores"), found.number("BusyCores"), found.number("Later"),
        found.entries("TopIdleInstances"),
    ]  # fmt: skip
    assert MINUTE == found.minute("Minute")
