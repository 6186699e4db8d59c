"""The numbers of one cluster and minute."""

from __future__ import annotations

from aggregator.rollups.rollup import MAX_NAMES, RollupInProgress, SilentInstance
from neuron_wire.merging import merge_records
from proof.factories.records import LATER_BOOT, MINUTE, record
from tests.aggregator.rollups.rollup_lines import cores, rollup


def test_utilization_is_the_mean_over_cores_not_over_instances():
    """Three cores at 0 and one at 100 are 25 %, on however many instances."""
    found = rollup(cores("uuu"), cores("b", (100.0,)))
    assert 25.0 == found.gauges["NeuronCoreUtilization"]


def test_coverage_counts_silent_instances():
    """30 covered seconds of one instance, another silent: a quarter."""
    gone = [SilentInstance("i-9", None, MINUTE - 9)]
    assert 25.0 == rollup(record(covered_seconds=30.0), silent=gone).gauges["CoveragePercent"]


def test_percentiles_are_utilizations_of_cores_that_exist():
    """Of 1 to 100 percent in steps of one, the p-th percentile is p."""
    state = "b" * 100
    found = rollup(cores(state, tuple(float(one) for one in range(1, 101))))
    names = {number: f"NeuronCoreUtilizationP{number}" for number in (10, 50, 90, 99)}
    assert {number: number for number in names} == {
        number: found.gauges[name] for number, name in names.items()
    }
    assert not set(names.values()) & rollup(cores("??")).gauges.keys()


def test_instances_that_failed_are_named_and_the_others_are_not():
    """Most failures first, then by name; at most 20; none without one."""
    found = rollup(
        *(record(execution_errors=count, ecc_uncorrected_rise=None) for count in (0, 3, None, 7, 3))
    )
    assert [("i-3", 7), ("i-1", 3), ("i-4", 3)] == [
        (one.instance_id, one.count) for one in found.failing["ErrorInstances"]
    ]
    assert {"ErrorInstances"} == found.failing.keys()
    crowd = rollup(*(record(ecc_uncorrected_rise=count) for count in range(300)))
    assert [(f"i-{count}", count) for count in range(299, 279, -1)] == [
        (one.instance_id, one.count) for one in crowd.failing["EccInstances"]
    ]


def test_names_are_bounded_and_numbers_are_not():
    """Fifty silent and fifty duplicate names, of a hundred each."""
    in_progress = RollupInProgress("training", idle_after_minutes=15)
    for number in range(100):
        two = [record(instance_id=f"i-{number:03}", boot=boot) for boot in ("00", LATER_BOOT)]
        in_progress.fold_instance(merge_records(two))
    gone = [SilentInstance(f"i-{number}", None, MINUTE - number) for number in range(6, 106)]
    found = in_progress.finish(gone)
    assert (100, 100) == (found.gauges["SilentInstances"], found.gauges["DuplicateEmitters"])
    assert (MAX_NAMES, MAX_NAMES) == (len(found.silent), len(found.duplicates))
    assert "i-6" == found.silent[0].instance_id
    assert 200 == found.records
