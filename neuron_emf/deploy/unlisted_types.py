"""
The types that have no list price: what a deployment says of them, and asks a person.

Idle cores without a price are in no amount. Nothing here says that a price is a saving: these
types are sold in capacity blocks, which are paid whether they run or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from neuron_wire.payment import SUNK_TYPES
from neuron_wire.phrases import price_overrides_line
from neuron_wire.prices import PriceOverridesError, price_overrides

if TYPE_CHECKING:
    from collections.abc import Mapping

_PARAMETER: Final = "PriceOverrides"
_EXAMPLE: Final = "trn2.48xlarge"


def unpriced_sentence(parameters: Mapping[str, str], region: str | None) -> str:
    """
    What stays unknown, and what to type; empty where *parameters* have the price of such a type.

    Without a *region* it is a price of every region.
    """
    overrides = parameters.get(_PARAMETER)
    if overrides is None:  # a template without prices
        return ""
    types = (override.partition("=")[0].rpartition("/")[2] for override in overrides.split(","))
    if any(kind.startswith(SUNK_TYPES) for kind in types):
        return ""
    line = price_overrides_line([f"{region}/{_EXAMPLE}" if region else _EXAMPLE])
    return (
        f"{' and '.join(SUNK_TYPES)} have no list price: without yours, such as {line}, their "
        "idle cores are in no amount."
    )


def asked_prices(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameter with the prices that a person types beside those of *parameters*."""

    def checked(text: str) -> str:
        try:
            price_overrides(text.strip())
        except PriceOverridesError as error:
            msg = f"Found {error}"
            raise click.BadParameter(msg) from error
        return text.strip()

    question = "USD per hour of those you run, [REGION/]TYPE=USD,... (empty: none)"
    answer = click.prompt(question, default="", show_default=False, value_proc=checked, err=True)
    return {_PARAMETER: ",".join(filter(None, (parameters[_PARAMETER], answer)))}
