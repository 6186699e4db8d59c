"""
The same fleet by other ways: what they would cost a month.

Only their metrics and requests are counted: no logs, no alarms, no dashboard,
so each sum is the least that the way costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neuron_emf.cost.assumptions import COUNTERFACTUAL_METRICS
from neuron_emf.cost.tariff import MINUTES, Tariff, listed

if TYPE_CHECKING:
    from neuron_emf.cost.fleet import FleetSpec, Setup

CORE_LEVEL_METRICS: Final = 7
LEVELS: Final = 3
"""
Container Insights on EKS has utilization, five uses of memory and their sum of
each core, for the container, the pod and the node: its finest metrics alone.
"""


@dataclass(frozen=True, slots=True)
class Alternative:
    """
    How else the fleet could be watched.

    Attributes:
        name: What it is called in JSON.

        what: What it does, for people.

        metrics: That it makes.

        requests: Of PutMetricData, a month.

        observations: That Container Insights bills a month.

        usd: For all that; None if a price is unknown.
    """

    name: str
    what: str
    metrics: int
    requests: float
    observations: float
    usd: float | None


def by_requests_usd(
    instances: int, requests_a_minute: float = 1, tariff: Tariff | None = None
) -> float | None:
    """27 metrics of each instance, and its requests; None if a price is unknown."""
    prices = listed() if tariff is None else tariff
    metrics = prices.metrics_usd(COUNTERFACTUAL_METRICS * instances)
    requests = prices.usd("put-metric-data", requests_a_minute * MINUTES * instances)
    return None if metrics is None or requests is None else metrics + requests


def counterfactual_usd(instances: int) -> float:
    """The same at list prices with a request a minute."""
    usd = by_requests_usd(instances)
    if usd is None:
        msg = "the price list has no price of PutMetricData"
        raise ValueError(msg)
    return usd


def alternatives(fleet: FleetSpec, setup: Setup, tariff: Tariff) -> list[Alternative]:
    """PutMetricData by each report and by each minute, and core by core as Container Insights."""
    metrics = COUNTERFACTUAL_METRICS * fleet.instances
    cores = CORE_LEVEL_METRICS * LEVELS * fleet.cores * fleet.instances
    observations = float(MINUTES * cores)
    by_core = f"Container Insights style, {CORE_LEVEL_METRICS * LEVELS} metrics a core"

    def by_requests(name: str, how_often: str, a_minute: float) -> Alternative:
        what = f"PutMetricData, {COUNTERFACTUAL_METRICS} metrics an instance, {how_often}"
        requests = a_minute * MINUTES * fleet.instances
        usd = by_requests_usd(fleet.instances, a_minute, tariff)
        return Alternative(name, what, metrics, requests, 0.0, usd)

    custom, observed = f"{by_core}, custom metrics", f"{by_core}, by observation"
    custom_usd, observed_usd = tariff.metrics_usd(cores), tariff.usd("observation", observations)
    return [
        by_requests("put_metric_data_each_report", "a call per report", 60 / setup.period_s),
        by_requests("put_metric_data_each_minute", "a call per minute", 1.0),
        Alternative("per_core_custom_metrics", custom, cores, 0.0, 0.0, custom_usd),
        Alternative("per_core_observations", observed, 0, 0.0, observations, observed_usd),
    ]
