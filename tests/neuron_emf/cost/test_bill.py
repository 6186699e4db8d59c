"""A month's bill is arithmetic; prices are listed, replaced or unknown."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from math import pow as power

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.cost import quantities
from neuron_emf.cost.bill import (
    alternatives,
    beyond_bill,
    bill,
    break_even,
    put_metric_data_usd,
    total,
)
from neuron_emf.cost.quantities import (
    COST_GROUPS,
    FIRST_CLOSE_S,
    MODES,
    Fleet,
    close_of,
)
from neuron_emf.cost.tariff import YOUR_OWN, listed, tariff_of
from neuron_emitter.errors import SettingsError
from neuron_emitter.settings.minute_settings import TIERS
from neuron_wire.catalogue import ALARMED

GIB = 1 << 30
ANY_FLEETS = st.builds(
    Fleet,
    instances=st.integers(1, 99_999),
    clusters=st.integers(1, 100),
    cores=st.integers(1, 127),
    mode=st.sampled_from(MODES),
    shards=st.none() | st.integers(0, 20),
    metrics=st.sampled_from(TIERS),
    has_stack=st.booleans(),
    retention_days=st.integers(1, 3_652),
)
ROUND = {
    "line-bytes": 974,
    "line-metric-bytes": 0,
    "runtime-line-bytes": 474,
    "stored-share": 0.1,
    "delivery-bytes": 1_000,
    "rounded-delivery-bytes": 2_048,
    "item-bytes": 500,
    "packed-record-bytes": 400,
    "pack-bytes": 0,
    "ingest-cpu-s": 0.0005,
    "record-cpu-s": 0.0005,
    "close-cpu-s": 0.05,
    "cluster-cpu-s": 0.0,
    "merge-cpu-s": 0.00005,
    "read-cpu-s": 0.0001,
    "close-calls": 10,
    "cluster-calls": 0,
    "close-read-units": 5,
    "close-write-units": 4,
    "cluster-write-units": 3,
    "registry-bytes": 0,
    "rollup-bytes": 1_000,
    "rollup-metric-bytes": 0,
    "not-counted": quantities.coefficients()["not-counted"],
}
"""The prices of a bill that can be computed by hand."""


@pytest.fixture
def of_round_sizes(monkeypatch):
    monkeypatch.setattr(quantities, "coefficients", lambda: ROUND)


@pytest.mark.usefixtures("of_round_sizes")
def test_a_bill_by_hand():
    """The bill of 1,000 instances in 4 clusters for 43,800 minutes equals a computation by hand."""
    minutes = 1_000 * 43_800
    written = (minutes * 1_000 + 1_000 * 730 * 8 * 500) / GIB
    late = 1 - power(0.999, 1_000)  # one late record in 1,000
    late_of_a_cluster = 1 - power(0.999, 250)
    rollups = 43_800 * ((1 + late_of_a_cluster) * 4 * (1_000 + 26) + 700) / GIB
    slow = 1.5 * 1_769 / 512
    # 32 buckets are registered and read; 31.25 items of 500 bytes are 3.8 pages of 4 KiB
    close_s = (1.5 + late) * (0.2 * slow + (10 + 32 + 32) * 0.010)
    read_units = (1.5 + late) * (5 + 32 * (31.25 * 500 / 4_096 + 0.5)) + 1
    expected = {
        "emitters' lines": written,
        "rollups": rollups,
        "kept for 30 days": (written + rollups) * 0.1 * 30 * 24 / 730,
        "ingest, invocations": minutes,
        "ingest, time": minutes * (0.0015 * 1.5 * 1_769 / 256 + 0.010) / 4,
        "close, invocations": 43_800,
        "close, time": 43_800 * close_s * 512 / 1_024,
        "close, schedule": 43_800,
        "ingest, records": minutes,
        "close, writing": 43_800 * (1 + late_of_a_cluster) * (4 + 32 + 4 * 3),
        "close, reading": 43_800 * read_units,
        "storage": 1_000 * 74 * 60 * 600 / GIB,
        "of clusters and the stack": 18 * 4 + 5 + 1,
        "metrics used by alarms": len(ALARMED) * 4 + 19,
        "dashboards": 1,
        "settle, time": 730 * (120 * 1_000 * 0.0001 * slow + 3_840 * 0.010) / 2,
        "settle, schedule": 730,
        "settle, reading": 730 * 3_840 * 1_000 / 32 * 500 / 4_096 / 2,
        "objects put": 730 * 9,
        "objects kept for 400 days": 730 * 1_000 * 150 * 400 * 24 / 730 / GIB,
        "digest, time": 730 / 168 * (336 * 1_000 * 2.5e-6 * 1.5 + 336 * 0.010) * 1_769 / 1_024,
        "digest, objects got": 730 / 168 * 336,
    }
    entries = bill(Fleet(1_000, 4))
    assert {what: pytest.approx(number) for what, number in expected.items()} == {
        entry.what: entry.quantity for entry in entries
    }
    usd_of_logs = 0.50 * (written + rollups) + 0.03 * expected["kept for 30 days"]
    assert total(entries, "logs") == pytest.approx(usd_of_logs)


@pytest.mark.usefixtures("of_round_sizes")
def test_emitters_alone_by_hand():
    """Without a stack, the bill has lines, retention, 8 metrics per cluster and 5 for alarms."""
    entries = bill(Fleet(1_000, 3).emitters_only())
    written = (43_800_000 * 1_000 + 1_000 * 730 * 8 * 500) / GIB
    expected = [written, written * 0.1 * 30 * 24 / 730, 24, 5]
    assert [entry.quantity for entry in entries] == pytest.approx(expected)


@pytest.mark.usefixtures("of_round_sizes")
def test_a_stream_by_hand():
    """Kinesis is billed by shards of 33 deliveries a second, or on demand by hours and bytes."""
    entries = {entry.what: entry for entry in bill(Fleet(1_000, 3, mode="kinesis"))}
    assert {"shards": 730, "deliveries": 43_800_000, "ingest, invocations": 87_600} == {
        what: entries[what].quantity for what in ("shards", "deliveries", "ingest, invocations")
    }
    assert entries["shards"].usd + entries["deliveries"].usd == pytest.approx(10.95 + 0.6132)
    assert entries["metrics used by alarms"].quantity == len(ALARMED) * 3 + 20
    by_hour = bill(Fleet(1_000, 3, mode="kinesis", shards=0))
    expected = 29.20 + 43_800_000 * (0.08 * 2_048 + 0.04 * 1_000) / GIB
    assert total(by_hour, "Kinesis") == pytest.approx(expected)


@pytest.mark.usefixtures("of_round_sizes")
def test_costs_outside_the_bill_by_hand():
    """Costs outside the bill are computed for a trail, a VPC endpoint and KMS."""
    events: float = 2 * 43_800_000 + 43_800 + 730 * 3_840  # each line is an invocation and a write
    events += 43_800 * (2.5 - power(0.999, 1_000)) * (10 + 32 + 32)  # the calls of close
    for mode, used in (
        ("direct", {quantities.TRAIL: events * 0.10 / 100_000}),
        ("kinesis", {"requests of Kinesis to KMS": 730 * 24 * 0.03 / 10_000}),
    ):
        usd = {entry.what: entry.usd for entry in beyond_bill(Fleet(1_000, mode=mode), listed())}
        used["VPC endpoint of CloudWatch Logs in 2 zones"] = 14.60
        assert usd | used == pytest.approx(usd)


@given(ANY_FLEETS)
def test_a_bill_is_the_sum_of_its_groups_and_more_never_costs_less(fleet):
    """Each entry is in one group, and one more instance, cluster, core or day never costs less."""
    entries = bill(fleet)
    assert sum(total(entries, group) for group in COST_GROUPS) == pytest.approx(total(entries))
    assert all(entry.usd >= 0 and entry.quantity >= 0 for entry in entries)
    assert {entry.group for entry in entries} <= set(COST_GROUPS)
    assert all(entry.usd > 0 for entry in beyond_bill(fleet, listed()))
    less = total(entries) - total(bill(replace(fleet, has_dashboard=False)))
    assert less == pytest.approx(3.00 if fleet.has_stack else 0.0)
    for name in ("instances", "clusters", "cores", "retention_days"):
        more = bill(replace(fleet, **{name: getattr(fleet, name) + 1}))
        # A batch holds whole buckets and processors are whole: a larger fleet may fill them better.
        assert total(more) >= 0.98 * total(entries)


@pytest.mark.parametrize(("instances", "least_mb"), [(1, 512), (10_000, 512), (100_000, 5_307)])
def test_close_has_the_least_memory_that_keeps_up(instances, least_mb):
    """Close has its default memory for ten thousand instances, and more for a hundred thousand."""
    close = close_of(Fleet(instances, max(1, instances // 1_000)))
    assert least_mb == close.memory_mb
    assert close.first_s <= FIRST_CLOSE_S


@pytest.mark.parametrize(
    ("fleet", "most_usd"),
    [
        (Fleet(1, 1, 4), 15),
        (Fleet(10), 16),
        (Fleet(1_000, 2), 113),
        (Fleet(1_000, 2, mode="kinesis"), 91),
        (Fleet(1, 1, 4).emitters_only(), 3),
    ],
    ids=["one", "ten", "thousand", "kinesis", "emitters-only"],
)
def test_a_small_stack_costs_at_most_the_promised_amount(fleet, most_usd):
    """A small stack costs at most the promised USD a month, without free tiers."""
    assert total(bill(fleet)) <= most_usd


def test_from_two_instances_on_it_costs_less_than_put_metric_data():
    """For two instances, the stack costs less than PutMetricData with 27 metrics a minute."""
    assert 2 == break_even(Fleet(1, 1, 4), listed())
    ways = {way.name: way.usd for way in alternatives(Fleet(2, 1, 4), listed())}
    assert ways["put_metric_data_each_minute"] == pytest.approx(2 * (27 * 0.30 + 0.438))
    assert put_metric_data_usd(2) == ways["put_metric_data_each_minute"]
    assert total(bill(Fleet(2))) < put_metric_data_usd(2) < total(bill(Fleet(2, 2)))


PRICE_NAMES = sorted(listed().prices)


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@given(st.sampled_from(PRICE_NAMES), st.floats(0, 1e6))
def test_a_file_replaces_the_price_it_names_and_no_other(tmp_path_factory, name, usd):
    """A file of prices replaces only its own prices, and the answer shows their source."""
    path = tmp_path_factory.getbasetemp() / f"prices-{PRICE_NAMES.index(name)}.toml"
    path.write_text(f"{name} = {usd!r}\n", encoding="utf-8")
    tariff = tariff_of(path)
    price = tariff.prices[name]
    assert usd == price.usd
    assert YOUR_OWN == price.source
    assert price.is_verified is True
    assert date.fromisoformat(price.as_of) > date.fromisoformat(listed().as_of)
    assert (name,) == tariff.replaced
    assert {**listed().prices, name: tariff.prices[name]} == tariff.prices
    assert list(listed().prices) == list(tariff.prices)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("log-ingest = 0.4", "'log-ingest'.*log-ingestion, log-storage"),
        ("log-ingestion = -1", "Invalid log-ingestion in .*Use USD for 1 GB"),
        ("log-ingestion = inf", "a number from 0 to 1,000,000"),
        ("log-ingestion = true", "such as log-ingestion = 0.5"),
        ("[log-ingestion]\nusd = 0.4", "such as log-ingestion = 0.5"),
        (b"log-ingestion = 0.4 # \xff", "Cannot read the prices"),
        ("a = " + 10_000 * "[", "Cannot read the prices"),
        (b"#" * (1 << 20) + b"\n", "larger than 1048576 bytes"),
    ],
    ids=["unknown", "negative", "infinite", "truth", "table", "no-text", "deep", "large"],
)
def test_a_file_that_cannot_be_meant_is_refused_in_a_sentence(file, text, expected):
    """An invalid file of prices is refused with the value found and the expected form."""
    with pytest.raises(SettingsError, match=expected) as caught:
        tariff_of(file(text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        (1, 0.30),
        (10_000, 3_000),
        (10_001, 3_000.10),
        (250_001, 27_000.05),
        (10**9, 20_044_500),
    ],
)
def test_a_tier_begins_behind_its_last_metric(metrics, expected):
    """The ten thousandth metric costs as much as the first; the next tier begins after it."""
    assert listed().metrics_usd(metrics) == pytest.approx(expected)
