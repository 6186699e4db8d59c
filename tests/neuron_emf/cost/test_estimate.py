"""What is said beside a bill: what would save money, and which sizes were never measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emitter.lines import parse_choice
from neuron_emf.cost.bill import bill
from neuron_emf.cost.estimate import estimate
from neuron_emf.cost.fleet import FleetSpec, Setup
from neuron_emf.cost.measurements import EIGHT_LONG, FOUR_OWNERS, read
from neuron_emf.cost.question import Question
from neuron_emf.cost.tariff import listed
from neuron_wire.catalogue import CHOOSABLE
from tests.neuron_emf.cost.measures_example import MADE

MEASUREMENTS = read()


def answered(setup, cores=32, tariff=None):
    question = Question(FleetSpec(10, 1, cores), "trn1.32xlarge", setup, tariff or listed(), 21.5)
    return estimate(MEASUREMENTS, question)


@pytest.mark.parametrize(
    ("changes", "is_named"),
    [({}, False), ({"metrics": "cluster"}, True), ({"metrics": "instance"}, False)],
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


def small(instances, **changes):
    """The answer to so many inf1.xlarge."""
    setup = Setup(runtimes=4, **changes)
    fleet = FleetSpec(instances, 1, 4)
    return estimate(MEASUREMENTS, Question(fleet, "inf1.xlarge", setup, listed(), 0.228))


@pytest.mark.parametrize("instances", [1, 2])
def test_a_fleet_that_is_too_small_for_a_stack_is_told(instances):
    """One: from when on it pays, and what the emitters alone cost; then no more of it."""
    answer = small(instances)
    each_minute = next(way.usd for way in answer.ways if way.name.endswith("each_minute"))
    assert (instances < 2) == (answer.usd > each_minute) == (answer.break_even is not None)
    said = [remark for remark in answer.remarks() if "PutMetricData" in remark]
    alone = small(instances, has_stack=False, metrics="cluster")
    assert alone.break_even is None
    if instances < 2:
        assert (2, 2) == (answer.break_even.instances, answer.break_even.instances_by_report)
        assert answer.break_even.without_stack_usd == pytest.approx(alone.usd)
        until = "PutMetricData costs less than this, and more from 2 instances on"
        until += " (2 with a call per report)"
        assert [
            f"{until}: neuron-emf deploy --emitters-only costs {alone.usd:.2f} USD (--no-stack)"
        ] == said
    else:
        assert [] == said


def test_a_fleet_whose_choice_costs_more_each_instance_never_breaks_even():
    """Where 27 metrics an instance are less than what is chosen, no number of them is named."""
    choice = parse_choice([f"{name}@instance" for name in CHOOSABLE])
    answer = small(1, choice=choice)
    assert answer.break_even.instances is None
    assert any(
        "costs less than this: neuron-emf deploy --emitters-only" in remark
        for remark in answer.remarks()
    )


@pytest.mark.parametrize(
    ("changes", "remark"),
    [
        ({}, "a raw report is taken to have 10,940 bytes: see --raw-report-bytes"),
        ({"raw_report_bytes": 444_000}, None),
        ({"raw_report_bytes": 2_000_000}, "longer than a log event and is not written"),
    ],
)
def test_what_a_raw_report_is_taken_for_is_said(changes, remark):
    """An assumption, or that there will be none."""
    said = [one for one in small(5, raw_reports=1, **changes).remarks() if "report of" in one
            or "raw report" in one]  # fmt: skip
    assert (remark is None) == (said == [])
    assert remark is None or remark in said[0]


def test_long_owners_take_a_second_write_unit():
    """Of every second minute here: half of what all records cost; in a stream none is alone."""
    question = Question(FleetSpec(1_000, 2), "trn1.32xlarge", Setup(), listed(), 21.5)
    told = estimate(MADE, question).second_write_units()
    assert (0.0, 0.0) == told[FOUR_OWNERS]
    share, more_usd = told[EIGHT_LONG]
    (records,) = (one for one in bill(MADE, FleetSpec(1_000, 2), Setup()) if "records" in one.what)
    assert (0.5, records.usd / 2) == (share, pytest.approx(more_usd))
    stream = replace(question, setup=Setup("kinesis"))
    assert {} == estimate(MADE, stream).second_write_units()
