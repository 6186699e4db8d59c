"""A rollup as EMF lines."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from aggregator.rollups.line import lines_of
from aggregator.rollups.publication import due
from aggregator.rollups.rollup import RollupInProgress, SilentInstance
from neuron_wire import WireFormatError
from neuron_wire.catalogue import BY_TYPE, ROLLUP, members_of
from neuron_wire.holders import Holder
from neuron_wire.merging import merge
from neuron_wire.owners import Owner
from neuron_wire.prices import Prices
from proof.factories.records import LATER_BOOT, MINUTE, record
from tests.aggregator.rollups.rollup_lines import SOME, all_published, cores, published, rollup_of


def defined(line):
    """The metrics that a line defines, each with its unit."""
    return {one["Name"]: one["Unit"] for one in line["_aws"]["CloudWatchMetrics"][0]["Metrics"]}


def test_the_line_says_what_it_is_and_when():
    """Namespace, dimension, timestamp of the minute, and an id of the publication."""
    line = published(rollup_of(record()))
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert "Neuron/Cluster" == directive["Namespace"]
    assert [["ClusterName"]] == directive["Dimensions"]
    assert MINUTE * 60_000 == line["_aws"]["Timestamp"]
    assert {"Schema": 1, "Kind": "rollup", "ClusterName": "training"}.items() <= line.items()
    assert ("training@2025-11-24T16:00Z#1", 1) == (line["RollupId"], line["Publication"])


def test_every_metric_is_of_the_catalogue_with_its_unit():
    """Full records give every metric there is, each defined as the catalogue says."""
    assert {name: one.unit for name, one in ROLLUP.items()} == defined(published(rollup_of(*SOME)))


def test_every_member_of_a_rollup_is_written_by_some_rollup():
    """The catalogue describes no member that does not exist."""
    holder = Holder("1", "n", 1, "t", "m", "2026-11-22T02:10Z", gone=True)
    failures = {"ecc_uncorrected_rise": 1, "readings": {"HardwareFaults": 1}}
    failures["owners"] = (Owner("0-1", "n", "m"),)
    failing = [replace(one, holders=(holder,), holders_more=2, **failures) for one in SOME]
    slow = record(instance_id="i-9", utilization_percent=(1.0, 0.0), region="eu-west-1")
    odd = record(instance_id="i-10", instance_type="a machine of our own")
    in_progress = RollupInProgress("training", 15, Prices({"eu-west-1/trn1.2xlarge": 1.0}))
    for one in (*failing, slow, odd):
        in_progress.add(merge([one, replace(one, boot=LATER_BOOT)]))
    rollup = in_progress.finish([SilentInstance("i-11", "inf2.xlarge", MINUTE - 9)])
    rollup = replace(rollup, idle_owners_left_out=1)
    before = replace(due(rollup, None).publication, tallies={"Executions": 10**9}, digest="")
    line = json.loads(lines_of(rollup, MINUTE, due(rollup, before))[-1])
    found = {"TalliesOverstated"} | _paths(line)
    assert members_of("rollup").keys() - {"Executions"} == found - {"_aws"}


def _paths(line):
    found = set()
    for name, value in line.items():
        found.add(name)
        if isinstance(value, list) and isinstance(value[0], dict):
            found |= {f"{name}.{path}" for one in value for path in _paths(one)}
    return found


def test_an_absent_metric_is_neither_defined_nor_a_member():
    """Missing is missing, down to the line."""
    line = published(rollup_of(silent=[SilentInstance("i-1", None, MINUTE - 9)]))
    names = defined(line).keys()
    expected = "Instances SilentInstances DuplicateEmitters CoveragePercent LateRecords"
    assert set(expected.split()) == names
    assert not (ROLLUP.keys() - names) & line.keys()


def test_each_type_has_a_line_before_the_line_of_the_cluster():
    """In the order of their names, with both dimensions, gauges only, and an id of their own."""
    records = [
        record(instance_id="i-1", instance_type="trn1.2xlarge"),
        cores("??", instance_id="i-2", instance_type="inf2.xlarge"),
        record(instance_id="i-3", instance_type=None),
    ]
    first, second, last = all_published(rollup_of(*records))
    assert ["type", "type", "rollup"] == [one["Kind"] for one in (first, second, last)]
    assert ["inf2.xlarge", "trn1.2xlarge"] == [first["InstanceType"], second["InstanceType"]]
    (directive,) = second["_aws"]["CloudWatchMetrics"]
    assert "Neuron/Cluster" == directive["Namespace"]
    assert [["ClusterName", "InstanceType"]] == directive["Dimensions"]
    assert {name: one.unit for name, one in BY_TYPE.items()} == defined(second)
    assert {"Instances": 1, "NeuronCores": 2}.items() <= first.items()
    assert ["Instances", "NeuronCores"] == list(defined(first))
    assert "training@2025-11-24T16:00Z#1/inf2.xlarge" == first["RollupId"]
    assert members_of("type").keys() == second.keys() - {"_aws"}
    assert 3 == last["Instances"]


def test_the_type_of_a_silent_instance_goes_on_being_published():
    """No instance of it reported, and nothing else is known of it."""
    gone = [
        SilentInstance(name, kind, MINUTE - 9)
        for name, kind in (("i-1", "inf2.xlarge"), ("i-2", None))
    ]
    first, last = all_published(rollup_of(silent=gone))
    assert ("inf2.xlarge", 0) == (first["InstanceType"], first["Instances"])
    assert ["Instances"] == list(defined(first))
    assert 2 == last["SilentInstances"]


def test_an_absurd_value_costs_its_metric_and_not_the_line():
    """2^360 is the most that CloudWatch takes."""
    line = published(rollup_of(record(tera_flops=2.0**361)))
    assert "TeraFlops" not in line
    assert 1 == line["Instances"]


def test_a_cluster_that_cannot_be_a_dimension_is_refused():
    """Nothing of it would become a metric."""
    with pytest.raises(WireFormatError):
        published(rollup_of(record(), cluster="prod\u00fcction"))
