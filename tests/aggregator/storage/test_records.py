"""Records as table items, alone or in packs: small, unchanged and readable."""

from __future__ import annotations

import base64
import math
from dataclasses import replace

import pytest

from aggregator.storage import record_items as storage_records
from aggregator.storage.record_items import (
    MAX_KEY_BYTES,
    bucket_of,
    identity_of,
    item_of,
    key_of,
    packed,
    packs_of,
    records_of,
    unpacked,
)
from neuron_wire import WireFormatError
from neuron_wire.core_members import core_ranges
from neuron_wire.holders import MAX_HOLDERS
from neuron_wire.names import MAX_CORES
from neuron_wire.owners import Owner
from proof.factories.records import MINUTE, full_record, record, some_holders

PACKED = base64.b85decode(
    "c=<<F?izKJO%8(~5QXnDYir&EQ9O%rVK;`PWzkiWrgtwkXbMheMIgicyl>`poVY*A{ac*uP6Cb#vMt"
    "#p|I8|&q)I{zag{PJ375k+8>KEKIY+kUd0QUq7QgOPkDo@;RMMG3SE|xeVFWctC@~|TplHs(q6JS}r"
    "%P8%4qK;97ctnOqc@#8khZgK9IUs!*H#Af?Sg_rxo)!k;dSz8Fe`*lXbk4}2h7;9f&"
)


def stored_bytes(item) -> int:
    """
    Return the item's size as DynamoDB counts it: names, values, and 21 digits at most for a number.
    """
    pk = f"m#{item.minute}#{item.bucket:02d}"
    ttl_bytes = (len(str(item.expires_s)) + 1) // 2 + 1
    return len("pk" + pk + "sk" + item.key + "r" + "ttl") + len(item.payload) + ttl_bytes


def read_item(payload):
    """Return the only record of an item."""
    (record,), unreadable = records_of(payload, MINUTE)
    assert 0 == unreadable
    return record


def test_64_cores_fit_one_write_unit():
    """An item of 64 cores with every member and random numbers fits a write unit of 1,024 bytes."""
    for seed in range(100):
        stored = full_record(64, seed)
        assert stored_bytes(item_of(stored, 1_764_000_000)) <= 1024
        held = replace(stored, holders=some_holders(64, seed), holders_more=3)
        assert stored_bytes(item_of(held, 1_764_000_000)) <= 1024


@pytest.mark.parametrize(("cores", "units"), [(4, 1), (32, 1), (64, 1), (128, 2)])
def test_holders_never_cost_a_write_unit(cores, units):
    """
    Holders never cost a write unit: holders without room are counted, the least idle holders first.
    """
    stored = full_record(cores, seed=2)
    assert units == math.ceil(stored_bytes(item_of(stored, 0)) / 1024)
    held = replace(stored, holders=some_holders(max(cores, 8), seed=2), holders_more=3)
    item = item_of(held, 0)
    assert units == math.ceil(stored_bytes(item) / 1024)
    kept = read_item(item.payload)
    assert held.holders[: len(kept.holders)] == kept.holders
    assert MAX_HOLDERS + 3 == len(kept.holders) + kept.holders_more
    assert stored == replace(kept, holders=(), holders_more=0)


@pytest.mark.parametrize("letter", ["#", "%", "x"])
def test_no_key_is_longer_than_a_sort_key_may_be(letter):
    """The longest names, whose characters all triple when quoted, give a key of legal length."""
    longest = record(cluster=letter * 255, instance_id=letter * 128, boot="b" * 64, seq=2**63 - 1)
    other = replace(longest, seq=1)
    assert len(key_of(longest).encode()) <= MAX_KEY_BYTES
    assert key_of(longest) != key_of(other)


def test_an_item_of_an_earlier_release_is_read():
    """Items that the first release packed are unpacked."""
    assert record(readings={}, reservations=None) == read_item(PACKED)


def test_the_emitters_health_is_not_kept():
    """The emitter's health members are not stored; they stay in the log line."""
    stored = record(health={"SpoolBytes": 4096})
    assert {} == read_item(item_of(stored, 0).payload).health


