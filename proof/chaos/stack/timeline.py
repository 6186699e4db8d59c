"""Simulated time: what is going to happen, in order, and what happened."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from datetime import datetime, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Timeline:
    """
    Events to come, and a clock that goes from one to the next.

    Attributes:
        now_s: Seconds since the epoch.

        horizon_s: Up to when it is known what happens from outside.

        happened: How often each trouble happened, by its name.

        complaints: What was found wrong on the way.
    """

    def __init__(self) -> None:
        self.now_s = 0.0
        self.horizon_s = 0.0
        self.happened: Counter[str] = Counter()
        self.complaints: list[str] = []
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._held_up: list[str] = []

    def at(self, at_s: float, event: Callable[[], None]) -> None:
        """Let *event* happen at *at_s*, or now if that is over."""
        heapq.heappush(self._events, (at_s, next(self._order), event))

    def after(self, delay_s: float, event: Callable[[], None]) -> None:
        """Let *event* happen in *delay_s* seconds."""
        self.at(self.now_s + delay_s, event)

    def pass_until(self, now_s: float) -> None:
        """Let everything happen that is due by *now_s*."""
        while self._events and self._events[0][0] <= now_s:
            at_s, _, event = heapq.heappop(self._events)
            self.now_s = max(self.now_s, at_s)  # it may be later already: something was held up
            event()
        self.now_s = max(self.now_s, now_s)

    def hold_up(self, what: str, seconds: float, *, within: tuple[str, ...] = ()) -> bool:
        """
        Hold up *what* is going on while everything else goes on.

        Returns whether it was: not while anything is held up that it may not be *within*.
        """
        until_s = min(self.now_s + seconds, self.horizon_s)
        if until_s <= self.now_s or not set(self._held_up) <= set(within):
            return False
        self._held_up.append(what)
        self.pass_until(until_s)
        self._held_up.remove(what)
        return True

    def complain(self, what: str) -> None:
        """Note *what* is wrong now."""
        moment = datetime.fromtimestamp(self.now_s, timezone.utc)
        self.complaints.append(f"{moment:%Y-%m-%dT%H:%M:%SZ}, {what}")
