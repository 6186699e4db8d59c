"""Memory errors that are worth a line of their own."""

from __future__ import annotations

import pytest
from neuron_reports import START_S, add, events_of, hardware_counters, minute_of, new_fold, report


def ecc(*devices):
    """A report whose only system group is that of the devices."""
    return report(system_data={"neuron_hw_counters": hardware_counters(*devices)})


def test_a_first_sight_with_uncorrectable_errors_is_an_event():
    """Nobody knows when they came, but somebody should know that they are there."""
    (event,) = events_of(new_fold(), [ecc({}, {"sram_ecc_uncorrected": 3})])
    assert "EccFirstSeen" == event.name
    assert {
        "Device": 1, "Counter": "sram_ecc_uncorrected", "Value": 3, "Counters": 1,
    } == event.details  # fmt: skip
    assert "sram_ecc_uncorrected of device 1 was 3 when first read" == event.message


def test_a_first_sight_is_stamped_with_its_own_moment():
    """Not with that of the last change of the minute, which may be of another counter."""
    seen, risen = ({"mem_ecc_uncorrected": 3, "mem_ecc_corrected": value} for value in (0, 9))
    (first, rise) = events_of(new_fold(), [ecc(seen), ecc(seen), ecc(risen)])
    assert [("EccFirstSeen", START_S), ("EccRise", START_S + 10)] == [
        (event.name, event.at_s) for event in (first, rise)
    ]


def test_a_first_sight_of_corrected_errors_is_none():
    """Corrected errors are normal; only their rise is news."""
    assert [] == events_of(new_fold(), [ecc({"mem_ecc_corrected": 9})])


def test_a_rise_is_an_event_with_its_device_and_counter():
    """By how much it rose in the minute, and what it says now."""
    first, second, third = ({"mem_ecc_uncorrected": value} for value in (1, 2, 5))
    found = events_of(new_fold(), [ecc(first)], [ecc(second), ecc(third)])
    assert ["EccFirstSeen", "EccRise"] == [event.name for event in found]
    assert {
        "Device": 0, "Counter": "mem_ecc_uncorrected", "Rise": 4, "Value": 5, "Counters": 1,
    } == found[1].details  # fmt: skip
    assert START_S + 65 == found[1].at_s


@pytest.mark.parametrize(
    ("values", "expected"),
    [((0, 0, 2, 2, 2, 0, 0), [2]), ((0, 2, 3, 3), [3]), ((5, 0, 0), []), ((5, 2, 0, 2), [4])],
)
def test_a_value_that_is_not_0_and_not_the_one_before_is_an_event(values, expected):
    """Whatever the counters count: at most one a minute, with what rose in it."""
    found = events_of(new_fold(), [ecc({"mem_ecc_corrected": value}) for value in values])
    assert expected == [event.details["Rise"] for event in found]


def test_a_storm_makes_one_event_a_minute():
    """16 devices with rising counters in every report: the worst is named, the rest counted."""

    def storm(number):
        return ecc(*[{"mem_ecc_corrected": 100 * number, "mem_ecc_uncorrected": number * device}
                     for device in range(16)])  # fmt: skip

    minutes = ([storm(number) for number in range(first, first + 12)] for first in (0, 12, 24))
    found = events_of(new_fold(), *minutes)
    assert ["EccRise"] * 3 == [event.name for event in found]
    worst = {"Device": 15, "Counter": "mem_ecc_uncorrected", "Rise": 12 * 15, "Counters": 31}
    assert worst.items() <= found[1].details.items()
    assert found[1].message.endswith("(and 30 other counters)")


@pytest.mark.parametrize(
    ("rises", "expected"), [((1, 2), (1, 2)), ((2, 1), (0, 2)), ((3, 3), (0, 3))]
)
def test_the_greatest_rise_is_named_whatever_the_value(rises, expected):
    """
    A counter that has long been high is no worse for it; of equal ones that of the lowest device.
    """
    before = ecc({"mem_ecc_corrected": 100}, {"mem_ecc_corrected": 10})
    after = ecc({"mem_ecc_corrected": 100 + rises[0]}, {"mem_ecc_corrected": 10 + rises[1]})
    (event,) = events_of(new_fold(), [before, after])
    assert ("EccRise", *expected) == (event.name, event.details["Device"], event.details["Rise"])


def test_a_device_listed_twice_does_not_rise_by_itself():
    """Two values of one counter in one report are a fault, no restart from 0."""
    twice = ecc({"mem_ecc_corrected": 5}, {"mem_ecc_corrected": 3})
    twice["system_data"]["neuron_hw_counters"]["neuron_devices"][1]["neuron_device_index"] = 0
    assert 0 == minute_of(twice, ecc({"mem_ecc_corrected": 3})).ecc_corrected_rise


def test_errors_of_a_minute_without_a_record_are_told_all_the_same():
    """A full disk costs the minute, not the news."""
    fold = new_fold()
    add(fold, ecc({"mem_ecc_uncorrected": 1}), START_S)
    fold.discard_minute()
    assert ["EccFirstSeen"] == [event.name for event in fold.events.take()]
    assert [] == fold.events.take()
