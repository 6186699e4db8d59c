"""The numbers of each instance type."""

from __future__ import annotations

import pytest

from aggregator.rollups.rollup import MAX_TYPES
from proof.factories.records import record
from tests.aggregator.rollups.rollup_lines import rollup


@pytest.mark.parametrize(
    "name", ["p", "Trn1.2xlarge", "trn1.2xlarge ", "trn1 2xlarge", "tr\u00fc.x"]
)
def test_a_type_that_ec2_does_not_have_is_only_counted(name):
    """Its name may be of any length, and another one each time."""
    found = rollup(record(instance_type=name))
    assert ({}, 1) == (found.types, found.types_left_out)
    assert 1 == found.gauges["Instances"]


def test_at_most_twenty_types_are_named():
    """Those with most instances first, then by name."""
    many = [record(instance_type=f"trn{number}.huge") for number in range(100, 125)]
    found = rollup(*many, record(instance_type="trn124.huge"), record(instance_type=None))
    assert (MAX_TYPES, 5) == (len(found.types), found.types_left_out)
    assert [f"trn{number}.huge" for number in (124, *range(100, 119))] == list(found.types)
    assert 27 == found.gauges["Instances"]
