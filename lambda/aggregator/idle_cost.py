"""
What an idle core costs.

The price is that of the whole instance in `neuron_wire.instance_types`, shared
among the cores the instance itself reported: a logical core size other than
the default changes their number, not the bill.
"""

from __future__ import annotations

from neuron_wire.instance_types import INSTANCE_TYPES


def usd_per_core_hour(instance_type: str | None, cores: int) -> float | None:
    """
    List price of one of the *cores* of an instance; None when nobody knows it.
    """
    known = INSTANCE_TYPES.get(instance_type or "")
    if known is None or known.usd_per_hour is None or cores <= 0:
        return None
    return known.usd_per_hour / cores
