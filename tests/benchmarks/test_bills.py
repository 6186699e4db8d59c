"""A month's bill is arithmetic, and it is right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scale.fleets import MIDDLE
from benchmarks.scale.quotas import QUOTAS, loads
from neuron_emf.cost import assumed
from neuron_emf.cost.assumed import MODES
from neuron_emf.cost.bill import GROUPS, bill, on_demand_usd, usd
from neuron_emf.cost.fleet import Fleet, Setup
from neuron_emf.cost.functions import seconds_of, shards_of
from neuron_emf.cost.interpolated import between
from neuron_emf.cost.measured import read
from neuron_emf.cost.other_ways import counterfactual_usd
from neuron_emf.cost.tariff import listed
from tests.benchmarks.measures_example import MADE

metrics_usd = listed().metrics_usd
KEPT = read()
INSTANCES = st.integers(min_value=1, max_value=100_000)
CLUSTERS = st.integers(min_value=1, max_value=100)


def test_what_putmetricdata_would_cost():
    """27,000 metrics in two tiers, and a request an instance and minute."""
    metrics = 10_000 * 0.30 + 17_000 * 0.10
    assert counterfactual_usd(1_000) == pytest.approx(metrics + 43_800_000 * 0.01 / 1_000)


def test_a_bill_by_hand():
    """1,000 instances in 3 clusters, 43,800 minutes, every quantity from round sizes."""
    gib = 1 << 30
    minutes = 1_000 * 43_800
    written = (minutes * 1_000 + 1_000 * 730 * 8 * 500) / gib
    rollups = 43_800 * (3_000 + 3 * 26 + 700) / gib
    health = minutes * 200 / gib
    per_ms = 1.5 * 1_769 / 256
    close_s = 1.5 * (0.2 * 1.5 + 50 * 0.010)
    expected = {
        "emitters' lines": written,
        "rollups": rollups,
        "what ingest says about itself": health,
        "kept for 30 days": (written + rollups + health) * 0.1 * 30 * 24 / 730,
        "ingest, invocations": minutes,
        "ingest, time": minutes * (0.0015 * per_ms + 0.010) / 4,
        "close, invocations": 43_800,
        "close, time": 43_800 * close_s * 1_769 / 1_024,
        "close, schedule": 43_800,
        "ingest, records": minutes,
        "close, writing": 43_800 * 16,
        "close, reading": 43_800 * 1.5 * 100,
        "storage": 1_000 * 74 * 60 * 600 / gib,
        "of clusters and the stack": 8 * 3 + 30 * 3 + 10,
        "metrics that alarms look at": 7 * 3 + 22,
        "dashboard": 1,
    }
    entries = bill(MADE, Fleet(1_000, 3), Setup("direct"))
    assert {what: pytest.approx(one) for what, one in expected.items()} == {
        entry.what: entry.quantity for entry in entries
    }
    usd_of_logs = 0.50 * (written + rollups + health) + 0.03 * expected["kept for 30 days"]
    assert usd(entries, "logs") == pytest.approx(usd_of_logs)


def test_a_stream_by_hand():
    """
    What Mode=kinesis adds: a shard for 33 deliveries a second, a unit for each, 500 in a batch.
    """
    entries = {entry.what: entry for entry in bill(MADE, Fleet(1_000, 3), Setup("kinesis"))}
    assert {"shards": 730, "deliveries": 43_800_000, "ingest, invocations": 87_600} == {
        what: entries[what].quantity for what in ("shards", "deliveries", "ingest, invocations")
    }
    assert entries["shards"].usd + entries["deliveries"].usd == pytest.approx(10.95 + 0.6132)
    assert entries["metrics that alarms look at"].quantity == 7 * 3 + 23


def test_a_stream_on_demand_by_hand():
    """By the hour, in by whole KiB, out by bytes."""
    gib = 1 << 30
    written, taken = 43_800_000 * 2_048 / gib, 43_800_000 * 1_000 / gib
    expected = 29.20 + 0.08 * written + 0.04 * taken
    assert on_demand_usd(MADE, Fleet(1_000, 1)) == pytest.approx(expected)


def test_the_busiest_second_by_hand():
    """3,000 instances send within 30 s: a hundred lines a second."""
    found = {load.what: load.taken for load in loads(MADE, Fleet(3_000, 3), "direct")}
    assert 100 == found[QUOTAS["put_log_events"].what]
    assert 100 == found[QUOTAS["table_writes"].what]
    each_s = 0.0015 * 1.5 * 1_769 / 256 + 0.010
    assert found[QUOTAS["concurrency"].what] == pytest.approx(1 + 100 * each_s)


@given(INSTANCES, INSTANCES, CLUSTERS, st.sampled_from(MODES))
def test_more_instances_never_cost_less(one, other, clusters, mode):
    """In either mode, in any group but what a straight line between two batches rounds."""
    few, many = (
        usd(bill(KEPT, Fleet(count, clusters), Setup(mode))) for count in sorted((one, other))
    )
    assert few <= many * 1.001


@given(INSTANCES, CLUSTERS, st.sampled_from(MODES))
def test_a_further_cluster_costs_the_same_everywhere(instances, clusters, mode):
    """Its metrics, its alarms, its lines and its items, until metrics reach the second tier."""
    sums = [
        usd(bill(KEPT, Fleet(instances, count), Setup(mode))) for count in (clusters, clusters + 1)
    ]
    alone = [usd(bill(KEPT, Fleet(MIDDLE.instances, count), Setup("direct"))) for count in (2, 3)]
    assert alone[1] - alone[0] == pytest.approx(sums[1] - sums[0], rel=0.02)


@given(INSTANCES, st.sampled_from(MODES))
def test_a_bill_is_the_sum_of_its_groups(instances, mode):
    """No entry stands outside of them, and none is negative."""
    entries = bill(KEPT, Fleet(instances, 1), Setup(mode))
    assert usd(entries) == pytest.approx(sum(usd(entries, group) for group in GROUPS))
    assert min(entry.usd for entry in entries) >= 0


@given(st.floats(0, 5e6), st.floats(0, 5e6))
def test_more_metrics_never_cost_less(one, other):
    """Tiers make a metric cheaper, not the sum."""
    few, many = sorted((one, other))
    assert metrics_usd(few) <= metrics_usd(many)


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [(0, 0), (1, 0.30), (10_000, 3_000), (10_001, 3_000.10), (250_001, 27_000.05)],
)
def test_a_tier_begins_behind_its_last_metric(metrics, expected):
    """The ten thousandth costs as the first."""
    assert metrics_usd(metrics) == pytest.approx(expected)


@given(INSTANCES)
def test_a_shard_has_room_for_its_busiest_second(instances):
    """As many as are needed, and not one more."""
    shards = shards_of(KEPT, Fleet(instances, 1))
    records_s = instances / assumed.SPREAD_S
    room = assumed.SHARD_USE
    records = records_s / assumed.SHARD_RECORDS_S / room
    size = records_s * KEPT.sizes.payload / assumed.SHARD_BYTES_S / room
    assert max(records, size) <= shards < max(records, size) + 1 or shards == 1


@pytest.mark.parametrize(
    ("at", "expected"), [(5, 2.0), (10, 2.0), (15, 3.0), (20, 4.0), (30, 5.0), (99, 6.0)]
)
def test_between_two_sizes_is_a_straight_line(at, expected):
    """And nothing is guessed outside of them."""
    assert between({10: 2.0, 20: 4.0, 40: 6.0}, at) == pytest.approx(expected)


def test_memory_buys_a_share_of_one_processor():
    """Above the memory of a whole one more does not help a single thread."""
    half, whole, twice = (seconds_of(1.0, 0, assumed.WHOLE_PROCESSOR_MB * part // 2)
                          for part in (1, 2, 4))  # fmt: skip
    assert (assumed.LAMBDA_SLOWNESS, assumed.LAMBDA_SLOWNESS) == (whole, twice)
    assert half == pytest.approx(2 * whole, rel=0.01)
    assert seconds_of(0, 7, 128) == pytest.approx(7 * assumed.CALL_S)
