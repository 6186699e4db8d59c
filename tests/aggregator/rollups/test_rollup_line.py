"""A rollup as EMF lines: its numbers, the names behind them, and what is cut."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from aggregator.rollups.rollup import RollupInProgress, SilentInstance
from aggregator.rollups.rollup_line import due, rollup_line
from aggregator.rollups.sums import FAILING
from neuron_accounts.core_time import CostRules
from neuron_accounts.prices import Prices
from neuron_wire import WireFormatError
from neuron_wire.catalogue import (
    ALARMED,
    DEFAULT_ROLLUP_METRICS,
    FAILURES,
    ROLLUP_NUMBERS,
    members_of,
    rollup_metrics,
)
from neuron_wire.core_members import core_ranges
from neuron_wire.holders import Holder
from neuron_wire.merging import merge_records
from neuron_wire.owners import Owner
from proof.factories.records import LATER_BOOT, MINUTE, record
from tests.aggregator.rollups.rollup_texts import SOME, cores, published, rollup_of


def defined(line):
    """Return the metrics that a line defines, each with its unit."""
    return {
        metric["Name"]: metric["Unit"] for metric in line["_aws"]["CloudWatchMetrics"][0]["Metrics"]
    }


def test_the_line_has_its_kind_and_its_time():
    """The line has its namespace, dimension, timestamp of the minute and publication ID."""
    line = published(rollup_of(record()))
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert "Neuron/Cluster" == directive["Namespace"]
    assert [["ClusterName"]] == directive["Dimensions"]
    assert MINUTE * 60_000 == line["_aws"]["Timestamp"]
    assert {"Schema": 1, "Kind": "rollup", "ClusterName": "training"}.items() <= line.items()
    assert "training@2025-11-24T16:00Z#1" == line["RollupId"]
    assert 1 == line["Publication"]


@pytest.mark.parametrize(
    "metrics", [DEFAULT_ROLLUP_METRICS, ROLLUP_NUMBERS], ids=["default", "all"]
)
def test_every_metric_is_of_the_catalogue_with_its_unit(metrics):
    """The catalogue has every metric with its unit, and full records give every number."""
    line = published(rollup_of(*SOME), metrics=metrics)
    assert {name: metric.unit for name, metric in metrics.items()} == defined(line)
    assert ROLLUP_NUMBERS.keys() <= line.keys()


def test_a_number_is_the_same_as_a_metric_and_as_a_property():
    """The parameter Metrics chooses metrics and never changes a number of the line."""
    rollup = rollup_of(*SOME)
    chosen = rollup_metrics("TeraFlops")[0]
    default = published(rollup)
    other = published(rollup, metrics=chosen)
    assert [*ALARMED, "TeraFlops"] == sorted(defined(other), key=[*ALARMED, "TeraFlops"].index)
    assert default | {"_aws": None} == other | {"_aws": None}


def test_every_member_of_a_rollup_is_written_by_some_rollup():
    """Some rollup writes every member of the catalogue."""
    minute = "2026-11-22T02:10Z"
    holder = Holder(
        "1",
        "n",
        1,
        "t",
        "m",
        minute,
        gone=True,
        assigned_to="o",
        started=minute,
        command="c",
    )
    readings = {"HardwareFaults": 1, "HostCpuPercent": 1.0}
    failures: dict[str, Any] = {
        "ecc_uncorrected_rise": 1,
        "readings": readings,
        "details": dict.fromkeys(FAILURES, 1),
    }
    failures["owners"] = (Owner("0", "m/n-0", "m", "", 100), Owner("1", "m/n-1", "m", "", 2))
    failures["region"] = "us-east-1"
    failing = [
        replace(instance, holders=(holder,), holders_more=2, **failures) for instance in SOME
    ]
    slow = record(instance_id="i-9", utilization_percent=(1.0, 0.0), region="eu-west-1")
    instance_type = "a machine of our own"
    odd = record(instance_id="i-10", instance_type=instance_type, owners_more="1")
    free = cores(
        "u?",
        instance_id="i-12",
        idle=(20, 0),
        executions=0,
        execution_errors=0,
        owners=(Owner("", "s:1", None, "0", None, 20),),
        reservations="unknown",
    )
    rules = CostRules(Prices({"eu-west-1/trn1.2xlarge": 1.0}))
    in_progress = RollupInProgress("training", rules)
    for reported in (*failing, slow, odd):
        twice = merge_records([reported, replace(reported, boot=LATER_BOOT)])
        in_progress.fold_instance(twice._replace(in_other_clusters=True))
    rollup = in_progress.finish([SilentInstance("i-11", "inf2.xlarge", MINUTE - 9)])
    rollup.properties["IdleOwnersLeftOut"] = 1
    before = replace(due(rollup, None).publication, tallies={"Executions": 10**9}, digest="")
    line = json.loads(rollup_line(rollup, MINUTE, due(rollup, before)))
    paths = {"TalliesOverstated"} | _paths(line) | _paths(published(rollup_of(free)))
    assert members_of("rollup").keys() == paths - {"_aws"}


def _paths(line):
    paths = set()
    for name, value in line.items():
        paths.add(name)
        if isinstance(value, list) and isinstance(value[0], dict):
            paths |= {f"{name}.{path}" for element in value for path in _paths(element)}
    return paths


def test_an_absent_metric_is_neither_defined_nor_a_member():
    """A metric without a value is neither defined nor a member of the line."""
    line = published(rollup_of(silent=[SilentInstance("i-1", None, MINUTE - 9)]))
    assert {"Instances", "SilentInstances", "CoveragePercent"} == defined(line).keys()
    shown = {*defined(line), "DuplicateEmitters", "InstancesInOtherClusters", "LateRecords"}
    assert shown == ROLLUP_NUMBERS.keys() & line.keys()


def test_an_absurd_value_costs_its_metric_and_not_the_line():
    """A value above 2^360, CloudWatch's limit, is omitted, and the line keeps its other metrics."""
    line = published(rollup_of(record(tera_flops=2.0**361)))
    assert "TeraFlops" not in line
    assert 1 == line["Instances"]


