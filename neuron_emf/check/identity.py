"""
Which cluster the records will belong to, which instance they will be of, and what it costs.

Asked as `run` asks: the orchestrators for the cluster, the report and the
metadata service for the instance. Price and payment are by the instance alone:
what a stack's parameters say of its type is not known here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from emitter.errors import SettingsError
from emitter.fold.inventory import Inventory
from emitter.instance.cluster import find_cluster
from emitter.instance.machine import guessed_instance_id
from neuron_emf.check.result import CheckResult, failed, ok, warning
from neuron_emf.figures import prices_of
from neuron_wire.payment import CAPACITY_BLOCK, is_sunk
from neuron_wire.phrases import usd
from neuron_wire.prices import PriceBasis, Prices

if TYPE_CHECKING:
    from emitter.instance.facts import InstanceFacts
    from emitter.reports.report import Report
    from neuron_emf.check.settings import CheckSettings

CLUSTER: Final = "cluster"
INSTANCE: Final = "instance"
PRICE: Final = "price"
PAYMENT: Final = "payment"

_NAME_IT: Final = "use --cluster NAME"
_IN_NO_AMOUNT: Final = "its idle cores are not in any amount, nor in the alarm on cost"


def check_cluster(settings: CheckSettings, origin: str) -> tuple[CheckResult, str]:
    """
    The result, and the name; an empty one when there is none.

    *origin* says where the setting came from.
    """
    try:
        cluster = find_cluster(settings.cluster, region=settings.region)
    except SettingsError as error:
        said, _, tried = str(error).partition(" Tried, in this order:")
        if not tried:
            return failed(CLUSTER, said, _NAME_IT), ""
        sources = "; ".join(line.strip() for line in tried.splitlines() if line.strip())
        return failed(CLUSTER, f"no cluster name: {sources}", _NAME_IT), ""
    where = origin if settings.cluster.strip() else cluster.where
    return ok(CLUSTER, f"{cluster.name}, from {where}"), cluster.name


def check_instance(
    settings: CheckSettings, facts: InstanceFacts, report: Report | None
) -> tuple[CheckResult, str]:
    """The result, and the id that records will have."""
    info = report.instance_info if report is not None else None
    reported = (info.instance_id or "").strip() if info is not None else ""
    if reported and reported.isascii() and reported.isprintable():
        if facts.instance_id and facts.instance_id != reported:
            return warning(
                INSTANCE,
                f"{reported} by neuron-monitor, {facts.instance_id} by the instance metadata",
                "records will use the first: check that the reports of neuron-monitor are of this "
                "instance",
            ), reported
        return ok(INSTANCE, f"{_with_type(reported, facts)}, from neuron-monitor"), reported
    if facts.instance_id:
        named = f"{_with_type(facts.instance_id, facts)}, from the instance metadata or the"
        return ok(INSTANCE, f"{named} instance's board"), facts.instance_id
    if settings.instance_id:
        return ok(INSTANCE, f"{settings.instance_id}, from --instance-id"), settings.instance_id
    guessed = guessed_instance_id()
    return warning(
        INSTANCE,
        f"{guessed}, a guess: neither neuron-monitor nor the instance metadata has one",
        "allow two hops to the instance metadata, or use --instance-id",
    ), guessed


def _with_type(instance_id: str, facts: InstanceFacts) -> str:
    return f"{instance_id} ({facts.instance_type})" if facts.instance_type else instance_id


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


class Terms(NamedTuple):
    """
    How an instance is paid, as `neuron_wire.payment` asks.

    Attributes:
        paid: `sunk` or `avoidable`, as `run --paid` says; None where nobody said.

        lifecycle: The purchasing option in the metadata service's own word.

        instance_type: As EC2 spells it.
    """

    paid: str | None
    lifecycle: str | None
    instance_type: str | None


def check_payment(paid: str | None, instance: InstanceFacts) -> CheckResult:
    """Sunk or avoidable, and why; *paid* is what `run --paid` says."""
    lifecycle, instance_type = instance.lifecycle, instance.instance_type
    saves_nothing = is_sunk(Terms(paid, lifecycle, instance_type), {})
    if saves_nothing:
        taken = "sunk: paid even if stopped, so stopping it saves nothing"
    else:
        taken = "avoidable: stopping it saves at most its cost"
    if paid is not None:
        return ok(PAYMENT, f"{taken} (--paid says so)")
    if saves_nothing and lifecycle != CAPACITY_BLOCK:
        reason = f"{instance_type} is sold in capacity blocks"
    elif lifecycle:
        reason = f"the instance metadata says {lifecycle}"
    else:
        reason = "nothing indicates another payment"
    return ok(PAYMENT, f"{taken} ({reason}; --paid or the stack's PaidByType take precedence)")
