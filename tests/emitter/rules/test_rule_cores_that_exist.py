"""Rule: cores that exist. Of 64 cores that somebody paid for, 40 were ever listed."""

from __future__ import annotations

import pytest

from proof.factories.groups import core_counters, instance_info, runtime
from proof.factories.reports import (
    Reading,
    inf1_busy,
    inf2_loaded,
    minute_of,
    trn1_job,
    trn1_nobody,
    trn2_logical,
)


def hardware(devices, cores_per_device):
    """`neuron_hardware_info` as older tools had it."""
    return {
        "neuron_device_count": devices,
        "neuroncore_per_device_count": cores_per_device,
        "error": "",
    }


@pytest.mark.parametrize(("document", "cores"), [
    (inf1_busy(), 4), (inf2_loaded(), 2), (trn1_job([1.0] * 32), 32), (trn2_logical(), 64),
])  # fmt: skip
def test_devices_times_cores_of_a_device(document, cores):
    """`neuron_device_count * neuroncore_per_device_count`."""
    assert cores == minute_of(document).neuron_cores


@pytest.mark.parametrize("missing", [hardware(0, 0), hardware(None, None), hardware(1, 0), None])
def test_missing_or_0_is_the_last_known_of_this_instance(missing):
    """Missing or 0: the last known of this instance, also over a restart."""
    reading = Reading()
    reading.minute(trn1_nobody(neuron_hardware_info=hardware(3, 2)))
    document = trn1_nobody(neuron_hardware_info=missing)
    assert 6 == reading.minute(document, number=1).neuron_cores
    assert 6 == Reading(reading.fold.state()).minute(document, number=2).neuron_cores


@pytest.mark.parametrize("missing", [hardware(0, 0), None])
def test_else_the_instance_type_table_all_unknown(missing):
    """Else the instance-type table (all unknown): a host whose driver is gone does not vanish."""
    record = minute_of(
        trn1_nobody(
            neuron_runtime_data=None,
            neuron_hardware_info=missing,
            instance_info=instance_info("trn1.32xlarge"),
        )
    )
    assert "?" * 32 == record.core_state


def listing(*keys):
    """An inf1 report whose one runtime lists cores with these keys."""
    document = inf1_busy()
    counters = core_counters([0])
    counters["neuroncores_in_use"] = {key: {"neuroncore_utilization": 50.0} for key in keys}
    document["neuron_runtime_data"] = [runtime(1, "1", neuroncore_counters=counters)]
    return document


def test_an_index_beyond_widens_it():
    """An index beyond widens it, to 1,024 at most."""
    assert 6 == minute_of(listing("0", "5")).neuron_cores
    assert 1024 == minute_of(listing("1023")).neuron_cores


@pytest.mark.parametrize("key", ["1024", "99999999999999999999", "-1", "x", "", "1.5", "\u0663"])
def test_more_is_malformed_and_counted(key):
    """More is malformed, counted."""
    reading = Reading()
    assert 4 == reading.minute(listing("0", key)).neuron_cores
    assert 1 == reading.fold.malformed


def test_keys_sort_as_integers():
    """Keys sort as integers: "10" is not the third core."""
    percents = [round(1.5 * core, 2) for core in range(32)]
    found = minute_of(trn1_job(percents)).utilization_percent
    assert tuple(percents) == found
    assert sorted(map(str, range(32)))[2] == "10"
