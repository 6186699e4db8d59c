"""The names behind the numbers, and what is cut where they are too many."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aggregator.rollups.amounts import FAILING
from aggregator.rollups.rollup import RollupInProgress, SilentInstance
from neuron_wire.holders import Holder, core_ranges
from neuron_wire.merging import merge
from neuron_wire.prices import Prices
from proof.factories.records import LATER_BOOT, MINUTE, full_record, record, some_holders
from tests.aggregator.rollups.rollup_lines import SOME, published, rollup_of


def test_the_names_behind_the_numbers():
    """Idle cores with minutes, price and holder, silent instances with when they were last seen."""
    held = record(holders=(Holder("0-1", "ml/llama", 77, "serve"),), holders_more=3)
    line = published(rollup_of(held, silent=[SilentInstance("i-9", "inf2.xlarge", MINUTE - 9)]))
    assert [
        {
            "InstanceId": "i-0aaaaaaaaaaaaaaa1", "InstanceType": "trn1.2xlarge",
            "NeuronCores": 2, "BusyCores": 1, "Executions": 100, "IdleCores": 1,
            "Cores": "1", "IdleMinutes": 20, "UsdPerHour": 0.6719, "AttachedCores": "1",
            "Holders": [{"Cores": "1", "Name": "ml/llama", "Pid": 77, "Tag": "serve"}],
            "HoldersMore": 3,
        }
    ] == line["TopIdleInstances"]  # fmt: skip
    assert [
        {"InstanceId": "i-9", "InstanceType": "inf2.xlarge", "LastSeen": "2025-11-24T15:51Z"}
    ] == line["SilentInstanceNames"]
    assert (0.0, 80.0) == (line["NeuronCoreUtilizationP10"], line["NeuronCoreUtilizationP90"])
    assert [{"InstanceId": "i-0aaaaaaaaaaaaaaa1", "ExecutionErrors": 2}] == line["ErrorInstances"]
    assert "EccInstances" not in line
    assert "PricesOverridden" not in line


def test_unattached_idle_cores_are_held_by_nobody():
    """Whatever else the instance's runtimes hold."""
    free = record(
        core_state="au",
        idle_minutes=(3, 20),
        utilization_percent=(0.0, 0.0),
        holders=(Holder("0", "ml/llama"),),
        holders_more=3,
    )
    (idle,) = published(rollup_of(free))["TopIdleInstances"]
    assert "1" == idle["Cores"]
    assert not {"AttachedCores", "Holders", "HoldersMore"} & idle.keys()


def test_stragglers_are_named_with_what_is_usual():
    """At 39 % where 80 % is usual."""
    slow = record(instance_id="i-9", utilization_percent=(39.0, 0.0))
    line = published(rollup_of(*SOME, slow))
    assert 1 == line["Stragglers"]
    told = {"InstanceType": "trn1.2xlarge", "BusyUtilization": 39, "TypeMedian": 80}
    assert [{"InstanceId": "i-9", **told}] == line["StragglerInstances"]


def test_instances_with_uncorrectable_errors_or_hardware_faults_are_named():
    """Those with most first; none where nobody reads kernel messages or none told of a fault."""
    hit = (
        replace(one, ecc_uncorrected_rise=n, readings={"HardwareFaults": n})
        for n, one in enumerate(SOME)
    )
    line = published(rollup_of(*hit))
    for names, metric in (
        ("EccInstances", "EccUncorrectedRise"),
        ("FaultyInstances", "HardwareFaults"),
    ):
        assert [{"InstanceId": f"i-{n}", metric: n} for n in (3, 2, 1)] == line[names]
    line = published(rollup_of(replace(SOME[0], readings={}), *SOME[1:]))
    assert "FaultyInstances" not in line


