"""A stored rollup is one typed value, or it is refused whole and the message goes without it."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aggregator.explain.event import transition_of
from aggregator.explain.evidence import gather
from aggregator.explain.members import _SHAPE, RollupRefusedError, read_rollup
from aggregator.explain.notification import notify
from aggregator.explain.subject import SUBJECTS
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


def places(value, shape):
    """Each place of a value that messages tell of: the path to it and what should be there."""
    for name in value.keys() & shape.keys():
        yield (name,), shape[name]
        if isinstance(shape[name], dict):
            for path, kind in places(value[name][0], shape[name]):
                yield (name, 0, *path), kind


PLACES = sorted(places(WHOLE, _SHAPE), key=str)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers(-(10**400), 10**400) | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)


@pytest.mark.parametrize("metric", SUBJECTS)
@given(st.sampled_from(PLACES), ANYTHING)
@example((("TopIdleOwners", 0, "Owner"), str), ["ml"])
@example((("Minute",), str), "2026-02-30T00:00Z")
def test_a_malformed_rollup_is_refused_whole_and_its_message_is_sent(metric, place, value):
    """Whatever stands in a member's place: it is of its type, or the reason is in the message."""
    path, kind = place
    line = json.loads(json.dumps(WHOLE))
    holder = line
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    table = MemoryTable()
    for about in ("minute", "hardware", "errors"):
        table.write_last_rollup(about, "training", MINUTE, json.dumps(line))
    evidence = gather(SUBJECTS[metric], "training", table, RANG_S)
    assert (evidence.rollup is None) == evidence.trouble.startswith(
        "The last rollup in the table could not be read: "
    )
    is_amount = isinstance(value, (int, float)) and not isinstance(value, bool)
    if evidence.rollup is not None:
        assert not isinstance(kind, type) or is_amount or isinstance(value, kind)
        assert kind is not float or value >= 0
    sent = []
    transition = transition_of(of_an_alarm(metric))
    told = notify(transition, table, ENVIRONMENT, lambda *one: sent.append(one), RANG_S + 1)
    assert ("sent", 1) == (told.outcome, len(sent))
    assert evidence.trouble in told.message.text.replace("\n", " ")


@pytest.mark.parametrize("line", ["", "[]", "7", "{", "{" * 10_000, "{}", '{"Minute": 7}'])
def test_a_line_without_a_minute_is_no_rollup(line):
    """Whatever the table holds."""
    with pytest.raises(RollupRefusedError):
        read_rollup(line)


def test_a_rollup_of_another_release_is_one():
    """Members that no message tells of may be anything, and any may be absent."""
    found = read_rollup(json.dumps({"Minute": "2026-11-21T03:13Z", "Later": [[]], "IdleCores": 0}))
    assert (0, None, [], []) == (
        found.number("IdleCores"), found.number("BusyCores"), found.names("UnpricedTypes"),
        found.entries("TopIdleInstances"),
    )  # fmt: skip
    assert 1_795_230_840 == found.minute_end_s()


def test_what_would_fill_a_message_is_not_told():
    """A name is cut, and a number that no cluster reaches is as one that is not there."""
    found = read_rollup(json.dumps(rollup(IdleCores=1e18, PriceRegions=["x" * 500, ""])))
    assert (None, ["x" * 77 + "..."]) == (found.number("IdleCores"), found.names("PriceRegions"))
