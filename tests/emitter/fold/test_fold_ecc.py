"""Memory errors: values as read, and their rise per device and counter."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neuron_reports import (
    INSTANCE_ID,
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


@pytest.mark.parametrize(("is_restart", "name", "expected"), [
    (False, INSTANCE_ID, 2), (True, INSTANCE_ID, 2), (True, "i-2", 0),
])  # fmt: skip
def test_a_rise_over_the_change_of_minute_is_not_lost(is_restart, name, expected):
    """
    The last values outlive minute and emitter; the rise belongs to the minute that saw it. Another
    instance has other devices.
    """
    fold = new_fold()
    found = []
    for minute, (value, owner) in enumerate(((1, INSTANCE_ID), (3, name), (3, name))):
        document = one({"mem_ecc_uncorrected": value}, instance_info=instance(instance_id=owner))
        add(fold, document, START_S + 60 * minute)
        found.append(closed(fold).ecc_uncorrected_rise)
        fold = new_fold(fold.encode_state()) if is_restart else fold
    assert [0, expected, 0] == found


@pytest.mark.parametrize(
    ("values", "expected"), [((0, 0, 2, 2, 2, 0, 0), (2, 6)), ((3, 3), (0, 6)), ((0, 0), (0, None))]
)
def test_both_readings_of_the_counters_are_told(values, expected):
    """The rise, right for totals, and beside it the sum of the reports, right for amounts."""
    record = minute_of(*(one({}, {"sram_ecc_uncorrected": value}) for value in values))
    told = record.members()
    assert expected == (told["EccUncorrectedRise"], told.get("EccUncorrectedReported"))


def test_absent_is_absent():
    """No group, null, error, no devices or no counters: no value and no rise, never 0."""
    no_devices = one()
    no_devices["system_data"]["neuron_hw_counters"]["neuron_devices"] = None
    nulls = one(dict.fromkeys(("mem_ecc_corrected", "sram_ecc_corrected")))
    failed = one({"mem_ecc_corrected": 1}, error="cannot read")
    for document in (report(system_data=None), report(system_data={}), failed, one(), no_devices,
                     nulls):  # fmt: skip
        record = minute_of(document)
        assert None is record.ecc_corrected is record.ecc_corrected_rise


def test_an_error_between_two_readings_loses_no_rise():
    """The value before it is still the last one."""
    first, failed, last = ({"mem_ecc_corrected": value} for value in (1, 0, 4))
    assert (3, 0) == rises(one(first), one(failed, error="busy"), one(last))


def test_a_counter_that_appears_hides_no_rise_of_another():
    """The first sight of one counter ends nothing for the next one of the device."""
    before = {"mem_ecc_uncorrected": None, "sram_ecc_uncorrected": 1}
    after = {"mem_ecc_uncorrected": 4, "sram_ecc_uncorrected": 3}
    assert (0, 2) == rises(one(before), one(after))


@pytest.mark.parametrize(("index", "expected"), [(1023, 5), (1024, 1), (-1, 1), (None, 1)])
def test_a_device_without_a_place_does_not_count(index, expected):
    """Devices are 0 to 1,023: what is remembered of them is bounded. One that is null is none."""
    document = one({"mem_ecc_corrected": 1}, {"mem_ecc_corrected": 4})
    devices = document["system_data"]["neuron_hw_counters"]["neuron_devices"]
    devices[1]["neuron_device_index"] = index
    devices.insert(0, None)
    assert expected == minute_of(document).ecc_corrected


@pytest.mark.parametrize("wrong", [-1, 1 << 63, 1e300])
def test_a_count_that_cannot_be_is_missing(wrong):
    """Never -1, and never a restart or a rise made of it."""
    documents = [one({"mem_ecc_corrected": value}) for value in (4, wrong, 5)]
    assert (1, 0) == rises(*documents)


COUNTERS = (
    "mem_ecc_corrected", "sram_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_uncorrected",
)  # fmt: skip


@settings(max_examples=50)
@given(
    st.lists(
        st.lists(st.tuples(*[st.integers(0, 5)] * 4), min_size=2, max_size=2),
        min_size=1,
        max_size=6,
    )
)
def test_the_rise_is_what_each_counter_rose(reports):
    """
    Per device and counter, memory and SRAM together, corrected and uncorrected apart: a lower
    value is a restart from 0, the first sight is no rise.
    """
    record = minute_of(
        *[one(*(dict(zip(COUNTERS, row, strict=True)) for row in rows)) for rows in reports]
    )
    for kind, places in (("corrected", (0, 1)), ("uncorrected", (2, 3))):
        histories = [
            [rows[device][place] for rows in reports] for device in range(2) for place in places
        ]
        rise = sum(
            after - before if after >= before else after
            for values in histories
            for before, after in pairwise(values)
        )
        assert sum(values[-1] for values in histories) == getattr(record, f"ecc_{kind}")
        assert rise == getattr(record, f"ecc_{kind}_rise")
