"""
A minute record as a table item. `pack` reads it back.

The key is the record's identity, so a copy that arrives twice is put twice in
the same place. It is a place only: identity is read from the payload.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import replace
from typing import Final

from aggregator.minutes import minute_at_ms
from aggregator.storage.values import RecordItem
from neuron_wire import MinuteRecord, WireFormatError, encode
from neuron_wire.line_members import NOT_JSON

BUCKETS: Final = 32
"""
Parts of a minute. One part takes 1,000 writes a second, DynamoDB's limit for a
partition, so a minute takes the records of more than a million instances.
"""

_DICTIONARY: Final = (
    b'"IdentityGuessed":,"Bye":,"EccUncorrectedRise":,"EccCorrectedRise":,"EccUncorrected":,'
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
Text that the compressor may refer to: the names of members, which would be a
quarter of a packed record. Never change it: what was packed with it could no
longer be read. zlib notes which dictionary a stream needs, so a second one can
stand beside it.
"""

MAX_KEY_BYTES: Final = 1024  # of a sort key in DynamoDB
WRITE_UNIT_BYTES: Final = 1024  # what one write unit of DynamoDB takes, attribute names included
_FIXED_BYTES: Final = sum(map(len, ("pk", "m##00", "sk", "r", "ttl")))
"""What an item has beside its minute, key, payload and time: names, and the rest of its pk."""

_NUMBER_BYTES: Final = 21  # the most that DynamoDB counts for one
_HASHED: Final = "#"  # no ordinary key starts with it: a cluster's name is never empty


def bucket_of(instance_id: str) -> int:
    """The bucket of an instance, the same on every machine and for ever."""
    return zlib.crc32(instance_id.encode()) % BUCKETS


def key_of(record: MinuteRecord) -> str:
    """The record's identity as one text of at most 1,024 bytes."""
    parts = (record.cluster, record.instance_id, record.boot, str(record.seq))
    key = "#".join(part.replace("%", "%25").replace("#", "%23") for part in parts)
    if len(key) <= MAX_KEY_BYTES:
        return key
    # Names of hundreds of # and %: legal, and too long once they are quoted.
    return _HASHED + hashlib.sha256(key.encode()).hexdigest()


def item_of(record: MinuteRecord, expires_s: int) -> RecordItem:
    """
    Pack *record*, without what the emitter says about itself.

    Owners are kept whole, if it takes another write unit: they say whom the
    cores are charged to. Holders never cost one: those that find no room in the
    units that all the rest takes are only counted, the least idle first.
    """
    item = _item(replace(record, health={}), expires_s)
    if not record.holders or stored_bytes(item) <= WRITE_UNIT_BYTES:
        return item
    best = _item(_with_holders(record, 0), expires_s)
    room_bytes = -(-stored_bytes(best) // WRITE_UNIT_BYTES) * WRITE_UNIT_BYTES
    if stored_bytes(item) <= room_bytes:
        return item
    fitting, too_many = 0, len(record.holders)
    while too_many - fitting > 1:  # halved each time: packing is the costly part of ingest
        count = (fitting + too_many) // 2
        item = _item(_with_holders(record, count), expires_s)
        if stored_bytes(item) <= room_bytes:
            fitting, best = count, item
        else:
            too_many = count
    return best


def stored_bytes(item: RecordItem) -> int:
    """What DynamoDB counts for *item* at most: names and values."""
    return _FIXED_BYTES + len(str(item.minute)) + len(item.key) + len(item.payload) + _NUMBER_BYTES


def packed(text: bytes) -> bytes:
    """Compress what `unpacked` will be asked for."""
    packer = zlib.compressobj(level=9, zdict=_DICTIONARY)
    return packer.compress(text) + packer.flush()


def unpacked(payload: bytes) -> bytes:
    """
    What `packed` was given.

    Raises:
        WireFormatError: If *payload* is damaged, or none of ours.
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
        health={},
        holders=record.holders[:count],
        holders_more=record.holders_more + left_out,
    )


def _item(record: MinuteRecord, expires_s: int) -> RecordItem:
    return RecordItem(
        minute=minute_at_ms(record.minute_ms),
        bucket=bucket_of(record.instance_id),
        key=key_of(record),
        payload=packed(encode(record.members()).encode()),
        expires_s=expires_s,
    )
