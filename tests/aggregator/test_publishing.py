"""
A rollup as one EMF line.
"""

from __future__ import annotations

import json

import pytest

from aggregator.merge import merge
from aggregator.publication import due
from aggregator.publishing import MAX_LINE_BYTES, line_of, ranges
from aggregator.registry import Silent
from aggregator.rollup import RollupInProgress
from neuron_wire import emf
from neuron_wire.catalogue import ROLLUP
from tests.aggregator.made_records import LATER_BOOT, MINUTE, full_record, record


def published(rollup) -> dict:
    """
    The line of the rollup's first publication, read back.
    """
    line = line_of(rollup, MINUTE, due(rollup, None))
    assert [] == emf.violations(line, now_ms=MINUTE * 60_000)
    assert len(line.encode()) <= MAX_LINE_BYTES
    return json.loads(line)


def rollup_of(*records, silent=(), cluster="training"):
    """
    The rollup of records of different instances.
    """
    in_progress = RollupInProgress(cluster, idle_after_minutes=15)
    for one in records:
        in_progress.add(merge([one]))
    return in_progress.finish(silent)


def test_the_line_says_what_it_is_and_when():
    """
    Namespace, dimension, timestamp of the minute, and an id of the publication.
    """
    line = published(rollup_of(record()))
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert "Neuron/Cluster" == directive["Namespace"]
    assert [["ClusterName"]] == directive["Dimensions"]
    assert MINUTE * 60_000 == line["_aws"]["Timestamp"]
    assert (1, "rollup", "training", "training@2025-11-24T16:00Z#1", 1) == (
        line["Schema"],
        line["Kind"],
        line["ClusterName"],
        line["RollupId"],
        line["Publication"],
    )


def test_every_metric_is_of_the_catalogue_with_its_unit():
    """
    A full record gives every metric there is, each defined as the catalogue says.
    """
    line = published(rollup_of(record()))
    definitions = line["_aws"]["CloudWatchMetrics"][0]["Metrics"]
    assert {name: metric.unit for name, metric in ROLLUP.items()} == {
        one["Name"]: one["Unit"] for one in definitions
    }


def test_an_absent_metric_is_neither_defined_nor_a_member():
    """
    Missing is missing, down to the line.
    """
    line = published(rollup_of(silent=[Silent("i-1", None, MINUTE - 9)]))
    names = {one["Name"] for one in line["_aws"]["CloudWatchMetrics"][0]["Metrics"]}
    assert {
        "Instances",
        "SilentInstances",
        "DuplicateEmitters",
        "CoveragePercent",
        "LateRecords",
    } == (names)
    assert not (ROLLUP.keys() - names) & line.keys()


def test_the_names_behind_the_numbers():
    """
    Idle cores with minutes and price, silent instances with when they were last seen.
    """
    line = published(rollup_of(record(), silent=[Silent("i-9", "inf2.xlarge", MINUTE - 9)]))
    assert [
        {
            "InstanceId": "i-0aaaaaaaaaaaaaaa1",
            "InstanceType": "trn1.2xlarge",
            "IdleCores": 1,
            "Cores": "1",
            "IdleMinutes": 20,
            "UsdPerHour": 0.6719,
        }
    ] == line["TopIdleInstances"]
    assert [
        {"InstanceId": "i-9", "InstanceType": "inf2.xlarge", "LastSeen": "2025-11-24T15:51Z"}
    ] == line["SilentInstanceNames"]
    assert (0.0, 80.0) == (line["NeuronCoreUtilizationP10"], line["NeuronCoreUtilizationP90"])


def test_duplicate_emitters_are_named():
    """
    So that somebody can stop one of the two.
    """
    in_progress = RollupInProgress("training", idle_after_minutes=15)
    in_progress.add(merge([record(), record(boot=LATER_BOOT)]))
    assert ["i-0aaaaaaaaaaaaaaa1"] == published(in_progress.finish([]))["DuplicateEmitterInstances"]


def test_an_absurd_value_costs_its_metric_and_not_the_line():
    """
    2^360 is the most that CloudWatch takes.
    """
    line = published(rollup_of(record(tera_flops=2.0**361)))
    assert "TeraFlops" not in line
    assert 1 == line["Instances"]


@pytest.mark.parametrize("letter", ["i", '"'])
def test_the_longest_names_and_lists_fit_the_line(letter):
    """
    Every list full, every name at its longest, every second core idle, and
    each character one that JSON doubles.
    """
    in_progress = RollupInProgress(letter * 255, idle_after_minutes=15)
    state, idle = "ua" * 512, (99, 0) * 512
    for number in range(300):
        name = f"{number:03}".ljust(128, letter)
        in_progress.add(
            merge(
                [
                    record(
                        instance_id=name,
                        boot=boot,
                        core_state=state,
                        utilization_percent=(0.0,) * 1024,
                        idle_minutes=idle,
                        instance_type=letter * 128,
                    )
                    for boot in ("00", LATER_BOOT)
                ]
            )
        )
    gone = [
        Silent(f"s{number:03}".ljust(128, letter), letter * 128, MINUTE - 9)
        for number in range(300)
    ]
    line = published(in_progress.finish(gone))
    assert (300, 300, 300 * 512) == (
        line["SilentInstances"],
        line["DuplicateEmitters"],
        line["IdleCores"],
    )
    assert line["TopIdleInstances"][0]["Cores"].endswith(",and 480 more")


def test_a_large_cluster_is_a_short_line():
    """
    A thousand full instances: far below the limit.
    """
    line = rollup_of(*(full_record(32, seed) for seed in range(1000)))
    assert 8_000 > len(json.dumps(published(line)))


@pytest.mark.parametrize(
    ("cores", "text"),
    [((), ""), ((3,), "3"), ((0, 1, 2, 3), "0-3"), ((0, 1, 4, 6, 7), "0-1,4,6-7")],
)
def test_cores_are_written_as_ranges(cores, text):
    """
    Neighbours together, single cores alone.
    """
    assert text == ranges(cores)


def test_more_than_32_ranges_are_counted():
    """
    The 33rd range and what follows becomes a number of cores.
    """
    assert ranges(range(0, 64, 2)).endswith(",62")
    assert ranges(range(0, 66, 2)).endswith(",62,and 1 more")
