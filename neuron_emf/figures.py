"""Figures that commands show alike; what nobody knows is said and never 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from neuron_wire import cores, phrases
from neuron_wire.prices import PRICES_AS_OF, basis_words

if TYPE_CHECKING:
    from neuron_wire import MinuteRecord
    from neuron_wire.prices import PriceBasis

UNKNOWN: Final = "unknown"
LONGEST_NAME: Final = 128
MONTH_HOURS: Final = 730
"""Hours of a month, as AWS's own calculator has it."""


def idle_cores(record: MinuteRecord, idle_after_minutes: int) -> list[int]:
    """Indexes of the cores known not to be busy for *idle_after_minutes* or longer."""
    return cores.idle_cores(record.core_state, record.idle_minutes, idle_after_minutes)


def name(text: str | None) -> str:
    """A name that somebody else gave, on one line."""
    return phrases.printable(text, LONGEST_NAME) if text else UNKNOWN


def dollars(value: float | None) -> str:
    """`1,234.50`, under a heading that says USD."""
    return "no price" if value is None else phrases.dollars(value)


def prices_of(basis: PriceBasis) -> str:
    """By which prices amounts are: `list price, us-east-1, 2026-11-22`; empty without any."""
    as_of = PRICES_AS_OF if basis.regions else None
    return basis_words(basis.regions, as_of, sorted(basis.overridden))


def hours(minutes: float) -> str:
    """Minutes as hours with one decimal."""
    return "under 0.1" if 0 < minutes < 3 else f"{minutes / 60:,.1f}"  # 3 minutes are 0.05 h
