"""
What an instance costs: the one place to edit when a price changes.

On-demand list prices of us-east-1 in USD per hour, gathered from several public
price tables that agree with each other, not read from AWS and not what a
customer with a discount, a reservation or a capacity block pays. A type that is
not here has no price: its cores are counted as unpriced, never as free. The
template's parameter PriceOverrides replaces prices and adds types; its
AllowedPattern is the grammar of `price_overrides`, in commands too.

An idle core costs its share of the whole instance, among the cores that the
instance itself reported: a logical core size other than the default changes
their number, not the bill.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

PRICES_AS_OF: Final = "2026-11-21"

USD_PER_HOUR: Final[dict[str, float]] = {
    "inf1.xlarge": 0.228,
    "inf1.2xlarge": 0.362,
    "inf1.6xlarge": 1.180,
    "inf1.24xlarge": 4.721,
    "inf2.xlarge": 0.7582,
    "inf2.8xlarge": 1.9679,
    "inf2.24xlarge": 6.4906,
    "inf2.48xlarge": 12.9813,
    "trn1.2xlarge": 1.34375,
    "trn1.32xlarge": 21.50,
    "trn1n.32xlarge": 24.78,
}

MAX_OVERRIDES_CHARS: Final = 1_024
"""The parameter's MaxLength, which its pattern cannot say."""

_OVERRIDE: Final = re.compile(r"([a-z0-9.\-]+)=([0-9]{1,5}(?:\.[0-9]{1,6})?)")


class PriceOverridesError(ValueError):
    """The text is not in the grammar; the message says what is wrong and what to write."""


def price_overrides(text: str) -> dict[str, float]:
    """
    USD per hour by instance type out of `trn1.32xlarge=13.5,inf2.xlarge=0.4`.

    Of a type that stands twice the last price counts. Empty text is no override.

    Raises:
        PriceOverridesError: If *text* is not what the template accepts.
    """
    if not text:
        return {}
    if len(text) > MAX_OVERRIDES_CHARS:
        msg = f"{len(text)} characters, at most {MAX_OVERRIDES_CHARS} are allowed: leave types out"
        raise PriceOverridesError(msg)
    prices: dict[str, float] = {}
    for override in text.split(","):
        match = _OVERRIDE.fullmatch(override)
        if match is None:
            msg = (
                f"{override[:40]!a}, which is not TYPE=USD: write it as trn1.32xlarge=13.5,"
                "inf2.xlarge=0.4, in small letters and without blanks or exponents"
            )
            raise PriceOverridesError(msg)
        prices[match[1]] = float(match[2])
    return prices


@dataclass(frozen=True, slots=True)
class Prices:
    """
    List prices, and what whoever deployed the stack says instead.

    Attributes:
        overrides: USD per hour by instance type.
    """

    overrides: Mapping[str, float] = field(default_factory=dict)

    def usd_per_core_hour(self, instance_type: str | None, cores: int) -> float | None:
        """Price of one of the *cores* of an instance; None when nobody knows it."""
        if instance_type is None or cores <= 0:
            return None
        usd_per_hour = self.overrides.get(instance_type, USD_PER_HOUR.get(instance_type))
        return None if usd_per_hour is None else usd_per_hour / cores

    def is_overridden(self, instance_type: str | None) -> bool:
        """Whether the price of *instance_type* is not the one of the list."""
        return instance_type in self.overrides
