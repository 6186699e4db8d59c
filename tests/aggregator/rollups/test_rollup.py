"""The numbers of one cluster and minute, and of each of its instance types."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.rollups.rollup import (
    MAX_NAMES_IN_ROLLUP,
    MAX_TYPES_IN_ROLLUP,
    RollupInProgress,
    SilentInstance,
)
from aggregator.rollups.sums import FAILING
from neuron_accounts.core_time import CostRules
from neuron_accounts.instance_types import CHIP_TERA_FLOPS, INSTANCE_TYPES, peak_micros
from neuron_accounts.now import cluster_now
from neuron_wire.merging import merge_records
from neuron_wire.names import MICRO, UNKNOWN_REASONS
from proof.factories.records import LATER_BOOT, MINUTE, record
from tests.aggregator.rollups.rollup_texts import cores, published, rollup


def test_coverage_counts_silent_instances():
    """A silent instance counts in the coverage: 30 seconds of one of two instances are 25 %."""
    gone = [SilentInstance("i-9", None, MINUTE - 9)]
    assert 25.0 == rollup(record(covered_seconds=30.0), silent=gone).gauges["CoveragePercent"]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([None, *UNKNOWN_REASONS]))))
def test_unknown_cores_are_counted_by_reason(instances):
    """
    The counts of reasons add up to UnknownCores; a line without a reason has a count of its own.
    """
    lines = [cores("b" + "?" * unknown, unknown_reason=reason) for unknown, reason in instances]
    counted = rollup(*lines)
    expected: Counter[str] = Counter()
    for unknown, reason in instances:
        expected[reason or "not reported"] += unknown
    line = published(counted)
    by_reason = line.get("UnknownCoresByReason", {})
    assert +expected == by_reason
    assert sum(by_reason.values()) == counted.gauges.get("UnknownCores", 0)
    assert by_reason == cluster_now(line).unknown_by_reason


def test_instances_that_failed_are_named_and_the_others_are_not():
    """At most 20 instances that failed are named, most failures first, then by name."""
    mixed = rollup(
        *(record(execution_errors=count, ecc_uncorrected_rise=None) for count in (0, 3, None, 7, 3))
    )
    assert [("i-3", 7), ("i-1", 3), ("i-4", 3)] == [
        (row["InstanceId"], row["ExecutionErrors"]) for row in mixed.lists["ErrorInstances"]
    ]
    assert {"ErrorInstances"} == mixed.lists.keys() & {*FAILING}
    crowd = rollup(*(record(ecc_uncorrected_rise=count) for count in range(300)))
    assert [(f"i-{count}", count) for count in range(299, 279, -1)] == [
        (row["InstanceId"], row["EccUncorrectedRise"]) for row in crowd.lists["EccInstances"]
    ]


def test_names_are_bounded_and_numbers_are_not():
    """At most 50 silent and 50 duplicate names are listed; their numbers count all 100."""
    in_progress = RollupInProgress("training", CostRules())
    for number in range(100):
        two = [record(instance_id=f"i-{number:03}", boot=boot) for boot in ("00", LATER_BOOT)]
        in_progress.fold_instance(merge_records(two))
    gone = [SilentInstance(f"i-{number}", None, MINUTE - number) for number in range(6, 106)]
    finished = in_progress.finish(gone)
    assert 100 == finished.gauges["SilentInstances"]
    assert 100 == finished.gauges["DuplicateEmitters"]
    assert MAX_NAMES_IN_ROLLUP == len(finished.lists["SilentInstanceNames"])
    assert MAX_NAMES_IN_ROLLUP == len(finished.lists["DuplicateEmitterInstances"])
    assert "i-6" == published(finished)["SilentInstanceNames"][0]["InstanceId"]
    assert 200 == finished.records


@pytest.mark.parametrize(
    "name", ["p", "Trn1.2xlarge", "trn1.2xlarge ", "trn1 2xlarge", "tr\u00fc.x"]
)
def test_a_type_that_ec2_does_not_have_is_only_counted(name):
    """A type that EC2 does not have, of any length, is only counted."""
    counted = rollup(record(instance_type=name))
    assert "Types" not in counted.properties
    assert 1 == counted.properties["TypesMore"]
    assert 1 == counted.gauges["Instances"]


def test_at_most_twenty_types_are_named():
    """The 20 types with most instances are named, then by name."""
    many = [record(instance_type=f"trn{number}.huge") for number in range(100, 125)]
    named = rollup(*many, record(instance_type="trn124.huge"), record(instance_type=None))
    assert MAX_TYPES_IN_ROLLUP == len(named.properties["Types"])
    assert 5 == named.properties["TypesMore"]
    assert [f"trn{number}.huge" for number in (124, *range(100, 119))] == [
        row["InstanceType"] for row in named.properties["Types"]
    ]
    assert 27 == named.gauges["Instances"]


def test_a_share_of_the_peak_may_exceed_100_percent():
    """The share of the BF16 peak may exceed 100 %, because some data types are faster."""
    fast = rollup(record(instance_type="trn1.2xlarge", tera_flops=380.0))
    assert 200 == fast.gauges["FlopsPercentOfBf16Peak"]


def test_every_type_has_a_chip_with_a_peak():
    """
    Every instance type has a chip with a peak; a new family would be left out without a notice.
    """
    assert CHIP_TERA_FLOPS.keys() == {name[:4] for name in INSTANCE_TYPES}
    for name, instance_type in INSTANCE_TYPES.items():
        chips = instance_type.devices * CHIP_TERA_FLOPS[name[:4]] * MICRO
        assert chips == peak_micros(name, instance_type.cores, instance_type.cores)
