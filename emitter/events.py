"""Something that happened on an instance, for a line of its own."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_WAITING: Final = 100
"""Events that may wait for the instance to have a name; the oldest are dropped, and counted."""


@dataclass(frozen=True, slots=True)
class Event:
    """
    One `event` line, before it has an identity.

    Attributes:
        name: What happened, such as `MonitorDied`; one of few.

        at_s: When, seconds since the Unix epoch.

        message: One sentence for a person, without payload.

        details: Further members of the line, named as in the catalogue.
    """

    name: str
    at_s: float
    message: str
    details: Mapping[str, str | int | float] = field(default_factory=dict)


class EventQueue:
    """
    Events on their way to the spool. Any thread may add.

    Attributes:
        dropped: Events lost because too many were waiting.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._waiting: deque[Event] = deque()

    def add(self, event: Event) -> None:
        """Let *event* wait; the oldest makes room."""
        self._waiting.append(event)
        while len(self._waiting) > MAX_WAITING:
            self._waiting.popleft()
            self.dropped += 1

    def take(self) -> list[Event]:
        """All that wait, the oldest first; then none does."""
        taken = []
        while self._waiting:
            taken.append(self._waiting.popleft())
        return taken
