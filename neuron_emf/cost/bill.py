"""
A month's bill by entry, its alternatives, and the number of instances from which it is cheaper.

Amounts are USD.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_emf.cost.quantities import LINE_NOT_COUNTED, METRICS, not_counted, quantities
from neuron_emf.cost.tariff import MINUTES_IN_MONTH, TABLES, Tariff, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neuron_emf.cost.quantities import Amounts, Fleet

COUNTERFACTUAL_METRICS: Final = 27
"""Metrics per instance that the usual script sends with PutMetricData."""

CORE_METRICS: Final = 21
"""Metrics per core in Container Insights: seven, at three levels."""

FREE: Final = TABLES["free"]
"""
The monthly free tier of an account, by the name of the price. CloudWatch's is from a published copy
of its page; those of Lambda, DynamoDB and Scheduler are from other pages and not verified.
On-demand requests, S3 and Kinesis have no permanent free tier. A free dashboard has at most 50
metrics; the stack's has more.
"""

# If a stack is not cheaper at this size, its emitters publish metrics by instance.
MAX_INSTANCES_COMPARED: Final = 1_000


class Entry(NamedTuple):
    """
    One line of a bill.

    Attributes:
        group: The heading under which it is added up.

        what: The item.

        quantity: Amount a month.

        unit: Unit of the amount.

        usd: USD a month.

        price: Name of its price in the tariff.
    """

    group: str
    what: str
    quantity: float
    unit: str
    usd: float
    price: str


class Alternative(NamedTuple):
    """Another way to get the numbers, and its cost in USD a month."""

    name: str
    what: str
    usd: float


def bill(fleet: Fleet, tariff: Tariff | None = None) -> list[Entry]:
    """Return each entry of *fleet*'s bill, at list prices unless *tariff* has others."""
    return _entries(quantities(fleet), tariff or listed())


def beyond_bill(fleet: Fleet, tariff: Tariff) -> list[Entry]:
    """Return costs that the bill does not count, as entries: only some accounts have them."""
    return _entries({LINE_NOT_COUNTED: not_counted(fleet)}, tariff)


def _entries(groups: dict[str, Amounts], prices: Tariff) -> list[Entry]:
    return [
        Entry(
            group,
            what,
            amount,
            "metrics" if group == METRICS else prices.prices[price].unit,
            prices.metrics_usd(amount) if group == METRICS else prices.prices[price].usd_of(amount),
            price,
        )
        for group, amounts in groups.items()
        for what, (amount, price) in amounts.items()
    ]


def total(entries: Iterable[Entry], group: str = "") -> float:
    """Return the USD of one group, or of all."""
    return sum(entry.usd for entry in entries if group in ("", entry.group))


def free_usd(entries: Sequence[Entry]) -> float:
    """Return the USD that the free tiers subtract from this bill in an otherwise empty account."""
    left = dict(FREE)
    found = 0.0
    for entry in entries:
        if entry.usd and entry.price in left:
            share = min(1.0, left[entry.price] / entry.quantity)
            left[entry.price] -= share * entry.quantity
            found += share * entry.usd
    return found


def put_metric_data_usd(
    instances: int, calls_a_minute: float = 1, tariff: Tariff | None = None
) -> float:
    """Return the USD a month of PutMetricData for 27 metrics per instance."""
    prices = tariff or listed()
    calls = calls_a_minute * MINUTES_IN_MONTH * instances
    metrics_usd = prices.metrics_usd(COUNTERFACTUAL_METRICS * instances)
    return metrics_usd + prices.prices["put-metric-data"].usd_of(calls)


def alternatives(fleet: Fleet, tariff: Tariff) -> list[Alternative]:
    """Return PutMetricData every 5 s or minute, and the metrics of Container Insights."""
    instances = fleet.instances
    script = f"PutMetricData, {COUNTERFACTUAL_METRICS} metrics an instance, a call per"
    by_core = f"Container Insights style, {CORE_METRICS} metrics a core, custom metrics"
    each_report = put_metric_data_usd(instances, 12, tariff)
    each_minute = put_metric_data_usd(instances, 1, tariff)
    per_core = tariff.metrics_usd(CORE_METRICS * fleet.cores * instances)
    return [
        Alternative("put_metric_data_each_report", f"{script} report", each_report),
        Alternative("put_metric_data_each_minute", f"{script} minute", each_minute),
        Alternative("per_core_custom_metrics", by_core, per_core),
    ]


def break_even(fleet: Fleet, tariff: Tariff) -> int | None:
    """Return the fewest instances for which the stack costs at most PutMetricData each minute."""
    for instances in range(fleet.clusters, MAX_INSTANCES_COMPARED + 1):
        mine = total(bill(replace(fleet, instances=instances), tariff))
        if mine <= put_metric_data_usd(instances, 1, tariff):
            return instances
    return None
