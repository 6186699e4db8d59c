"""
Minute records as table items: one record in an item, or a pack of them.

The key of a single item is the record's identity, so a copy that arrives twice replaces the first.
Readers take the identity from the payload, never from the key.

A Kinesis batch has the records of thousands of instances at once. Each would cost a write unit in
an item of its own, so the records of one minute and bucket become the lines of one compressed item,
a pack. The key of a pack is made from its content, so a batch that is delivered again replaces its
packs. If Kinesis delivers the batch again in smaller batches, the packs differ, and one record may
be in several packs and in an item of its own. The reader must count it once.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from aggregator.minutes import expires_s, start_ms
from aggregator.storage.values import RecordItem
from neuron_wire import MinuteRecord, WireFormatError, encode
from neuron_wire.line_members import NOT_JSON

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


TABLE_BUCKETS: Final = 32
"""
Parts of a minute. One part accepts 1,000 writes a second, DynamoDB's limit for a partition, so a
minute accepts the records of more than a million instances.
"""

_DICTIONARY: Final = (
    b'"IdentityGuessed":,"CleanShutdown":,"EccUncorrectedRise":,"EccCorrectedRise":,"EccUncorrected":,'
    b'"EccCorrected":,"HostCpuPercent":,"HostMemoryTotal":,"HostMemoryUsed":,'
    b'"RuntimeHostMemory":,"DeviceMemoryTotal":,"DeviceMemoryUsed":,"TeraFlops":,'
    b'"LatencyGapP50":,"DeviceLatencyP99Max":,"DeviceLatencyP50Mean":,"LatencyP99Max":,'
    b'"LatencyP50Mean":,"ExecutionErrors":,"Executions":,"UnknownCores":,"UnattachedCores":,'
    b'"AttachedIdleCores":,"BusyCores":,"NeuronCores":,"NeuronCoreUtilizationMore":,'
    b'"CoreIdleMinutes":,"NeuronCoreUtilization":,"CoreState":,"Reports":,"CoveredSeconds":,'
    b'"UltraServerId":,"AvailabilityZone":,"Region":,"InstanceType":,"InstanceId":,'
    b'"ClusterName":,"Seq":,"Boot":,"Kind":,"Schema":'
)
"""
Text that the compressor may refer to: the names of members, which would be a quarter of a packed
record. Never change it: existing items could no longer be read. zlib records which dictionary a
stream needs, so a second one can be added.
"""

MAX_KEY_BYTES: Final = 1024  # a sort key in DynamoDB
WRITE_UNIT_BYTES: Final = 1024  # the size of one write unit of DynamoDB, attribute names included
_FIXED_ITEM_BYTES: Final = sum(map(len, ("pk", "m##00", "sk", "r", "ttl")))
"""The constant bytes of an item: the names of its members, and the fixed part of its pk."""

_NUMBER_BYTES: Final = 21  # the most that DynamoDB counts for one
_HASHED: Final = "#"  # no ordinary key starts with it: a cluster's name is never empty


def bucket_of(instance_id: str) -> int:
    """Return the bucket of an instance, the same on every machine and forever."""
    return zlib.crc32(instance_id.encode()) % TABLE_BUCKETS


def key_of(record: MinuteRecord) -> str:
    """Return the record's identity as one text of at most 1,024 bytes."""
    parts = (record.cluster, record.instance_id, record.boot, str(record.seq))
    key = "#".join(part.replace("%", "%25").replace("#", "%23") for part in parts)
    if len(key) <= MAX_KEY_BYTES:
        return key
    # Names with hundreds of # and %: valid, and too long once they are quoted.
    return _HASHED + hashlib.sha256(key.encode()).hexdigest()