def test_a_cluster_that_cannot_be_a_dimension_is_refused():
    """A cluster name that cannot be a dimension is refused, because no metric would result."""
    with pytest.raises(WireFormatError):
        published(rollup_of(record(), cluster="prod\u00fcction"))


def test_the_names_behind_the_numbers():
    """
    The line has idle cores with minutes, price and holder, and silent instances with their last
    report.
    """
    held = record(
        holders=(Holder("0-1", "ml/llama", 77, "serve"),),
        holders_more=3,
        owners=(Owner("0", "ml/gemma"), Owner("0-1", "ml/llama", "ml", "", 98, 20)),
        readings={"HostCpuPercent": 19.5},
        details={"ExecutionsTimedOut": 2},
    )
    line = published(rollup_of(held, silent=[SilentInstance("i-9", "inf2.xlarge", MINUTE - 9)]))
    assert [
        {
            "InstanceId": "i-0aaaaaaaaaaaaaaa1",
            "InstanceType": "trn1.2xlarge",
            "NeuronCores": 2,
            "BusyCores": 1,
            "Executions": 100,
            "IdleCores": 1,
            "Cores": "1",
            "IdleMinutes": 20,
            "UsdPerHour": 0.6719,
            "AttachedCores": "1",
            "Holders": [{"Cores": "1", "Name": "ml/llama", "Pid": 77, "Tag": "serve"}],
            "HoldersMore": 3,
            "Owners": [{"Cores": "0-1", "Name": "ml/llama", "Executions": 98}],
            "CoreState": "ba",
            "BusyUtilization": 80.0,
            "HostCpuPercent": 19.5,
        }
    ] == line["TopIdleInstances"]
    assert [
        {"InstanceId": "i-9", "InstanceType": "inf2.xlarge", "LastSeen": "2025-11-24T15:51Z"}
    ] == line["SilentInstanceNames"]
    assert 0.0 == line["NeuronCoreUtilizationP10"]
    assert 80.0 == line["NeuronCoreUtilizationP90"]
    assert [
        {
            "InstanceId": "i-0aaaaaaaaaaaaaaa1",
            "ExecutionErrors": 2,
            "Executions": 100,
            "ExecutionsTimedOut": 2,
            "Owners": ["ml/gemma", "ml/llama"],
        }
    ] == line["ErrorInstances"]
    assert "EccInstances" not in line
    assert "PricesOverridden" not in line


