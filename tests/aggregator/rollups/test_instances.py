"""The instances that a rollup names: instances with idle cores, and stragglers."""

from __future__ import annotations

from dataclasses import replace

from aggregator.rollups.instances import MAX_IDLE_INSTANCES
from neuron_wire.holders import Holder
from tests.aggregator.rollups.rollup_texts import cores, rollup


def test_an_instance_has_the_price_of_its_region_or_is_unpriced_and_named():
    """
    An instance has the price of its region, or is unpriced and named: Trainium2 has no list price.
    """

    def idle(region, instance_type):
        return rollup(cores("u", idle=(60,), region=region, instance_type=instance_type))

    virginia = idle("us-east-1", "inf2.48xlarge")
    tokyo = idle("ap-northeast-1", "inf2.48xlarge")
    assert [12.98127, 19.4719] == [region.gauges["IdleCostPerHour"] for region in (virginia, tokyo)]
    assert [["us-east-1"], ["ap-northeast-1"]] == [
        region.lists["PriceRegions"] for region in (virginia, tokyo)
    ]
    trn2 = idle("us-east-2", "trn2.48xlarge")
    assert trn2.gauges.get("IdleCostPerHour") is None
    assert 1 == trn2.gauges["UnpricedCores"]
    assert "PriceRegions" not in trn2.lists
    assert ["us-east-2/trn2.48xlarge"] == trn2.lists["UnpricedTypes"]


def test_the_most_idle_instances_come_first():
    """The 20 instances with most idle cores are named, then by idle minutes, then by name."""
    few = cores("uu", idle=(20, 0), instance_id="i-few")
    many = cores("uuu", idle=(15, 16, 17), instance_id="i-many")
    longer = cores("uu", idle=(0, 30), instance_id="i-longer")
    named = rollup(few, many, longer)
    assert [("i-many", "0-2", 17), ("i-longer", "1", 30), ("i-few", "0", 20)] == [
        (row["InstanceId"], row["Cores"], row["IdleMinutes"])
        for row in named.lists["TopIdleInstances"]
    ]
    crowd = rollup(
        *(cores("u", idle=(15 + number,), instance_id=f"i-{number:04}") for number in range(999))
    )
    assert MAX_IDLE_INSTANCES == len(crowd.lists["TopIdleInstances"])
    assert 999 == crowd.gauges["IdleInstanceCount"]
    assert "i-0998" == crowd.lists["TopIdleInstances"][0]["InstanceId"]


def test_an_idle_instance_names_the_holders_of_its_cores():
    """
    An idle instance names the holders of its idle cores, and not of cores that are not idle yet.
    """
    instance = cores("aaub", idle=(20, 3, 20, 0))
    instance = replace(instance, holders=(Holder("0-1", "ml/llama", 7), Holder("1", "ml/new", 8)))
    (idle,) = rollup(instance).lists["TopIdleInstances"]
    assert "0,2" == idle["Cores"]
    assert "0" == idle["AttachedCores"]
    assert [{"Cores": "0", "Name": "ml/llama", "Pid": 7}] == idle["Holders"]
    assert "HoldersMore" not in idle


def busy(percent, **changes):
    """Return an instance with one core at *percent* and one core at 0."""
    return cores("bu", (percent, 0.0), **changes)


def test_stragglers_farthest_behind_come_first():
    """The 20 farthest stragglers are named by their share of the median of their type."""
    crowd = [busy(80.0) for _ in range(60)]
    slow = [
        busy((30 - number) / 100 + 1, instance_id=f"i-slow-{number:02}") for number in range(30)
    ]
    named = rollup(*crowd, *slow)
    assert 30 == named.gauges["Stragglers"]
    assert [f"i-slow-{number}" for number in range(29, 9, -1)] == [
        row["InstanceId"] for row in named.lists["StragglerInstances"]
    ]
    assert 1.01 == named.lists["StragglerInstances"][0]["BusyUtilization"]
    assert 80.0 == named.lists["StragglerInstances"][0]["TypeMedian"]
