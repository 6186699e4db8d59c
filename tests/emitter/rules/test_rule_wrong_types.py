"""Rule: wrong types. One odd value in one group must not cost the other thirty."""

from __future__ import annotations

import pytest

from proof.factories.reports import Reading, inf1_busy, inf2_loaded, minute_of

PLACES = {
    "neuroncore_counters": ("neuroncores_in_use", "0", "neuroncore_utilization"),
    "execution_stats": ("execution_summary", "completed"),
    "memory_used": ("neuron_runtime_used_bytes", "host"),
}


def spoil(group, value):
    """The inf1 report with a value of a wrong type in one group."""
    document = inf1_busy()
    holder = document["neuron_runtime_data"][0]["report"][group]
    *way, last = PLACES[group]
    for name in way:
        holder = holder[name]
    holder[last] = value
    return document


@pytest.mark.parametrize("value", ["27.4", [27.4], {"mean": 27.4}, True])
@pytest.mark.parametrize("group", PLACES)
def test_wrong_types_never_cost_the_whole_report(group, value):
    """
    Only the failing group is dropped and counted; all the others are as if it had not been due.
    """
    reading, without = Reading(), inf1_busy()
    del without["neuron_runtime_data"][0]["report"][group]
    assert minute_of(without) == reading.minute(spoil(group, value))
    assert (0, 1) == (reading.framer.malformed, reading.fold.groups_dropped)


def test_the_group_is_dropped_of_that_runtime_only():
    """Group by group: the same group of another runtime is read."""
    reading, document = Reading(), inf2_loaded()
    spoiled = spoil("execution_stats", "many")["neuron_runtime_data"][0]
    document["neuron_runtime_data"].append(spoiled)
    assert 34_000 == reading.minute(document).executions
    assert 1 == reading.fold.groups_dropped


@pytest.mark.parametrize("member", ["system_data", "instance_info", "neuron_hardware_info"])
def test_a_top_level_member_is_a_group_too(member):
    """A text where an object belongs costs that member."""
    reading = Reading()
    record = reading.minute({**inf2_loaded(), member: "none"})
    assert (1, 1) == (record.reports, reading.fold.groups_dropped)
    assert 34_000 == record.executions
