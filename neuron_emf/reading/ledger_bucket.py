"""
The ledger of a stack: its objects, in the bucket or copied to a folder, and their rows.

`settle` writes eight objects for each hour; an hour is settled when all eight exist. This module
does not interpret rows. It sends one GET for each object, several at a time.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from heapq import merge
from itertools import islice, repeat
from operator import truediv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec

from neuron_accounts.ledger import (
    LEDGER_COSTS,
    LEDGER_COUNTS,
    LEDGER_MINUTES,
    LEDGER_PREFIX,
    LEDGER_TEXTS,
    MINUTE_PLACES,
    PARTS_OF_HOUR,
    USD_PLACES,
    LedgerRow,
    day_prefixes,
    parse_hour,
    part_key,
    settled_hours,
    unpack_lines,
)
from neuron_accounts.then import SUMMARIES, summary_key
from neuron_emf.account import CONNECTIONS, documented, stack_output
from neuron_emitter.errors import SourceError
from neuron_wire.line_members import BAD_MEMBER, WireFormatError, iso_minute
from neuron_wire.names import HOUR_MINUTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from neuron_emf.account import Account

LEDGER_THREADS: Final = CONNECTIONS
OUTPUT: Final = "LedgerBucketName"


class LedgerBucket:
    """The ledger's objects in one bucket. The caller needs s3:ListBucket and s3:GetObject."""

    def __init__(self, account: Account, bucket: str, s3: Any = None) -> None:  # noqa: ANN401  # a boto3 client
        """
        Read *bucket* of *account*, with its client *s3* if there is one already.

        Raises:
            SettingsError: If no client can be made.
        """
        self.name = bucket
        self._s3 = account.client("s3") if s3 is None else s3

    def list_settled_hours(self, hours: range) -> list[int]:
        """
        Return the settled hours among *hours*, whole hours since the epoch, ascending.

        Raises:
            SourceError: If S3 refuses or does not answer.
        """
        keys = (key for prefix in day_prefixes(hours) for key in self.list_keys(prefix))
        return settled_hours(keys, hours)

    def read_objects(self, hours: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        """
        Yield every object of *hours* in order, with its hour. A few objects are in memory.

        Raises:
            SourceError: If S3 refuses or does not answer.
        """
        places = ((hour, part_key(hour, part)) for hour in hours for part in range(PARTS_OF_HOUR))
        return self.read_keys(places)

    def read_summaries(self, hours: range) -> Iterator[tuple[int, bytes]]:
        """
        Yield the summary of each of *hours* that has one, in order, with its hour.

        Raises:
            SourceError: If S3 refuses or does not answer.
        """
        prefixes = [prefix.replace(LEDGER_PREFIX, SUMMARIES) for prefix in day_prefixes(hours)]
        there = {key for prefix in prefixes for key in self.list_keys(prefix)}
        return self.read_keys((hour, key) for hour in hours if (key := summary_key(hour)) in there)

    def read_keys(self, places: Iterator[tuple[int, str]]) -> Iterator[tuple[int, bytes]]:
        """
        Yield the object of each key of *places*, in order, with its hour.

        Raises:
            SourceError: If S3 refuses or does not answer.
        """
        with ThreadPoolExecutor(LEDGER_THREADS) as pool:
            while some := list(islice(places, 2 * LEDGER_THREADS)):
                hours, keys = zip(*some, strict=True)
                yield from zip(hours, pool.map(self.read_object, keys), strict=True)

    def copy_objects(self, keys: Sequence[str], folder: Path) -> list[Path]:
        """
        Return a file for each of *keys*, fetched into *folder*.

        Raises:
            SourceError: If S3 refuses or does not answer.
        """
        files = []
        for number, payload in self.read_keys(enumerate(keys)):
            # A key of a bucket that others write must not name a place outside of the folder.
            file = Path(f"{folder}/{keys[number].replace('..', '.')}")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(payload)
            files.append(file)
        return files

    def list_keys(self, prefix: str) -> Iterator[str]:
        """
        Yield all keys that begin with *prefix*.

        Raises:
            SourceError: If S3 refuses or does not answer.
        """
        with documented(f"s3:ListBucket on {self.name}"):
            pages = self._s3.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self.name, Prefix=prefix):
                yield from [str(entry["Key"]) for entry in page.get("Contents", [])]

    def read_object(self, key: str) -> bytes:
        """
        Return the content of one object.

        Raises:
            SourceError: If S3 refuses or does not answer.
        """
        with documented(f"s3:GetObject on {self.name}"):
            content: bytes = self._s3.get_object(Bucket=self.name, Key=key)["Body"].read()
            return content


class LedgerFolder(LedgerBucket):
    """A copy of the bucket in a folder, as `aws s3 sync` makes it. It needs no account."""

    def __init__(self, folder: Path) -> None:
        self.name = str(folder)
        self._folder = folder

    def list_keys(self, prefix: str) -> Iterator[str]:
        for file in sorted((self._folder / prefix).rglob("*.gz")):
            yield file.relative_to(self._folder).as_posix()

    def copy_objects(self, keys: Sequence[str], folder: Path) -> list[Path]:  # noqa: ARG002  # they are files already
        return [self._folder / key for key in keys]

    def read_object(self, key: str) -> bytes:
        try:
            return (self._folder / key).read_bytes()
        except OSError as error:
            msg = f"Cannot read {self._folder / key}: {error.strerror}. Check --ledger."
            raise SourceError(msg) from error


def stack_ledger(account: Account) -> LedgerBucket:
    """
    Return the ledger of the stack of *account*.

    Raises:
        SourceError: If the stack has no ledger, or CloudFormation refuses or does not answer.
    """
    advice = "Deploy the stack with Ledger=true, name a ledger with --ledger, or use --from-lines."
    return LedgerBucket(account, stack_output(account, OUTPUT, advice))


