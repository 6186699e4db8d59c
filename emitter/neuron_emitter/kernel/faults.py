"""
Store hardware faults: a minute counts each fault, an event names it.

A fault is counted once and named once, because the spool stores the position in the kernel log in
the same transaction as the events or the minute. After a failed transaction, the next run reads
the messages again. A broken device can fill the kernel
log, so the first faults of a minute get one event each, and the other faults of the minute get one
event together.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from neuron_emitter.kernel.detector import LogState
from neuron_emitter.logs import Event
from neuron_words.quantity_words import duration

if TYPE_CHECKING:
    from neuron_emitter.kernel.detector import Detection, HardwareFault, LocatedFault, Position
    from neuron_emitter.kernel.watch import KernelWatch

FAULT: Final = "HardwareFault"

MAX_FAULT_EVENTS: Final = 10  # single faults in one minute
MAX_CODES: Final = 20
OLDEST_S: Final = 86_400.0  # CloudWatch would reject an older event, so it gets the present time


class KernelFaults:
    """The faults of one run, used only by the reading loop; without a *watch* there are none."""

    def __init__(self, watch: KernelWatch | None = None) -> None:
        state = LogState() if watch is None else watch.state
        self._watch = watch
        self._counted = state.counted  # the end of the last minute
        self._announced = state.announced  # the last fault with an event
        self._position: Position | None = state.counted
        self._uncounted = 0
        self._events_made = 0  # events of single faults in this minute
        self._rest: LocatedFault | None = None  # the newest fault without its own event
        self._rest_count = 0
        self._rest_codes: Counter[str] = Counter()
        self._lost = 0

    @property
    def count(self) -> int | None:
        """The number of faults that the open minute counts; None while the log is not read."""
        is_reading = self._watch is not None and self._watch.is_reading
        return self._uncounted if self._uncounted or is_reading else None

    @property
    def event_state(self) -> LogState | None:
        """Return the state to store with the last events; None if it has not changed."""
        return None if self._counted is None else LogState(self._counted, self._announced)

    @property
    def minute_state(self) -> LogState:
        """Return the state to store with the minute."""
        return LogState(self._position)

    def take_events(self, now_s: float, *, is_end: bool) -> list[Event]:
        """Return the due events; at the end of a minute also the event for the other faults."""
        if self._watch is None:
            return []
        events = self._fold_detection(self._watch.take_detection(), now_s)
        if is_end:
            if self._rest is not None:
                events.append(self._rest_event(self._rest, now_s))
                self._announced = self._rest.position
            if self._lost:
                events.append(_lost_event(self._lost, now_s))
            self._events_made = self._rest_count = self._lost = 0
            self._rest = None
            self._rest_codes.clear()
        return events

    def end_minute(self) -> None:
        """Start a new minute after the spool has stored the last one."""
        self._counted = self._position
        self._announced = None
        self._uncounted = 0

    def _fold_detection(self, detection: Detection, now_s: float) -> list[Event]:
        """Count the faults of *detection*. Return the events of faults that get their own."""
        if detection.position is None:
            return []
        if self._counted is None:
            self._counted = detection.begin
        self._position = detection.position
        self._uncounted += len(detection.faults)
        self._lost += detection.lost
        events = []
        if detection.newest_older is not None:
            events.append(_older_event(detection.older, detection.newest_older, now_s))
        for located in detection.faults:
            if located.has_event:
                continue
            fault = located.fault
            if self._events_made < MAX_FAULT_EVENTS:
                self._events_made += 1
                events.append(Event(FAULT, _when(fault, now_s), fault.sentence(), fault.details()))
                self._announced = located.position
                continue
            self._rest_count += 1
            self._rest = located
            if fault.code in self._rest_codes or len(self._rest_codes) < MAX_CODES:
                self._rest_codes[fault.code] += 1
        return events

    def _rest_event(self, newest: LocatedFault, now_s: float) -> Event:
        (code, times), *others = self._rest_codes.most_common()
        faults = "fault" if self._rest_count == 1 else "faults"
        which = f", {times} of them {code}" if others else f": {code}"
        message = f"the kernel log reports {self._rest_count} more hardware {faults}{which}"
        details = {**newest.fault.details(), "Fault": code, "Count": self._rest_count}
        return Event(FAULT, _when(newest.fault, now_s), message, details)


def _older_event(count: int, newest: HardwareFault, now_s: float) -> Event:
    were, they = ("fault was", "it is") if count == 1 else ("faults were", "they are")
    ago_minutes = max(0.0, now_s - newest.at_s) / 60
    message = (
        f"{count} hardware {were} in the kernel log before the emitter first read "
        f"it, the newest {duration(ago_minutes)} ago: {they} not counted"
    )
    return Event("HardwareFaultsFound", now_s, message, {**newest.details(), "Count": count})


def _lost_event(count: int, now_s: float) -> Event:
    were = "message was" if count == 1 else "messages were"
    message = (
        f"{count} kernel {were} overwritten before the emitter read them: they "
        "may include hardware faults"
    )
    return Event("KernelMessagesLost", now_s, message, {"Count": count})


def _when(fault: HardwareFault, now_s: float) -> float:
    return fault.at_s if now_s - OLDEST_S <= fault.at_s <= now_s else now_s
