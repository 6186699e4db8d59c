"""
Bounds for values in a report.

A count below 0 or a petabyte of memory is a fault of the monitor. The fold treats such a value as
missing: it must neither distort a sum nor make a line that cannot be sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeGuard

from neuron_emitter.settings.run_settings import MAX_REQUESTED_PERIOD_S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_emitter.reports.groups import Number, Whole

MAX_AMOUNT: Final = 1 << 50  # far above any memory or count, and exact as a float
MAX_FLOPS: Final = 1e18  # FLOP/s of one core; the fastest core today reaches about 1e15
MAX_LATENCY_S: Final = 86_400.0
MAX_VCPU_PERCENT: Final = 1e6  # of one runtime: 10,000 busy vCPUs

SHORTEST_PERIOD_S: Final = 0.5  # 1 s is the shortest period that can be requested
MAX_PERIOD_S: Final = 86_400.0  # the longest period is 15 s, but a machine may be suspended
LONGEST_NOMINAL_S: Final = float(MAX_REQUESTED_PERIOD_S)  # assumed while no period is known

PERCENT_DECIMALS: Final = 2


def amount(value: Number) -> Whole:
    """Return *value* if it can be a count or a size in bytes, otherwise None."""
    return int(value) if value is not None and 0 <= value <= MAX_AMOUNT else None


def as_percent(value: Number) -> Number:
    """Return *value* as a percentage, rounded as in a line; None if it cannot be one."""
    return None if value is None else round(value, PERCENT_DECIMALS)


def is_long_enough(period_s: Number) -> TypeGuard[float]:
    """Return True if a group's period is long enough for its percentages to have a meaning."""
    return period_s is not None and SHORTEST_PERIOD_S <= period_s <= MAX_PERIOD_S


def sum_known(before: Whole, counts: Iterable[Whole]) -> Whole:
    """Return the sum so far plus *counts*; None if nothing was counted yet."""
    for count in counts:
        if count is not None:
            before = count if before is None else before + count
    return before
