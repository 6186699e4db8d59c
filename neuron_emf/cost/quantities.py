"""Amounts as people read them."""

from __future__ import annotations

UNKNOWN = "unknown"


def amount(value: float, digits: int = 3) -> str:
    """So many digits that mean something, and M or G from a million on."""
    for size, unit in ((1e9, " G"), (1e6, " M")):
        if value >= size:
            return f"{value / size:.{digits}g}{unit}"
    return f"{float(f'{value:.{digits}g}'):,.0f}" if value >= 100 else f"{value:.{digits}g}"


def dollars(value: float | None) -> str:
    """With cents under a hundred; what nobody knows is said so."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def percent(share: float) -> str:
    """0.031 as 3.1 %."""
    return f"{100 * share:.1f} %"
