"""Instances that are gone without a goodbye: EC2 stopped them, or they went to another cluster."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aggregator.close.registry import Registry
from proof.factories.records import MINUTE
from tests.aggregator.close.one_instance import NAME

HISTORIES = st.lists(
    st.tuples(
        st.sampled_from(["training", "serving"]), st.integers(MINUTE, MINUTE + 40), st.booleans()
    ),
    max_size=12,
    unique_by=lambda seen: seen[:2],
)
DEPARTURES = st.lists(st.integers(MINUTE - 2, MINUTE + 42), max_size=4)


@given(HISTORIES, DEPARTURES, st.integers(MINUTE - 2, MINUTE + 110))
def test_who_is_silent_follows_from_what_was_seen_and_said(history, departures, asked):
    """
    Not now, not in the last 5 minutes, within the last 60, without a goodbye, a
    departure or a report to another cluster since: worked out without runs.
    """
    made = Registry(silent_after_minutes=5)
    for cluster, minute, gone in history:
        made.record_presence(cluster, NAME, minute, None, gone=gone)
    made.depart({NAME: departures})
    known = [seen for seen in history if seen[1] <= asked]
    silent_in = set()
    for cluster in ("training", "serving"):
        own = [seen for seen in known if seen[0] == cluster]
        if not own:
            continue
        _, last, gone = max(own, key=lambda seen: seen[1])
        departed = any(last <= departure < asked for departure in departures)
        moved = any(minute > last for _, minute, _ in known)
        if 5 < asked - last <= 60 and not gone and not departed and not moved:
            silent_in.add(cluster)
    found = made.silent_by_cluster(asked)
    assert silent_in == {cluster for cluster, silent in found.items() if silent}
