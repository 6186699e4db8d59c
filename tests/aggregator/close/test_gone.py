"""Instances that are gone without a goodbye: EC2 stopped them, or they went to another cluster."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.close.registry import Registry
from aggregator.rollups.rollup import SilentInstance
from aggregator.storage.item import bucket_of
from proof.factories.records import MINUTE
from tests.aggregator.close.one_instance import NAME, expected, registry, silent


@pytest.mark.parametrize(
    ("departures", "waited_for", "is_silent"),
    [
        ([], True, True), ([MINUTE], False, False), ([MINUTE + 1], True, False),
        ([MINUTE - 1], True, True), ([MINUTE - 1, MINUTE], False, False),
        ([MINUTE + 10], True, True), ([MINUTE + 9], True, False),
    ],
)  # fmt: skip
def test_a_departed_instance_is_gone_from_the_next_minute_on(departures, waited_for, is_silent):
    """Unless it reported after that: asked one minute after its last report, and ten."""
    made = registry(MINUTE)
    made.depart({NAME: departures, "i-other": [MINUTE]})
    assert (waited_for, is_silent) == (expected(made, MINUTE + 1), silent(made, MINUTE + 10))
    assert is_silent == ("training" in made.silent_by_cluster(MINUTE + 10))


def test_an_instance_that_went_to_another_cluster_is_gone_in_the_old_one():
    """From its first minute there on; before that nobody knew."""
    made = registry(MINUTE - 1, MINUTE)
    made.see("serving", NAME, MINUTE + 10, None, gone=False)
    named = SilentInstance(NAME, "trn1.2xlarge", MINUTE)
    assert {"training": [named]} == made.silent_by_cluster(MINUTE + 9)
    assert {"serving": []} == made.silent_by_cluster(MINUTE + 10)
    assert [("serving", NAME)] == list(made.expected(bucket_of(NAME), MINUTE + 10))
    made.see("training", NAME, MINUTE + 12, None, gone=False)
    assert {"training": []} == made.silent_by_cluster(MINUTE + 12)


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
    made = Registry(silent_after_minutes=5, silent_forget_minutes=60)
    for cluster, minute, gone in history:
        made.see(cluster, NAME, minute, None, gone=gone)
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
