"""
AWS list prices from `prices.toml`, and the overrides in a user's file.

Each price has its amount and its source.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from neuron_emf.command_output import MONTH_HOURS
from neuron_emitter.errors import SettingsError
from neuron_emitter.settings.options import read_bounded

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - the standard library reads TOML from 3.11 on
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Mapping


TARIFF_FILE: Final = Path(__file__).with_name("prices.toml")
YOUR_OWN: Final = "your own"
MAX_USD: Final = 1e6

HOURS_IN_MONTH: Final = MONTH_HOURS
DAYS_IN_MONTH: Final = HOURS_IN_MONTH / 24
MINUTES_IN_MONTH: Final = 60 * HOURS_IN_MONTH
GB: Final = 1 << 30  # AWS bills powers of two


@dataclass(frozen=True, slots=True)
class Price:
    """
    The price of one item.

    Attributes:
        what: The item.

        unit: Such as `GB`.

        usd: USD for *units* units.

        units: The number of units for *usd*, such as a million.

        source: The page with the price.

        as_of: The date on which it was read.

        is_verified: True if a published page confirms it.

        tier: The number of units at this price, after those of earlier tiers.
    """

    what: str
    unit: str
    usd: float
    source: str
    as_of: str
    is_verified: bool
    units: float = 1
    tier: float | None = None

    def usd_of(self, quantity: float) -> float:
        """Return the price of *quantity* units in USD."""
        return quantity * (self.usd / self.units)


@dataclass(frozen=True, slots=True)
class Tariff:
    """
    All prices of a region.

    Attributes:
        region: The AWS region.

        as_of: The date on which they were collected.

        prices: The prices by name.

        replaced: Names of prices that the user's file overrides.
    """

    region: str
    as_of: str
    prices: Mapping[str, Price]
    replaced: tuple[str, ...] = ()

    def metrics_usd(self, metrics: float) -> float:
        """Return the price of custom metrics in USD a month, by tier."""
        total = 0.0
        left = metrics
        for price in self.prices.values():  # only custom metrics have tiers
            taken = min(left, price.tier or 0.0)
            total += price.usd_of(taken)
            left -= taken
        return total


def read_toml(path: Path) -> dict[str, Any]:
    """Parse a TOML file of this package."""
    content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return content


TABLES: Final = read_toml(Path(__file__).resolve().parents[1] / "tables.toml")
"""The tables of the commands."""


@lru_cache(maxsize=1)
def listed() -> Tariff:
    """Return the list prices in this package."""
    document = read_toml(TARIFF_FILE)
    as_of = document.pop("as_of")
    region = document.pop("region")
    return Tariff(region, as_of, {name: Price(**price) for name, price in document.items()})


def tariff_of(path: Path | None) -> Tariff:
    """
    Return the list prices, with the overrides of the TOML file *path* if there is one.

    Raises:
        SettingsError: If the file cannot be read or is over 1 MiB, or has anything but known
            names with amounts.
    """
    listed_prices = listed()
    if path is None:
        return listed_prices
    today = datetime.now(tz=timezone.utc).date().isoformat()
    try:
        yours = tomllib.loads(read_bounded(path).decode())
    except (OSError, ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        msg = f"Cannot read the prices in {path}: {reason}. Correct the TOML file."
        raise SettingsError(msg) from error
    prices = dict(listed_prices.prices)
    for name, value in yours.items():
        if name not in prices:
            msg = f"Unknown price {name[:40]!r} in {path}. Use {', '.join(prices)}."
            raise SettingsError(msg)
        usd = _amount(path, name, value, prices[name])
        own = replace(prices[name], usd=usd, source=YOUR_OWN, as_of=today, is_verified=True)
        prices[name] = own
    return replace(listed_prices, prices=prices, replaced=tuple(yours))


def _amount(path: Path, name: str, value: object, price: Price) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= MAX_USD:
        return float(value)  # only now: 400 digits are a whole number in TOML, but not a float
    msg = (
        f"Invalid {name} in {path}. Use USD for {price.units:,.0f} {price.unit}, a number from 0 "
        f"to {MAX_USD:,.0f}, such as {name} = {price.usd:g}."
    )
    raise SettingsError(msg)
