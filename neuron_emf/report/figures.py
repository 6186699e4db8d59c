"""Amounts, moments and other people's names as text."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Final

from neuron_emf.report.holding import Kind, Owner

LONGEST_NAME: Final = 128
UNKNOWN: Final = "unknown"

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula; the last four are the wide ones."""

_SMALLEST_USD: Final = 0.005  # what two decimals still show
_GB: Final = 1e9


def name(text: str | None, longest: int = LONGEST_NAME) -> str:
    """
    A name that somebody else gave, on one line.

    Whatever could command a terminal, break a line, hide a letter or turn the
    direction of writing becomes a question mark.
    """
    if not text:
        return UNKNOWN
    if len(text) > longest:
        text = text[: longest - 3] + "..."
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def cell(text: str) -> str:
    """*text* behind an apostrophe if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text


def owner(one: Owner) -> str:
    """Whose a core is; in brackets what is no name."""
    if one.kind is Kind.NAMED:
        return name(one.name)
    return {
        Kind.TAG: f"[no name, tag {name(one.name)}]",
        Kind.PROCESS: "[no name, no tag]",
        Kind.NOT_TOLD: "[held, holder not told]",
        Kind.NOBODY: "[held by nobody]",
    }[one.kind]


def usd(value: float | None) -> str:
    """Dollars and cents; less than a cent is not nothing, and no price is not zero."""
    if value is None:
        return "no price"
    return "under 0.01" if 0 < value < _SMALLEST_USD else f"{value:,.2f}"


def hours(minutes: int) -> str:
    """Minutes as hours with one decimal."""
    return "under 0.1" if 0 < minutes < 3 else f"{minutes / 60:,.1f}"  # 3 minutes are 0.05 h


def percent(value: float | None) -> str:
    """`34.7 %`."""
    return UNKNOWN if value is None else f"{value:.1f} %"


def share(part: int, whole: int) -> float | None:
    """Percent that *part* is of *whole*; None when there is nothing to have a share of."""
    return 100 * part / whole if whole else None


def counted(number: int, noun: str) -> str:
    """`1 core`, `1,200 cores`."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def duration(minutes: int) -> str:
    """`20 min`, `3 h 12 min` or `4 d 6 h`."""
    if minutes < 1440:
        units = (minutes // 60, "h"), (minutes % 60, "min")
    else:
        units = (minutes // 1440, "d"), (minutes % 1440 // 60, "h")
    return " ".join(f"{number:,} {unit}" for number, unit in units if number) or "0 min"


def moment(epoch_ms: int) -> str:
    """`2026-11-21 03:14 UTC`."""
    return datetime.fromtimestamp(epoch_ms / 1000, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def iso(epoch_ms: int) -> str:
    """`2026-11-21T03:14:00Z`."""
    return datetime.fromtimestamp(epoch_ms / 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def gigabytes(number: int) -> str:
    """Bytes as CloudWatch bills them."""
    return f"{number / _GB:,.3f} GB"
