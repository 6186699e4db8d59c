"""Memory errors: values as read, and their rise per device and counter."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from neuron_reports import (
    START_S,
    add,
    closed,
    hardware_counters,
    instance,
    minute_of,
    new_fold,
    report,
)


def one(*devices, error="", **members):
    """A report whose only system group is that of the devices."""
    system = {"neuron_hw_counters": hardware_counters(*devices, error=error)}
    return report(**{"system_data": system, **members})


def rises(*documents):
    """Corrected and uncorrectable rise of a minute."""
    record = minute_of(*documents)
    return record.ecc_corrected_rise, record.ecc_uncorrected_rise


def test_values_are_the_sum_over_devices_and_kinds():
    """As published for a trn1n: memory and SRAM, corrected and uncorrectable apart."""
    record = minute_of(
        one(
            {"mem_ecc_corrected": 1},
            {"mem_ecc_corrected": 2, "sram_ecc_uncorrected": 1},
            {"sram_ecc_corrected": 4, "mem_ecc_uncorrected": 8},
        )
    )
    assert 7 == record.ecc_corrected
    assert 9 == record.ecc_uncorrected


def test_the_first_sight_is_no_rise():
    """Nobody knows when those errors came."""
    assert (0, 0) == rises(one({"mem_ecc_corrected": 5, "mem_ecc_uncorrected": 3}))


def test_a_higher_value_is_a_rise():
    """By the difference, added up over the reports of the minute."""
    documents = [one({"mem_ecc_corrected": value}) for value in (5, 6, 6, 9)]
    assert (4, 0) == rises(*documents)


def test_a_lower_value_is_a_restart_from_0():
    """The driver was loaded again: what is there now has come since."""
    assert (2, 0) == rises(one({"mem_ecc_corrected": 5}), one({"mem_ecc_corrected": 2}))
    assert (0, 0) == rises(one({"mem_ecc_corrected": 5}), one({"mem_ecc_corrected": 0}))


def test_devices_and_counters_rise_apart():
    """One that restarts does not hide another that rises, though their sum stays the same."""
    before = one({"mem_ecc_uncorrected": 3}, {"sram_ecc_uncorrected": 0})
    after = one({"mem_ecc_uncorrected": 0}, {"sram_ecc_uncorrected": 3})
    assert (0, 3) == rises(before, after)


def test_a_device_that_appears_later_is_a_first_sight():
    """Its errors are no rise either."""
    assert (0, 0) == rises(one({}), one({}, {"mem_ecc_uncorrected": 3}))


def test_a_rise_over_the_change_of_minute_is_not_lost():
    """The last values outlive the minute; the rise belongs to the minute that saw it."""
    fold = new_fold()
    add(fold, one({"mem_ecc_uncorrected": 1}), START_S)
    assert 0 == closed(fold).ecc_uncorrected_rise
    add(fold, one({"mem_ecc_uncorrected": 3}), START_S + 60)
    assert 2 == closed(fold, 2).ecc_uncorrected_rise
    add(fold, one({"mem_ecc_uncorrected": 3}), START_S + 120)
    assert 0 == closed(fold, 3).ecc_uncorrected_rise


def test_a_rise_over_a_restart_is_not_lost():
    """Last values are stored."""
    fold = new_fold()
    add(fold, one({"mem_ecc_uncorrected": 1}), START_S)
    closed(fold)
    second = new_fold(fold.state())
    add(second, one({"mem_ecc_uncorrected": 3}), START_S + 60)
    assert 2 == closed(second).ecc_uncorrected_rise


def test_another_instance_has_no_rise():
    """Its devices are others."""
    fold = new_fold()
    add(fold, one({"mem_ecc_uncorrected": 1}), START_S)
    closed(fold)
    second = new_fold(fold.state())
    add(second, one({"mem_ecc_uncorrected": 3}, instance_info=instance(instance_id="i-2")), START_S)
    assert 0 == closed(second).ecc_uncorrected_rise


def test_absent_is_absent():
    """No group, null, error, no devices or no counters: no value and no rise, never 0."""
    no_devices = one()
    no_devices["system_data"]["neuron_hw_counters"]["neuron_devices"] = None
    nulls = one(dict.fromkeys(("mem_ecc_corrected", "sram_ecc_corrected")))
    for document in (
        report(system_data=None),
        report(system_data={}),
        one({"mem_ecc_corrected": 1}, error="cannot read"),
        one(),
        no_devices,
        nulls,
    ):
        record = minute_of(document)
        assert record.ecc_corrected is None
        assert record.ecc_corrected_rise is None


def test_an_older_tool_without_a_counter_is_read():
    """sram_ecc_corrected is newer than the others."""
    document = one({"mem_ecc_corrected": 1, "sram_ecc_uncorrected": 2})
    del document["system_data"]["neuron_hw_counters"]["neuron_devices"][0]["sram_ecc_corrected"]
    record = minute_of(document)
    assert (1, 2) == (record.ecc_corrected, record.ecc_uncorrected)


def test_an_error_between_two_readings_loses_no_rise():
    """The value before it is still the last one."""
    documents = [
        one({"mem_ecc_corrected": 1}),
        one({"mem_ecc_corrected": 0}, error="busy"),
        one({"mem_ecc_corrected": 4}),
    ]
    assert (3, 0) == rises(*documents)


def test_a_counter_that_is_null_hides_no_other():
    """Neither the one after it, nor what that one rose."""
    nothing = {"mem_ecc_uncorrected": None}
    record = minute_of(*(one({**nothing, "sram_ecc_uncorrected": value}) for value in (1, 3)))
    assert (3, 2) == (record.ecc_uncorrected, record.ecc_uncorrected_rise)


def test_a_counter_that_appears_hides_no_rise_of_another():
    """The first sight of one counter ends nothing for the next one of the device."""
    before = {"mem_ecc_uncorrected": None, "sram_ecc_uncorrected": 1}
    after = {"mem_ecc_uncorrected": 4, "sram_ecc_uncorrected": 3}
    assert (0, 2) == rises(one(before), one(after))


@pytest.mark.parametrize(("index", "expected"), [(1023, 5), (1024, 1), (-1, 1), (None, 1)])
def test_a_device_without_a_place_does_not_count(index, expected):
    """Devices are 0 to 1,023: what is remembered of them is bounded."""
    document = one({"mem_ecc_corrected": 1}, {"mem_ecc_corrected": 4})
    document["system_data"]["neuron_hw_counters"]["neuron_devices"][1]["neuron_device_index"] = (
        index
    )
    assert expected == minute_of(document).ecc_corrected


def test_a_device_that_is_null_does_not_count():
    """The others do."""
    document = one({"mem_ecc_corrected": 1})
    document["system_data"]["neuron_hw_counters"]["neuron_devices"].insert(0, None)
    assert 1 == minute_of(document).ecc_corrected


@pytest.mark.parametrize("wrong", [-1, 1 << 63, 1e300])
def test_a_count_that_cannot_be_is_missing(wrong):
    """Never -1, and never a restart or a rise made of it."""
    documents = [one({"mem_ecc_corrected": value}) for value in (4, wrong, 5)]
    assert (1, 0) == rises(*documents)


@given(st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=8))
def test_the_rise_is_what_each_counter_rose(values):
    """For any course of three devices, the rise is the sum of each one's steps."""
    expected = sum(
        after - before if after >= before else after
        for earlier, later in pairwise(values)
        for before, after in zip(earlier, later, strict=True)
    )
    documents = [one(*({"mem_ecc_corrected": value} for value in row)) for row in values]
    record = minute_of(*documents)
    assert expected == record.ecc_corrected_rise
    assert sum(values[-1]) == record.ecc_corrected
