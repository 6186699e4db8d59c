"""Amounts as people read them."""

from __future__ import annotations

from neuron_wire import phrases

UNKNOWN = "unknown"


def amount(value: float, digits: int = 3) -> str:
    """So many digits that mean something, and M or G from a million on."""
    for size, unit in ((1e9, " G"), (1e6, " M")):
        if value >= size:
            return f"{value / size:.{digits}g}{unit}"
    return f"{float(f'{value:.{digits}g}'):,.0f}" if value >= 100 else f"{value:.{digits}g}"


def dollars(value: float | None) -> str:
    """`1,234.50`, under a heading that says USD; what nobody knows is said so."""
    return UNKNOWN if value is None else phrases.dollars(value)


def percent(share: float) -> str:
    """0.031 as 3.1 %."""
    return f"{100 * share:.1f} %"