def test_a_line_with_a_price_says_whose_price_it_is():
    """Region and date of the list, never of overrides; what has no price is named as one has it."""
    own = published(rollup_of(record(), prices=Prices({"trn1.2xlarge": 1.0, "inf2.xlarge": 1.0})))
    assert (["trn1.2xlarge"], 0.5) == (own["PricesOverridden"], own["IdleCostPerHour"])
    assert not {"PricesAsOf", "PriceRegions"} & own.keys()
    listed = published(rollup_of(record()))
    assert ("2026-11-22", ["us-east-1"]) == (listed["PricesAsOf"], listed["PriceRegions"])
    unpriced = published(rollup_of(record(instance_type="trn9.huge")))
    assert ["us-east-1/trn9.huge"] == unpriced["UnpricedTypes"]
    assert not {"PricesAsOf", "PriceRegions", "IdleCostPerHour"} & unpriced.keys()


def test_duplicate_emitters_are_named():
    """So that somebody can stop one of the two."""
    in_progress = RollupInProgress("training", idle_after_minutes=15)
    in_progress.add(merge([record(), record(boot=LATER_BOOT)]))
    assert ["i-0aaaaaaaaaaaaaaa1"] == published(in_progress.finish([]))["DuplicateEmitterInstances"]


@pytest.mark.parametrize("letter", ["i", '"'])
def test_the_longest_names_and_lists_fit_the_line(letter):
    """
    Every list full, every name at its longest, every second core idle, and
    each character one that JSON doubles.
    """
    in_progress = RollupInProgress(letter * 255, idle_after_minutes=15)
    state, idle = "ua" * 512, (20, 30) * 512
    for number in range(300):
        name = f"{number:03}".ljust(128, letter)
        one = record(
            instance_id=name, core_state=state, utilization_percent=(0.0,) * 1024,
            idle_minutes=idle, instance_type=letter * 128, ecc_uncorrected_rise=1,
            readings={"HardwareFaults": 1},
            holders=(Holder(core_ranges(range(1024)), letter * 128, 1 << 60, letter * 128),) * 8,
        )  # fmt: skip
        in_progress.add(merge([replace(one, boot=boot) for boot in ("00", LATER_BOOT)]))
    gone = [
        SilentInstance(f"s{number:03}".ljust(128, letter), letter * 128, MINUTE - 9)
        for number in range(300)
    ]
    line = published(in_progress.finish(gone))
    assert {"SilentInstances": 300, "DuplicateEmitters": 300}.items() <= line.items()
    assert {"IdleCores": 300 * 1024, "IdleInstanceCount": 300}.items() <= line.items()
    assert 1 == line["TypesWithoutLine"]
    for name in ("SilentInstanceNames", "DuplicateEmitterInstances", *FAILING):
        assert len(line[name]) >= 5, name


def test_what_takes_most_of_the_line_is_cut_first():
    """
    Twenty instances with every second of 1,024 cores idle leave no room; the silent ones stay.
    """
    state, idle = "ub" * 512, (20, 0) * 512
    crowd = [
        record(
            instance_id=f"i-{number}",
            core_state=state,
            idle_minutes=idle,
            utilization_percent=(0.0, 9.0) * 512,
        )
        for number in range(20)
    ]
    gone = [SilentInstance(f"s-{number}", None, MINUTE - 9) for number in range(50)]
    line = published(rollup_of(*crowd, silent=gone))
    assert [10, 50] == [len(line[name]) for name in ("TopIdleInstances", "SilentInstanceNames")]
    assert 20 == line["IdleInstanceCount"]
    assert ["i-0", "i-1", "i-10"] == [one["InstanceId"] for one in line["TopIdleInstances"][:3]]


def test_a_large_cluster_is_a_short_line():
    """A thousand full instances with eight holders each: below the limit without a cut."""
    crowd = [replace(full_record(32, seed), holders=some_holders(32, seed)) for seed in range(1000)]
    line = published(rollup_of(*crowd))
    assert 20 == len(line["TopIdleInstances"]) == len(line["ErrorInstances"])
