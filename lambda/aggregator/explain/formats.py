"""Amounts, moments and other people's names as text for a message."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Final

LONGEST_NAME: Final = 80  # characters of any one name in a message
LATEST_S: Final = 1e11  # in the year 5138; what is later, or before 1970, is no time of ours
_MARKUP: Final = str.maketrans(dict.fromkeys('`$\\|<>[]{}";&', "?"))
_FORMULA: Final = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula; the last four are the wide ones."""

_MINUTES_IN_HOUR: Final = 60
_MINUTES_IN_DAY: Final = 24 * _MINUTES_IN_HOUR
_SMALLEST_USD: Final = 0.005  # what two decimals still show


def printable(text: str, longest: int = LONGEST_NAME) -> str:
    """
    *text* on one line of at most *longest* characters.

    Names are other people's: whatever could break a line, hide a letter or
    turn the direction of writing becomes a question mark.
    """
    if len(text) > longest:
        text = text[: longest - 3] + "..."
    return text if text.isprintable() else "".join(_shown(letter) for letter in text)


def name(text: str, longest: int = LONGEST_NAME) -> str:
    """
    *text*, a name that somebody else gave, for people.

    What a shell, a page or a chat would take for more than a letter becomes a
    question mark, an address is none to click on, and a spreadsheet sees no
    formula. Names as they are stand in the log lines.
    """
    return printable(cell(text.translate(_MARKUP).replace("://", ":??")), longest)


def cell(text: str) -> str:
    """*text* behind an apostrophe if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def ascii_only(text: str, longest: int) -> str:
    """*text* on one line of at most *longest* ASCII characters."""
    return printable(text.encode("ascii", "replace").decode(), longest)


def _shown(letter: str) -> str:
    return letter if letter.isprintable() else "?"


def counted(count: float, noun: str) -> str:
    """`1 core`, `12 cores`."""
    return f"{amount(count)} {noun if count == 1 else noun + 's'}"


def amount(value: float) -> str:
    """A number with its thousands apart and at most two decimals."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def percent(value: float) -> str:
    """`34.7 %`."""
    return f"{value:.1f} %"


def usd(value: float) -> str:
    """Dollars and cents; what is less than a cent is not called nothing."""
    if 0 < value < _SMALLEST_USD:
        return "under 0.01 USD"
    return f"{value:,.2f} USD"


def duration(minutes: float) -> str:
    """Whole minutes as `20 min`, `3 h 12 min` or `4 d 6 h`."""
    whole = int(minutes)
    if whole < _MINUTES_IN_HOUR:
        return f"{whole} min"
    if whole < _MINUTES_IN_DAY:
        return f"{whole // _MINUTES_IN_HOUR} h {whole % _MINUTES_IN_HOUR} min"
    return f"{whole // _MINUTES_IN_DAY} d {whole % _MINUTES_IN_DAY // _MINUTES_IN_HOUR} h"


def moment(epoch_s: float) -> str:
    """`2026-11-21 03:14 UTC`."""
    return datetime.fromtimestamp(epoch_s, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def iso(epoch_s: float) -> str:
    """`2026-11-21T03:14:07Z`."""
    return datetime.fromtimestamp(epoch_s, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def joined(parts: list[str], more: int = 0, separator: str = ", ") -> str:
    """`a, b and 3 more`."""
    text = separator.join(parts)
    return f"{text} and {more:,} more" if more > 0 else text
