"""The names behind the numbers, and what is cut where they are too many."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aggregator.rollups.rollup import RollupInProgress, SilentInstance
from aggregator.rollups.sums import FAILING
from neuron_wire.cores import core_ranges
from neuron_wire.holders import Holder
from neuron_wire.merging import merge_records
from neuron_wire.owners import Owner
from neuron_wire.prices import Prices
from proof.factories.records import LATER_BOOT, MINUTE, record
from tests.aggregator.rollups.rollup_lines import cores, published, rollup_of


def test_the_names_behind_the_numbers():
    """Idle cores with minutes, price and holder, silent instances with when they were last seen."""
    held = record(
        holders=(Holder("0-1", "ml/llama", 77, "serve"),), holders_more=3,
        owners=(Owner("0", "ml/gemma"), Owner("0-1", "ml/llama", "ml", "", 98, 20)),
        readings={"HostCpuPercent": 19.5}, details={"ExecutionsTimedOut": 2},
    )  # fmt: skip
    line = published(rollup_of(held, silent=[SilentInstance("i-9", "inf2.xlarge", MINUTE - 9)]))
    assert [
        {
            "InstanceId": "i-0aaaaaaaaaaaaaaa1", "InstanceType": "trn1.2xlarge",
            "NeuronCores": 2, "BusyCores": 1, "Executions": 100, "IdleCores": 1,
            "Cores": "1", "IdleMinutes": 20, "UsdPerHour": 0.6719, "AttachedCores": "1",
            "Holders": [{"Cores": "1", "Name": "ml/llama", "Pid": 77, "Tag": "serve"}],
            "HoldersMore": 3,
            "Owners": [{"Cores": "0-1", "Name": "ml/llama", "Executions": 98}],
            "CoreState": "ba", "BusyUtilization": 80.0, "HostCpuPercent": 19.5,
        }
    ] == line["TopIdleInstances"]  # fmt: skip
    assert [
        {"InstanceId": "i-9", "InstanceType": "inf2.xlarge", "LastSeen": "2025-11-24T15:51Z"}
    ] == line["SilentInstanceNames"]
    assert (0.0, 80.0) == (line["NeuronCoreUtilizationP10"], line["NeuronCoreUtilizationP90"])
    assert [
        {
            "InstanceId": "i-0aaaaaaaaaaaaaaa1", "ExecutionErrors": 2, "Executions": 100,
            "ExecutionsTimedOut": 2, "Owners": ["ml/gemma", "ml/llama"],
        }
    ] == line["ErrorInstances"]  # fmt: skip
    assert "EccInstances" not in line
    assert "PricesOverridden" not in line


def test_owners_beyond_four_of_an_instance_are_told_by_their_cores():
    """Nobody takes them for free cores; a core that a listed one has is not among them."""
    owners = [Owner(core_ranges(range(first, 20)), f"ml/{first}") for first in range(10, 16)]
    many = cores(
        "a" * 20 + "u" * 2, idle=(60,) * 22, owners=(*owners, Owner("", "ml/r", None, "20"))
    )
    (entry,) = published(rollup_of(replace(many, owners_more="5,19")))["TopIdleInstances"]
    assert [f"ml/{first}" for first in range(10, 14)] == [one["Name"] for one in entry["Owners"]]
    assert "5,20" == entry["OwnersMore"]


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
        kind = f"{chr(ord('a') + number) * 32}.{'x' * 32}" if number < 20 else letter * 128
        one = record(
            instance_id=name, core_state=state, utilization_percent=(0.0,) * 1024,
            idle_minutes=idle, instance_type=kind, ecc_uncorrected_rise=1,
            readings={"HardwareFaults": 1},
            holders=(Holder(core_ranges(range(1024)), letter * 128, 1 << 60, letter * 128),) * 8,
        )  # fmt: skip
        in_progress.fold_instance(
            merge_records([replace(one, boot=boot) for boot in ("00", LATER_BOOT)])
        )
    gone = [
        SilentInstance(f"s{number:03}".ljust(128, letter), letter * 128, MINUTE - 9)
        for number in range(300)
    ]
    line = published(in_progress.finish(gone))
    assert {"SilentInstances": 300, "DuplicateEmitters": 300}.items() <= line.items()
    assert {"IdleCores": 300 * 1024, "IdleInstanceCount": 300}.items() <= line.items()
    assert (20, 1) == (len(line["Types"]), line["TypesMore"])
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
    assert [5, 50] == [len(line[name]) for name in ("TopIdleInstances", "SilentInstanceNames")]
    assert 20 == line["IdleInstanceCount"]
    assert ["i-0", "i-1", "i-10"] == [one["InstanceId"] for one in line["TopIdleInstances"][:3]]
