"""
What a number of a report can be at all.

A count below 0 or a petabyte of memory is a fault of the monitor. A fault is
missing: it must neither spoil a sum nor make a line that cannot be sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeGuard

from neuron_emitter.settings.run_settings import MAX_REQUESTED_PERIOD_S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_emitter.reports.groups import Number, Whole

MAX_AMOUNT: Final = 1 << 50  # far above any memory or count, and exact as a float
MAX_FLOPS: Final = 1e18  # FLOP/s of one core; the fastest of today does some 1e15
MAX_LATENCY_S: Final = 86_400.0
MAX_VCPU_PERCENT: Final = 1e6  # of one runtime: 10,000 vCPUs at work

SHORTEST_PERIOD_S: Final = 0.5  # 1 s is the shortest that can be asked for
MAX_PERIOD_S: Final = 86_400.0  # the longest is 15 s, but a machine may be suspended
LONGEST_NOMINAL_S: Final = float(MAX_REQUESTED_PERIOD_S)  # assumed while none is known

PERCENT_DECIMALS: Final = 2


def amount(value: Number) -> Whole:
    """A count or a size in bytes."""
    return int(value) if value is not None and 0 <= value <= MAX_AMOUNT else None


def as_percent(value: Number) -> Number:
    """A percentage, rounded as in a line."""
    return None if value is None else round(value, PERCENT_DECIMALS)


def is_long_enough(period_s: Number) -> TypeGuard[float]:
    """Whether a group's percentages mean anything."""
    return period_s is not None and SHORTEST_PERIOD_S <= period_s <= MAX_PERIOD_S


def sum_known(before: Whole, counts: Iterable[Whole]) -> Whole:
    """The sum so far and *counts*, or None as long as nothing was counted."""
    for count in counts:
        if count is not None:
            before = count if before is None else before + count
    return before
