"""Whether idle cores of this instance will have a price, without which no amount counts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from neuron_emf.check.result import CheckResult, ok, warning
from neuron_emf.figures import prices_of
from neuron_wire.phrases import usd
from neuron_wire.prices import PriceBasis, Prices

if TYPE_CHECKING:
    from emitter.instance.facts import InstanceFacts
    from emitter.reports.report import Report

PRICE: Final = "price"
_IN_NO_AMOUNT: Final = "its idle cores are in no amount, and the alarm on cost does not see them"


def check_price(facts: InstanceFacts, report: Report | None) -> CheckResult:
    """By the list alone: the overrides of a stack are not known on an instance."""
    info = report.instance_info if report is not None else None
    instance_type = (info.instance_type if info is not None else None) or facts.instance_type
    region = (info.instance_region if info is not None else None) or facts.region
    if not instance_type or not region:
        what = (
            "the type" if region else "the region" if instance_type else "the type and the region"
        )
        return warning(
            PRICE,
            f"{what} of this instance is not known: {_IN_NO_AMOUNT}",
            "let neuron-monitor or the instance metadata tell it",
        )
    basis = PriceBasis()
    price = basis.usd_per_core_hour(Prices(), instance_type, 1, region)
    if price is None:
        return warning(
            PRICE,
            f"{instance_type} has no list price in {region}: {_IN_NO_AMOUNT}",
            f"give one by the stack's parameter PriceOverrides: {region}/{instance_type}=USD",
        )
    return ok(PRICE, f"{instance_type}: {usd(price)} per hour ({prices_of(basis)})")
