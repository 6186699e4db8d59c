"""
What an instance costs: the one place to edit when a price changes.

On-demand list prices of us-east-1 in USD per hour, gathered from several public
price tables that agree with each other, not read from AWS and not what a
customer with a discount, a reservation or a capacity block pays. A type that is
not here has no price: its cores are counted as unpriced, never as free. The
template's parameter PriceOverrides replaces prices and adds types.
"""

from __future__ import annotations

from typing import Final

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
