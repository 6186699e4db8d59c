"""Prices of the person who pays, written as the stack's parameter PriceOverrides takes them."""

from __future__ import annotations

from emitter.errors import SettingsError
from neuron_wire.prices import PriceOverridesError, Prices, price_overrides


def prices(overrides: str) -> Prices:
    """
    The list prices with *overrides*, such as `trn1.32xlarge=13.5,inf2.xlarge=0.4`.

    Raises:
        SettingsError: If they are written otherwise.
    """
    try:
        return Prices(price_overrides(overrides))
    except PriceOverridesError as error:
        msg = f"--price-overrides has {error}"
        raise SettingsError(msg) from error
