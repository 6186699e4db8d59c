"""Faults as events, and no more of them than a person can read."""

from __future__ import annotations

import pytest

from emitter.kernel.detector import FaultDetector, LocatedFault
from emitter.kernel.fault_events import MAX_EVENTS, FaultEvents
from emitter.kernel.hardware_fault import read_fault
from emitter.kernel.position import LogState, Position
from neuron_wire.catalogue import EVENT_NAMES, members_of
from tests.emitter.kernel.kernel_logs import BOOTED_S, REAL, fault, message

NOW_S = BOOTED_S + 7200.0


def located(number, text=REAL, at_s=NOW_S):
    """A fault with its place."""
    return LocatedFault(read_fault(text, at_s), Position.of(fault(number)), is_told=False)


def told(faults, *, is_end=False, now_s=NOW_S):
    """What is told now, as name, message and count."""
    events = faults.events(now_s, is_end=is_end)
    assert {event.name for event in events} <= EVENT_NAMES.keys()
    assert all(event.details.keys() <= members_of("event").keys() for event in events)
    return events


def test_a_fault_is_told_at_once_with_all_that_is_known():
    """The instance may be terminated before the minute is over."""
    faults = FaultEvents()
    faults.add(located(1))
    (event,) = told(faults)
    assert "HardwareFault" == event.name
    assert NOW_S == event.at_s
    assert (
        "the kernel log reports SRAM_UNCORRECTABLE_ERROR on device 0, core 1; recommended action:"
        " TERMINATE_INSTANCE" == event.message
    )
    assert {
        "Fault": "SRAM_UNCORRECTABLE_ERROR",
        "Device": 0,
        "DeviceCore": 1,
        "SerialNumber": "19fcda00f5ff6eb9",
        "Action": "TERMINATE_INSTANCE",
        "KernelMessage": REAL,
    } == event.details
    assert [] == told(faults, is_end=True)


def test_a_minute_has_ten_events_and_one_for_the_rest():
    """However the faults come in it, and the next minute has ten of its own."""
    faults = FaultEvents()
    for minute in range(2):
        made = []
        for number in range(25):
            code = "DMA_ERROR" if number < 12 else "HANG_ON_COLLECTIVES"
            faults.add(located(100 * minute + number, f"NEURON_HW_ERR={code}"))
            made += told(faults)
        assert MAX_EVENTS == len(made)
        assert 100 * minute + MAX_EVENTS - 1 == faults.position.seq
        (rest,) = told(faults, is_end=True)
        assert (15, "HANG_ON_COLLECTIVES") == (rest.details["Count"], rest.details["Fault"])
        assert (
            "the kernel log reports 15 more hardware faults, 13 of them HANG_ON_COLLECTIVES"
            == rest.message
        )
        assert 100 * minute + 24 == faults.position.seq


def test_a_flood_of_codes_is_bounded():
    """Whoever can write to the kernel log cannot fill the memory of the emitter."""
    faults = FaultEvents()
    for number in range(5000):
        faults.add(located(number, f"NEURON_HW_ERR=CODE_{number}"))
    assert 20 == len(faults._codes)
    assert 5000 - MAX_EVENTS == told(faults, is_end=True)[-1].details["Count"]
    assert not faults._codes


@pytest.mark.parametrize(
    ("at_s", "expected"),
    [(NOW_S - 86_400, NOW_S - 86_400), (NOW_S - 86_401, NOW_S), (NOW_S + 1, NOW_S)],
)
def test_an_event_is_of_its_own_time_within_a_day(at_s, expected):
    """CloudWatch refuses lines of the future and of weeks ago."""
    faults = FaultEvents()
    faults.add(located(1, at_s=at_s))
    assert [expected] == [one.at_s for one in told(faults)]


def test_what_nobody_could_read_is_told_at_the_end_of_the_minute():
    """Once, with the number."""
    faults = FaultEvents()
    faults.add_lost(3)
    faults.add_lost(4)
    assert [] == told(faults)
    (event,) = told(faults, is_end=True)
    assert ("KernelMessagesLost", 7) == (event.name, event.details["Count"])
    assert event.message.startswith("7 kernel messages were overwritten")
    assert [] == told(faults, is_end=True)
    faults.add_lost(1)
    (event,) = told(faults, is_end=True)
    assert event.message.startswith("1 kernel message was overwritten")


def test_faults_from_before_the_first_start_are_one_event_and_do_not_count():
    """Ten minutes is what a restart of everything takes; an older fault may be repaired by now."""
    start_s = NOW_S
    young_us, old_us = ((start_s - BOOTED_S) - 600 + by_s for by_s in (0, -1))
    detector = FaultDetector(LogState(), start_s)
    detector.add([message(0, seq=0), fault(9, seq=1), fault(int(old_us * 1e6), seq=2)])
    detector.add([fault(int(young_us * 1e6), seq=3), message(int(young_us * 1e6) + 1, seq=4)])
    detection = detector.take()
    assert (2, 1) == (detection.older, len(detection.faults))
    assert (2, 4) == (detection.begin.seq, detection.position.seq)
    faults = FaultEvents()
    faults.add_older(detection.older, detection.newest_older)
    (event,) = told(faults)
    assert ("HardwareFaultsFound", 2, NOW_S) == (event.name, event.details["Count"], event.at_s)
    assert (
        "2 hardware faults were in the kernel log before the emitter first read it, the"
        " newest 10 min ago: they are not counted" == event.message
    )


@pytest.mark.parametrize(("ago_s", "ago"), [(-2, "0 min"), (3_600_000, "41 d 16 h")])
def test_the_newest_fault_from_before_says_how_old_it_is(ago_s, ago):
    """Never younger than now, however the clocks go; and all that were found are one number."""
    faults = FaultEvents()
    faults.add_older(1, read_fault(REAL, NOW_S))
    faults.add_older(2, read_fault(REAL, NOW_S - ago_s))
    (event,) = told(faults)
    assert 3 == event.details["Count"]
    assert event.message.endswith(f"the newest {ago} ago: they are not counted")


def test_a_clock_that_is_set_back_makes_no_new_fault_old():
    """Once the log has said something young, all that follows is."""
    detector = FaultDetector(LogState(), NOW_S)
    detector.add([message(int((NOW_S - BOOTED_S) * 1e6), seq=0), fault(5, seq=1), fault(5, seq=2)])
    detection = detector.take()
    assert (0, 2, 0) == (detection.older, len(detection.faults), detection.begin.seq)
