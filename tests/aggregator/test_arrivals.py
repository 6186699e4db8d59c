"""Decompression bombs need bounded memory, are counted, and cost no other delivery."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.arrivals import (
    MAX_BRACKETS,
    MAX_DELIVERY_BYTES,
    OversizeDeliveryError,
    TruncatedDeliveryError,
    unpacked,
)
from aggregator.runtime import MAX_HELD_BYTES, arrival_of
from neuron_wire.holders import MAX_HOLDERS
from proof.factories.invocations import batch, payload
from proof.factories.records import full_record, lines, record, some_holders

OBJECTS = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=20), max_size=5)


@given(OBJECTS, st.data())
def test_what_is_cut_off_is_refused(document, data):
    """A delivery that is cut at any byte is refused, because its last lines may be missing."""
    whole = gzip.compress(json.dumps(document).encode())
    with pytest.raises((TruncatedDeliveryError, zlib.error)):
        unpacked(whole[: data.draw(st.integers(1, len(whole) - 1))])


@pytest.mark.parametrize("behind", [b"\0", b"junk", gzip.compress(b"{}", mtime=0)])
def test_records_behind_the_delivery_are_read(behind):
    """
    A delivery with data after its end is refused, because the data may be the rest of its lines.
    """
    with pytest.raises(TruncatedDeliveryError):
        unpacked(gzip.compress(b"{}") + behind)


def test_a_delivery_of_exactly_the_limit_is_read():
    """The size limit is inclusive: 8 MiB are read, one byte more is refused."""
    spaces = b" " * (MAX_DELIVERY_BYTES - 2)
    assert {} == unpacked(gzip.compress(spaces + b"{}", 1))
    with pytest.raises(OversizeDeliveryError, match=f"{MAX_DELIVERY_BYTES}"):
        unpacked(gzip.compress(spaces + b" {}", 1))


def test_as_many_brackets_as_the_limit_are_read():
    """The limit of brackets is inclusive, and brackets in the text of lines do not count."""
    document: dict[str, Any] = {
        "a": "[" * MAX_BRACKETS + '"{',
        "b": [[] for _ in range(MAX_BRACKETS - 2)],
    }
    assert document == unpacked(gzip.compress(json.dumps(document).encode(), 1))
    document["b"].append([])
    with pytest.raises(OversizeDeliveryError, match="262144"):
        unpacked(gzip.compress(json.dumps(document).encode(), 1))


def test_no_more_is_unpacked_than_the_limit():
    """A delivery that unpacks to 256 MB never takes more than three times the limit of memory."""
    bomb = gzip.compress(bytes(256 << 20), 1)
    tracemalloc.start()
    try:
        with pytest.raises(OversizeDeliveryError):
            unpacked(bomb)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert MAX_DELIVERY_BYTES <= peak < 3 * MAX_DELIVERY_BYTES


def test_the_limits_leave_room_for_real_lines():
    """4,000 lines of 128 cores with the longest names are under both limits."""
    held = replace(full_record(128, 1), holders=some_holders(128, 1))
    (line,) = lines(held)
    assert MAX_HOLDERS == len(held.holders)
    document = json.dumps({"message": line.message})
    assert len(document) * 1_000 < MAX_DELIVERY_BYTES
    fitting = MAX_DELIVERY_BYTES // len(document)
    assert fitting * (document.count("{") + document.count("[")) < MAX_BRACKETS


def test_an_unreadable_record_before_the_limit_is_distinguished_from_those_left(monkeypatch):
    """
    An unreadable record before the limit counts as unreadable; the records after the limit return.
    """
    monkeypatch.setattr("aggregator.runtime.MAX_HELD_BYTES", 500)
    good = payload(*lines(record()))
    arrival: Any = arrival_of(batch(b"junk", good, good, b"junk", good))
    assert ("n-0",) == arrival.unreadable
    assert ("n-2", "n-3", "n-4") == arrival.left
    named = [failure["itemIdentifier"] for failure in arrival.response["batchItemFailures"]]
    assert 1 == len(arrival.deliveries)
    assert ["n-0", "n-2", "n-3", "n-4"] == named


def test_a_whole_batch_of_ordinary_lines_is_held_at_once():
    """
    A batch of ordinary lines is read at once: 6 MB of base64 hold 4.5 MB of lines compressed to an
    eighth.
    """
    records = [full_record(32, seed) for seed in range(300)]
    compressed = payload(*lines(*records))
    plain = sum(len(line.message) + 256 for line in lines(*records))
    assert plain / len(compressed) * 4_500_000 < MAX_HELD_BYTES