def test_owners_beyond_four_of_an_instance_are_reported_by_their_cores():
    """
    Cores of owners beyond the four listed of an instance are in OwnersMore, unless a listed owner
    also has them.
    """
    owners = [Owner(core_ranges(range(first, 20)), f"ml/{first}") for first in range(10, 16)]
    many = cores(
        "a" * 20 + "u" * 2, idle=(60,) * 22, owners=(*owners, Owner("", "ml/r", None, "20"))
    )
    (entry,) = published(rollup_of(replace(many, owners_more="5,19")))["TopIdleInstances"]
    assert [f"ml/{first}" for first in range(10, 14)] == [
        owner["Name"] for owner in entry["Owners"]
    ]
    assert "5,20" == entry["OwnersMore"]


def test_a_line_with_a_price_has_the_basis_of_the_price():
    """
    A line names the region and date of list prices, never of overrides, and the types without a
    price.
    """
    own = published(rollup_of(record(), prices=Prices({"trn1.2xlarge": 1.0, "inf2.xlarge": 1.0})))
    assert ["trn1.2xlarge"] == own["PricesOverridden"]
    assert 0.5 == own["IdleCostPerHour"]
    assert not {"PricesAsOf", "PriceRegions"} & own.keys()
    listed = published(rollup_of(record()))
    assert "2026-11-22" == listed["PricesAsOf"]
    assert ["us-east-1"] == listed["PriceRegions"]
    unpriced = published(rollup_of(record(instance_type="trn9.huge")))
    assert ["us-east-1/trn9.huge"] == unpriced["UnpricedTypes"]
    assert not {"PricesAsOf", "PriceRegions", "IdleCostPerHour"} & unpriced.keys()


@pytest.mark.parametrize("letter", ["i", '"'])
def test_the_longest_names_and_lists_fit_the_line(letter):
    """
    The line fits with full lists, the longest names of characters that JSON doubles, and every
    second core idle.
    """
    in_progress = RollupInProgress(letter * 255, CostRules())
    state = "ua" * 512
    idle = (20, 30) * 512
    for number in range(300):
        name = f"{number:03}".ljust(128, letter)
        instance_type = f"{chr(ord('a') + number) * 32}.{'x' * 32}" if number < 20 else letter * 128
        instance = record(
            instance_id=name,
            core_state=state,
            utilization_percent=(0.0,) * 1024,
            idle_minutes=idle,
            instance_type=instance_type,
            ecc_uncorrected_rise=1,
            readings={"HardwareFaults": 1},
            holders=(Holder(core_ranges(range(1024)), letter * 128, 1 << 60, letter * 128),) * 8,
        )
        in_progress.fold_instance(
            merge_records([replace(instance, boot=boot) for boot in ("00", LATER_BOOT)])
        )
    gone = [
        SilentInstance(f"s{number:03}".ljust(128, letter), letter * 128, MINUTE - 9)
        for number in range(300)
    ]
    line = published(in_progress.finish(gone))
    assert {"SilentInstances": 300, "DuplicateEmitters": 300}.items() <= line.items()
    assert {"IdleCores": 300 * 1024, "IdleInstanceCount": 300}.items() <= line.items()
    assert 20 == len(line["Types"])
    assert 1 == line["TypesMore"]
    for name in ("SilentInstanceNames", "DuplicateEmitterInstances", *FAILING):
        assert len(line[name]) >= 5, name


def test_what_takes_most_of_the_line_is_cut_first():
    """
    The longest list is cut first: 20 instances with every second of 1,024 cores idle give way to
    silent ones.
    """
    state = "ub" * 512
    idle = (20, 0) * 512
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
    assert ["i-0", "i-1", "i-10"] == [
        instance["InstanceId"] for instance in line["TopIdleInstances"][:3]
    ]
