"""
Members that come from outside: other people's texts, and numbers that may be missing or absurd.

The fold has checked what a minute holds; an event or a runtime brings what a
process or an operating system said. A line must be valid JSON and UTF-8 whatever
that was, so what cannot be written is left out or written with `?`.
"""

from __future__ import annotations

from typing import Final

from neuron_wire.amounts import significant
from neuron_wire.checked import MAX_COUNT

MAX_TEXT_CHARS: Final = 4096  # the tail of a process's last words is the longest

Value = str | int | float


def present(**values: Value | None) -> dict[str, Value]:
    """Those of *values* that a line can hold, by the name of their member."""
    return {
        _whole(member): made
        for member, value in values.items()
        if value is not None and (made := writable(value)) is not None
    }


def amount(value: float | None) -> float | None:
    """*value* as exact as a line says an amount that is no count."""
    return None if value is None else significant(value)


def writable(value: Value) -> Value | None:
    """*value* as a line can hold it, or None when it cannot."""
    if isinstance(value, str):
        return _whole(value) or None
    # NaN and infinity compare false; isfinite would fail on an integer that no float can hold.
    return value if abs(value) <= MAX_COUNT else None


def _whole(text: str) -> str:
    # A lone surrogate is half a character, which UTF-8 cannot hold.
    return text[:MAX_TEXT_CHARS].encode("utf-8", "replace").decode()


def timestamp_ms(at_s: float) -> int:
    """Seconds since the Unix epoch as the milliseconds of a line."""
    return int(at_s * 1000)
