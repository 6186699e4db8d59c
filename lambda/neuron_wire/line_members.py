"""
Read one member of a line, or report why it cannot be read.

A value of a wrong type is rejected, never converted: true is not 1, a text of digits is not a
number, and null means absent. Functions that end in `in` or `of` are for showing a line to people:
they treat a damaged value as missing.

* WireFormatError    the writer of the line must act: the reader counts the line, sets it aside with
                     its reason, and continues with the next line
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from neuron_wire.names import MICRO, MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

JsonObject: TypeAlias = Mapping[str, Any]
"""An object of a line or an event, to read from."""

Members: TypeAlias = "dict[str, object]"
"""Members of a line, an event or a message, to write."""

Texts: TypeAlias = "Mapping[str, str]"
"""Texts by name, such as parameters of a stack."""

Amounts: TypeAlias = "Mapping[str, float]"
"""Amounts by name."""

Counts: TypeAlias = "Mapping[str, int]"
"""Counts by name."""

Entries: TypeAlias = "Sequence[JsonObject]"
"""Objects in a list of a line."""

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

NOTHING: Final[JsonObject] = {}
NUMBER_TYPES: Final = frozenset({int, float})  # the exact types: in Python, bool is an int too
MAX_COUNT: Final = (1 << 63) - 1
LATEST_MS: Final = 10**14  # in the year 5138; a later time, or one before 1970, is invalid


def check_amount(value: object, member: str, most: int = MAX_COUNT) -> float:
    """
    Return *value* as a float: nothing in a record is negative.

    Raises:
        WireFormatError: If it is not a number from 0 to *most*.
    """
    # NaN compares false with every number.
    if type(value) not in NUMBER_TYPES or not 0 <= value <= most:  # type: ignore[operator]
        raise WireFormatError(BAD_MEMBER, f"{member} is not a number from 0 to {most}")
    return float(value)  # type: ignore[arg-type]


def check_count(value: object, member: str, least: int = 0) -> int:
    """
    Return *value*, a count.

    Raises:
        WireFormatError: If it is not a whole number from *least* that fits 64 bits.
    """
    if type(value) is not int or not least <= value <= MAX_COUNT:
        raise WireFormatError(BAD_MEMBER, f"{member} is not a count from {least}")
    return value


def check_flag(value: object, member: str) -> bool:
    """
    Return *value*, a flag.

    Raises:
        WireFormatError: If it is neither true nor false.
    """
    if isinstance(value, bool):
        return value
    raise WireFormatError(BAD_MEMBER, f"{member} is neither true nor false")


def read_array(line: JsonObject, member: str) -> list[object]:
    """Return the values of a member; none if it is absent."""
    value = line.get(member)
    if value is None:
        return []
    if isinstance(value, list):
        return value
    return [value]  # EMF allows a metric with one value without brackets


def number_in(line: JsonObject, name: str) -> float | None:
    """Return a number of *line* from 0 to the largest in 64 bits; None if there is none."""
    value: Any = line.get(name)
    return value if type(value) in NUMBER_TYPES and 0 <= value <= MAX_COUNT else None


def count_in(line: JsonObject, name: str) -> int | None:
    """Return a count in *line*; None if there is none."""
    return count_of(line.get(name))


def count_of(value: Any) -> int | None:  # noqa: ANN401  # any value in a line
    """Return *value* if it is a count, otherwise None."""
    is_count = type(value) in NUMBER_TYPES and 0 <= value <= MAX_COUNT and not value % 1
    return int(value) if is_count else None


def micros_in(line: JsonObject, name: str) -> int | None:
    """Return a number of *line* in millionths; None if there is none."""
    value = number_in(line, name)
    return None if value is None else round(value * MICRO)


def rows_in(line: JsonObject, name: str) -> Entries | None:
    """Return the objects of a list in *line*; None if there is no such list."""
    rows = line.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else None


def entries_in(line: JsonObject, name: str) -> Entries:
    """Return the objects of a list in *line*; empty if there is no such list."""
    return rows_in(line, name) or ()


def object_in(line: JsonObject, name: str) -> JsonObject:
    """Return an object in *line*; `NOTHING` if there is none."""
    value = line.get(name)
    return value if isinstance(value, dict) else NOTHING


def text_in(line: JsonObject, name: str) -> str:
    """Return a text in *line*; empty if there is none."""
    value = line.get(name)
    return _encodable(value) if isinstance(value, str) else ""


def texts_in(line: JsonObject, name: str) -> list[str]:
    """Return the texts of a list in *line*."""
    texts = line.get(name)
    values = texts if isinstance(texts, list) else ()
    return [_encodable(value) for value in values if isinstance(value, str) and value]


def _encodable(text: str) -> str:
    """Return *text* with `?` for half a surrogate pair, which JSON can contain."""
    return text.encode(errors="replace").decode()


def minute_in(line: JsonObject, name: str) -> int | None:
    """
    Return the minute of a time in *line*, since the epoch; None if there is none.

    >>> minute_in({"Minute": "1970-01-01T01:02Z"}, "Minute")
    62
    """
    start_ms = epoch_ms_of(line.get(name))
    return None if start_ms is None else start_ms // MINUTE_MS


def epoch_ms_of(value: object) -> int | None:
    """
    Return a time in milliseconds since the epoch; None if *value* is not a time.

    >>> epoch_ms_of("2026-11-20T08:59Z")
    1795165140000
    """
    try:
        # Python 3.10 does not parse the Z
        moment = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
        found = moment.timestamp() * 1000 if moment.tzinfo else -1
    except (ValueError, OverflowError):
        return None
    return round(found) if 0 <= found <= LATEST_MS else None


TOO_LONG: Final = "too_long"
NOT_JSON: Final = "not_json"
NOT_AN_OBJECT: Final = "not_an_object"
NOT_OURS: Final = "not_ours"
SCHEMA_NEWER: Final = "schema_newer"
MISSING_MEMBER: Final = "missing_member"
BAD_MEMBER: Final = "bad_member"
NOT_EXTRACTABLE: Final = "not_extractable"


def present_members(members: Mapping[str, _Value | None]) -> dict[str, _Value]:
    """Return the *members* that have a value: an unknown value has no member."""
    return {name: value for name, value in members.items() if value is not None}


def filled(members: Mapping[_Key, _Value | None]) -> dict[_Key, _Value]:
    """Return *members* without those that are 0, empty, false or None."""
    return {name: value for name, value in members.items() if value}


def stands_as(member: str, default: object = None, *, in_micros: bool = False) -> Any:  # noqa: ANN401
    """Declare a dataclass field with its *member* in a line; *in_micros* writes it as a decimal."""
    return field(default=default, metadata={"member": member, "in_micros": in_micros})


def stated_members(row: object) -> dict[str, Any]:
    """Return the members of *row*, a dataclass with such fields."""
    return {member: getattr(row, name) for name, member, _ in stated_fields(type(row))}


def stated_fields(row_type: type) -> list[tuple[str, str, bool]]:
    """Return the fields that `stands_as` declared: name, member, whether in millionths."""
    return [
        (own.name, own.metadata["member"], own.metadata["in_micros"])
        for own in fields(row_type)
        if own.metadata
    ]


class WireFormatError(ValueError):
    """
    A line breaks the contract.

    Attributes:
        reason: A constant of this module. The message says more, and never quotes the line.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def iso_minute(epoch_minute: int) -> str:
    """
    Return a time such as `2026-11-21T03:14Z`; the greater text is the later minute.

    >>> iso_minute(29919419)
    '2026-11-20T08:59Z'
    """
    moment = datetime.fromtimestamp(60 * epoch_minute, timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%MZ")
