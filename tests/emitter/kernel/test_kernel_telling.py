"""Faults as events, and no more of them than a person can read."""

from __future__ import annotations

import pytest

from emitter.kernel.fault import read_fault
from emitter.kernel.position import LOOK_BACK_S, LogState, beginning
from emitter.kernel.sight import Seen, Sight
from emitter.kernel.telling import MAX_CODES, MAX_EVENTS, OLDEST_S, Telling
from neuron_wire.catalogue import EVENT_NAMES, members_of
from proof.factories.kernel_logs import BOOT, BOOTED_S, REAL, fault, message

NOW_S = BOOTED_S + 7200.0


def seen(number, text=REAL, at_s=NOW_S):
    """A fault with its place."""
    return Seen(read_fault(text, at_s), beginning(BOOT, at_s).after(fault(number, seq=number)))


def told(telling, *, is_end=False, now_s=NOW_S):
    """What is told now, as name, message and count."""
    made = telling.events(now_s, is_end=is_end)
    assert {one.name for one in made} <= EVENT_NAMES.keys()
    assert all(one.details.keys() <= members_of("event").keys() for one in made)
    return made


def test_a_fault_is_told_at_once_with_all_that_is_known():
    """The instance may be terminated before the minute is over."""
    telling = Telling()
    telling.add(seen(1))
    (event,) = told(telling)
    assert "HardwareFault" == event.name
    assert NOW_S == event.at_s
    assert (
        "the kernel log tells of SRAM_UNCORRECTABLE_ERROR on device 0, core 1, and advises"
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
    assert [] == told(telling, is_end=True)


def test_a_minute_has_ten_events_and_one_for_the_rest():
    """However the faults come in it, and the next minute has ten of its own."""
    telling = Telling()
    for minute in range(2):
        made = []
        for number in range(25):
            code = "DMA_ERROR" if number < 12 else "HANG_ON_COLLECTIVES"
            telling.add(seen(100 * minute + number, f"NEURON_HW_ERR={code}"))
            made += told(telling)
        assert MAX_EVENTS == len(made)
        assert 100 * minute + MAX_EVENTS - 1 == telling.position.seq
        (rest,) = told(telling, is_end=True)
        assert (15, "HANG_ON_COLLECTIVES") == (rest.details["Count"], rest.details["Fault"])
        assert (
            "the kernel log tells of 15 further hardware faults, 13 of them HANG_ON_COLLECTIVES"
            == rest.message
        )
        assert 100 * minute + 24 == telling.position.seq


def test_a_single_further_fault_is_one():
    """Words and number agree."""
    telling = Telling()
    for number in range(MAX_EVENTS + 1):
        telling.add(seen(number, "NEURON_HW_ERR=DMA_ERROR"))
    *_, rest = told(telling, is_end=True)
    assert "the kernel log tells of 1 further hardware fault: DMA_ERROR" == rest.message


def test_a_flood_of_codes_is_bounded():
    """Whoever can write to the kernel log cannot fill the memory of the emitter."""
    telling = Telling()
    for number in range(5000):
        telling.add(seen(number, f"NEURON_HW_ERR=CODE_{number}"))
    assert MAX_CODES == len(telling._codes)
    assert 5000 - MAX_EVENTS == told(telling, is_end=True)[-1].details["Count"]
    assert not telling._codes


@pytest.mark.parametrize(
    ("at_s", "expected"),
    [
        (NOW_S - OLDEST_S, NOW_S - OLDEST_S),
        (NOW_S - OLDEST_S - 1, NOW_S),
        (NOW_S + 1, NOW_S),
    ],
)
def test_an_event_is_of_its_own_time_within_a_day(at_s, expected):
    """CloudWatch refuses lines of the future and of weeks ago."""
    telling = Telling()
    telling.add(seen(1, at_s=at_s))
    assert [expected] == [one.at_s for one in told(telling)]


def test_what_nobody_could_read_is_told_at_the_end_of_the_minute():
    """Once, with the number."""
    telling = Telling()
    telling.lost(3)
    telling.lost(4)
    assert [] == told(telling)
    (event,) = told(telling, is_end=True)
    assert ("KernelMessagesLost", 7) == (event.name, event.details["Count"])
    assert [] == told(telling, is_end=True)


def test_faults_from_before_the_first_start_are_one_event_and_do_not_count():
    """Ten minutes is what a restart of everything takes; an older fault may be repaired by now."""
    start_s = NOW_S
    young_us, old_us = ((start_s - BOOTED_S) - LOOK_BACK_S + by_s for by_s in (0, -1))
    sight = Sight(LogState(), start_s)
    sight.add([message(0, seq=0), fault(9, seq=1), fault(int(old_us * 1e6), seq=2)])
    sight.add([fault(int(young_us * 1e6), seq=3), message(int(young_us * 1e6) + 1, seq=4)])
    catch = sight.take()
    assert (2, 1) == (catch.older, len(catch.seen))
    assert (2, 4) == (catch.begin.seq, catch.position.seq)
    telling = Telling()
    telling.found(catch.older, catch.newest_older)
    (event,) = told(telling)
    assert ("HardwareFaultsFound", 2, NOW_S) == (event.name, event.details["Count"], event.at_s)
    assert (
        "2 hardware faults were in the kernel log from before the emitter first read it, the"
        " newest 10 min old: they are not counted" == event.message
    )


def test_a_clock_that_is_set_back_makes_no_new_fault_old():
    """Once the log has said something young, all that follows is."""
    sight = Sight(LogState(), NOW_S)
    sight.add([message(int((NOW_S - BOOTED_S) * 1e6), seq=0), fault(5, seq=1)])
    assert (0, 1) == (sight.take().older, 1)
