"""The instance and its cores: identity, number of cores, labels and facts."""

from __future__ import annotations

from typing import Any

import pytest

from neuron_emitter.instance.instance_facts import InstanceFacts
from proof.factories.records import AN_INSTANCE
from tests.neuron_emitter.neuron_reports import (
    REPORTS_START_S,
    add,
    closed,
    counters,
    hardware,
    hardware_counters,
    instance,
    memory,
    minute_of,
    new_fold,
    report,
    runtime,
)

BUSY_COUNTERS = counters([50, 50])


@pytest.mark.parametrize(
    ("devices", "per_device", "expected"),
    [(1, 4, 4), (16, 2, 32), (16, 4, 64), (16, 64, 1024), (1024, 1, 1024)],
)
def test_cores_are_devices_times_cores_per_device(devices, per_device, expected):
    """Cores are devices times cores per device, up to 1,024."""
    document = report(neuron_hardware_info=hardware(devices, per_device))
    record = minute_of(document, document)
    assert "u" * expected == record.core_state


@pytest.mark.parametrize(
    "unknown",
    [
        None,
        hardware(0, 4),
        hardware(1, 0),
        hardware(None, None),
        hardware(-1, -4),
        hardware(16, 65),
        hardware(1, 2, error="driver is not loaded"),
    ],
)
def test_a_missing_count_is_the_last_known(unknown):
    """
    A missing core count is the last known count, also after a restart.

    If the devices are not visible, a core that no runtime lists is unknown.
    """
    fold = new_fold()
    add(fold, report(neuron_hardware_info=hardware(1, 3)), REPORTS_START_S)
    add(fold, report(neuron_hardware_info=unknown), REPORTS_START_S + 5)
    assert 3 == len(closed(fold).core_state)
    second = new_fold(fold.encode_state())
    add(
        second,
        report(runtime(BUSY_COUNTERS, memory()), neuron_hardware_info=unknown),
        REPORTS_START_S + 60,
    )
    is_blind = unknown is not None and (unknown["error"] or unknown["neuron_device_count"] == 0)
    assert ("bb?" if is_blind else "bbu") == closed(second).core_state


@pytest.mark.parametrize(
    ("instance_type", "entries", "states"),
    [
        # The type gives the number of cores, not their activity.
        ("inf2.24xlarge", [], "?" * 12),
        # Reported cores are known. Cores that no runtime lists stay unknown.
        ("inf1.xlarge", [runtime(BUSY_COUNTERS)], "bb??"),
        # Without a known type, only listed cores exist.
        ("inf9.large", [runtime(counters({0: 50, 2: 0}), memory({2: 1}))], "b?a"),
        # Zeros without a measurement would look like an instance without work.
        ("inf9.large", [], ""),
    ],
)
def test_a_count_that_was_never_reported_is_that_of_the_type(instance_type, entries, states):
    """If no report has a core count, the type decides; for an unknown type, listed cores."""
    document = report(*entries, neuron_hardware_info=None, instance_info=instance(instance_type))
    record = minute_of(document, document, document)
    assert states == record.core_state


@pytest.mark.parametrize(("percent", "states"), [(25, "buuu?b"), (None, "buuu??")])
def test_a_listed_index_beyond_the_count_widens_it(percent, states):
    """A listed core exists, even beyond the count. An unlisted core between them is unknown."""
    record = minute_of(report(runtime(counters({0: 50, 5: percent}), memory())))
    assert states == record.core_state
    assert 6 == len(states)


@pytest.mark.parametrize(("index", "cores", "malformed"), [(1023, 1024, 0), (1024, 4, 1)])
def test_more_than_1024_cores_are_malformed(index, cores, malformed):
    """The last core index is 1,023. A key beyond it is dropped and counted; other keys are read."""
    fold = new_fold()
    add(fold, report(runtime(counters({0: 50, index: 75}), memory())), REPORTS_START_S)
    record = closed(fold)
    assert cores == len(record.core_state)
    assert 50 == record.utilization_percent[0]
    assert malformed == fold.malformed


