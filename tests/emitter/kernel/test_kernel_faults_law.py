"""
Every fault is counted once and told once, whatever happens in between.

Starts, kills and reboots in any order, from the ring and from the journal by
turns. What the spool has of it is what counts: a minute, or the events of one
transaction, is there whole with its state or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import event, example, given
from hypothesis import strategies as st

from emitter.kernel.faults import KernelFaults
from emitter.kernel.position import NEAR_US, read_log_state
from emitter.kernel.sight import Sight
from emitter.kernel.telling import FAULT, MAX_EVENTS
from proof.factories.kernel_logs import BOOTED_S, fault, message

FIRST_S = BOOTED_S + 1.0  # the first start, so that nothing is from long before it


class Reader:
    """Who reads the log, without the thread."""

    is_reading = True

    def __init__(self, state):
        self.state = state
        self.sight = Sight(state, FIRST_S)

    def take(self):
        """What was found since."""
        return self.sight.take()


@dataclass
class Machine:
    """A kernel that says things, and an emitter that reads them."""

    log: list = field(default_factory=list)
    boot: int = 0
    now_us: int = 1_000_000
    faults: int = 0
    counted: int = 0
    told: int = 0
    state: bytes | None = None
    from_ring: bool = True
    place: int = 0

    def __post_init__(self):
        self.begin(from_ring=True)

    def begin(self, *, from_ring):
        """Start the emitter on what the spool holds."""
        self.from_ring = from_ring
        self.place = 0
        self.reader = Reader(read_log_state(self.state))
        self.emitter = KernelFaults(self.reader)

    def say(self, *, is_fault, after_us):
        """A message; stamps can be a little out of order."""
        stamp_us = self.now_us + after_us
        self.now_us = max(self.now_us, stamp_us)
        made = message(stamp_us)
        if is_fault:
            self.faults += 1
            made = fault(stamp_us, device=self.faults)
        boot_id = f"{self.boot:032x}"
        at_s = BOOTED_S + 1e6 * self.boot + stamp_us / 1e6
        seq = sum(one.boot_id == boot_id for one in self.log)
        self.log.append(replace(made, boot_id=boot_id, at_s=at_s, seq=seq))

    def look(self, *, is_end=False):
        """Read what there is, and tell it in one transaction."""
        if self.from_ring:
            found = [one for one in self.log if one.boot_id == f"{self.boot:032x}"]
        else:
            found = [replace(one, seq=None) for one in self.log]
        self.reader.sight.add(found[self.place :])
        self.place = len(found)
        if made := self.emitter.events(FIRST_S, is_end=is_end):
            assert is_end or len(made) <= MAX_EVENTS
            self.told += sum(one.details.get("Count", 1) for one in made if one.name == FAULT)
            self.state = self.emitter.told_state(self.state) or self.state

    def close(self):
        """Close the minute."""
        self.look(is_end=True)
        self.counted += self.emitter.count
        self.state = self.emitter.counted_state(b"{}")
        self.emitter.is_counted()

    def reboot(self):
        """Another boot, the ring of the last one is gone; the journal has it."""
        self.boot += 1
        self.now_us = 1_000_000
        self.begin(from_ring=False)


SAY = st.builds(
    lambda is_fault, after_us: ("say", {"is_fault": is_fault, "after_us": after_us}),
    st.booleans(),
    st.integers(1 - NEAR_US, 3 * NEAR_US).filter(lambda us: us != 0),
)
STEPS = st.one_of(
    SAY,
    SAY,
    st.sampled_from([("look", {}), ("close", {}), ("reboot", {})]),
    st.builds(lambda ring: ("begin", {"from_ring": ring}), st.booleans()),
    st.integers(1, 3 * MAX_EVENTS).map(lambda count: ("flood", count)),
)


@given(st.lists(STEPS, max_size=40))
@example([("say", {"is_fault": True, "after_us": 1}), ("look", {}), ("begin", {"from_ring": True})])
@example([("flood", 30), ("look", {}), ("begin", {"from_ring": False}), ("flood", 3)])
def test_every_fault_is_counted_once_and_told_once(steps):
    """
    A start from the ring after a reboot would miss the last words before it: the journal has them.
    """
    machine = Machine()
    for step, arguments in steps:
        if step == "flood":
            for _ in range(arguments):
                machine.say(is_fault=True, after_us=1)
        elif step == "begin" and machine.boot and arguments["from_ring"]:
            machine.begin(from_ring=False)
        else:
            getattr(machine, step)(**arguments)
    machine.close()
    event(f"faults: {min(machine.faults, 3)}")
    assert machine.faults == machine.counted
    assert machine.faults == machine.told
