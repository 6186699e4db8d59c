"""A flood of lines costs close no memory, and time only while it lasts."""

from __future__ import annotations

import tracemalloc

import pytest

from aggregator.close.backlog import RUNS_IN_VAIN
from aggregator.close.reduction import CloseOutcome
from aggregator.close.registry import Registry
from aggregator.reading import bucket_reader
from aggregator.reading.bucket_reader import MOST_OF_AN_INSTANCE, BucketReader
from aggregator.storage.record_items import bucket_of, item_of
from neuron_wire.names import MAX_CORES
from proof.factories.records import MINUTE, record
from tests.aggregator.memory_stack import MINUTE_END_S
from tests.security.conftest import real

FLOODED_BUCKET = bucket_of("i-training")


def busy(cores):
    """Return members of a record with busy cores."""
    percent = (99.0,) * cores
    return {"core_state": "b" * cores, "utilization_percent": percent, "idle_minutes": (0,) * cores}


LARGEST_RECORD = busy(128)


class Flood:
    """A table whose bucket takes no memory: each line is made when it is read."""

    def __init__(self, count, **changes):
        self._count = count
        self._changes = busy(1) | changes

    def read_publications(self, _):
        return {}

    def read_bucket(self, *_):
        for number in range(self._count):
            members = {"cluster": f"c{number % 900}", "instance_id": f"i-{number}", **self._changes}
            yield item_of(record(boot=f"{number:020}", **members), 0).payload


def read(table, registry, outcome=None):
    return BucketReader(
        table, registry, outcome or CloseOutcome(), lambda: None, MINUTE
    ).read_bucket(FLOODED_BUCKET)


def peak_bytes(work):
    """Return the peak memory of *work*."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def full_registry(names=200):
    """Return a registry with room for a number of forged names in every bucket."""
    registry = Registry(5)
    for room in registry._capacities:
        room.left_bytes = 60 * names
    return registry


@pytest.mark.parametrize(
    "changes",
    [{}, {"instance_id": "i-training"}, {"instance_id": "i-training", "cluster": "training"}],
    ids=["new names", "new clusters of one instance", "one instance"],
)
def test_a_thousand_lines_more_take_no_memory(changes):
    """
    A thousand more lines take no memory, in new names, in new clusters or in the name of one
    instance.
    """
    peaks = [
        peak_bytes(lambda count=count: read(Flood(count, **changes), full_registry(2)))
        for count in (250, 250, 750)
    ]
    assert peaks[2] - peaks[1] < 600 * 500  # records in memory take twice as much


def test_one_instance_has_room_for_many_restarts():
    """20 parts of a minute of the largest instance count; of 1,000 parts only the first fit."""
    for count, expected in ((20, 20), (1_000, MOST_OF_AN_INSTANCE // 144)):
        flood = Flood(count, instance_id="i-training", cluster="training", **LARGEST_RECORD)
        ((_, records),) = read(flood, full_registry()).items()
        assert expected == len(records)


def test_in_a_full_bucket_each_known_instance_still_counts(monkeypatch):
    """
    The largest known instances count, even if forged lines of 1,024 cores fill the bucket before.
    """
    monkeypatch.setattr(bucket_reader, "MOST_IN_A_BUCKET", 10_000)
    registry = full_registry()
    outcome = CloseOutcome()

    class Both(Flood):
        def read_bucket(self, *_):
            yield from Flood(90, cluster="!", **busy(MAX_CORES)).read_bucket()
            for number in range(50):
                real_record = record(
                    cluster="training", instance_id=f"i-real{number}", **LARGEST_RECORD
                )
                yield item_of(real_record, 0).payload

    held = read(Both(0), registry, outcome)
    assert 50 == sum(cluster == "training" for cluster, _ in held)
    assert 10_000 // MAX_CORES + 1 >= sum(cluster == "!" for cluster, _ in held)
    assert outcome.records_refused > 70


def slow(attacked, monkeypatch, minute):
    """Make *minute* too large for any run to read."""
    honest = attacked.table.read_bucket

    def read_bucket(asked, bucket):
        if asked == minute:
            attacked.remaining_s = 1.0
        return honest(asked, bucket)

    monkeypatch.setattr(attacked.table, "read_bucket", read_bucket)


def ticks(attacked, count, at_s):
    """Run close *count* times with full time; return the counts of each run."""
    counts = []
    for number in range(count):
        attacked.remaining_s = 50.0
        counts.append(attacked.close(at_s + 60 * number))
    return counts


def dropped(counts):
    return [count["MinutesDropped"] for count in counts]


def test_a_minute_that_no_run_can_read_is_given_up(attacked, monkeypatch):
    """
    After ten failed runs, close drops and counts a minute, and the next run closes later minutes.
    """
    slow(attacked, monkeypatch, MINUTE)
    attacked.close(MINUTE_END_S - 60)
    attacked.write(real(0), real(1), at_s=MINUTE_END_S + 30)
    counts = ticks(attacked, RUNS_IN_VAIN + 2, MINUTE_END_S + 50)
    assert [0] * RUNS_IN_VAIN + [1, 0] == dropped(counts)
    assert counts[-1]["MinutesClosed"] >= RUNS_IN_VAIN
    assert MINUTE + 1 in {rollup["_aws"]["Timestamp"] // 60_000 for rollup in attacked.rollups}
    assert MINUTE not in attacked.table.publications or not attacked.table.publications[MINUTE]


def test_a_flood_into_the_past_holds_nothing_up_for_long(attacked, monkeypatch):
    """Minutes close while a flood in the past is read, and the next run adds other late lines."""
    for offset in range(3):
        attacked.live(offset, real(offset))
    slow(attacked, monkeypatch, MINUTE)
    late = {"instance_id": "i-late", "boot": "019a000000cc00000000"}
    attacked.write(real(0, **late), real(1, **late), at_s=MINUTE_END_S + 181)
    counts = ticks(attacked, RUNS_IN_VAIN + 2, MINUTE_END_S + 230)
    assert all(count["MinutesClosed"] for count in counts[:-1])
    assert [0] * RUNS_IN_VAIN + [1, 0] == dropped(counts)
    assert [0, 1] == [count["MinutesRestated"] for count in counts[:2]]
    assert {} == attacked.table.markers


def test_a_minute_that_had_less_than_half_a_run_is_not_to_blame(attacked, monkeypatch):
    """
    A minute that had less than half of a run is never dropped, because other work took the time.
    """
    for offset in range(3):
        attacked.live(offset, real(offset))
    honest = attacked.table.read_bucket

    def read_bucket(minute, bucket):
        attacked.remaining_s = 1.0 if minute == MINUTE else 20.0
        return honest(minute, bucket)

    monkeypatch.setattr(attacked.table, "read_bucket", read_bucket)
    attacked.write(real(0, instance_id="i-late"), at_s=MINUTE_END_S + 181)
    counts = ticks(attacked, RUNS_IN_VAIN + 2, MINUTE_END_S + 230)
    assert [0] * (RUNS_IN_VAIN + 2) == dropped(counts)
    assert {MINUTE} == attacked.table.markers.keys()


def test_lines_that_stop_again_delay_rollups_until_their_grace_is_over(attacked):
    """Close waits for a forged instance as for any other, and at most until grace is over."""
    attacked.close(MINUTE_END_S - 60)
    attacked.live(0, real(0), real(0, instance_id="i-forged"))
    attacked.write(real(1), at_s=MINUTE_END_S + 65)
    attacked.close(MINUTE_END_S + 60 + 45)
    assert MINUTE + 1 in {rollup["_aws"]["Timestamp"] // 60_000 for rollup in attacked.rollups}