@pytest.mark.parametrize(
    "info",
    [None, {}, *(instance(instance_id=text) for text in ("", " ", "i-\u00e9", "i-\n", "i" * 129))],
)
def test_an_invalid_id_is_replaced_by_a_guess(info):
    """An ID that is empty, too long or not printable is replaced by a guess, as in some pods."""
    record = minute_of(report(instance_info=info))
    assert "host-guess" == record.instance_id
    assert record.identity_guessed is True
    longest = report(instance_info=instance(instance_id="i" * 128))
    assert "i" * 128 == minute_of(longest).instance_id


@pytest.mark.parametrize("physical", [1, 8])
@pytest.mark.parametrize("other", [None, -1, 0, 9])
def test_labels_are_those_reported_last(physical, other):
    """A missing or absurd value keeps the last label. Another instance has its own labels."""
    long: dict[str, Any] = {"neuron_device_version": "v" * 9, "neuroncore_version": None}
    reported = report(
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
        "InstanceName": "trainer",
        "NeuronDeviceVersion": "v" * 8,
        "NeuronCoreVersion": "v3d",
        "LogicalNeuronCoreConfig": physical,
    }
    assert expected == minute_of(reported, again).labels
    assert {} == minute_of(again).labels
    another = report(instance_info=instance("trn1.2xlarge"))
    assert {} == minute_of(reported, another).labels


REPORTED_FACTS = InstanceFacts(
    instance_id="i-00000000000000fff",
    instance_type="trn1.2xlarge",
    region="eu-central-1",
    availability_zone="eu-central-1a",
    ami_id="ami-00000000000000fff",
)
NAMELESS = instance(
    "", instance_id="", instance_availability_zone="", instance_region="", ami_id=""
)


def idle_minute(fold, cores=4, **members):
    """Fold a whole minute of idle cores, after which each core has one idle minute."""
    for second in range(0, 60, 5):
        add(
            fold,
            report(runtime(counters([0] * cores), memory()), **members),
            REPORTS_START_S + second,
        )
    assert (1,) * cores == closed(fold).idle_minutes


def test_facts_fill_members_that_no_report_has():
    """Facts fill what no report has, as in a pod that cannot reach the metadata service."""
    fold = new_fold()
    fold.learn_facts(REPORTED_FACTS)
    add(fold, report(instance_info=NAMELESS, neuron_hardware_info=None), REPORTS_START_S)
    record = closed(fold)
    assert REPORTED_FACTS.instance_id == record.instance_id
    assert record.identity_guessed is False
    assert "trn1.2xlarge" == record.instance_type
    assert "eu-central-1" == record.region
    assert "eu-central-1a" == record.availability_zone
    assert "??" == record.core_state, "all cores of the type are unknown"
    assert REPORTED_FACTS == fold.instance


@pytest.mark.parametrize("is_late", [False, True])
def test_a_report_wins_over_facts(is_late):
    """A report wins over facts, in any order, because it describes the counted devices."""
    fold = new_fold()
    steps = [lambda: fold.learn_facts(REPORTED_FACTS), lambda: add(fold, report(), REPORTS_START_S)]
    for step in reversed(steps) if is_late else steps:
        step()
    record = closed(fold)
    assert AN_INSTANCE == record.instance_id
    assert "inf1.xlarge" == record.instance_type
    assert "ami-0123456789abcdef0" == fold.instance.ami_id


def test_facts_of_another_instance_forget_the_state_of_the_one_before():
    """Facts of another instance, as after a copy of the disk, reset idle minutes, cores and ECC."""
    fold = new_fold()
    low, high = (
        {"neuron_hw_counters": hardware_counters({"mem_ecc_corrected": value})} for value in (5, 9)
    )
    idle_minute(fold, cores=8, neuron_hardware_info=hardware(2, 4), system_data=low)
    again = new_fold(fold.encode_state())
    assert AN_INSTANCE == again.instance.instance_id
    again.learn_facts(REPORTED_FACTS)
    assert REPORTED_FACTS.instance_id == again.instance.instance_id
    document = report(instance_info=NAMELESS, neuron_hardware_info=None, system_data=high)
    add(again, document, REPORTS_START_S + 60)
    record = closed(again)
    assert (0, 0) == record.idle_minutes
    assert 0 == record.ecc_corrected_rise
