"""Prices of the person who pays, written as the stack's parameter PriceOverrides takes them."""

from __future__ import annotations

import re
from typing import Final

from emitter.errors import SettingsError
from neuron_wire.prices import Prices

_ONE: Final = re.compile(r"([a-z0-9.\-]+)=([0-9]{1,5}(?:\.[0-9]{1,6})?)")


def prices(overrides: str) -> Prices:
    """
    The list prices with *overrides*, such as `trn1.32xlarge=13.5,inf2.xlarge=0.4`.

    Raises:
        SettingsError: If they are written otherwise.
    """
    found: dict[str, float] = {}
    for part in filter(None, (one.strip() for one in overrides.split(","))):
        match = _ONE.fullmatch(part)
        if match is None:
            msg = (
                "--price-overrides was expected to be TYPE=USD with commas between and has "
                f"{part[:40]!r}: write it as trn1.32xlarge=13.5,inf2.xlarge=0.4"
            )
            raise SettingsError(msg)
        found[match[1]] = float(match[2])
    return Prices(found)
