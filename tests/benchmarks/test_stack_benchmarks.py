"""The benchmarks of the stack measure its own code, on instances that are like real ones."""

from __future__ import annotations

import dataclasses

import pytest

from aggregator.storage import layout
from aggregator.storage.item import BUCKETS
from aggregator.storage.pack import identity_of, records_of
from aggregator.storage.values import RecordItem
from benchmarks.scale.fleets import MIDDLE
from benchmarks.stack import fleet
from benchmarks.stack import rows as stack
from benchmarks.stack.close_runs import closed
from benchmarks.stack.deliveries import delivered
from benchmarks.stack.dynamodb import StandIn
from benchmarks.stack.table_files import page_of, prepare
from neuron_emf.cost.measurements import FORMS
from tests.benchmarks.measures_example import made_run

INSTANCES = 300
CLOSED = made_run(MIDDLE)


def without_health(record):
    """As a reader of its line has it."""
    return dataclasses.replace(record, health={})


@pytest.mark.parametrize("form", FORMS)
def test_a_prepared_minute_holds_every_record_once(form, tmp_path):
    """In pages, each in the bucket of its instance."""
    items = prepare(tmp_path / form, INSTANCES, 2, form)
    found = [
        record
        for bucket in range(BUCKETS)
        for _, payload in page_of(tmp_path / form, bucket, 0)[0]
        for record in records_of(payload, fleet.MINUTE)[0]
    ]
    expected = [without_health(record) for record in fleet.records(INSTANCES, 2)]
    assert sorted(expected, key=identity_of) == sorted(found, key=identity_of)
    assert items == (INSTANCES if form == "items" else BUCKETS)


@pytest.mark.parametrize(
    ("payload_bytes", "units"), [(0, 1), (1_024 - 26, 1), (1_024 - 25, 2), (3_000, 3)]
)
def test_the_stand_in_bills_a_write_as_dynamodb_does(payload_bytes, units):
    """
    A unit for each 1,024 bytes begun, of names and values: 26 of this item are not its payload.
    """
    item = RecordItem(minute=1, bucket=0, key="kk", payload=b"x" * payload_bytes, expires_s=10**9)
    stand_in = StandIn()
    stand_in.put_item(Item=layout.record_item(item))
    found = stand_in.use
    assert (units, payload_bytes + 26) == (found.write_units, found.largest_item_bytes)


def test_the_stand_in_bills_a_read_by_what_it_reads():
    """A unit for each 4,096 bytes, one when there is nothing, half of it when it may be stale."""
    stand_in = StandIn()
    stand_in.put_item(Item=layout.registry_item(7, b"x" * 5_000))
    values = {":pk": {"S": layout.REGISTRY}}
    assert 1 == len(stand_in.query(ExpressionAttributeValues=values)["Items"])
    assert 2 == stand_in.use.read_units
    stand_in.query(ExpressionAttributeValues={":pk": {"S": "nobody"}})
    assert 3 == stand_in.use.read_units
    stand_in.batch_get_item(RequestItems={"table": {"Keys": [layout.marker_key(1)] * 3}})
    assert 4.5 == stand_in.use.read_units


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("form", FORMS)
def test_a_minute_is_closed_alike_with_boto3_and_without(form, tmp_path):
    """Every record is read, and what is printed and asked for does not depend on the client."""
    prepare(tmp_path / form, INSTANCES, 2, form)
    plain, through_boto3 = closed(tmp_path / form), closed(tmp_path / form, boto3=True)
    assert INSTANCES == plain.records
    times = {"cpu_s": 0.0, "peak_mib": 0.0}
    assert dataclasses.replace(plain, **times) == dataclasses.replace(through_boto3, **times)


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize(("records", "units"), [(1, 1), (2, 2)])
def test_a_delivery_costs_what_it_stores(records, units):
    """One record straight, or two of two instances in packs of their own, in a single request."""
    found = delivered(records, 2)
    assert (1, units) == (found.calls, found.write_units)
    assert found.printed_bytes > 100


def test_the_figures_of_the_stack_hold_it_to_its_limits(monkeypatch, tmp_path):
    """10,000 instances in 1.5 s and 512 MiB, and linear above."""
    seconds = {1_000: 0.1, 10_000: 1.6, 100_000: 17.0}

    def slow(folder, *, boto3=False):
        del boto3
        return dataclasses.replace(
            CLOSED, cpu_s=seconds[int(folder.name.partition("-")[2])], peak_mib=513.0
        )

    monkeypatch.setattr(stack, "closed", slow)
    monkeypatch.setattr(stack, "prepare", lambda folder, *_: folder.mkdir())
    found = stack.closing(tmp_path)
    assert {
        "close: processor time of 10,000 instances, an item each",
        "close: most memory of 10,000 instances, an item each",
        "close: processor time of 10,000 instances, packed",
        "close: most memory of 10,000 instances, packed",
    } == {one.what for one in found if one.is_over}
    assert [1.06, 1.06] == [round(one.value, 2) for one in found if one.unit == "x"]
    seconds[100_000] = 25.0
    assert 6 == sum(one.is_over for one in stack.closing(tmp_path))
