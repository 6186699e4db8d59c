"""
What idle cores of this instance will cost, and whether stopping it is taken to save that.

By the instance alone: what a stack's parameters say of its type is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.fold.inventory import Inventory
from neuron_emf.check.result import CheckResult, ok, warning
from neuron_emf.figures import prices_of
from neuron_wire.payment import CAPACITY_BLOCK, SPOT, is_sunk
from neuron_wire.phrases import usd
from neuron_wire.prices import PriceBasis, Prices

if TYPE_CHECKING:
    from emitter.instance.facts import InstanceFacts
    from emitter.reports.report import Report

PRICE: Final = "price"
PAYMENT: Final = "payment"
_IN_NO_AMOUNT: Final = "its idle cores are not in any amount, nor in the alarm on cost"


def told_instance(facts: InstanceFacts, report: Report | None) -> InstanceFacts:
    """What the emitter's lines will say of the instance."""
    inventory = Inventory()
    inventory.learn(facts)
    if report is not None:
        inventory.add(report)
    return inventory.instance()


def check_price(instance: InstanceFacts) -> CheckResult:
    """By the list: without a price no amount counts its idle cores."""
    instance_type, region = instance.instance_type, instance.region
    if not instance_type or not region:
        what = (
            "the type" if region else "the region" if instance_type else "the type and the region"
        )
        return warning(
            PRICE,
            f"{what} of this instance is unknown: {_IN_NO_AMOUNT}",
            "give access to neuron-monitor or the instance metadata",
        )
    basis = PriceBasis()
    price = basis.usd_per_core_hour(Prices(), instance_type, 1, region)
    if price is None:
        return warning(
            PRICE,
            f"unpriced: {instance_type} has no list price in {region}: {_IN_NO_AMOUNT}",
            f"set one in the stack's parameter PriceOverrides: {region}/{instance_type}=USD",
        )
    return ok(PRICE, f"{instance_type}: {usd(price)} per hour ({prices_of(basis)})")


@dataclass(frozen=True, slots=True)
class Terms:
    """
    How an instance is paid, as `neuron_wire.payment` asks.

    Attributes:
        paid: `sunk` or `avoidable`, as `run --paid` says; None where nobody said.

        lifecycle: The purchasing option in the metadata service's own word.

        instance_type: As EC2 spells it.
    """

    paid: str | None = None
    lifecycle: str | None = None
    instance_type: str | None = None


def check_payment(paid: str | None, instance: InstanceFacts) -> CheckResult:
    """Sunk or avoidable, and why; *paid* is what `run --paid` says."""
    terms = Terms(paid, instance.lifecycle, instance.instance_type)
    if is_sunk(terms, {}):
        taken = "sunk: paid even if stopped, so stopping it saves nothing"
    else:
        taken = "avoidable: stopping it saves at most its cost"
    return ok(PAYMENT, f"{taken} ({_why(terms)})")


def _why(terms: Terms) -> str:
    if terms.paid is not None:
        return "--paid says so"
    if terms.lifecycle in {SPOT, CAPACITY_BLOCK}:
        reason = f"the instance metadata says {terms.lifecycle}"
    elif is_sunk(terms, {}):
        reason = f"{terms.instance_type} is sold in capacity blocks"
    elif terms.lifecycle:
        reason = f"the instance metadata says {terms.lifecycle}"
    else:
        reason = "nothing indicates another payment"
    return f"{reason}; --paid or the stack's PaidByType take precedence"
