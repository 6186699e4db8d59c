"""
A minute of a fleet as the table has it, on disk.

A process that is measured must hold nothing but what the function would: the
items wait in one file per bucket, and are read a page at a time.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Final

from aggregator.storage.item import BUCKETS, item_of
from aggregator.storage.pack import packs_of
from benchmarks.stack import fleet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aggregator.storage.values import RecordItem
    from neuron_emf.cost.measurements import Form
    from neuron_wire.minute import MinuteRecord

BATCH_RECORDS: Final = 1_000
"""Records of one Kinesis batch, so that a pack has 31."""

PAGE_BYTES: Final = 1 << 20  # of one answer of Query
_LATE_MINUTES: Final = 120
_HEAD: Final = struct.Struct("<HI")  # bytes of the key, bytes of the payload


def prepare(
    folder: Path, instances: int, clusters: int, form: Form, cores: int = fleet.CORES
) -> int:
    """Write the minute of a fleet into *folder*, which must not be there; the items written."""
    folder.mkdir(parents=True)
    buckets: dict[int, list[RecordItem]] = defaultdict(list)
    for item in items_of(fleet.records(instances, clusters, cores), form):
        buckets[item.bucket].append(item)
    for bucket in range(BUCKETS):
        with (folder / f"{bucket:02d}").open("wb") as file:
            for item in sorted(buckets[bucket], key=lambda one: one.key):
                key = item.key.encode()
                file.write(_HEAD.pack(len(key), len(item.payload)) + key + item.payload)
    return sum(map(len, buckets.values()))


def items_of(records: Iterator[MinuteRecord], form: Form) -> Iterator[RecordItem]:
    """*records* as ingest puts them."""
    if form == "items":
        for record in records:
            yield item_of(record, 0)
    while batch := list(islice(records, BATCH_RECORDS)):
        yield from packs_of(batch, _LATE_MINUTES)


def page_of(folder: Path, bucket: int, offset: int) -> tuple[list[tuple[str, bytes]], int]:
    """
    Keys and payloads of the items from *offset* on, a page of them, and where the next page begins.

    That is 0 when there is none.
    """
    items: list[tuple[str, bytes]] = []
    size = 0
    with (folder / f"{bucket:02d}").open("rb") as file:
        file.seek(offset)
        while size < PAGE_BYTES:
            head = file.read(_HEAD.size)
            if not head:
                return items, 0
            key_bytes, payload_bytes = _HEAD.unpack(head)
            key = file.read(key_bytes).decode()
            items.append((key, file.read(payload_bytes)))
            size += key_bytes + payload_bytes
        return items, file.tell()
