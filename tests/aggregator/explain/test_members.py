"""A stored rollup is read leniently: what is damaged in it is missing, and its message is sent."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aggregator.explain.event import SUBJECTS, read_transition
from aggregator.explain.evidence import DAMAGED, gather_evidence, read_rollup
from aggregator.explain.notification import notify
from aggregator.rollups.amounts import FAILING
from proof.memory_table import MemoryTable
from tests.aggregator.explain.alarm_events import ENVIRONMENT, MINUTE, RANG_S, of_an_alarm, rollup

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
    """
    Whatever stands in a member's place: the message is sent, the member is not told, and only
    without its minute is a rollup none.
    """
    line = json.loads(json.dumps(WHOLE))
    holder = line
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    table = MemoryTable()
    for about in ("minute", "hardware", "errors"):
        table.write_last_rollup(about, "training", MINUTE, json.dumps(line))
    evidence = gather_evidence(SUBJECTS[metric], "training", table, RANG_S)
    assert (evidence.rollup is None) == (evidence.trouble == DAMAGED)
    assert evidence.rollup is not None or path == ("Minute",)
    sent = []
    transition = read_transition(of_an_alarm(metric))
    told = notify(transition, table, ENVIRONMENT, lambda *one: sent.append(one), RANG_S + 1)
    assert ("sent", 1) == (told.outcome, len(sent))
    assert evidence.trouble in told.message.text.replace("\n", " ")


@pytest.mark.parametrize("line", ["", "[]", "7", "{", "{" * 10_000, "{}", '{"Minute": 7}'])
def test_a_line_without_a_minute_is_no_rollup(line):
    """Whatever the table holds."""
    assert read_rollup(line) is None


def test_what_is_missing_damaged_or_fills_a_message_is_not_told():
    """A number that no cluster reaches is as one that is not there; nothing becomes 0."""
    found = read_rollup(json.dumps(rollup(IdleCores=1e18, BusyCores="7", TopIdleInstances={})))
    assert [None, None, None, []] == [
        found.number("IdleCores"), found.number("BusyCores"), found.number("Later"),
        found.entries("TopIdleInstances"),
    ]  # fmt: skip
    assert MINUTE == found.minute("Minute")
