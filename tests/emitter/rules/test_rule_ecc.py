"""Rule: ECC. A counter that is a total alarmed every five seconds; one that is not, never."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.factories.groups import hw_counters
from proof.factories.reports import Reading, minute_of, trn1_job

CORRECTED = ("mem_ecc_corrected", "sram_ecc_corrected")
UNCORRECTED = ("mem_ecc_uncorrected", "sram_ecc_uncorrected")


def told(*devices):
    """A trn1 report with these counters, a mapping for each device."""
    document = trn1_job([50.0, 50.0])
    return {**document, "system_data": {"neuron_hw_counters": hw_counters(*devices)}}


@pytest.mark.parametrize("counter", UNCORRECTED)
@given(values=st.lists(st.integers(0, 10**6), min_size=1, max_size=8))
def test_rise_per_device_and_counter(counter, values):
    """
    Rise per device and counter, a lower value is a restart from 0, the first sight is not a rise.
    """
    record = minute_of(*[told({}, {counter: value}) for value in values])
    rises = [new - old if new >= old else new for old, new in pairwise(values)]
    assert (values[-1], sum(rises)) == (record.ecc_uncorrected, record.ecc_uncorrected_rise)


def test_devices_do_not_mix():
    """Per device: one that starts again does not hide another that rises."""
    record = minute_of(told({"mem_ecc_corrected": 90}, {"mem_ecc_corrected": 5}),
                       told({"mem_ecc_corrected": 3}, {"mem_ecc_corrected": 12}))  # fmt: skip
    assert (15, 3 + 7) == (record.ecc_corrected, record.ecc_corrected_rise)


@pytest.mark.parametrize(
    ("counters", "value", "rise"),
    [(CORRECTED, "ecc_corrected", "ecc_corrected_rise"),
     (UNCORRECTED, "ecc_uncorrected", "ecc_uncorrected_rise")],
)  # fmt: skip
def test_memory_and_sram_count_together(counters, value, rise):
    """Corrected with corrected, uncorrected with uncorrected."""
    record = minute_of(told({}), told(dict.fromkeys(counters, 2)))
    assert (4, 4) == (getattr(record, value), getattr(record, rise))


def test_the_first_sight_is_no_rise():
    """The first sight is not a rise: what a device has had since it was made is no news."""
    record = minute_of(told({"mem_ecc_corrected": 7, "mem_ecc_uncorrected": 2}))
    assert (7, 2, 0, 0) == (
        record.ecc_corrected, record.ecc_uncorrected,
        record.ecc_corrected_rise, record.ecc_uncorrected_rise,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("counters", "is_event"),
    [({"mem_ecc_uncorrected": 2}, True), ({"sram_ecc_uncorrected": 1}, True),
     ({"mem_ecc_corrected": 7}, False), ({}, False)],
)  # fmt: skip
def test_a_non_zero_uncorrected_first_sight_is_an_event(counters, is_event):
    """A non-zero uncorrected first sight is an event; a corrected one or a zero is none."""
    reading = Reading()
    reading.minute(told({}, counters))
    events = reading.fold.take_events()
    assert (["EccFirstSeen"] if is_event else []) == [event.name for event in events]


def test_last_values_are_stored():
    """Last values are stored, so a restart loses no rise: what happened meanwhile is one."""
    before = Reading()
    before.minute(told({"mem_ecc_uncorrected": 2}))
    after = Reading(before.fold.state())
    assert 3 == after.minute(told({"mem_ecc_uncorrected": 5}), number=1).ecc_uncorrected_rise
    assert ["EccRise"] == [event.name for event in after.fold.take_events()]


def test_what_was_not_read_is_absent():
    """A minute without the group has neither value nor rise."""
    reading = Reading()
    reading.minute(told({"mem_ecc_corrected": 7}))
    record = reading.minute({**told({}), "system_data": None}, number=1)
    assert (None, None) == (record.ecc_corrected, record.ecc_corrected_rise)
    assert 1 == reading.minute(told({"mem_ecc_corrected": 8}), number=2).ecc_corrected_rise
