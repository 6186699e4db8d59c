"""The same fleet by other ways, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from neuron_emf.cost.alternatives import alternatives, by_requests_usd, counterfactual_usd
from neuron_emf.cost.fleet import FleetSpec, Setup
from neuron_emf.cost.tariff import listed

FLEET = FleetSpec(1_000, 2, cores=32)


@pytest.fixture
def ways():
    return {one.name: one for one in alternatives(FLEET, Setup(period_s=5), listed())}


def test_a_call_per_report_is_twelve_a_minute(ways):
    """27,000 metrics in two tiers, and 12 requests an instance and minute."""
    one = ways["put_metric_data_each_report"]
    metrics = 10_000 * 0.30 + 17_000 * 0.10
    assert (27_000, 12 * 43_800_000) == (one.metrics, one.requests)
    assert one.usd == pytest.approx(metrics + 12 * 43_800_000 * 0.01 / 1_000)


def test_a_call_per_minute_is_what_the_page_compares_with(ways):
    """The same metrics, a twelfth of the requests."""
    one = ways["put_metric_data_each_minute"]
    assert one.usd == pytest.approx(10_000 * 0.30 + 17_000 * 0.10 + 43_800_000 * 0.01 / 1_000)
    assert (43_800_000, one.usd) == (one.requests, counterfactual_usd(1_000))


def test_every_core_has_21_metrics(ways):
    """7 of each core at 3 levels: 672 an instance of 32 cores."""
    one = ways["per_core_custom_metrics"]
    assert 672_000 == one.metrics
    assert one.usd == pytest.approx(10_000 * 0.30 + 240_000 * 0.10 + 422_000 * 0.05)


def test_a_price_nobody_has_read_is_not_made_up(ways):
    """How many observations is known, what one costs is not, until somebody says it."""
    one = ways["per_core_observations"]
    assert (672_000 * 43_800, None) == (one.observations, one.usd)
    price = replace(listed().prices["observation"], usd=0.5)
    tariff = replace(listed(), prices={**listed().prices, "observation": price})
    said = {one.name: one.usd for one in alternatives(FLEET, Setup(), tariff)}
    assert said["per_core_observations"] == pytest.approx(672 * 43_800 * 0.5 / 1_000)


@pytest.mark.parametrize("name", ["put-metric-data", "metrics-first"])
def test_half_a_price_is_none(name):
    """What lacks one of its prices is unknown as a whole."""
    price = replace(listed().prices[name], usd=None)
    tariff = replace(listed(), prices={**listed().prices, name: price})
    assert by_requests_usd(10, 1, tariff) is None
