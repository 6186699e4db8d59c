"""
The words for durations, amounts, shares and times.

Durations round down, and an amount above 0 is never shown as 0.
"""

from __future__ import annotations

import math
from datetime import datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from neuron_wire.names import DAY_MINUTES, HOUR_MINUTES, MICRO, MINUTE_MS

if TYPE_CHECKING:
    from collections.abc import Sequence


_ALL_PERCENT: Final = 100


_SMALLEST_USD: Final = 0.005  # the smallest amount that two decimals show


def duration(minutes: float) -> str:
    """Return whole minutes in their two largest units: `45 min`, `3 h 5 min`, `2 d 4 h`."""
    days, rest = divmod(int(minutes), DAY_MINUTES)
    hours, rest = divmod(rest, HOUR_MINUTES)
    units = (days, "d"), (hours, "h"), (0 if days else rest, "min")
    return " ".join(f"{number:,} {unit}" for number, unit in units if number) or "0 min"


def dollars(value: float) -> str:
    """Return `1,234.50`, under a heading that says USD; *value* is at least 0."""
    return "under 0.01" if 0 < value < _SMALLEST_USD else f"{value:,.2f}"


def usd(value: float) -> str:
    """Return `1,234.50 USD`; *value* is at least 0."""
    return f"{dollars(value)} USD"


def printed_number(printed: int, places: int, exact: int) -> str:
    """Return `1,234.50`; `<0.01` if an amount above 0 would be printed as 0."""
    if exact > 0 and not printed:
        return f"<{Decimal(1).scaleb(-places)}"
    return f"{Decimal(printed).scaleb(-places):,}"


def amount(value: float) -> str:
    """Return `1,204` or `0.5`: at most two decimals."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def counted(count: float, noun: str) -> str:
    """Return `1 core` or `1,200 cores`."""
    return f"{amount(count)} {noun if count == 1 else noun + 's'}"


def percent(value: float) -> str:
    """Return `34.7 %` for a measured value or a change."""
    return f"{value:.1f} %"


def share_words(value: float) -> str:
    """Return `45 %` for 44.78, rounded half up; `<1 %` and `>99 %` if 0 or 100 are not exact."""
    nearest = math.floor(value + 0.5)
    if nearest == 0 and value:
        return "<1 %"
    return ">99 %" if value < _ALL_PERCENT <= nearest else f"{nearest} %"


def coverage_words(value: float) -> str:
    """Return `99 %` for 99.97: rounded down, because it must show that something is missing."""
    return "<1 %" if 0 < value < 1 else f"{math.floor(value)} %"


def joined(parts: Sequence[str], more: int = 0, separator: str = ", ") -> str:
    """Return `a, b and 3 more`."""
    text = separator.join(parts)
    return f"{text} and {more:,} more" if more > 0 else text


def moment(epoch_ms: float) -> str:
    """Return `2026-11-21 03:14 UTC`."""
    return _formatted(epoch_ms, "%Y-%m-%d %H:%M UTC")


def iso(epoch_ms: float) -> str:
    """Return `2026-11-21T03:14:07Z`."""
    return _formatted(epoch_ms, "%Y-%m-%dT%H:%M:%SZ")


def clock(epoch_minute: int, now_minute: int | None) -> str:
    """Return `02:10 UTC`, with its day unless it is the day of *now_minute*."""
    day, time = _formatted(epoch_minute * MINUTE_MS, "%Y-%m-%d %H:%M").split()
    is_same_day = now_minute is not None and day == _formatted(now_minute * MINUTE_MS, "%Y-%m-%d")
    return f"{time if is_same_day else f'{day} {time}'} UTC"


def per_hour(cost: int | None) -> str:
    """Return `36.84 USD/h` for micro-USD; empty if unknown."""
    return "" if cost is None else f"{usd(cost / MICRO)}/h"


def _formatted(epoch_ms: float, form: str) -> str:
    return datetime.fromtimestamp(epoch_ms / 1000, timezone.utc).strftime(form)
