"""
Encode one record as one log line, and parse it.

A reader accepts every schema ever released: it ignores unknown members, and rejects a schema above
its own. CloudWatch drops the metrics of an invalid line without an error, so each line with metrics
is checked with `neuron_wire.extraction` before it is sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from neuron_wire.extraction import (
    document_violations,
    refuse_constant,
    text_violations,
)
from neuron_wire.line_members import (
    BAD_MEMBER,
    MISSING_MEMBER,
    NOT_AN_OBJECT,
    NOT_EXTRACTABLE,
    NOT_JSON,
    NOT_OURS,
    SCHEMA_NEWER,
    TOO_LONG,
    JsonObject,
    Members,
    WireFormatError,
)
from neuron_wire.minute_record import MinuteRecord
from neuron_wire.names import MINUTE_KIND, VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_LINE_CHARS: Final = 1 << 20
"""
No event of CloudWatch Logs has more bytes:
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutLogEvents.html
"""

_ENCODER: Final = json.JSONEncoder(
    separators=(",", ":"), allow_nan=False, ensure_ascii=False, check_circular=False
)
_AS_THEY_ARE: Final = frozenset({bool, int, str, type(None)})
_MAX_SCHEMA: Final = 9999  # a greater number is not a schema and not fit for a message


@dataclass(frozen=True, slots=True)
class OtherRecord:
    """
    A line of ours that is not a minute line.

    Attributes:
        kind: `more`, `runtime`, `event`, `report`, or a kind of a later release.
    """

    kind: str


def encode(document: JsonObject) -> str:
    """
    Write *document* as one compact line: `_aws`, then scalars, then the rest.

    Logs Insights discovers about 200 fields of an event and flattens arrays, so a scalar after a
    long array could not be queried by name. Unprintable characters are escaped, so that no line can
    control a terminal.

    Raises:
        WireFormatError: If a number is not finite.
    """
    return encode_ordered(order_members(document))


def order_members(document: JsonObject) -> Members:
    """Return *document* in the order of a line, with whole numbers as integers except in `_aws`."""
    metadata: Members = {}
    scalars: Members = {}
    rest: Members = {}
    for name, value in document.items():
        if name == "_aws":
            metadata[name] = value
        elif type(value) in _AS_THEY_ARE:
            scalars[name] = value
        elif isinstance(value, (list, tuple, dict)):
            rest[name] = _plain(value)
        else:
            scalars[name] = _plain(value)
    return metadata | scalars | rest


def encode_ordered(members: JsonObject) -> str:
    """
    Write the result of `order_members` on one line.

    Raises:
        WireFormatError: If a number is not finite.
    """
    try:
        line = _ENCODER.encode(members)
    except ValueError as error:
        raise WireFormatError(
            NOT_EXTRACTABLE, "the document holds a number that is not finite"
        ) from error
    return escape_unprintable(line)


def escape_unprintable(line: str) -> str:
    """Escape the unprintable characters of *line*, which is JSON."""
    # JSON itself escapes the control characters below the blank.
    if (line.isascii() and "\x7f" not in line) or line.isprintable():
        return line
    return "".join(map(_shown, line))


def parse(message: str) -> MinuteRecord | OtherRecord:
    """
    Parse one log line.

    >>> parse('{"Schema": 1, "Kind": "event", "Timestamp": 1795165140000}')
    OtherRecord(kind='event')

    Raises:
        WireFormatError: If *message* is longer than a log event can be, is not
            JSON, is not a line of ours, has a Schema above `VERSION`, or is a
            minute line without a needed member or with an impossible value.
    """
    if len(message) > MAX_LINE_CHARS:
        raise WireFormatError(TOO_LONG, f"the line has more than {MAX_LINE_CHARS} characters")
    try:
        line: Any = json.loads(message, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise WireFormatError(NOT_JSON, "the line is not JSON") from error
    if not isinstance(line, dict):
        raise WireFormatError(NOT_AN_OBJECT, "the line is JSON but not an object")
    schema = line.get("Schema")
    kind = line.get("Kind")
    if isinstance(schema, bool) or not isinstance(schema, int) or not isinstance(kind, str):
        raise WireFormatError(NOT_OURS, "the line has no Schema and Kind")
    if not 1 <= schema <= _MAX_SCHEMA:
        raise WireFormatError(BAD_MEMBER, "Schema is not a number from 1")
    if schema > VERSION:
        raise WireFormatError(
            SCHEMA_NEWER, f"the line has schema {schema}, this reader knows up to {VERSION}"
        )
    if kind != MINUTE_KIND:
        return OtherRecord(kind)
    return MinuteRecord.from_members(line, _timestamp_ms(line))


def _timestamp_ms(line: JsonObject) -> int:
    # A line without metrics is not an EMF document and has its time at the root.
    metadata = line.get("_aws")
    if metadata is not None and not isinstance(metadata, dict):
        raise WireFormatError(BAD_MEMBER, "_aws is not an object")
    value = (line if metadata is None else metadata).get("Timestamp")
    if value is None:
        raise WireFormatError(MISSING_MEMBER, "the line has no Timestamp")
    if isinstance(value, bool) or not isinstance(value, int):
        raise WireFormatError(BAD_MEMBER, "Timestamp is not a whole number of milliseconds")
    return value


def _shown(letter: str) -> str:
    # A lone surrogate stays: escaped, it would look like a valid character.
    is_half = "\ud800" <= letter <= "\udfff"
    return letter if letter.isprintable() or is_half else json.dumps(letter)[1:-1]


def _plain(value: object) -> object:
    """Return 2.0 as 2: a third of a line's numbers are whole, and AWS bills by the byte."""
    # Most values have these types, and comparing the exact type is the fastest check.
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 1 << 53 else value
    if isinstance(value, (list, tuple)):
        return [
            item
            if (of := type(item)) in _AS_THEY_ARE or (of is float and not item.is_integer())
            else _plain(item)
            for item in value
        ]
    if isinstance(value, Mapping):
        return {
            name: item if type(item) in _AS_THEY_ARE else _plain(item)
            for name, item in value.items()
        }
    return value


def emf_line(
    namespace: str,
    *,
    dimension_sets: Sequence[Sequence[str]],
    metrics: JsonObject,
    units: Mapping[str, str],
    properties: JsonObject,
    timestamp_ms: int,
) -> str:
    """
    Build one line that CloudWatch extracts, or raise an error.

    *metrics* maps names to a number or at most 100 numbers, *units* names to
    CloudWatch units; every dimension is a text among *properties*.

    Raises:
        WireFormatError: If the line would not be extracted; the message names
            the first rule it breaks.
    """
    collisions = sorted(metrics.keys() & properties.keys())
    if collisions:
        raise WireFormatError(NOT_EXTRACTABLE, f"{collisions[0]} is both a metric and a property")
    directive = {
        "Namespace": namespace,
        "Dimensions": [list(keys) for keys in dimension_sets],
        "Metrics": [{"Name": name, "Unit": units[name]} for name in metrics],
    }
    return sendable_line(
        {
            "_aws": {"Timestamp": timestamp_ms, "CloudWatchMetrics": [directive]},
            **properties,
            **metrics,
        }
    )


def sendable_line(document: JsonObject) -> str:
    """
    Encode *document* if CloudWatch stores the line and extracts every metric in it.

    Raises:
        WireFormatError: If CloudWatch would not; the message names the first broken rule.
    """
    members = order_members(document)
    line = encode_ordered(members)
    metrics = document_violations(members) if "_aws" in members else ()
    for violation in chain(text_violations(line), metrics):
        raise WireFormatError(NOT_EXTRACTABLE, violation.sentence)
    return line
