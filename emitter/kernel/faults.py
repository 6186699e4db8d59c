"""
Hardware faults on their way into the spool: counted by a minute, told by events.

Both happen once: the spool keeps `told` and `counted` in the transaction of the
events and of the minute. What it did not take is read again by the next run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.kernel.fault_events import FaultEvents
from emitter.kernel.position import LogState

if TYPE_CHECKING:
    from emitter.events import Event
    from emitter.kernel.detector import Detection
    from emitter.kernel.position import Position
    from emitter.kernel.watch import KernelWatch


class KernelFaults:
    """Of one run; used by the reading loop alone. Without a *watch* there is nothing to count."""

    def __init__(self, watch: KernelWatch | None = None) -> None:
        state = LogState() if watch is None else watch.state
        self._watch = watch
        self._counted = state.counted
        self._told = state.told
        self._position: Position | None = self._counted
        self._uncounted = 0
        self._events = FaultEvents()

    @property
    def count(self) -> int | None:
        """Faults that the open minute is to count; None while nobody reads the log."""
        is_reading = self._watch is not None and self._watch.is_reading
        return self._uncounted if self._uncounted or is_reading else None

    @property
    def told(self) -> LogState | None:
        """What the transaction that keeps the last events keeps of the log; None for no change."""
        return None if self._counted is None else LogState(self._counted, self._told)

    @property
    def counted(self) -> LogState:
        """What the transaction that keeps the minute keeps of the log."""
        return LogState(self._position)

    def events(self, now_s: float, *, is_end: bool) -> list[Event]:
        """What was found since and is due to be told; at the end of a minute also the rest."""
        if self._watch is None:
            return []
        self._add(self._watch.take())
        events = self._events.events(now_s, is_end=is_end)
        self._told = self._events.position or self._told
        return events

    def end_minute(self) -> None:
        """The spool has the minute."""
        self._counted, self._told, self._uncounted = self._position, None, 0
        self._events.position = None

    def _add(self, detection: Detection) -> None:
        if detection.position is None:
            return
        if self._counted is None:
            self._counted = detection.begin
        self._position = detection.position
        self._uncounted += len(detection.faults)
        for located in detection.faults:
            if not located.is_told:
                self._events.add(located)
        if detection.newest_older is not None:
            self._events.add_older(detection.older, detection.newest_older)
        self._events.add_lost(detection.lost)
