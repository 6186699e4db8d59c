"""
Unpack the deliveries of CloudWatch Logs in one invocation, in bounded memory.

A kilobyte can unpack to a megabyte, and a byte of JSON can take thirty bytes of memory, so both are
limited before anything is parsed as JSON. AWS documents the size of a delivery only indirectly: a
call of PutLogEvents has at most 1,048,576 bytes and an event is no longer
(https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html); a
delivery is compressed by gzip and encoded in base64, and an asynchronous invocation has at most 1
MB (https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). The limits here are
several times larger.
"""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from neuron_wire.line_members import Members


@dataclass(frozen=True, slots=True)
class LogLine:
    """
    One event of a log group.

    Attributes:
        event_id: CloudWatch's own ID of the event.

        message: The line.

        log_stream: The stream it was written to.
    """

    event_id: str
    message: str
    log_stream: str = ""


@dataclass(frozen=True, slots=True)
class LogDelivery:
    """
    One delivery of CloudWatch Logs, always from one stream.

    Attributes:
        log_group: The log group of the lines.

        lines: The lines; none if CloudWatch only probes the destination.
    """

    log_group: str
    lines: tuple[LogLine, ...]


@dataclass(frozen=True, slots=True)
class Arrival:
    """
    The content of one invocation.

    Attributes:
        deliveries: The readable deliveries, in the order of arrival.

        by_stream: True if it came through Kinesis, with many deliveries in a batch.

        unreadable: Sequence numbers of the batch's records that are not deliveries of CloudWatch
            Logs.

        left: Sequence numbers of records that were not read, because the records before them are
            enough for one invocation.

        faults: The kinds of errors in unreadable records; never their text, which may quote a line.
    """

    deliveries: tuple[LogDelivery, ...]
    by_stream: bool = False
    unreadable: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def response(self) -> Members:
        """The answer for Lambda's poller of the stream: the records to deliver again."""
        failed = [{"itemIdentifier": number} for number in (*self.unreadable, *self.left)]
        return {"batchItemFailures": failed}


MAX_DELIVERY_BYTES: Final = 8 << 20
"""
Eight full calls of PutLogEvents. Lines of many instances compress to an eighth, so it is also 1 MB
of compressed lines.
"""

MAX_BRACKETS: Final = 1 << 18
"""
The most objects and arrays in a delivery: eight times as many as 8 MiB of the shortest records
have. JSON inside a log line does not count, because lines are parsed one by one. An empty object
takes 3 bytes of text and 72 bytes of memory.
"""

_JSON_MARKS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[{\[]', re.DOTALL)
"""JSON strings, closed or not, and the opening brackets outside of strings."""

_QUOTE: Final = ord('"')
_GZIP_OR_ZLIB: Final = zlib.MAX_WBITS | 32


class DeliveryFormatError(ValueError):
    """The delivery cannot be read, now or later. The message never quotes it."""


class OversizeDeliveryError(DeliveryFormatError):
    """The delivery needs more memory than a function has: a decompression bomb."""


class TruncatedDeliveryError(DeliveryFormatError):
    """The compressed bytes end too early, or other bytes follow them."""


def unpacked(compressed: bytes) -> Members:
    """
    Return the JSON object in *compressed*.

    It never unpacks more than `MAX_DELIVERY_BYTES` + 1 bytes. A second gzip member is rejected,
    because ignoring it would lose lines silently.

    Raises:
        DeliveryFormatError: If it is too large, cut off, or not an object.
        zlib.error: If it is not compressed.
        ValueError: If it is not JSON in UTF-8.
        RecursionError: If it is nested too deeply.
    """
    delivery = json.loads(_text(compressed))
    if not isinstance(delivery, dict):
        msg = f"the delivery is {type(delivery).__name__}, not a JSON object"
        raise DeliveryFormatError(msg)
    return delivery


def _text(compressed: bytes) -> str:
    unpacker = zlib.decompressobj(_GZIP_OR_ZLIB)
    plain = unpacker.decompress(compressed, MAX_DELIVERY_BYTES + 1)
    if len(plain) > MAX_DELIVERY_BYTES:
        msg = f"the delivery unpacks to more than {MAX_DELIVERY_BYTES} bytes"
        raise OversizeDeliveryError(msg)
    if not unpacker.eof or unpacker.unused_data:
        msg = "the delivery is not a single complete gzip member"
        raise TruncatedDeliveryError(msg)
    if _has_too_many_brackets(plain):
        msg = f"the delivery has more than {MAX_BRACKETS} objects and arrays"
        raise OversizeDeliveryError(msg)
    return plain.decode()


def _has_too_many_brackets(plain: bytes) -> bool:
    # Most deliveries have so few brackets that those inside strings do not matter.
    if plain.count(b"{") + plain.count(b"[") <= MAX_BRACKETS:
        return False
    brackets = 0
    for mark in _JSON_MARKS.finditer(plain):
        brackets += plain[mark.start()] != _QUOTE
        if brackets > MAX_BRACKETS:
            return True
    return False
