"""
A month's bill entry by entry, its alternatives, and from how many instances on it pays off.

Amounts are USD; None, never 0, where AWS's price is unknown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_emf.cost.quantities import METRICS, not_counted, quantities
from neuron_emf.cost.tariff import MINUTES, Tariff, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neuron_emf.cost.quantities import Fleet, Quantity

COUNTERFACTUAL_METRICS: Final = 27
"""Metrics of an instance that the usual script sends with PutMetricData."""

CORE_METRICS: Final = 21
"""Metrics of a core in Container Insights: seven, at three levels."""

FREE: Final = {
    "log-ingestion": 5.0, "metrics-first": 10.0, "alarm": 10.0,
    "lambda-requests": 1e6, "lambda-gb-s": 4e5, "table-storage": 25.0, "schedule": 14e6,
}  # fmt: skip
"""
The monthly free tier of an account, by the name of the price: CloudWatch's by a
published copy of its page; Lambda's, DynamoDB's and Scheduler's by other people's pages, not
verified. On-demand requests, S3 and Kinesis have none that lasts. A free dashboard holds at most
50 metrics; the stack's has more.
"""

MOST_INSTANCES: Final = 1_000  # where a stack does not pay by then, its metrics are by instance


class Entry(NamedTuple):
    """
    One line of a bill.

    Attributes:
        group: Heading that it is summed under.

        what: What is paid for.

        quantity: Amount a month.

        unit: Unit of the amount.

        usd: USD a month; None if its price is unknown.

        price: Name of its price in the tariff.
    """

    group: str
    what: str
    quantity: float
    unit: str
    usd: float | None
    price: str


class Alternative(NamedTuple):
    """Another way to get the numbers, and its USD a month; None if a price is unknown."""

    name: str
    what: str
    usd: float | None


def bill(fleet: Fleet, tariff: Tariff | None = None) -> list[Entry]:
    """Each entry of *fleet*'s bill, at list prices unless *tariff* has others."""
    return _entries(quantities(fleet), listed() if tariff is None else tariff)


def beyond_bill(fleet: Fleet, tariff: Tariff) -> list[Entry]:
    """Return what the bill does not count, as entries: only some accounts pay it."""
    return _entries(not_counted(fleet), tariff)


def _entries(used: Iterable[Quantity], prices: Tariff) -> list[Entry]:
    return [
        Entry(
            group, what, amount,
            "metrics" if group == METRICS else prices.prices[price].unit,
            prices.metrics_usd(amount) if group == METRICS else prices.prices[price].usd_of(amount),
            price,
        )
        for group, what, amount, price in used
    ]  # fmt: skip


def known(entries: Iterable[Entry], group: str = "") -> float:
    """Sum of the entries with a known price, of one group or all."""
    return sum(entry.usd or 0.0 for entry in entries if group in ("", entry.group))


def unknown(entries: Iterable[Entry], group: str = "") -> list[Entry]:
    """Entries that are used and have no known price."""
    wanted = (entry for entry in entries if group in ("", entry.group))
    return [entry for entry in wanted if entry.usd is None and entry.quantity]


def total(entries: Sequence[Entry], group: str = "") -> float | None:
    """The sum of one group or of all; None if some of it is unknown."""
    return None if unknown(entries, group) else known(entries, group)


def free_usd(entries: Sequence[Entry]) -> float:
    """USD that the free tiers take off this bill in an account with nothing else in it."""
    left, found = dict(FREE), 0.0
    for entry in entries:
        if entry.usd and entry.price in left:
            share = min(1.0, left[entry.price] / entry.quantity)
            left[entry.price] -= share * entry.quantity
            found += share * entry.usd
    return found


def put_metric_data_usd(
    instances: int, calls_a_minute: float = 1, tariff: Tariff | None = None
) -> float | None:
    """USD a month of PutMetricData for 27 metrics an instance; None if a price is unknown."""
    prices = listed() if tariff is None else tariff
    metrics = prices.metrics_usd(COUNTERFACTUAL_METRICS * instances)
    requests = prices.prices["put-metric-data"].usd_of(calls_a_minute * MINUTES * instances)
    return None if metrics is None or requests is None else metrics + requests


def alternatives(fleet: Fleet, tariff: Tariff) -> list[Alternative]:
    """PutMetricData each 5 s or minute, and metrics of each core as in Container Insights."""
    cores = CORE_METRICS * fleet.cores * fleet.instances
    script = f"PutMetricData, {COUNTERFACTUAL_METRICS} metrics an instance, a call per"
    by_core = f"Container Insights style, {CORE_METRICS} metrics a core,"
    each_report = put_metric_data_usd(fleet.instances, 12, tariff)
    each_minute = put_metric_data_usd(fleet.instances, 1, tariff)
    observed = tariff.prices["observation"].usd_of(float(MINUTES * cores))
    return [
        Alternative("put_metric_data_each_report", f"{script} report", each_report),
        Alternative("put_metric_data_each_minute", f"{script} minute", each_minute),
        Alternative("per_core_custom_metrics", f"{by_core} custom metrics",
                    tariff.metrics_usd(cores)),
        Alternative("per_core_observations", f"{by_core} by observation", observed),
    ]  # fmt: skip


def break_even(fleet: Fleet, tariff: Tariff) -> int | None:
    """Fewest instances for which the stack costs no more than PutMetricData each minute."""
    for instances in range(fleet.clusters, MOST_INSTANCES + 1):
        mine = total(bill(replace(fleet, instances=instances), tariff))
        other = put_metric_data_usd(instances, 1, tariff)
        if mine is None or other is None:
            return None
        if mine <= other:
            return instances
    return None
