"""Many records as few items, and the records of any item."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.minutes import expires_s
from aggregator.storage import records as pack
from aggregator.storage.records import (
    bucket_of,
    identity_of,
    item_of,
    packed,
    packs_of,
    records_of,
    unpacked,
)
from neuron_wire import WireFormatError
from neuron_wire.names import MAX_CORES
from proof.factories.records import MINUTE, full_record, record

MAX_ITEM_BYTES = 400_000  # DynamoDB's 400 KB, less than it at most

RECORDS = st.builds(
    record,
    cluster=st.sampled_from(["training", "serving"]),
    instance_id=st.sampled_from([f"i-{number}" for number in range(5)]),
    seq=st.integers(1, 3),
    minute=st.integers(MINUTE, MINUTE + 2),
).map(lambda made: replace(made, seq=10 * made.seq + made.minute_ms // 60_000 % 10))
"""Whose identity says which minute they belong to, as an emitter's does."""


def read(items):
    """Every record of *items*, repeated where it is repeated."""
    found = []
    for item in items:
        records, unreadable = records_of(item.payload, item.minute)
        assert 0 == unreadable
        assert all(item.bucket == bucket_of(one.instance_id) for one in records)
        found += records
    return found


@given(st.lists(RECORDS, max_size=20))
def test_packing_loses_nothing_and_repeats_nothing(records):
    """Whatever came twice stands in a pack once; each place has one pack."""
    items = packs_of(records, 120)
    found = read(items)
    assert len(found) == len({identity_of(one) for one in found})
    assert {identity_of(one): one for one in records} == {identity_of(one): one for one in found}
    places = [(item.minute, item.bucket) for item in items]
    assert len(places) == len(set(places))
    assert all(expires_s(item.minute, 120) == item.expires_s for item in items)


@given(
    st.lists(RECORDS, max_size=12).flatmap(
        lambda made: st.tuples(st.just(made), st.permutations(made))
    )
)
def test_a_batch_delivered_again_lands_on_itself(orders):
    """In whatever order, and with whatever repeated: the same items."""
    once, again = orders
    assert set(packs_of(once, 120)) == set(packs_of(again + once, 120))


@given(st.lists(RECORDS, min_size=1, max_size=12), st.data())
def test_parts_of_a_batch_have_packs_of_their_own(records, data):
    """
    What was split before it was delivered again replaces nothing: other
    content has another key, and no key is that of a single record.
    """
    part = data.draw(st.lists(st.sampled_from(records)))
    kept = {}
    singles = [item_of(one, 0) for one in records]
    for item in [*packs_of(records, 120), *packs_of(part, 120), *singles]:
        before = kept.setdefault((item.minute, item.bucket, item.key), item.payload)
        assert before == item.payload
    whole = Counter(identity_of(one) for one in read(packs_of(records, 120)))
    copies = Counter(
        identity_of(one)
        for (minute, _, _), payload in kept.items()
        for one in records_of(payload, minute)[0]
    )
    assert copies.keys() == whole.keys()


def test_what_the_emitter_says_about_itself_stays_in_its_line():
    """As with a single item; everything else is kept."""
    made = full_record(32, seed=1)
    (item,) = packs_of([replace(made, health={"SpoolBytes": 4096})], 120)
    assert [made] == read([item])
    assert b"SpoolBytes" not in unpacked(item.payload)


@pytest.mark.parametrize(("cores", "count"), [(MAX_CORES, 120), (32, 1500)])
def test_a_pack_is_split_long_before_an_item_is_full(cores, count):
    """All records of one minute from one bucket, with every number random."""
    instance_id = "i-0123456789abcdef0"
    records = [replace(full_record(cores, seed), instance_id=instance_id) for seed in range(count)]
    items = packs_of(records, 120)
    assert 3 < len(items)
    assert MAX_ITEM_BYTES * 3 / 4 > max(len(item.payload) for item in items)
    assert sorted(map(identity_of, records)) == sorted(map(identity_of, read(items)))


@pytest.mark.parametrize(("less", "sizes"), [(0, [2, 2]), (1, [1, 1, 1, 1])])
def test_a_pack_at_exactly_the_limit_is_one_item(monkeypatch, less, sizes):
    """The limit is that of the whole text, the ends of its lines included, and is inclusive."""
    records = [record(seq=seq) for seq in (1, 2, 3, 4)]
    (of_two,) = packs_of(records[:2], 120)
    monkeypatch.setattr(pack, "MAX_PACK_BYTES", len(unpacked(of_two.payload)) - less)
    assert sizes == [len(read([item])) for item in packs_of(records, 120)]


def test_a_pack_takes_less_than_half_of_what_single_records_take():
    """A thousand instances of 32 cores with much the same minute: 100 bytes a record."""
    draw = random.Random(1)
    records = [
        record(
            instance_id=f"i-0{draw.getrandbits(64):016x}",
            core_state="b" * 20 + "a" * 12,
            utilization_percent=tuple(round(draw.uniform(60, 100), 2) for _ in range(20))
            + (0.0,) * 12,
            idle_minutes=(0,) * 20 + (12,) * 12,
        )
        for _ in range(1000)
    ]
    size = sum(len(item.payload) for item in packs_of(records, 120))
    assert 100 * 1000 > size
    assert size < sum(len(item_of(one, 0).payload) for one in records) / 2


# --- reading ---


@pytest.mark.parametrize(
    "payload", [b"", b"junk", packed(b"{}")[:-1], packed(b"{}")[:-5] + b"12345"]
)
def test_an_item_that_is_damaged_as_a_whole_is_one_loss(payload):
    """Whatever the damage: none of ours, cut short, or another text than was packed."""
    assert ([], 1) == records_of(payload, MINUTE)
    with pytest.raises(WireFormatError):
        unpacked(payload)


@pytest.mark.parametrize(
    "line",
    [
        b"", b"[1]", b"{", b"{}", b"nonsense", b"[" * 100_000, b"\xff",
        b'{"Kind":"minute","Schema":1}',
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", [0, 1, 3])
def test_an_unreadable_record_costs_itself_only(line, place):
    """Whatever is wrong with it and wherever it stands."""
    made = [record(boot=f"{number:020}") for number in range(3)]
    (item,) = packs_of(made, 120)
    lines = unpacked(item.payload).split(b"\n")
    lines.insert(place, line)
    assert (made, 1) == records_of(packed(b"\n".join(lines)), MINUTE)
