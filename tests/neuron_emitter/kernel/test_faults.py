"""
Each fault is counted once and has one event, whatever happens in between.

Laws cover starts, kills and reboots in any order. Other tests use the reading loop and the spool.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import event as note_event
from hypothesis import example, given
from hypothesis import strategies as st

from neuron_emitter.fold.state import read_state, with_kernel
from neuron_emitter.kernel.detector import FaultDetector, LogState, Position
from neuron_emitter.kernel.faults import FAULT, MAX_FAULT_EVENTS, KernelFaults
from neuron_emitter.spool import Spool
from neuron_wire import WireFormatError
from neuron_wire.catalogue import EVENT_NAMES, members_of
from tests.neuron_emitter import loop_rig
from tests.neuron_emitter.kernel.kernel_logs import (
    KERNEL_BOOT,
    KERNEL_BOOTED_S,
    REAL,
    FakeWatch,
    fault,
    message,
)
from tests.neuron_emitter.loop_rig import FakeClock, Timetable, busy, chunk

FIRST_S = KERNEL_BOOTED_S + 1.0  # the first start; no message is much older
FAULTS_NOW_S = KERNEL_BOOTED_S + 7200.0


class Talking(Timetable):
    """A timetable of chunks. An entry may be a function, which a read calls for its chunk."""

    def read_chunk(self, timeout_s):
        """Return the next chunk, or call the next function."""
        entry = super().read_chunk(timeout_s)
        return (entry() or b"") if callable(entry) else entry


@contextmanager
def spooled(clock):
    """Yield a spool that lives as long as the machine."""
    with Spool(None, clock=clock, max_age_s=1e12) as spool:
        yield spool


def run(reader, timetable, until_s, **changes):
    """Run an emitter with *reader* and return the members of its lines."""
    faults = KernelFaults(reader) if reader else None
    lines, _ = loop_rig.run(timetable, until_s, source=Talking, faults=faults, **changes)
    return [json.loads(line) for line in lines]


def lines_of(spool):
    """Remove the records from the spool and return their lines."""
    taken = spool.oldest(10_000, 1 << 30)
    spool.settle_records([kept.id for kept in taken])
    return [json.loads(kept.line) for kept in taken]


def counts(lines):
    """Return HardwareFaults of each minute; None if it is missing."""
    return [line.get("HardwareFaults") for line in lines if line["Kind"] == "minute"]


@pytest.mark.parametrize(
    ("reader", "expected"),
    [(FakeWatch(), [0, 0]), (FakeWatch(is_reading=False), [None, None]), (None, [None, None])],
    ids=["read", "not-readable", "not-asked-for"],
)
def test_without_a_readable_log_the_count_is_missing(reader, expected):
    """HardwareFaults is 0 only if the kernel log is readable, and missing otherwise."""
    lines = run(reader, [(5, chunk(busy())), (65, chunk(busy()))], 70)
    assert expected == counts(lines)


def test_faults_of_a_minute_that_cannot_be_kept_count_with_the_next_one():
    """If a minute line is refused, its faults count in the next minute."""
    clock = FakeClock()
    reader = FakeWatch()
    with spooled(clock) as spool:
        append = spool.append
        refused = []

        def refuse(records, state=None):
            if '"Kind":"minute"' in records[0].line and not refused:
                refused.append(records)
                reason = "too_long"
                raise WireFormatError(reason, "no")
            return append(records, state)

        spool.append = refuse
        timetable = [(5, chunk(busy())), (6, lambda: reader.say(fault(1, seq=1)))]
        timetable += [(65, chunk(busy()))]
        lines = run(reader, timetable, 70, spool=spool, clock=clock)
    assert 1 == len(refused)
    assert [1] == counts(lines)


@dataclass
class FaultEmitter:
    """An emitter, the kernel log that it reads, and its saved state."""

    log: list = field(default_factory=list)
    boot: int = 0
    now_us: int = 1_000_000
    faults: int = 0
    counted: int = 0
    announced: int = 0
    state: bytes | None = None
    place: int = 0

    def __post_init__(self):
        self.begin()

    def begin(self):
        """Start the emitter with the saved state."""
        self.place = 0
        watch: Any = FakeWatch(read_state(self.state).kernel, now_s=FIRST_S)
        self.watch = watch
        self.kernel_faults = KernelFaults(watch)

    def say(self, *, is_fault, after_us):
        """Write a message; timestamps can be slightly out of order."""
        stamp_us = self.now_us + after_us
        self.now_us = max(self.now_us, stamp_us)
        written = message(stamp_us)
        if is_fault:
            self.faults += 1
            written = fault(stamp_us, device=self.faults)
        at_s = KERNEL_BOOTED_S + 1e6 * self.boot + stamp_us / 1e6
        boot_id = f"{self.boot:032x}"
        self.log.append(replace(written, boot_id=boot_id, at_s=at_s, seq=len(self.log)))

    def read_log(self, *, is_end=False):
        """Read new messages and store their events in one transaction."""
        self.watch.say(*self.log[self.place :])
        self.place = len(self.log)
        if events := self.kernel_faults.take_events(FIRST_S, is_end=is_end):
            assert is_end or len(events) <= MAX_FAULT_EVENTS
            self.announced += sum(int(event.details.get("Count", 1)) for event in events)
            assert {FAULT} == {event.name for event in events}
            if self.kernel_faults.event_state is not None:
                self.state = with_kernel(self.state, self.kernel_faults.event_state)

    def end_minute(self):
        """Close the minute."""
        self.read_log(is_end=True)
        self.counted += self.kernel_faults.count
        self.state = with_kernel(None, self.kernel_faults.minute_state)
        self.kernel_faults.end_minute()

    def reboot(self):
        """Read the last messages and reboot; the old ring is lost."""
        self.read_log()
        self.boot += 1
        self.now_us = 1_000_000
        self.log.clear()
        self.end_minute()
        self.begin()


SAY = st.builds(
    lambda is_fault, after_us: ("say", {"is_fault": is_fault, "after_us": after_us}),
    st.booleans(),
    st.integers(-999_999, 3_000_000),
)


LOG_STEPS = st.one_of(
    SAY,
    SAY,
    st.sampled_from([("read_log", {}), ("end_minute", {}), ("reboot", {}), ("begin", {})]),
    st.integers(1, 3 * MAX_FAULT_EVENTS).map(lambda count: ("flood", count)),
)


@given(st.lists(LOG_STEPS, max_size=40))
@example([("say", {"is_fault": True, "after_us": 1}), ("read_log", {}), ("begin", {})])
@example([("flood", 30), ("read_log", {}), ("begin", {}), ("flood", 3)])
def test_every_fault_is_counted_once_and_has_one_event(steps):
    """
    Each fault that is read is counted once and is in one event.

    Messages before a reboot that were not read are lost with the ring.
    """
    emitter = FaultEmitter()
    for step, arguments in steps:
        if step == "flood":
            for _ in range(arguments):
                emitter.say(is_fault=True, after_us=1)
        else:
            getattr(emitter, step)(**arguments)
    emitter.end_minute()
    note_event(f"faults: {min(emitter.faults, 3)}")
    assert emitter.faults == emitter.counted
    assert emitter.faults == emitter.announced


@pytest.fixture
def log():
    """Return a watch with a log that was read before."""
    return FakeWatch(LogState(Position(KERNEL_BOOT)))


def fault_message(number, text=REAL, at_s=FAULTS_NOW_S):
    """Return a message with a fault."""
    return replace(message(number, text=text), at_s=at_s)


def take(faults, *, is_end=False, now_s=FAULTS_NOW_S):
    """Return the due events, and check that the catalogue has them with their members."""
    events = faults.take_events(now_s, is_end=is_end)
    assert {event.name for event in events} <= EVENT_NAMES.keys()
    assert all(event.details.keys() <= members_of("event").keys() for event in events)
    return events


def test_a_flood_of_codes_is_ten_events_and_one_of_bounded_size(log):
    """Ten of 5,000 faults in a minute have an event, and one event counts the rest."""
    log.say(*(fault_message(number, f"NEURON_HW_ERR=CODE_{number}") for number in range(5000)))
    faults = KernelFaults(log)
    *single, rest = take(faults, is_end=True)
    assert MAX_FAULT_EVENTS == len(single)
    assert 5000 - MAX_FAULT_EVENTS == rest.details["Count"]
    assert rest.message == "the kernel log reports 4990 more hardware faults, 1 of them CODE_10"


@pytest.mark.parametrize(
    ("at_s", "expected"),
    [
        (FAULTS_NOW_S - 86_400, FAULTS_NOW_S - 86_400),
        (FAULTS_NOW_S - 86_401, FAULTS_NOW_S),
        (FAULTS_NOW_S + 1, FAULTS_NOW_S),
    ],
)
def test_an_event_has_its_own_time_within_a_day(at_s, expected, log):
    """
    An event has the fault's time, or the current time if the fault's is in the future or over a day
    old.

    CloudWatch refuses times in the future and very old times.
    """
    log.say(fault_message(1, at_s=at_s))
    assert [expected] == [event.at_s for event in take(KernelFaults(log))]


def test_messages_that_were_overwritten_have_one_event_at_the_end_of_the_minute():
    """Overwritten messages are one event at the end of the minute, with their number."""
    log: Any = FakeWatch(LogState(Position(KERNEL_BOOT, 1)))
    faults = KernelFaults(log)
    log.say(message(5), message(10))
    assert [] == take(faults)
    (event,) = take(faults, is_end=True)
    assert "KernelMessagesLost" == event.name
    assert 7 == event.details["Count"]
    assert event.message.startswith("7 kernel messages were overwritten")
    assert [] == take(faults, is_end=True)


def test_faults_from_before_the_first_start_are_one_event_and_do_not_count():
    """
    At the first start, faults older than ten minutes are one event and do not count.

    They may be repaired. A restart of the whole machine takes up to ten minutes.
    """
    log: Any = FakeWatch(now_s=FAULTS_NOW_S)
    young_us = int((FAULTS_NOW_S - KERNEL_BOOTED_S - 600) * 1e6)
    old_us = int((FAULTS_NOW_S - KERNEL_BOOTED_S - 601) * 1e6)
    log.say(message(0, seq=0), fault(9, seq=1), fault(old_us, seq=2), fault(young_us, seq=3))
    faults = KernelFaults(log)
    older, counted = take(faults)
    assert "HardwareFaultsFound" == older.name
    assert 2 == older.details["Count"]
    assert FAULTS_NOW_S == older.at_s
    assert (
        "2 hardware faults were in the kernel log before the emitter first read it, the"
        " newest 10 min ago: they are not counted" == older.message
    )
    assert "HardwareFault" == counted.name
    assert 1 == faults.count
    assert 2 == faults.event_state.counted.seq


def test_new_faults_stay_new_if_the_clock_is_set_back():
    """After a recent message, all later messages are recent, even if the clock steps back."""
    detector = FaultDetector(LogState(), FAULTS_NOW_S)
    detector.read_messages(
        [
            message(int((FAULTS_NOW_S - KERNEL_BOOTED_S) * 1e6), seq=0),
            fault(5, seq=1),
            fault(5, seq=2),
        ]
    )
    detection = detector.take_detection()
    assert 0 == detection.older
    assert 2 == len(detection.faults)
    assert 0 == detection.begin.seq
