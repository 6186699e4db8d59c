"""Which instance this is, and which cores exist on it."""

from __future__ import annotations

import pytest
from neuron_reports import (
    INSTANCE_ID,
    START_S,
    add,
    closed,
    counters,
    hardware,
    instance,
    memory,
    minute_of,
    new_fold,
    report,
    runtime,
)

BUSY = counters([50, 50])


@pytest.mark.parametrize(
    ("devices", "per_device", "expected"),
    [(1, 4, 4), (16, 2, 32), (16, 4, 64), (16, 64, 1024), (1024, 1, 1024)],
)
def test_cores_are_devices_times_cores_per_device(devices, per_device, expected):
    """Up to 1,024 of them."""
    document = report(neuron_hardware_info=hardware(devices, per_device))
    record = minute_of(document, document)
    assert expected == record.neuron_cores
    assert "u" * expected == record.core_state


def test_the_reported_count_wins_over_the_type():
    """Logical cores can be configured; the table knows the default only."""
    document = report(neuron_hardware_info=hardware(16, 8), instance_info=instance("trn2.48xlarge"))
    assert 128 == minute_of(document).neuron_cores


@pytest.mark.parametrize("unknown", [
    None, hardware(0, 4), hardware(1, 0), hardware(None, None), hardware(-1, -4),
    hardware(16, 65), hardware(1, 2, error="driver is not loaded"),
])  # fmt: skip
def test_a_missing_count_is_the_last_known(unknown):
    """What was once known of this instance stays known, also over a restart."""
    fold = new_fold()
    add(fold, report(neuron_hardware_info=hardware(1, 3)), START_S)
    add(fold, report(neuron_hardware_info=unknown), START_S + 5)
    assert 3 == closed(fold).neuron_cores
    second = new_fold(fold.encode_state())
    add(second, report(runtime(BUSY, memory()), neuron_hardware_info=unknown), START_S + 60)
    assert "bbu" == closed(second).core_state


@pytest.mark.parametrize(
    ("instance_type", "entries", "states"),
    [
        # The table says that cores exist, not what they do.
        ("inf2.24xlarge", [], "?" * 12),
        # Telemetry is telemetry; the cores that nobody lists stay unknown.
        ("inf1.xlarge", [runtime(BUSY)], "bb??"),
        # Nothing else says that they exist.
        ("inf9.large", [runtime(counters({0: 50, 2: 0}), memory({2: 1}))], "b?a"),
        # Zeros nobody measured would look like an instance without work.
        ("inf9.large", [], ""),
    ],
)
def test_a_count_that_was_never_reported_is_that_of_the_type(instance_type, entries, states):
    """And without a known type that of the cores listed."""
    document = report(*entries, neuron_hardware_info=None, instance_info=instance(instance_type))
    record = minute_of(document, document, document)
    assert (states, len(states) or None) == (record.core_state, record.neuron_cores)


@pytest.mark.parametrize(("percent", "states"), [(25, "buuu?b"), (None, "buuu??")])
def test_a_listed_index_beyond_the_count_widens_it(percent, states):
    """A core that is listed exists; what nobody told or listed, or gave a share, is unknown."""
    record = minute_of(report(runtime(counters({0: 50, 5: percent}), memory())))
    assert (states, 6) == (record.core_state, record.neuron_cores)


@pytest.mark.parametrize(("index", "cores", "malformed"), [(1023, 1024, 0), (1024, 4, 1)])
def test_more_than_1024_cores_are_malformed(index, cores, malformed):
    """The last index is 1,023; beyond it the key is dropped and counted, and nothing else is."""
    fold = new_fold()
    add(fold, report(runtime(counters({0: 50, index: 75}), memory())), START_S)
    record = closed(fold)
    assert cores == record.neuron_cores
    assert 50 == record.utilization_percent[0]
    assert malformed == fold.malformed


@pytest.mark.parametrize("key", ["-1", "nc0", "01", " 1", "1.0", "\u0661", "", "9" * 20])
def test_a_key_that_is_no_index_is_malformed(key):
    """It costs itself: dropped and counted."""
    fold = new_fold()
    add(fold, report(runtime(counters({"0": 50, key: 75}), memory())), START_S)
    assert "buuu" == closed(fold).core_state
    assert 1 == fold.malformed


def test_the_instance_is_the_one_that_reports_name():
    """Id, type, region and zone as reported."""
    record = minute_of(report(instance_info=instance("trn1.2xlarge", ultraserver_id="u-1")))
    assert (INSTANCE_ID, False) == (record.instance_id, record.identity_guessed)
    assert ("trn1.2xlarge", "u-1") == (record.instance_type, record.ultraserver_id)
    assert ("us-west-2", "us-west-2d") == (record.region, record.availability_zone)


@pytest.mark.parametrize(
    "info",
    [None, {}, *(instance(instance_id=text) for text in ("", " ", "i-\u00e9", "i-\n", "i" * 129))],
)
def test_an_id_that_may_not_stand_in_a_record_is_no_id(info):
    """As scraped in a pod out of reach of instance metadata; not printable, or too long."""
    record = minute_of(report(instance_info=info))
    assert ("host-guess", True) == (record.instance_id, record.identity_guessed)
    longest = report(instance_info=instance(instance_id="i" * 128))
    assert "i" * 128 == minute_of(longest).instance_id


def test_an_id_once_known_stays_known():
    """Over reports without one and over restarts."""
    fold = new_fold()
    infos = instance(), instance("", instance_id=""), None
    for place, info in enumerate(infos):
        add(fold, report(instance_info=info), START_S + 5 * place)
    record = closed(fold)
    assert (INSTANCE_ID, "inf1.xlarge") == (record.instance_id, record.instance_type)
    second = new_fold(fold.encode_state())
    add(second, report(instance_info=None), START_S + 60)
    assert INSTANCE_ID == closed(second).instance_id


def test_another_instance_in_one_run_shares_nothing_either():
    """A monitor that another instance's reports are piped into: no place and no image is kept."""
    fold = new_fold()
    add(fold, report(instance_info=instance(ultraserver_id="u-1")), START_S)
    add(fold, report(instance_info={"instance_id": "i-2"}), START_S + 5)
    record = closed(fold)
    assert ("i-2", None) == (record.instance_id, record.ultraserver_id)
    assert None is record.region is record.availability_zone is fold.instance.ami_id
    assert "uuuu" == record.core_state, "its hardware is read, though it is the same"


@pytest.mark.parametrize("physical", [1, 8])
@pytest.mark.parametrize("other", [None, -1, 0, 9])
def test_labels_are_those_told_last(physical, other):
    """What is not told again, or cannot be meant, changes nothing; another instance has its own."""
    long = {"neuron_device_version": "v" * 9, "neuroncore_version": None}
    told = report(
        instance_info=instance(instance_name="trainer"),
        neuron_hardware_info=hardware(
            neuron_device_version="v" * 8,
            neuroncore_version="v3d",
            logical_neuroncore_config=physical,
        ),
    )
    again = report(
        instance_info=instance(),
        neuron_hardware_info=hardware(**long, logical_neuroncore_config=other),
    )
    expected = {
        "InstanceName": "trainer", "NeuronDeviceVersion": "v" * 8, "NeuronCoreVersion": "v3d",
        "LogicalNeuronCoreConfig": physical,
    }  # fmt: skip
    assert expected == minute_of(told, again).labels
    assert {} == minute_of(again).labels
    another = report(instance_info=instance("trn1.2xlarge"))
    assert {} == minute_of(told, another).labels
