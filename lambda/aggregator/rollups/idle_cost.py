"""
What an idle core costs.

The price is that of the whole instance, shared among the cores the instance
itself reported: a logical core size other than the default changes their
number, not the bill.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neuron_wire.prices import USD_PER_HOUR

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Prices:
    """
    List prices, and what whoever deployed the stack says instead.

    Attributes:
        overrides: USD per hour by instance type.
    """

    overrides: Mapping[str, float] = field(default_factory=dict)

    def usd_per_core_hour(self, instance_type: str | None, cores: int) -> float | None:
        """
        Price of one of the *cores* of an instance; None when nobody knows it.
        """
        if instance_type is None or cores <= 0:
            return None
        usd_per_hour = self.overrides.get(instance_type, USD_PER_HOUR.get(instance_type))
        return None if usd_per_hour is None else usd_per_hour / cores

    def is_overridden(self, instance_type: str | None) -> bool:
        """
        Whether the price of *instance_type* is not the one of the list.
        """
        return instance_type in self.overrides
