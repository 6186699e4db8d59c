"""
Hardware faults on their way into the spool: counted by a minute, told by events.

Both happen once. What the spool has taken is said by `is_told` and
`is_counted`, each with the state it kept in the same transaction; what it did
not take is read again by the next run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from emitter.kernel.position import LogState, with_log_state
from emitter.kernel.telling import Telling

if TYPE_CHECKING:
    from emitter.events import Event
    from emitter.kernel.position import Position
    from emitter.kernel.sight import Catch


class Watch(Protocol):
    """Who reads the kernel log."""

    @property
    def is_reading(self) -> bool:
        """Whether a fault would be seen now."""

    @property
    def state(self) -> LogState:
        """What an earlier run left."""

    def take(self) -> Catch:
        """What was found since the last call."""


class KernelFaults:
    """Of one run; used by the reading loop alone. Without a *watch* there is nothing to count."""

    def __init__(self, watch: Watch | None = None) -> None:
        state = LogState() if watch is None else watch.state
        self._watch = watch
        self._counted = state.counted
        self._told = state.told
        self._position: Position | None = self._counted
        self._uncounted = 0
        self._telling = Telling()

    @property
    def count(self) -> int | None:
        """Faults that the open minute is to count; None while nobody reads the log."""
        is_reading = self._watch is not None and self._watch.is_reading
        return self._uncounted if self._uncounted or is_reading else None

    def events(self, now_s: float, *, is_end: bool) -> list[Event]:
        """What was found since and is due to be told; at the end of a minute also the rest."""
        if self._watch is None:
            return []
        self._add(self._watch.take())
        made = self._telling.events(now_s, is_end=is_end)
        self._told = self._telling.position or self._told
        return made

    def told_state(self, state: bytes | None) -> bytes | None:
        """*state* for the transaction that keeps the last events; None to leave it as it is."""
        if self._counted is None:
            return None
        return with_log_state(state, LogState(self._counted, self._told))

    def counted_state(self, state: bytes) -> bytes:
        """*state* for the transaction that keeps the minute, all of whose faults were told."""
        return state if self._position is None else with_log_state(state, LogState(self._position))

    def is_counted(self) -> None:
        """The spool has the minute."""
        self._counted, self._told, self._uncounted = self._position, None, 0
        self._telling.position = None

    def _add(self, catch: Catch) -> None:
        if catch.position is None:
            return
        if self._counted is None:
            self._counted = catch.begin
        self._position = catch.position
        self._uncounted += len(catch.seen)
        for seen in catch.seen:
            if not seen.is_told:
                self._telling.add(seen)
        if catch.newest_older is not None:
            self._telling.found(catch.older, catch.newest_older)
        self._telling.lost(catch.lost)
