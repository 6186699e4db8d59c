"""
Every fault is counted once and told once, whatever happens in between.

Starts, kills and reboots in any order. What the spool has of it is what counts: a
minute, or the events of one transaction, is there whole with its state or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import event, example, given
from hypothesis import strategies as st

from emitter.fold.state import read_state, with_kernel
from emitter.kernel.fault_events import FAULT, MAX_EVENTS
from emitter.kernel.faults import KernelFaults
from tests.emitter.kernel.kernel_logs import BOOTED_S, PlayedWatch, fault, message

FIRST_S = BOOTED_S + 1.0  # the first start, so that nothing is from long before it


@dataclass
class Emitter:
    """What the kernel has said, and an emitter that reads it."""

    log: list = field(default_factory=list)
    boot: int = 0
    now_us: int = 1_000_000
    faults: int = 0
    counted: int = 0
    told: int = 0
    state: bytes | None = None
    place: int = 0

    def __post_init__(self):
        self.begin()

    def begin(self):
        """Start the emitter on what the spool holds."""
        self.place = 0
        self.watch = PlayedWatch(read_state(self.state).kernel, now_s=FIRST_S)
        self.faults_kept = KernelFaults(self.watch)

    def say(self, *, is_fault, after_us):
        """A message; stamps can be a little out of order."""
        stamp_us = self.now_us + after_us
        self.now_us = max(self.now_us, stamp_us)
        made = message(stamp_us)
        if is_fault:
            self.faults += 1
            made = fault(stamp_us, device=self.faults)
        at_s = BOOTED_S + 1e6 * self.boot + stamp_us / 1e6
        boot_id = f"{self.boot:032x}"
        self.log.append(replace(made, boot_id=boot_id, at_s=at_s, seq=len(self.log)))

    def look(self, *, is_end=False):
        """Read what there is, and tell it in one transaction."""
        self.watch.say(*self.log[self.place :])
        self.place = len(self.log)
        if events := self.faults_kept.events(FIRST_S, is_end=is_end):
            assert is_end or len(events) <= MAX_EVENTS
            self.told += sum(event.details.get("Count", 1) for event in events)
            assert {FAULT} == {event.name for event in events}
            if self.faults_kept.told is not None:
                self.state = with_kernel(self.state, self.faults_kept.told)

    def close(self):
        """Close the minute."""
        self.look(is_end=True)
        self.counted += self.faults_kept.count
        self.state = with_kernel(None, self.faults_kept.counted)
        self.faults_kept.end_minute()

    def reboot(self):
        """Another boot after the last words were read: the ring of the last one is gone."""
        self.look()
        self.boot += 1
        self.now_us = 1_000_000
        self.log.clear()
        self.close()
        self.begin()


SAY = st.builds(
    lambda is_fault, after_us: ("say", {"is_fault": is_fault, "after_us": after_us}),
    st.booleans(),
    st.integers(-999_999, 3_000_000),
)
STEPS = st.one_of(
    SAY,
    SAY,
    st.sampled_from([("look", {}), ("close", {}), ("reboot", {}), ("begin", {})]),
    st.integers(1, 3 * MAX_EVENTS).map(lambda count: ("flood", count)),
)


@given(st.lists(STEPS, max_size=40))
@example([("say", {"is_fault": True, "after_us": 1}), ("look", {}), ("begin", {})])
@example([("flood", 30), ("look", {}), ("begin", {}), ("flood", 3)])
def test_every_fault_is_counted_once_and_told_once(steps):
    """But for the last words before a reboot that nobody read: they are gone with the ring."""
    emitter = Emitter()
    for step, arguments in steps:
        if step == "flood":
            for _ in range(arguments):
                emitter.say(is_fault=True, after_us=1)
        else:
            getattr(emitter, step)(**arguments)
    emitter.close()
    event(f"faults: {min(emitter.faults, 3)}")
    assert emitter.faults == emitter.counted
    assert emitter.faults == emitter.told
