"""The instances that a rollup names: those with idle cores, and stragglers."""

from __future__ import annotations

from dataclasses import replace

from aggregator.rollups.instances import MAX_IDLE_INSTANCES
from neuron_wire.holders import Holder
from tests.aggregator.rollups.rollup_texts import cores, rollup


def test_an_instance_has_the_price_of_its_region_or_is_unpriced_and_named():
    """Tokyo is half as much again as Virginia; Trainium2 has no list price anywhere."""

    def idle(region, instance_type):
        return rollup(cores("u", idle=(60,), region=region, instance_type=instance_type))

    virginia = idle("us-east-1", "inf2.48xlarge")
    tokyo = idle("ap-northeast-1", "inf2.48xlarge")
    assert [12.98127, 19.4719] == [one.gauges["IdleCostPerHour"] for one in (virginia, tokyo)]
    assert [["us-east-1"], ["ap-northeast-1"]] == [one.price_regions for one in (virginia, tokyo)]
    trn2 = idle("us-east-2", "trn2.48xlarge")
    assert trn2.gauges.get("IdleCostPerHour") is None
    assert 1 == trn2.gauges["UnpricedCores"]
    assert [] == trn2.price_regions
    assert ["us-east-2/trn2.48xlarge"] == trn2.unpriced_types


def test_the_most_idle_instances_come_first():
    """By idle cores, then by minutes, then by name; at most 20, of however many."""
    few = cores("uu", idle=(20, 0), instance_id="i-few")
    many = cores("uuu", idle=(15, 16, 17), instance_id="i-many")
    longer = cores("uu", idle=(0, 30), instance_id="i-longer")
    found = rollup(few, many, longer)
    assert [("i-many", (0, 1, 2), 17), ("i-longer", (1,), 30), ("i-few", (0,), 20)] == [
        (instance.instance_id, tuple(instance.cores), instance.minutes)
        for instance in found.idle_instances
    ]
    crowd = rollup(*(cores("u", idle=(15 + one,), instance_id=f"i-{one:04}") for one in range(999)))
    assert MAX_IDLE_INSTANCES == len(crowd.idle_instances)
    assert 999 == crowd.gauges["IdleInstanceCount"]
    assert "i-0998" == crowd.idle_instances[0].instance_id


def test_an_idle_instance_names_the_holders_of_its_cores():
    """Of the idle cores only: a held core that has not been idle for long is no news yet."""
    one = cores("aaub", idle=(20, 3, 20, 0))
    one = replace(one, holders=(Holder("0-1", "ml/llama", 7), Holder("1", "ml/new", 8)))
    (idle,) = rollup(one).idle_instances
    assert [0, 2] == idle.cores
    assert [0] == idle.attached
    assert [Holder("0", "ml/llama", 7)] == idle.holders
    assert 0 == idle.holders_more


def busy(percent, **changes):
    """An instance with one core at *percent*, and one at nothing."""
    return cores("bu", (percent, 0.0), **changes)


def test_stragglers_farthest_behind_come_first():
    """By their share of the median, of whichever type; at most 20 of however many."""
    crowd = [busy(80.0) for _ in range(60)]
    slow = [busy((30 - one) / 100 + 1, instance_id=f"i-slow-{one:02}") for one in range(30)]
    found = rollup(*crowd, *slow)
    assert 30 == found.gauges["Stragglers"]
    assert [f"i-slow-{one}" for one in range(29, 9, -1)] == [
        straggler.instance_id for straggler in found.stragglers
    ]
    assert 1.01 == found.stragglers[0].busy_percent
    assert 80.0 == found.stragglers[0].median_percent
