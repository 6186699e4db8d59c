"""A record as a table item: small, its own identity, and readable again."""

from __future__ import annotations

import base64
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.storage.records import MAX_KEY_BYTES, bucket_of, item_of, key_of, records_of
from neuron_wire.cores import core_ranges
from neuron_wire.holders import MAX_HOLDERS, Holder
from neuron_wire.owners import Owner
from proof.factories.records import MINUTE, full_record, record, some_holders

NAMES = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=12)
PACKED = base64.b85decode(
    "c=<3s>HBq*O%8(~5QXnDYir&EQ9O%rVK;`PWzkiWrgtwkXbMheMIgicyl>`poVY*A{ac*uP6Cb#v"
    "Mt#p|I8|&q)I{zag{PJ375k+8>KEKIY+kUd0QUq7QgOPkDo@;RMMG3SE|xeVFWctC@~|TplHs(q6"
    "JS}r%P8%4qK;97ctnOqc@#8khZgK9IUs!*H#Af?Sg_rxo)!k;dSz8Fe`*lXbk4}2h7;9f&"
)
IDENTITIES = st.tuples(NAMES, NAMES, st.sampled_from(["00", "01"]), st.integers(1, 9))


def stored_bytes(item) -> int:
    """What DynamoDB counts: names and values, 21 digits at most for a number."""
    pk = f"m#{item.minute}#{item.bucket:02d}"
    ttl_bytes = (len(str(item.expires_s)) + 1) // 2 + 1
    return len("pk" + pk + "sk" + item.key + "r" + "ttl") + len(item.payload) + ttl_bytes


def read(payload):
    """The one record of an item."""
    (found,), unreadable = records_of(payload, MINUTE)
    assert 0 == unreadable
    return found


def test_64_cores_fit_one_write_unit():
    """With every member present and every number random the item has at most 1,024 bytes."""
    for seed in range(100):
        made = full_record(64, seed)
        assert stored_bytes(item_of(made, 1_764_000_000)) <= 1024
        held = replace(made, holders=some_holders(64, seed), holders_more=3)
        assert stored_bytes(item_of(held, 1_764_000_000)) <= 1024


@pytest.mark.parametrize(("cores", "units"), [(4, 1), (32, 1), (64, 1), (128, 2)])
def test_holders_never_cost_a_write_unit(cores, units):
    """Those without room are counted, the least idle first; none is lost from the count."""
    made = full_record(cores, seed=2)
    assert units == math.ceil(stored_bytes(item_of(made, 0)) / 1024)
    held = replace(made, holders=some_holders(max(cores, 8), seed=2), holders_more=3)
    item = item_of(held, 0)
    assert units == math.ceil(stored_bytes(item) / 1024)
    kept = read(item.payload)
    assert held.holders[: len(kept.holders)] == kept.holders
    assert MAX_HOLDERS + 3 == len(kept.holders) + kept.holders_more
    assert made == replace(kept, holders=(), holders_more=0)


def test_a_holder_with_the_longest_name_leaves_the_record_alone():
    """One that finds no room at all is a count, and the record is as small as without it."""
    made = full_record(64, seed=3)
    longest = Holder("0-63", "n" * 128, 1, "t" * 128)
    crowd = tuple(
        replace(one, name=f"{one.name}{seed:x}{one.name[::-1]}" * 3)
        for seed, one in enumerate(some_holders(64, seed=3))
    )
    item = item_of(replace(made, holders=(longest, *crowd[1:])), 0)
    assert stored_bytes(item) <= 1024
    kept = read(item.payload)
    assert MAX_HOLDERS == len(kept.holders) + kept.holders_more
    assert 0 < kept.holders_more


@given(IDENTITIES, IDENTITIES)
def test_the_key_is_the_identity(one, other):
    """Two records have the same key exactly when they are the same record."""
    keys = [
        key_of(record(cluster=cluster, instance_id=instance_id, boot=boot, seq=seq))
        for cluster, instance_id, boot, seq in (one, other)
    ]
    assert (one == other) == (keys[0] == keys[1])


@pytest.mark.parametrize("letter", ["#", "%", "x"])
def test_no_key_is_longer_than_a_sort_key_may_be(letter):
    """The longest names, all of characters that quoting triples, still give a legal key."""
    longest = record(cluster=letter * 255, instance_id=letter * 128, boot="b" * 64, seq=2**63 - 1)
    other = replace(longest, seq=1)
    assert len(key_of(longest).encode()) <= MAX_KEY_BYTES
    assert key_of(longest) != key_of(other)


def test_an_item_of_an_earlier_release_is_read():
    """What was packed when the first release was made is unpacked by this one."""
    assert record(readings={}) == read(PACKED)


def test_the_emitters_health_is_not_kept():
    """What the emitter says about itself stays in the log line."""
    made = record(health={"SpoolBytes": 4096})
    assert {} == read(item_of(made, 0).payload).health


def test_buckets_never_change():
    """Both functions, of every release, look for an instance in the same bucket."""
    ids = ["i-0aaaaaaaaaaaaaaa1", "i-0123456789abcdef0", "host-1"]
    assert [6, 15, 3] == [bucket_of(instance_id) for instance_id in ids]


@pytest.mark.parametrize("cores", [32, 64, 128])
def test_owners_are_never_trimmed(cores):
    """They may cost a write unit; holders still fit into the units that all the rest takes."""
    made = full_record(cores, seed=5)
    share = cores // 16
    owners = tuple(
        Owner(core_ranges(range(share * one, share * (one + 1))), f"{one:x}{'name' * 9}", "team")
        for one in range(16)
    )
    owned = replace(made, owners=owners, owners_more=str(cores - 1))
    units = math.ceil(stored_bytes(item_of(owned, 0)) / 1024)
    item = item_of(replace(owned, holders=some_holders(cores, seed=5)), 0)
    kept = read(item.payload)
    assert units == math.ceil(stored_bytes(item) / 1024)
    assert owners == kept.owners
    assert MAX_HOLDERS == len(kept.holders) + kept.holders_more
