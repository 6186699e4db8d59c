"""
Read one member of a line, or say why it cannot be read.

A value of a wrong type is refused, never guessed at: true is no 1, a text of
digits is no number, and null is the same as absent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from neuron_wire.errors import BAD_MEMBER, MISSING_MEMBER, WireFormatError

if TYPE_CHECKING:
    from collections.abc import Mapping

NUMBERS: Final = frozenset({int, float})  # the types: to Python, bool is an int too
MAX_COUNT: Final = (1 << 63) - 1


def missing(member: str) -> WireFormatError:
    """The error that *member* should be there and is not."""
    return WireFormatError(MISSING_MEMBER, f"the line has no {member}")


def bad(message: str) -> WireFormatError:
    """The error that a member cannot be what it is; *message* never quotes a text."""
    return WireFormatError(BAD_MEMBER, message)


def _present(line: Mapping[str, object], member: str) -> object:
    value = line.get(member)
    if value is None:
        raise missing(member)
    return value


def text(line: Mapping[str, object], member: str, longest: int) -> str:
    """A text of 1 to *longest* printable ASCII characters that are not all blank."""
    value = _present(line, member)
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        msg = f"{member} is not a text of 1 to {longest} characters"
        raise bad(msg)
    if not (value.isascii() and value.isprintable()):
        msg = f"{member} holds characters that are not printable ASCII"
        raise bad(msg)
    return value


def number(line: Mapping[str, object], member: str) -> float:
    """An amount that must be there."""
    return amount(_present(line, member), member)


def amount(value: object, member: str) -> float:
    """A number from 0 up to what 64 bits hold: nothing in a record is ever negative."""
    # NaN compares false with everything.
    if type(value) not in NUMBERS or not 0 <= value <= MAX_COUNT:  # type: ignore[operator]
        msg = f"{member} is not a number from 0"
        raise bad(msg)
    return float(value)  # type: ignore[arg-type]


def flag(line: Mapping[str, object], member: str) -> bool:
    """True or false; absent is false."""
    value = line.get(member)
    if value is not None and not isinstance(value, bool):
        msg = f"{member} is neither true nor false"
        raise bad(msg)
    return value is True


def count(line: Mapping[str, object], member: str) -> int:
    """A count that must be there."""
    return whole(_present(line, member), member)


def whole(value: object, member: str) -> int:
    """A whole number from 0 that fits 64 bits."""
    if type(value) is not int or not 0 <= value <= MAX_COUNT:
        msg = f"{member} is not a count from 0"
        raise bad(msg)
    return value


def array(line: Mapping[str, object], member: str) -> list[object]:
    """The values of a member, none when it is absent."""
    value = line.get(member)
    if value is None:
        return []
    if isinstance(value, list):
        return value
    return [value]  # EMF lets a metric with one value stand without its brackets
