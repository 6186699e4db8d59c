"""A month's bill is arithmetic, and it is right."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.cost import assumptions
from neuron_emf.cost.bill import bill, usd
from neuron_emf.cost.fleet import FleetSpec, Setup, emitters_only
from neuron_emf.cost.functions import seconds_of, shards_of
from neuron_emf.cost.interpolation import between, close_share
from neuron_emf.cost.measurements import PAGE_CORES, read
from tests.neuron_emf.cost.measures_example import MADE

KEPT = read()
INSTANCES = st.integers(min_value=1, max_value=100_000)


def test_a_bill_by_hand():
    """1,000 instances in 3 clusters, 43,800 minutes, every quantity from round sizes."""
    gib = 1 << 30
    minutes = 1_000 * 43_800
    written = (minutes * 1_000 + 1_000 * 730 * 8 * 500) / gib
    late, late_of_a_cluster = 1 - 0.999**1_000, 1 - 0.999 ** (1_000 / 3)  # one in 1,000 records
    rollups = 43_800 * ((1 + late_of_a_cluster) * (3_000 + 3 * 26) + 700) / gib
    per_ms = 1.5 * 1_769 / 256
    share = 512 / 1_769
    close_s = (1.5 + late) * (0.2 * 1.5 / share + 50 * 0.010)
    expected = {
        "emitters' lines": written,
        "rollups": rollups,
        "kept for 30 days": (written + rollups) * 0.1 * 30 * 24 / 730,
        "ingest, invocations": minutes,
        "ingest, time": minutes * (0.0015 * per_ms + 0.010) / 4,
        "close, invocations": 43_800,
        "close, time": 43_800 * close_s * 512 / 1_024,
        "close, schedule": 43_800,
        "ingest, records": minutes,
        "close, writing": 43_800 * (1 + late_of_a_cluster) * 16,
        "close, reading": 43_800 * ((1.5 + late) * 100 + 1),
        "storage": 1_000 * 74 * 60 * 600 / gib,
        "of clusters and the stack": 17 * 3 + 5 + 1,
        "metrics used by alarms": 6 * 3 + 19,
        "dashboards": 1,
        "settle, time": 730 * (1_000 * 0.023 * 1.5 / share + 3_840 * 0.010) / 2,
        "settle, schedule": 730,
        "settle, reading": 730 * 3_840 * 1_000 / 32 * 500 / 4_096 / 2,
        "objects put": 730 * 9,
        "objects kept for 400 days": 730 * 1_000 * 150 * 400 * 24 / 730 / gib,
        "digest, time": 730 / 168 * (336 * 1_000 * 2.5e-6 * 1.5 + 336 * 0.010) * 1_769 / 1_024,
        "digest, objects got": 730 / 168 * 336,
    }
    entries = bill(MADE, FleetSpec(1_000, 3), Setup("direct"))
    assert {what: pytest.approx(one) for what, one in expected.items()} == {
        entry.what: entry.quantity for entry in entries
    }
    usd_of_logs = 0.50 * (written + rollups) + 0.03 * expected["kept for 30 days"]
    assert usd(entries, "logs") == pytest.approx(usd_of_logs)


def test_a_bill_without_the_stack_by_hand():
    """The emitters' lines, how long they are kept, their metrics, and the alarms on them."""
    emitters = bill(MADE, FleetSpec(1_000, 3), emitters_only(Setup()))
    written = (43_800_000 * 1_000 + 1_000 * 730 * 8 * 500) / (1 << 30)
    kept = written * 0.1 * 30 * 24 / 730
    expected = [pytest.approx(one) for one in (written, kept, 24, 5)]
    assert expected == [one.quantity for one in emitters]


def test_a_stream_by_hand():
    """
    What Mode=kinesis adds: a shard for 33 deliveries a second, a unit for each, 500 in a batch.
    """
    entries = {entry.what: entry for entry in bill(MADE, FleetSpec(1_000, 3), Setup("kinesis"))}
    assert {"shards": 730, "deliveries": 43_800_000, "ingest, invocations": 87_600} == {
        what: entries[what].quantity for what in ("shards", "deliveries", "ingest, invocations")
    }
    assert entries["shards"].usd + entries["deliveries"].usd == pytest.approx(10.95 + 0.6132)
    stored = 1_000 * 74 * 60 * (1_024 + 100)  # a write unit for each record, and what DynamoDB adds
    assert entries["storage"].quantity == pytest.approx(stored / (1 << 30))
    assert entries["metrics used by alarms"].quantity == 6 * 3 + 20


