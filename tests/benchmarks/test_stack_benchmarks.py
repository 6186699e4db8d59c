"""The benchmarks of the stack measure its own code, on instances that are like real ones."""

from __future__ import annotations

import pytest

from aggregator.storage import layout
from aggregator.storage.values import RecordItem
from benchmarks.stack.dynamodb import StandIn
from benchmarks.stack.findings import turned_idle


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


def test_half_a_fleet_that_turns_idle_is_an_event_for_each_cluster():
    """And again one when it works; each instance is open in between."""
    minutes = turned_idle(4_000)
    found = {name: (one.events, one.open_findings) for name, one in minutes.items()}
    assert (0, 0) == found["all at work"]
    assert (20, 2_000) == found["half turn idle"]
    assert (0, 2_000) == found["half stay idle"]
    assert (20, 0) == found["work again, 3"]
    assert minutes["half turn idle"].packed_bytes < 100 * 2_000