def item_of(record: MinuteRecord, expires_s: int) -> RecordItem:
    """
    Pack *record* without the emitter's own members.

    All owners are kept, even if they need another write unit, because they decide who is charged
    for the cores. Holders fill only the room that is left in the last write unit. Further holders
    are only counted, the least idle first.
    """
    record = replace(record, health={})
    item = _item(record, expires_s)
    if not record.holders or stored_bytes(item) <= WRITE_UNIT_BYTES:
        return item
    best = _item(_with_holders(record, 0), expires_s)
    room_bytes = -(-stored_bytes(best) // WRITE_UNIT_BYTES) * WRITE_UNIT_BYTES
    if stored_bytes(item) <= room_bytes:
        return item
    fitting = 0
    too_many = len(record.holders)
    while too_many - fitting > 1:  # halved each time: packing is the costly part of ingest
        count = (fitting + too_many) // 2
        item = _item(_with_holders(record, count), expires_s)
        if stored_bytes(item) <= room_bytes:
            fitting = count
            best = item
        else:
            too_many = count
    return best


def stored_bytes(item: RecordItem) -> int:
    """Return the most that DynamoDB counts for *item*: names and values."""
    return (
        _FIXED_ITEM_BYTES
        + len(str(item.minute))
        + len(item.key)
        + len(item.payload)
        + _NUMBER_BYTES
    )


def packed(text: bytes) -> bytes:
    """Compress *text* for `unpacked`."""
    packer = zlib.compressobj(level=9, zdict=_DICTIONARY)
    return packer.compress(text) + packer.flush()


def unpacked(payload: bytes) -> bytes:
    """
    Return the text that `packed` compressed.

    Raises:
        WireFormatError: If *payload* is damaged, or `packed` did not write it.
    """
    unpacker = zlib.decompressobj(zdict=_DICTIONARY)
    try:
        text = unpacker.decompress(payload)
    except zlib.error as error:
        raise WireFormatError(NOT_JSON, "an item of the table is not packed") from error
    if not unpacker.eof:
        raise WireFormatError(NOT_JSON, "an item of the table is truncated")
    return text


def _with_holders(record: MinuteRecord, count: int) -> MinuteRecord:
    left_out = len(record.holders) - count
    return replace(
        record,
        holders=record.holders[:count],
        holders_more=record.holders_more + left_out,
    )


def _item(record: MinuteRecord, expires_s: int) -> RecordItem:
    return RecordItem(
        minute=record.epoch_minute,
        bucket=bucket_of(record.instance_id),
        key=key_of(record),
        payload=packed(encode(record.members()).encode()),
        expires_s=expires_s,
    )


MAX_PACK_BYTES: Final = 256 * 1024
"""
The most bytes of the lines in one pack before compression. DynamoDB accepts 400 KB of compressed
bytes. The compressor looks back only 32 KB, so larger packs would not compress better.
"""

_PACK: Final = "##"  # no key of a single record starts with it

_INSTANCE_ID_MEMBER: Final = re.compile(rb'"InstanceId":"([ -~]*?)"')
_decode: Final = json.JSONDecoder().raw_decode

Identity = tuple[str, str, str, int]


def identity_of(record: MinuteRecord) -> Identity:
    """Return the identity of a record, the same however often and wherever it is stored."""
    return record.cluster, record.instance_id, record.boot, record.seq


def packs_of(records: Iterable[MinuteRecord], late_minutes: int) -> list[RecordItem]:
    """
    Pack *records*, in any order and repeated or not, by minute and bucket.

    The emitter's own members are omitted, as in a single item.
    """
    places: dict[tuple[int, int], dict[Identity, MinuteRecord]] = {}
    for record in records:
        place = record.epoch_minute, bucket_of(record.instance_id)
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


def records_of(
    payload: bytes, minute: int, instances: Collection[str] | None = None
) -> tuple[list[MinuteRecord], int]:
    """
    Return the records of one item of *minute*, single or pack, and the number of unreadable ones.

    An unreadable record costs only itself; an item that is damaged as a whole counts as one. With
    *instances* it takes a fifth of the time, because no other record is parsed.
    """
    try:
        lines = unpacked(payload).split(b"\n")
    except WireFormatError:
        return [], 1
    if instances is not None:
        named = [(line, _INSTANCE_ID_MEMBER.search(line)) for line in lines]
        lines = [line for line, found in named if found and found[1].decode() in instances]
    found = [record for line in lines if (record := _record_in(line, minute)) is not None]
    return found, len(lines) - len(found)


def _record_in(line: bytes, minute: int) -> MinuteRecord | None:
    try:
        text = line.decode()
        members, end = _decode(text)
        if isinstance(members, dict) and end == len(text):
            return MinuteRecord.from_members(members, start_ms(minute))
    except (ValueError, RecursionError):  # a WireFormatError is a ValueError too
        pass
    return None


def _texts(records: Iterable[MinuteRecord]) -> Iterator[bytes]:
    """Yield one record per line, as many lines as one pack may have."""
    lines: list[bytes] = []
    size = 0
    for record in records:
        line = encode(replace(record, health={}).members()).encode()
        if lines and size + len(line) > MAX_PACK_BYTES:
            yield b"\n".join(lines)
            lines = []
            size = 0
        lines.append(line)
        size += len(line) + 1
    if lines:
        yield b"\n".join(lines)
