"""Lines in many forged names use only free room and never push out a known name."""

from __future__ import annotations

import random
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.close.registry import PresenceRun, Registry
from aggregator.environment import Rules
from aggregator.reading.capacity import MAX_BUCKET_BYTES
from aggregator.storage.record_items import bucket_of
from neuron_wire.names import MAX_CORES
from proof.factories.invocations import batch, payload
from proof.factories.records import MINUTE, lines, record
from tests.aggregator.cluster_world import ClusterWorld
from tests.aggregator.memory_stack import MINUTE_END_S
from tests.security.conftest import forged, real

DYNAMODB_ITEM_BYTES = 409_600
LAST_RUN = PresenceRun(MINUTE + 1300, MINUTE + 1300, is_clean_shutdown=False)


def test_no_more_clusters_have_rollups_than_max_clusters(attacked):
    """If one of 50 forged names has room, 49 are refused and counted, and some of them logged."""
    attacked.live(0, real(0), real(0, "serving"))
    counts = attacked.live(1, *forged(50, offset=1), real(1), real(1, "serving"))
    assert 49 == counts["RecordsRefused"]
    assert {"training", "serving"} < attacked.clusters
    assert 3 == len(attacked.clusters)
    (refused,) = [entry for entry in attacked.logged if entry["message"] == "records refused"]
    assert 49 == refused["count"]
    assert 5 == len(refused["clusters"])
    assert all(name.startswith("forged-") for name in refused["clusters"])


@pytest.mark.parametrize("prefix", ["!first-in-order", "~last-in-order"])
def test_a_known_cluster_is_never_pushed_out(attacked, prefix):
    """
    A known cluster keeps its room for an hour of new names, wherever they sort, and while it is
    silent.
    """
    attacked.live(0, real(0), real(0, "serving"), real(0, "third"))
    for offset in range(1, 60):
        names = forged(4, offset=offset, prefix=f"{prefix}{offset}")
        counts = attacked.live(offset, *names, real(offset), real(offset, "serving"))
        assert {"training", "serving", "third"} == attacked.clusters
        assert 4 == counts["RecordsRefused"]


def test_there_is_room_again_when_a_cluster_is_forgotten(attacked):
    """Forged names that are not repeated block a new cluster for at most three hours."""
    attacked.live(0, *forged(3))
    attacked.live(1, real(1))
    assert "training" not in attacked.clusters
    first = next(
        offset
        for offset in range(2, 400)
        if attacked.live(offset, real(offset)) and "training" in attacked.clusters
    )
    assert 60 + 120 <= first <= 60 + 120 + 10


def test_a_line_for_a_past_minute_takes_no_room_either(attacked):
    """Late lines restate their minute with the clusters that have room."""
    attacked.live(0, real(0), real(0, "serving"), real(0, "third"))
    attacked.live(1, real(1), real(1, "serving"), real(1, "third"))
    attacked.write(*forged(9), real(0, boot="019a000000cc00000000", instance_id="i-late"))
    counts = attacked.close()
    assert 9 == counts["RecordsRefused"]
    assert 1 == counts["MinutesRestated"]
    assert {"training"} == attacked.clusters


@given(
    st.lists(
        st.lists(st.integers(0, 11), min_size=1, max_size=8, unique=True), min_size=1, max_size=6
    ),
    st.integers(1, 6),
)
def test_whatever_the_order_there_are_never_more(deliveries, max_clusters):
    """The clusters of all lines are at most *max_clusters*, for any names in any minutes."""
    world = ClusterWorld(MINUTE_END_S - 60.0, Rules(max_clusters=max_clusters))
    world.close()
    for offset, names in enumerate(deliveries):
        world.now_s = MINUTE_END_S + 60.0 * offset
        world.deliver(
            [
                record(
                    cluster=f"c{name}",
                    instance_id=f"i-{name}",
                    minute=MINUTE + offset,
                    seq=offset + 1,
                )
                for name in names
            ]
        )
        world.now_s += 50
        world.close()
    world.settle()
    clusters = {cluster for _, cluster in world.rollups()}
    asked = {f"c{name}" for names in deliveries for name in names}
    assert min(max_clusters, len(asked)) == len(clusters)


