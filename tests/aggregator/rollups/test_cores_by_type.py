"""The numbers of each instance type."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aggregator.rollups.cores import MAX_TYPES
from aggregator.rollups.rollup import RollupInProgress
from neuron_wire.merging import merge
from proof.factories.records import record
from tests.aggregator.rollups.rollup_lines import rollup


def test_a_type_that_a_late_record_corrects_is_restated_with_no_instance():
    """Its line has been published: saying nothing would leave its instance there."""
    first, second = record(covered_seconds=20.0), record(seq=2, covered_seconds=20.0)
    in_progress = RollupInProgress("training", idle_after_minutes=15)
    in_progress.add(merge([first, replace(second, instance_type="inf2.xlarge")]))
    types = in_progress.finish([]).types
    assert ({"Instances": 0}, 1) == (types["trn1.2xlarge"], types["inf2.xlarge"]["Instances"])


@pytest.mark.parametrize(
    "name", ["p", "Trn1.2xlarge", "trn1.2xlarge ", "trn1 2xlarge", "tr\u00fc.x"]
)
def test_a_type_that_ec2_does_not_have_gets_no_metrics(name):
    """It could not be a dimension, or would be another one each time."""
    found = rollup(record(instance_type=name))
    assert ({}, 1) == (found.types, found.types_left_out)
    assert 1 == found.gauges["Instances"]


def test_at_most_twenty_types_get_metrics():
    """Those with most instances: each type costs six metrics."""
    many = [record(instance_type=f"trn{number}.huge") for number in range(100, 125)]
    found = rollup(*many, record(instance_type="trn124.huge"), record(instance_type=None))
    assert (MAX_TYPES, 5) == (len(found.types), found.types_left_out)
    assert [f"trn{number}.huge" for number in (*range(100, 119), 124)] == list(found.types)
    assert 27 == found.gauges["Instances"]
