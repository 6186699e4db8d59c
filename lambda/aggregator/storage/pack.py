"""
Many minute records in few items, and the records of any item.

A Kinesis batch brings the records of thousands of instances at once. Kept one
by one they would cost a write unit each; packed, those of one minute and bucket
are a line each in one compressed item. The key is made from the content, so a
batch that is delivered again lands on itself. A batch that was split before it
was delivered again does not: a record may stand in several packs, and alone,
and whoever reads them must count it once.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from aggregator.minutes import expires_s, minute_at_ms, start_ms
from aggregator.storage.item import bucket_of, packed, unpacked
from aggregator.storage.values import RecordItem
from neuron_wire import MinuteRecord, WireFormatError, encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_PACK_BYTES: Final = 256 * 1024
"""
Of the lines of one pack before they are compressed. DynamoDB takes 400 KB
after it, and the compressor looks back 32 KB: larger packs are no smaller.
"""

_PACK: Final = "##"  # no key of a single record starts with it

Identity = tuple[str, str, str, int]


def identity_of(record: MinuteRecord) -> Identity:
    """What makes a record the same record, however often and wherever it is kept."""
    return record.cluster, record.instance_id, record.boot, record.seq


def packs_of(records: Iterable[MinuteRecord], late_minutes: int) -> list[RecordItem]:
    """
    Pack *records*, in any order and repeated or not, by minute and bucket.

    What the emitter says about itself is left out, as in a single item.
    """
    places: dict[tuple[int, int], dict[Identity, MinuteRecord]] = {}
    for record in records:
        place = minute_at_ms(record.minute_ms), bucket_of(record.instance_id)
        places.setdefault(place, {})[identity_of(record)] = record
    return [
        RecordItem(
            minute=minute,
            bucket=bucket,
            key=_PACK + hashlib.sha256(text).hexdigest()[:32],
            payload=packed(text),
            expires_s=expires_s(minute, late_minutes),
        )
        for (minute, bucket), distinct in places.items()
        for text in _texts(distinct[identity] for identity in sorted(distinct))
    ]


def records_of(payload: bytes, minute: int) -> tuple[list[MinuteRecord], int]:
    """
    The records of one item of *minute*, single or pack, and how many are unreadable.

    An unreadable record costs itself only; an item that is damaged as a whole
    counts as one.
    """
    try:
        lines = unpacked(payload).split(b"\n")
    except WireFormatError:
        return [], 1
    found = [record for line in lines if (record := _record_in(line, minute)) is not None]
    return found, len(lines) - len(found)


def _record_in(line: bytes, minute: int) -> MinuteRecord | None:
    try:
        members = json.loads(line.decode())
        if isinstance(members, dict):
            return MinuteRecord.from_members(members, start_ms(minute))
    except (ValueError, RecursionError):  # a WireFormatError is a ValueError too
        pass
    return None


def _texts(records: Iterable[MinuteRecord]) -> Iterator[bytes]:
    """One record a line, as many lines as one pack may hold."""
    lines: list[bytes] = []
    size = 0
    for record in records:
        line = encode(replace(record, health={}).members()).encode()
        if lines and size + len(line) > MAX_PACK_BYTES:
            yield b"\n".join(lines)
            lines, size = [], 0
        lines.append(line)
        size += len(line) + 1
    if lines:
        yield b"\n".join(lines)
