"""The registry of known instances, and which of them are silent."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from aggregator.close.registry import Registry
from aggregator.storage.record_items import bucket_of
from proof.factories.invocations import SAMPLE_STREAM
from proof.factories.records import MINUTE


def test_a_clean_shutdown_is_taken_back_by_a_later_record_of_the_minute():
    """
    A later record of the minute revokes a clean shutdown, because the emitter restarted in it.
    """
    instances = Registry(silent_after_minutes=5)
    for gone in (True, False):
        instances.record_presence("training", SAMPLE_STREAM, MINUTE, None, gone=gone)
    assert instances.silent_by_cluster(MINUTE + 10)["training"]


# --- size ---


def test_a_hundred_thousand_instances_fit_the_items():
    """
    With a history of restarts for each instance, the fullest bucket stays under a fifth of
    DynamoDB's 400 KB.
    """
    full_registry = Registry(silent_after_minutes=5)
    names = [
        f"i-{hashlib.sha256(bytes(str(number), 'ascii')).hexdigest()[:17]}"
        for number in range(100_000)
    ]
    fullest = [name for name in names if bucket_of(name) == 0]
    assert 3_000 < len(fullest)
    for number, name in enumerate(fullest):
        for minute in range(number % 7, 180, 60 + number % 13):
            full_registry.record_presence(
                f"cluster-{number % 50}", name, MINUTE + minute, "trn1.32xlarge", gone=False
            )
    ((_, payload),) = full_registry.packed()
    assert 80_000 > len(payload)
    assert all(full_registry.admits(f"cluster-{n % 50}", name) for n, name in enumerate(fullest))


HISTORIES = st.lists(
    st.tuples(
        st.sampled_from(["training", "serving"]), st.integers(MINUTE, MINUTE + 40), st.booleans()
    ),
    max_size=12,
    unique_by=lambda seen: seen[:2],
)
DEPARTURES = st.lists(st.integers(MINUTE - 2, MINUTE + 42), max_size=4)


@given(HISTORIES, DEPARTURES, st.integers(MINUTE - 2, MINUTE + 110))
def test_silence_follows_from_lines_and_reported_stops(history, departures, asked):
    """
    An instance is silent if its last report is 6 to 60 minutes old, unless it shut down cleanly,
    departed or reported to another cluster.
    """
    instances = Registry(silent_after_minutes=5)
    for cluster, minute, gone in history:
        instances.record_presence(cluster, SAMPLE_STREAM, minute, None, gone=gone)
    instances.departures = {SAMPLE_STREAM: departures}
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
    silent_counts = instances.silent_by_cluster(asked)
    assert silent_in == {cluster for cluster, silent in silent_counts.items() if silent}
