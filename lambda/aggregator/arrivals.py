"""
What one invocation brings: deliveries of CloudWatch Logs, unpacked in bounded memory.

A kilobyte can unpack to a megabyte, and a byte of JSON can take thirty of memory,
so both are bounded before anything is read as JSON. What CloudWatch Logs
puts into one delivery is documented only from outside: a call of PutLogEvents
takes 1,048,576 bytes and an event is no longer
(https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html);
a delivery is compressed by gzip and encoded in base64, and an asynchronous
invocation takes 1 MB
(https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html).
The bounds are several times what fits.
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
        event_id: CloudWatch's own identity of the event.

        message: The line.

        log_stream: The stream it was written to.
    """

    event_id: str
    message: str
    log_stream: str = ""


@dataclass(frozen=True, slots=True)
class LogDelivery:
    """
    What CloudWatch Logs delivered at once, always of one stream.

    Attributes:
        log_group: Where the lines were written.

        lines: The lines; none when CloudWatch only probes the destination.
    """

    log_group: str
    lines: tuple[LogLine, ...]


@dataclass(frozen=True, slots=True)
class Arrival:
    """
    What one invocation brought.

    Attributes:
        deliveries: What could be read of it, in the order in which it came.

        by_stream: Whether it came through Kinesis, many deliveries in a batch.

        unreadable: Sequence numbers of the batch's records that are no
            deliveries of CloudWatch Logs.

        left: Sequence numbers of those that were not looked at, because what
            came before them is enough for one invocation.

        faults: The kinds of errors they gave; never their text, which may
            quote a line.
    """

    deliveries: tuple[LogDelivery, ...]
    by_stream: bool = False
    unreadable: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def response(self) -> Members:
        """What Lambda's poller of the stream expects: which records to bring again."""
        failed = [{"itemIdentifier": number} for number in (*self.unreadable, *self.left)]
        return {"batchItemFailures": failed}


MAX_DELIVERY_BYTES: Final = 8 << 20
"""
Eight full calls of PutLogEvents. Lines of many instances are an eighth when they
are compressed, so it is also 1 MB of them.
"""

MAX_BRACKETS: Final = 1 << 18
"""
Objects and arrays of a delivery, those in the text of its lines not included, which
are read one by one: eight times what 8 MiB of the shortest records have. An empty
one is 3 bytes of text and 72 of memory.
"""

_JSON_MARKS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[{\[]', re.DOTALL)
"""Texts, closed or not, and what begins an object or an array outside of them."""

_QUOTE: Final = ord('"')
_GZIP_OR_ZLIB: Final = zlib.MAX_WBITS | 32


class DeliveryFormatError(ValueError):
    """What was delivered cannot be read, now or ever; the message never quotes it."""


class OversizeDeliveryError(DeliveryFormatError):
    """It would take more memory than a function has: a decompression bomb."""


class TruncatedDeliveryError(DeliveryFormatError):
    """The compressed bytes end too early, or others follow them."""


def unpacked(compressed: bytes) -> Members:
    """
    The JSON object that *compressed* holds.

    Never unpacks more than `MAX_DELIVERY_BYTES` and one. A second member of gzip
    is refused: it would be a loss in silence to leave it unread.

    Raises:
        DeliveryFormatError: If it is too large, cut off, or no object.
        zlib.error: If it is not compressed.
        ValueError: If it is no JSON in UTF-8.
        RecursionError: If it is nested without end.
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
    # Nearly always there are few in all, and it need not be told which stand in a text.
    if plain.count(b"{") + plain.count(b"[") <= MAX_BRACKETS:
        return False
    brackets = 0
    for mark in _JSON_MARKS.finditer(plain):
        brackets += plain[mark.start()] != _QUOTE
        if brackets > MAX_BRACKETS:
            return True
    return False