def rows(
    objects: Iterable[tuple[int, bytes]],
    on_damage: Callable[[WireFormatError], object] = lambda _: None,
) -> Iterator[LedgerRow]:
    """
    Yield the rows of *objects*, each with the hour of its key.

    An object or row that cannot be read, and a row of another hour than its object, is left out and
    reported to *on_damage*.
    """
    for hour, payload in objects:
        try:
            text = unpack_lines(payload)
        except WireFormatError as error:
            on_damage(_of_hour(hour, error.reason, str(error)))
            continue
        try:
            yield from _rows(_LINES.decode_lines(text), hour)
        except (msgspec.MsgspecError, WireFormatError):
            yield from _one_by_one(text, hour, on_damage)


def each_once(
    ledgers: Sequence[Iterable[LedgerRow]], on_copy: Callable[[LedgerRow], object]
) -> Iterator[LedgerRow]:
    """
    Yield the rows of several *ledgers*, each in order of hours, so that no row counts twice.

    The rows of an instance in an hour come from the first ledger that has any; rows in further
    ledgers are reported to *on_copy*.
    """
    if len(ledgers) == 1:
        yield from ledgers[0]
        return
    numbered = (zip(repeat(number), theirs) for number, theirs in enumerate(ledgers))
    hour = None
    of_hour = dict[str, int]()
    for number, row in merge(*numbered, key=lambda pair: pair[1].hour):
        if row.hour != hour:
            hour = row.hour
            of_hour = {}
        if of_hour.setdefault(row.instance_id, number) == number:
            yield row
        else:
            on_copy(row)


def _one_by_one(
    text: str, hour: int, on_damage: Callable[[WireFormatError], object]
) -> Iterator[LedgerRow]:
    """Yield the readable rows of *text*."""
    for line in text.splitlines():
        try:
            yield from _rows([_LINES.decode(line)], hour)
        except WireFormatError as error:  # noqa: PERF203 - a row by itself
            on_damage(_of_hour(hour, BAD_MEMBER, str(error)))
        except (msgspec.MsgspecError, RecursionError):
            on_damage(_of_hour(hour, BAD_MEMBER, _UNREADABLE))


def _of_hour(hour: int, reason: str, problem: str) -> WireFormatError:
    return WireFormatError(reason, f"{iso_minute(hour * HOUR_MINUTES)}: {problem}")


_SUMMARY_MEMBERS: Final = {"hour": "Hour", "basis": "Basis"} | {
    field: member
    for table in (LEDGER_TEXTS, LEDGER_MINUTES, LEDGER_COSTS, LEDGER_COUNTS)
    for member, field in table.items()
}
_SCALES: Final = {
    **dict.fromkeys(LEDGER_MINUTES.values(), 10.0**MINUTE_PLACES),
    **dict.fromkeys(LEDGER_COSTS.values(), 10.0**USD_PLACES),
}
"""The units of each amount that is a decimal in a line."""

_EXACT: Final = 1 << 51
"""Units below which a float times its scale rounds to the exact number: 2 million USD an hour."""

_UNREADABLE: Final = "a row of the ledger cannot be read"


def _line_type() -> type[Any]:
    """Return `LedgerRow` with floats for decimals. Required members cannot be null."""
    whole = Annotated[int, msgspec.Meta(ge=0)]
    types = {**dict.fromkeys(LEDGER_COUNTS.values(), whole), **dict.fromkeys(_SCALES, float)}
    fields: list[Any] = []
    for field in LedgerRow._fields:
        column_type = types.get(field, str)
        default = LedgerRow._field_defaults.get(field, msgspec.NODEFAULT)
        fields.append((field, column_type | None if default is None else column_type, default))
    return msgspec.defstruct("_Line", fields, rename=_SUMMARY_MEMBERS.get, gc=False)


_LINES: Final = msgspec.json.Decoder(_line_type())


def _rows(lines: Sequence[Any], hour: int) -> Iterator[LedgerRow]:
    """
    Return the rows of one object. Columns are converted whole, because that is fastest.

    Raises:
        WireFormatError: If the hour of a row is missing, or is not *hour*, or a number is not a
            whole number of its unit.
    """
    if {parse_hour(text) for text in {line.hour for line in lines}} - {hour}:
        raise WireFormatError(BAD_MEMBER, "a row of the ledger is of another hour")
    columns = zip(*map(msgspec.structs.astuple, lines), strict=True)
    by_field: dict[str, Any] = dict(zip(LedgerRow._fields, columns, strict=False))
    by_field["hour"] = repeat(hour, len(lines))
    read = [
        _wholes(column, _SCALES[field]) if field in _SCALES else column
        for field, column in by_field.items()
    ]
    return map(partial(tuple.__new__, LedgerRow), zip(*read, strict=True))


def _wholes(numbers: Sequence[float | None], scale: float) -> Sequence[int | None]:
    """
    Return *numbers* in whole units of 1/*scale*; None stays None.

    Raises:
        WireFormatError: If a result is not whole, or not below `_EXACT`.
    """
    known = [number for number in numbers if number is not None]
    wholes = [0] * len(known)
    if any(known):
        scaled = [number * scale for number in known]
        if not 0 <= min(scaled) <= max(scaled) < _EXACT:
            raise WireFormatError(BAD_MEMBER, _UNREADABLE)
        wholes = list(map(round, scaled))
        if list(map(truediv, wholes, repeat(scale))) != known:
            raise WireFormatError(BAD_MEMBER, _UNREADABLE)
    if len(known) == len(numbers):
        return wholes
    rest = iter(wholes)
    return [None if number is None else next(rest) for number in numbers]