def test_buckets_never_change():
    """The bucket of an instance is the same in each function and each release."""
    ids = ["i-0aaaaaaaaaaaaaaa1", "i-0123456789abcdef0", "host-1"]
    assert [6, 15, 3] == [bucket_of(instance_id) for instance_id in ids]


@pytest.mark.parametrize("cores", [32, 64, 128])
def test_owners_are_never_trimmed(cores):
    """
    Owners are never trimmed, even if they cost a write unit; holders fit into the units of the
    rest.
    """
    stored = full_record(cores, seed=5)
    share = cores // 16
    owners = tuple(
        Owner(
            core_ranges(range(share * number, share * (number + 1))),
            f"{number:x}{'name' * 9}",
            "team",
        )
        for number in range(16)
    )
    owned = replace(stored, owners=owners, owners_more=str(cores - 1))
    units = math.ceil(stored_bytes(item_of(owned, 0)) / 1024)
    item = item_of(replace(owned, holders=some_holders(cores, seed=5)), 0)
    kept = read_item(item.payload)
    assert units == math.ceil(stored_bytes(item) / 1024)
    assert owners == kept.owners
    assert MAX_HOLDERS == len(kept.holders) + kept.holders_more


PACKED_ITEM_BYTES = 400_000  # DynamoDB's limit is 400 KB, which is at least this

"""Records whose identity has their minute, like an emitter's."""


def read_records(items):
    """Return every record of *items*, with duplicates."""
    all_records = []
    for item in items:
        records, unreadable = records_of(item.payload, item.minute)
        assert 0 == unreadable
        assert all(item.bucket == bucket_of(record.instance_id) for record in records)
        all_records += records
    return all_records


@pytest.mark.parametrize(("cores", "count"), [(MAX_CORES, 120), (32, 1500)])
def test_a_pack_is_split_long_before_an_item_is_full(cores, count):
    """
    All records of a minute and bucket with random numbers are split long before an item is full.
    """
    instance_id = "i-0123456789abcdef0"
    records = [replace(full_record(cores, seed), instance_id=instance_id) for seed in range(count)]
    items = packs_of(records, 120)
    assert 3 < len(items)
    assert PACKED_ITEM_BYTES * 3 / 4 > max(len(item.payload) for item in items)
    assert sorted(map(identity_of, records)) == sorted(map(identity_of, read_records(items)))


@pytest.mark.parametrize(("less", "sizes"), [(0, [2, 2]), (1, [1, 1, 1, 1])])
def test_a_pack_at_exactly_the_limit_is_one_item(monkeypatch, less, sizes):
    """The limit of a pack counts its whole text with line ends, and is inclusive."""
    records = [record(seq=seq) for seq in (1, 2, 3, 4)]
    (of_two,) = packs_of(records[:2], 120)
    monkeypatch.setattr(storage_records, "MAX_PACK_BYTES", len(unpacked(of_two.payload)) - less)
    assert sizes == [len(read_records([item])) for item in packs_of(records, 120)]


# --- reading ---


@pytest.mark.parametrize(
    "payload", [b"", b"junk", packed(b"{}")[:-1], packed(b"{}")[:-5] + b"12345"]
)
def test_an_item_that_is_damaged_as_a_whole_is_one_loss(payload):
    """A damaged item, of another format, cut short or with other text, counts as one loss."""
    assert ([], 1) == records_of(payload, MINUTE)
    with pytest.raises(WireFormatError):
        unpacked(payload)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[1]",
        b"{",
        b"{}",
        b"nonsense",
        b"[" * 100_000,
        b"\xff",
        b'{"Kind":"minute","Schema":1}',
    ],
)
@pytest.mark.parametrize("place", [0, 1, 3])
def test_an_unreadable_record_costs_itself_only(line, place):
    """An unreadable record at any place of a pack costs no other record."""
    records = [record(boot=f"{number:020}") for number in range(3)]
    (item,) = packs_of(records, 120)
    lines = unpacked(item.payload).split(b"\n")
    lines.insert(place, line)
    assert (records, 1) == records_of(packed(b"\n".join(lines)), MINUTE)
