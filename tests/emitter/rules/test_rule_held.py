"""Rule: held. Every core of a host was "in use" by a runtime that used one of 32."""

from __future__ import annotations

import pytest

from proof.factories.groups import USES, core_counters, loaded_model, memory_used
from proof.factories.reports import Reading, inf1_busy, minute_of, trn1_job


def idle(**memory):
    """An inf1 report whose one runtime does nothing, with this `memory_used`."""
    groups = {"memory_used": memory_used(cores=4, **memory)} if memory else {}
    document = inf1_busy([0, 0, 0, 0], **groups)
    if not memory:
        del document["neuron_runtime_data"][0]["report"]["memory_used"]
    return document


def test_utilization_above_0_is_holding():
    """Held: utilization > 0, however low."""
    record = minute_of(inf1_busy([0.4, 0, 0.01, 0], memory_used=memory_used(cores=4)))
    assert "auau" == record.core_state


@pytest.mark.parametrize("use", USES)
def test_any_bytes_on_the_core_are_holding(use):
    """Or any `neuroncore_memory_usage` bytes on the core, whatever they are for."""
    document = idle(models=[])
    memory = document["neuron_runtime_data"][0]["report"]["memory_used"]
    memory["neuron_runtime_used_bytes"]["usage_breakdown"]["neuroncore_memory_usage"]["2"][use] = 1
    assert "uuau" == minute_of(document).core_state


def test_a_loaded_subgraph_is_holding():
    """Or a loaded subgraph on it: inf1 reports no device bytes beside its models."""
    assert "uuua" == minute_of(idle(models=[(0, 3)])).core_state


def test_a_subgraphs_core_counts_within_its_device():
    """
    A subgraph's core is `neuron_device_index * neuroncore_per_device_count + neuroncore_index`:
    it agrees with the memory table for 32 of 32 runtimes.
    """
    with_models = trn1_job([0.0] * 32, models=1)
    with_models["neuron_runtime_data"] = with_models["neuron_runtime_data"][1::2]
    without_bytes = trn1_job([0.0] * 32, models=1)
    without_bytes["neuron_runtime_data"] = without_bytes["neuron_runtime_data"][1::2]
    for one in without_bytes["neuron_runtime_data"]:
        models = one["report"]["memory_used"]["loaded_models"]
        one["report"]["memory_used"] = {**memory_used(cores=32), "loaded_models": models}
    assert "ua" * 16 == minute_of(with_models).core_state
    assert "ua" * 16 == minute_of(without_bytes).core_state


@pytest.mark.parametrize("is_running", [True, False, None])
def test_is_running_is_ignored(is_running):
    """Ignore `is_running`: it was false on cores that worked."""
    document = idle(models=[])
    model = {**loaded_model(0, 1), "is_running": is_running}
    document["neuron_runtime_data"][0]["report"]["memory_used"]["loaded_models"] = [model]
    assert "uauu" == minute_of(document).core_state


def test_listing_a_core_is_not_holding_it():
    """Listing a core is not holding it: cores 2 and 3 of a runtime that uses 0 and 1."""
    assert "bbuu" == minute_of(inf1_busy()).core_state


@pytest.mark.parametrize("error", [None, "cannot read memory"])
def test_except_that_a_runtime_without_a_usable_memory_group_holds_every_core_it_lists(error):
    """Except that a runtime without a usable memory group holds every core it lists."""
    document = idle()
    if error is not None:
        document = idle(models=[(0, 3)])
        document["neuron_runtime_data"][0]["report"]["memory_used"]["error"] = error
    assert "aaaa" == minute_of(document).core_state


def test_the_evidence_is_the_minutes_last_report_that_had_the_group():
    """Evidence: the minute's last report that had the group, not one without it that follows."""
    assert (
        "uaau" == minute_of(idle(models=[(0, 0)]), idle(models=[(0, 1), (0, 2)]), idle()).core_state
    )


def test_evidence_of_an_earlier_minute_does_not_count():
    """Each minute has its own."""
    reading = Reading()
    assert "auuu" == reading.minute(idle(models=[(0, 0)])).core_state
    assert "uauu" == reading.minute(idle(models=[(0, 1)]), number=1).core_state


def test_a_core_that_did_anything_in_the_minute_was_held():
    """A runtime used the core in this minute, also one that has left it since."""
    first = inf1_busy(neuroncore_counters=core_counters([5.0, 0, 0, 0]))
    record = minute_of(first, *[{**first, "neuron_runtime_data": []}] * 11)
    assert ("auuu", 0.42) == (record.core_state, record.utilization_percent[0])
