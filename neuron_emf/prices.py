"""Prices of the person who pays, written as the stack's parameter PriceOverrides takes them."""

from __future__ import annotations

import os
from typing import Final

from emitter.errors import SettingsError
from neuron_wire.prices import DEFAULT_REGION, PriceOverridesError, Prices, price_overrides

OVERRIDES_FORM: Final = "[REGION/]TYPE=USD,..."
OVERRIDES_HELP: Final = (
    "USD per hour by instance type, in one region or in all, as the stack's PriceOverrides takes "
    "them: trn1.32xlarge=13.5,eu-north-1/inf2.xlarge=0.4. They take precedence over list prices."
)


def prices(overrides: str, region: str | None = None) -> Prices:
    """
    The list prices with *overrides*; lines that name no region are of *region*.

    Unless given it is that of the AWS SDK's variables.

    Raises:
        SettingsError: If they are written otherwise.
    """
    try:
        return Prices(price_overrides(overrides), region or _region_of_the_sdk())
    except PriceOverridesError as error:
        msg = f"--price-overrides has {error}"
        raise SettingsError(msg) from error


def _region_of_the_sdk() -> str:
    variables = map(os.environ.get, ("AWS_REGION", "AWS_DEFAULT_REGION"))
    return next(filter(None, variables), DEFAULT_REGION)
