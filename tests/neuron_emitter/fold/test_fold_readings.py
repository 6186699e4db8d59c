"""Host readings, hardware faults and rises of memory errors in a minute."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_emitter.fold.amounts import MAX_AMOUNT
from neuron_wire.catalogue import READING_MEMBERS
from tests.neuron_emitter.neuron_reports import (
    REPORTS_START_S,
    add,
    closed,
    events_of,
    executions,
    hardware_counters,
    host_memory,
    memory,
    minute_of,
    new_fold,
    report,
    runtime,
    vcpu,
)


def host(cpu=None, memory=None):
    """Return a report with these system groups."""
    groups = {"vcpu_usage": cpu, "memory_info": memory}
    return report(system_data={name: group for name, group in groups.items() if group is not None})


MEMORY = st.none() | st.builds(
    lambda used, error: {**host_memory(used), "error": error},
    st.none() | st.integers(-3, 9) | st.sampled_from([MAX_AMOUNT, MAX_AMOUNT + 1]),
    st.sampled_from(["", "", "", "no /proc"]),
)


@settings(max_examples=50)
@given(st.lists(MEMORY, min_size=1, max_size=30))
def test_a_gauge_is_that_of_the_last_report_that_has_it(groups):
    """A gauge has the value of the last report that has it, and is absent if none has."""
    read = [group["memory_used_bytes"] for group in groups if group and not group["error"]]
    possible = [size for size in read if size is not None and 0 <= size <= MAX_AMOUNT]
    readings = minute_of(*(host(memory=group) for group in groups)).readings
    assert (possible or [None])[-1] == readings.get("HostMemoryUsed")


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from([None, 0.25, 0.5, 5.0]), st.integers(0, 50)), min_size=1))
def test_a_mean_is_weighted_by_the_period_of_the_group(samples):
    """A mean is weighted by the group's period; short and unknown periods do not count."""
    readings = minute_of(*(host(vcpu(period, user=user)) for period, user in samples)).readings
    counted = [(period, user) for period, user in samples if period and period >= 0.5]
    weight_s = sum(period for period, _ in counted)
    total = sum(period * user for period, user in counted)
    expected = pytest.approx(total / weight_s, abs=0.006) if counted else None
    assert expected == readings.get("HostCpuPercent")


def test_each_reading_of_the_catalogue_is_read():
    """The fold reads exactly the readings in the catalogue."""
    fold = new_fold()
    medians = {"p50": 0.5, "p99": 0.5}
    stats = executions(1, total=medians, device=medians)
    groups = runtime(memory_used=memory(), execution_stats=stats)
    counters = {
        "vcpu_usage": vcpu(),
        "memory_info": host_memory(),
        "neuron_hw_counters": hardware_counters({}),
    }
    add(fold, report(groups, system_data=counters), REPORTS_START_S)
    fold.add_hardware_faults(0)
    assert READING_MEMBERS.keys() == closed(fold).readings.keys()


def test_faults_of_a_minute_add_up_and_end_with_it():
    """
    Faults add up within a minute and start again in the next minute.

    Without a reader of kernel messages, faults are absent; with a reader and no fault, they are 0.
    Faults of a minute without a record are not added to the next minute.
    """
    fold = new_fold()
    reported = []
    for minute, counts in enumerate(([1, 0, 2], [0], [], [2], [5])):
        fold.clock.open_minute(REPORTS_START_S + 60 * minute)
        for count in counts:
            fold.add_hardware_faults(count)
        if counts == [2]:
            fold.discard_minute()
        else:
            reported.append(closed(fold).readings)
    assert [{"HardwareFaults": 3}, {"HardwareFaults": 0}, {}, {"HardwareFaults": 5}] == reported


def test_vcpu_is_the_time_in_which_something_ran():
    """HostCpuPercent counts working time without I/O wait and idle, as captured on inf1."""
    group = vcpu(user=28.37, system=5.05, idle=66.38, io_wait=0.1, soft_irq=0.1)
    assert 33.52 == minute_of(host(group)).number("HostCpuPercent")


def ecc(*devices, error="", **members):
    """Return a report whose only system group is that of the devices."""
    system = {"neuron_hw_counters": hardware_counters(*devices, error=error)}
    return report(**{"system_data": system, **members})


@pytest.mark.parametrize(
    ("values", "expected"), [((0, 0, 2, 2, 2, 0, 0), (2, 6)), ((3, 3), (0, 6)), ((0, 0), (0, None))]
)
def test_both_readings_of_the_counters_are_reported(values, expected):
    """A minute has both the rise of a counter and the sum of its reports."""
    record = minute_of(*(ecc({}, {"sram_ecc_uncorrected": value}) for value in values))
    reported = record.members()
    assert expected == (reported["EccUncorrectedRise"], reported.get("EccUncorrectedReported"))


COUNTER_NAMES = (
    "mem_ecc_corrected",
    "sram_ecc_corrected",
    "mem_ecc_uncorrected",
    "sram_ecc_uncorrected",
)


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
    The rise is the sum over devices and counters, for corrected and uncorrected errors.

    A lower value is a restart from 0, and the first value is not a rise.
    """
    record = minute_of(
        *[ecc(*(dict(zip(COUNTER_NAMES, row, strict=True)) for row in rows)) for rows in reports]
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
        assert sum(values[-1] for values in histories) == record.number(f"Ecc{kind.title()}")
        assert rise == getattr(record, f"ecc_{kind}_rise")


def test_a_first_sight_with_uncorrectable_errors_is_an_event():
    """Uncorrectable errors in the first reading are an event, although their time is unknown."""
    (event,) = events_of([ecc({}, {"sram_ecc_uncorrected": 3})])
    assert "EccFirstSeen" == event.name
    assert {
        "Device": 1,
        "Counter": "sram_ecc_uncorrected",
        "Value": 3,
        "Counters": 1,
    } == event.details
    assert "sram_ecc_uncorrected of device 1 was 3 when first read" == event.message


def test_a_storm_makes_one_event_a_minute():
    """Rising counters of 16 devices make one event a minute: it names the worst, counts others."""

    def storm(number):
        return ecc(
            *[
                {"mem_ecc_corrected": 100 * number, "mem_ecc_uncorrected": number * device}
                for device in range(16)
            ]
        )

    minutes = ([storm(number) for number in range(first, first + 12)] for first in (0, 12, 24))
    events = events_of(*minutes)
    assert ["EccRise"] * 3 == [event.name for event in events]
    worst = {"Device": 15, "Counter": "mem_ecc_uncorrected", "Rise": 12 * 15, "Counters": 31}
    assert worst.items() <= events[1].details.items()
    assert events[1].message.endswith("(and 30 other counters)")
