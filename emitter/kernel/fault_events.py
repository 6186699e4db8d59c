"""
Faults as events, and no more of them than a person can read.

A device that breaks can fill the kernel log. The first faults of a minute get
an event each, the rest of the minute one event together.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from emitter.events import Event
from neuron_wire.phrases import duration

if TYPE_CHECKING:
    from emitter.kernel.detector import LocatedFault
    from emitter.kernel.hardware_fault import HardwareFault
    from emitter.kernel.position import Position

FAULT: Final = "HardwareFault"
FOUND: Final = "HardwareFaultsFound"
LOST: Final = "KernelMessagesLost"

MAX_EVENTS: Final = 10  # of single faults in one minute
MAX_CODES: Final = 20
OLDEST_S: Final = 86_400.0  # an event that is older is told as one of now


class FaultEvents:
    """
    The faults of the open minute that no event has named.

    Attributes:
        position: Of the last fault whose event was made.
    """

    def __init__(self) -> None:
        self.position: Position | None = None
        self._single: list[LocatedFault] = []
        self._single_count = 0
        self._folded = 0
        self._codes: Counter[str] = Counter()
        self._newest: LocatedFault | None = None
        self._older: tuple[int, HardwareFault] | None = None
        self._lost = 0

    def add(self, located: LocatedFault) -> None:
        """A fault that counts."""
        if self._single_count + len(self._single) < MAX_EVENTS:
            self._single.append(located)
            return
        self._folded += 1
        self._newest = located
        if located.fault.code in self._codes or len(self._codes) < MAX_CODES:
            self._codes[located.fault.code] += 1

    def add_older(self, count: int, newest: HardwareFault) -> None:
        """Faults from long before the first start."""
        self._older = (count + (self._older[0] if self._older else 0), newest)

    def add_lost(self, count: int) -> None:
        """Messages that nobody can read any more."""
        self._lost += count

    def events(self, now_s: float, *, is_end: bool) -> list[Event]:
        """What is to be told now; at the end of a minute also the rest of it."""
        events: list[Event] = []
        if self._older is not None:
            events.append(_older_event(*self._older, now_s))
        for located in self._single:
            fault = located.fault
            events.append(Event(FAULT, _when(fault, now_s), fault.sentence(), fault.details()))
            self.position = located.position
        if is_end and self._newest is not None:
            events.append(self._rest(self._newest, now_s))
            self.position = self._newest.position
        if is_end and self._lost:
            events.append(_lost_event(self._lost, now_s))
        self._single_count += len(self._single)
        self._older, self._single = None, []
        if is_end:
            self._single_count = self._folded = self._lost = 0
            self._newest = None
            self._codes.clear()
        return events

    def _rest(self, newest: LocatedFault, now_s: float) -> Event:
        (code, times), *others = self._codes.most_common()
        faults = "fault" if self._folded == 1 else "faults"
        which = f", {times} of them {code}" if others else f": {code}"
        message = f"the kernel log reports {self._folded} more hardware {faults}{which}"
        details = {**newest.fault.details(), "Fault": code, "Count": self._folded}
        return Event(FAULT, _when(newest.fault, now_s), message, details)


def _older_event(count: int, newest: HardwareFault, now_s: float) -> Event:
    were, they = ("fault was", "it is") if count == 1 else ("faults were", "they are")
    ago_minutes = max(0.0, now_s - newest.at_s) / 60
    message = (
        f"{count} hardware {were} in the kernel log before the emitter first read "
        f"it, the newest {duration(ago_minutes)} ago: {they} not counted"
    )
    return Event(FOUND, now_s, message, {**newest.details(), "Count": count})


def _lost_event(count: int, now_s: float) -> Event:
    were = "message was" if count == 1 else "messages were"
    message = (
        f"{count} kernel {were} overwritten before the emitter read them: they "
        "may include hardware faults"
    )
    return Event(LOST, now_s, message, {"Count": count})


def _when(fault: HardwareFault, now_s: float) -> float:
    return fault.at_s if now_s - OLDEST_S <= fault.at_s <= now_s else now_s
