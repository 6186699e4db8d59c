"""What is said beside a bill: what would save money, and which sizes were never measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from neuron_emf.cost.estimate import estimate
from neuron_emf.cost.fleet import FleetSpec, Setup
from neuron_emf.cost.measurements import read
from neuron_emf.cost.question import Question
from neuron_emf.cost.tariff import listed

MEASUREMENTS = read()


def answered(setup, cores=32, tariff=None):
    question = Question(FleetSpec(10, 1, cores), "trn1.32xlarge", setup, tariff or listed(), 21.5)
    return estimate(MEASUREMENTS, question)


@pytest.mark.parametrize(
    ("changes", "is_named"),
    [({}, True), ({"metrics": "instance"}, False), ({"is_high_resolution": True}, False)],
)
def test_no_metrics_save_money_where_the_rollups_have_them_too(changes, is_named):
    """What somebody asked for beyond the default is nowhere else."""
    assert is_named == ("--metrics none" in answered(Setup(**changes)).cheaper())


def test_what_saves_nothing_is_not_named():
    """Where everything is free, no other setting is cheaper."""
    free = {name: replace(price, usd=0.0) for name, price in listed().prices.items()}
    assert {} == answered(Setup(), tariff=replace(listed(), prices=free)).cheaper()


@pytest.mark.parametrize(
    ("cores", "remarks"),
    [(32, []), (33, ["sizes of 33 cores are between those measured of 32 and of 64"])],
)
def test_a_size_between_two_that_were_measured_is_said(cores, remarks):
    """With the two; a size that was measured needs no remark."""
    sizes = [remark for remark in answered(Setup(), cores).remarks() if remark.startswith("sizes")]
    assert remarks == sizes