def noise(draw):
    """Return the longest possible name, without any pattern."""
    return "x" + "".join(draw.choices([chr(code) for code in range(32, 127)], k=127))


def forged_names(count, seed=0):
    """Return such instance IDs that are all in bucket 7."""
    draw = random.Random(seed)
    names = []
    while len(names) < count:
        name = noise(draw)
        if bucket_of(name) == 7:
            names.append(name)
    return names


def test_an_item_of_the_registry_is_never_too_large():
    """
    If 1,500 random names of 128 letters with long types are in one bucket, the registry keeps the
    names that fit, and every earlier name.
    """
    registry = Registry(5)
    before = [f"i-{number:017x}" for number in range(70_000)]
    before = [name for name in before if bucket_of(name) == 7]
    for name in before:
        registry.record_presence("training", name, MINUTE, "trn1.32xlarge", gone=False)
    draw = random.Random(0)
    for name in forged_names(1_500):
        if registry.admits('"' * 255, name):
            registry.record_presence('"' * 255, name, MINUTE, noise(draw), gone=False)
    for name in before:
        registry.record_presence("training", name, MINUTE + 1, noise(draw), gone=False)
    packed = dict(registry.packed())
    assert MAX_BUCKET_BYTES >= len(packed[7])
    assert DYNAMODB_ITEM_BYTES - 1_000 >= MAX_BUCKET_BYTES
    loaded = Registry(5)
    loaded.load(packed)
    kept = {name for cluster, name in loaded.expected(7, MINUTE) if cluster == "training"}
    assert set(before) == kept
    assert 500 < sum(1 for _ in loaded.expected(7, MINUTE)) - len(before) < 1_500
    assert not loaded.admits("new", forged_names(1, seed=1)[0])


def test_names_that_come_and_go_do_not_fill_the_registry():
    """If runs of minutes do not fit the registry, the oldest are forgotten and the last is kept."""
    registry = Registry(5)
    names = [name for name in map(str, range(130_000)) if bucket_of(name) == 3]
    draw = random.Random(0)
    for name in names:
        registry.record_presence("training", name, MINUTE, None, gone=False)
        (entry,) = registry._buckets[3][name]
        starts = accumulate((draw.randrange(7, 30) for _ in range(40)), initial=MINUTE)
        entry.runs = [
            *(PresenceRun(start, start, is_clean_shutdown=False) for start in starts),
            LAST_RUN,
        ]
    ((_, payload),) = registry.packed()
    assert MAX_BUCKET_BYTES >= len(payload)
    loaded = Registry(5)
    loaded.load({3: payload})
    assert len(names) == sum(1 for _ in loaded.expected(3, MINUTE + 1300))


def test_no_line_becomes_an_item_that_the_table_refuses(attacked):
    """
    A line of 1 MB never becomes an item that the table rejects, which would fail its batch for six
    hours.
    """
    draw = random.Random(0)
    cores = ",".join(str(draw.randrange(1024)) for _ in range(48_000))
    holder = {"Cores": cores, "Name": "\u20ac" * 128, "Pid": 1, "Tag": "\u20ac" * 128}
    (line,) = lines(
        real(
            0,
            seq=99,
            core_state="a" * MAX_CORES,
            utilization_percent=tuple(draw.randrange(10_000) / 100 for _ in range(MAX_CORES)),
            idle_minutes=tuple(draw.randrange(1 << 31) for _ in range(MAX_CORES)),
        )
    )
    forged_line = line.message[:-1] + ',"Holders":' + str([holder] * 5).replace("'", '"') + "}"
    assert 600_000 < len(forged_line) < 1_048_576
    (log_line,) = lines(real(0))
    counts = attacked.deliver(
        batch(payload(type(log_line)("forged", forged_line)), payload(log_line)),
        at_s=MINUTE_END_S + 5,
    )
    assert {"batchItemFailures": []} == counts
    sizes = [len(payload) for kept in attacked.table.records.values() for payload in kept.values()]
    assert sizes
    assert DYNAMODB_ITEM_BYTES / 2 > max(sizes)
