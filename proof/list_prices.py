"""The product's list prices as the reference takes them: exact, by `REGION/TYPE`."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from neuron_wire.prices import USD_PER_HOUR

LIST_PRICES: Final = {
    f"{region}/{name}": Fraction(str(usd))
    for region, prices in USD_PER_HOUR.items()
    for name, usd in prices.items()
}
