"""
The ledger of a stack: its objects in the bucket, and the rows in them.

`settle` puts eight objects for each hour; an hour is settled when all eight are there.
Nothing is decided here of what rows mean. One GET for each object, several at a time.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from neuron_emf.account import documented
from neuron_wire.errors import WireFormatError
from neuron_wire.ledger import (
    COSTS,
    MINUTE_PLACES,
    MINUTES,
    PARTS,
    TEXTS,
    USD_PLACES,
    LedgerRow,
    day_prefixes,
    hour_of_member,
    key_of,
    row_of,
    settled_hours,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from neuron_emf.account import Account

THREADS: Final = 16


class LedgerBucket:
    """The ledger's objects in one bucket; whoever types needs s3:ListBucket and s3:GetObject."""

    def __init__(self, account: Account, bucket: str, s3: Any = None) -> None:  # noqa: ANN401  # a boto3 client
        """
        Read *bucket* of *account*, with its client *s3* where there is one already.

        Raises:
            SettingsError: If no client can be made.
        """
        self.name = bucket
        self._s3 = account.client("s3") if s3 is None else s3

    def settled_hours(self, hours: range) -> list[int]:
        """
        Those of *hours*, whole ones since the epoch, that have all eight objects, ascending.

        Raises:
            SourceError: If S3 refuses or does not answer.
        """
        keys = (key for prefix in day_prefixes(hours) for key in self._keys(prefix))
        return settled_hours(keys, hours)

    def objects(self, hours: Iterable[int]) -> Iterator[bytes]:
        """
        Every object of *hours*, in their order; a few are in memory.

        Raises:
            SourceError: If S3 refuses or does not answer.
        """
        keys = (key_of(hour, part) for hour in hours for part in range(PARTS))
        with ThreadPoolExecutor(THREADS) as pool:
            while some := list(islice(keys, 2 * THREADS)):
                yield from pool.map(self._object, some)

    def _keys(self, prefix: str) -> Iterator[str]:
        request: dict[str, Any] = {"Bucket": self.name, "Prefix": prefix}
        while True:
            with documented(f"s3:ListBucket on {self.name}"):
                answer = self._s3.list_objects_v2(**request)
                keys = [str(one["Key"]) for one in answer.get("Contents", [])]
                more = answer["NextContinuationToken"] if answer.get("IsTruncated") else None
            yield from keys
            if more is None:
                return
            request["ContinuationToken"] = more

    def _object(self, key: str) -> bytes:
        with documented(f"s3:GetObject on {self.name}"):
            payload: bytes = self._s3.get_object(Bucket=self.name, Key=key)["Body"].read()
            return payload


def rows(
    objects: Iterable[bytes], on_damage: Callable[[WireFormatError], None] | None = None
) -> Iterator[LedgerRow]:
    """
    The rows of *objects*, one after the other.

    What cannot be read, an object or a row of it, is left out and given to *on_damage*.
    """
    for payload in objects:
        try:
            text = text_of(payload)
        except WireFormatError as error:
            if on_damage is not None:
                on_damage(error)
            continue
        try:
            yield from [_row(line) for line in _LINES.decode_lines(text)]
        except (msgspec.MsgspecError, WireFormatError, _InexactError):
            yield from _one_by_one(text, on_damage)


def _one_by_one(
    text: str, on_damage: Callable[[WireFormatError], None] | None
) -> Iterator[LedgerRow]:
    for line in text.splitlines():
        try:
            row = row_of(line)
        except WireFormatError as error:
            if on_damage is not None:
                on_damage(error)
            continue
        yield row


class _InexactError(Exception):
    """A number has more digits than a float."""


_FIELDS: Final = {field: member for member, field in (*TEXTS.items(), ("Basis", "basis"))}
_NUMBERS: Final = {
    field: (member, 10**places)
    for table, places in ((MINUTES, MINUTE_PLACES), (COSTS, USD_PLACES))
    for member, field in table.items()
}
_EXACT: Final = 1 << 53

_Line = msgspec.defstruct(
    "_Line",
    [
        ("hour", str),
        *((field, str | None, None) for field in _FIELDS),
        *((field, float | None, None) for field in _NUMBERS),
    ],
    rename={"hour": "Hour", **_FIELDS, **{field: one[0] for field, one in _NUMBERS.items()}}.get,
    gc=False,
)
_LINES: Final = msgspec.json.Decoder(_Line)
"""Three times as fast as `row_of`, which says what a row is and reads what this cannot."""

_REQUIRED: Final = attrgetter("cluster", "instance_id", "owner", "held", "covered")
_TEXTS_OF: Final = attrgetter(*_FIELDS)
_NUMBERS_OF: Final = attrgetter(*_NUMBERS)
_SCALES: Final = tuple((field, scale) for field, (_, scale) in _NUMBERS.items())


def _row(line: Any) -> LedgerRow:  # noqa: ANN401  # a struct that mypy does not see
    if None in _REQUIRED(line):
        raise _InexactError
    values: dict[str, Any] = dict(zip(_FIELDS, _TEXTS_OF(line), strict=True))
    for (field, scale), number in zip(_SCALES, _NUMBERS_OF(line), strict=True):
        if number is None:
            continue
        scaled = number * scale
        whole = round(scaled)
        if not 0 <= scaled < _EXACT or whole / scale != number:
            raise _InexactError
        values[field] = whole
    return LedgerRow(hour=hour_of_member(line.hour), **values)