def test_a_stream_of_large_deliveries_by_hand():
    """
    100,000 instances send 3,333 deliveries of 30,000 bytes a second, into shards filled to 70 %;
    each takes two units.
    """
    sizes = replace(MADE.sizes, payload=30_000)
    cores = {PAGE_CORES: replace(MADE.by_cores[PAGE_CORES], sizes=sizes)}
    fleet, setup = FleetSpec(100_000, 3), Setup("kinesis")
    entries = {entry.what: entry for entry in bill(replace(MADE, by_cores=cores), fleet, setup)}
    assert 730 * 137 == entries["shards"].quantity
    assert 43_800 * 100_000 * 2 == entries["deliveries"].quantity


def test_a_stream_on_demand_by_hand():
    """By the hour, in by whole KiB, out by bytes."""
    gib = 1 << 30
    written, taken = 43_800_000 * 2_048 / gib, 43_800_000 * 1_000 / gib
    expected = 29.20 + 0.08 * written + 0.04 * taken
    entries = bill(MADE, FleetSpec(1_000, 1), Setup("kinesis", stream_shards=0))
    assert usd(entries, "Kinesis") == pytest.approx(expected)


def test_what_nobody_has_a_price_for_is_in_no_sum():
    """Neither in the whole nor in its group."""
    entry = bill(MADE, FleetSpec(1_000, 3), Setup())[0]
    entries = [entry, replace(entry, usd=None)]
    assert (entry.usd, entry.usd) == (usd(entries), usd(entries, entry.group))


@given(INSTANCES)
def test_a_shard_has_room_for_its_busiest_second(instances):
    """As many as are needed, and not one more."""
    shards = shards_of(KEPT, FleetSpec(instances, 1))
    records_s = instances / assumptions.SPREAD_S
    room = assumptions.SHARD_USE
    records = records_s / assumptions.SHARD_RECORDS_S / room
    size = records_s * KEPT.sizes.payload / assumptions.SHARD_BYTES_S / room
    assert max(records, size) <= shards < max(records, size) + 1 or shards == 1


@pytest.mark.parametrize(
    ("at", "expected"), [(5, 2.0), (10, 2.0), (15, 3.0), (20, 4.0), (30, 5.0), (99, 6.0)]
)
def test_between_two_sizes_is_a_straight_line(at, expected):
    """And nothing is guessed outside of them."""
    assert between({10: 2.0, 20: 4.0, 40: 6.0}, at) == pytest.approx(expected)


def test_memory_buys_a_share_of_one_processor():
    """Above the memory of a whole one more does not help a single thread."""
    half, whole, twice = (seconds_of(1.0, 0, assumptions.WHOLE_PROCESSOR_MB * part // 2)
                          for part in (1, 2, 4))  # fmt: skip
    assert (assumptions.LAMBDA_SLOWNESS, assumptions.LAMBDA_SLOWNESS) == (whole, twice)
    assert half == pytest.approx(2 * whole, rel=0.01)
    assert seconds_of(0, 7, 128) == pytest.approx(7 * assumptions.CALL_S)


def test_what_wider_instances_take_is_their_share_in_the_fleet_that_was_measured():
    """Twice the time with 64 cores is half as much more with 48, in a fleet of any size."""
    page = MADE.work_by_cores[PAGE_CORES]
    run = page.close["items"]
    wide = replace(page, close={"items": replace(run, cpu_s=2 * run.cpu_s)})
    measurements = replace(MADE, work_by_cores={PAGE_CORES: page, 64: wide})
    shares = [close_share(measurements, cores, "items", "cpu_s") for cores in (PAGE_CORES, 48, 64)]
    assert shares == pytest.approx([1.0, 1.5, 2.0])


def test_findings_cost_nothing_where_nothing_changes():
    """Beside a read unit a minute; a step is an event and four write units."""
    quiet, busy = (
        bill(KEPT, FleetSpec(1_000, 10), Setup(finding_steps=steps)) for steps in (0, 1_000)
    )
    assert [] == [one for one in quiet if one.group == "findings"]
    assert [30_400, 4 * 30_400] == pytest.approx(
        [one.quantity for one in busy if one.group == "findings"], rel=0.01
    )
