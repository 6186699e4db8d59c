"""
Simulated time: future events in order, and what happened.

It also has decks of cards, shuffled by a seed, so that each chance comes up once a deck.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any

from neuron_words.quantity_words import iso
from proof.chaos.functions import KILLED

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Mapping

    from proof.chaos.functions import InjectedFaults, InvocationResult

NEAR = 20


class Timeline:
    """
    Future events, and a clock that moves from one to the next.

    Attributes:
        now_s: Seconds since the epoch.

        happened: The number of times that each trouble happened, by its name.

        complaints: Problems that were found on the way.
    """

    def __init__(self) -> None:
        self.now_s = 0.0
        self.happened: Counter[str] = Counter()
        self.complaints: list[str] = []
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._held_up: list[str] = []

    def at(self, at_s: float, event: Callable[[], None]) -> None:
        """Schedule *event* at *at_s*, or now if that has passed."""
        heapq.heappush(self._events, (at_s, next(self._order), event))

    def after(self, delay_s: float, event: Callable[[], None]) -> None:
        """Schedule *event* in *delay_s* seconds."""
        self.at(self.now_s + delay_s, event)

    def pass_until(self, now_s: float) -> None:
        """Run all events that are due by *now_s*."""
        while self._events and self._events[0][0] <= now_s:
            at_s, _, event = heapq.heappop(self._events)
            self.now_s = max(self.now_s, at_s)  # it may be later already: something was delayed
            event()
        self.now_s = max(self.now_s, now_s)

    def hold_up(self, what: str, seconds: float, *, within: tuple[str, ...] = ()) -> bool:
        """
        Delay *what* while everything else continues.

        Return True if it was delayed. During another delay it is delayed only if that one is in
        *within*.
        """
        if not set(self._held_up) <= set(within):
            return False
        self._held_up.append(what)
        self.pass_until(self.now_s + seconds)
        self._held_up.remove(what)
        return True

    def complain(self, what: str) -> None:
        """Note a problem at the present time."""
        self.complaints.append(f"{iso(1000 * self.now_s)}, {what}")


class Deck:
    """Cards in random order, shuffled again after all were dealt."""

    def __init__(self, rng: random.Random, cards: Mapping[Any, int]) -> None:
        self._rng = rng
        self._cards = [card for card, count in cards.items() for _ in range(count)]
        self._left: list[Any] = []

    def deal(self) -> Any:
        """Return the next card."""
        if not self._left:
            self._left = list(self._cards)
            self._rng.shuffle(self._left)
        return self._left.pop()


class Steps:
    """
    The steps at which a function must still be killed, before and after their effect.

    They are ordered by kind of call, and by number, up to the most steps of an undisturbed
    invocation.

    Attributes:
        kinds: The planned troubles, by the names under which they are counted.
    """

    def __init__(
        self, function: str, calls: Iterable[str], rng: random.Random, happened: Counter[str]
    ) -> None:
        self.numbers: list[tuple[int, bool]] = []
        self.most = 0
        self._function = function
        self._rng = rng
        self._happened = happened
        self._calls = [(name, after) for name in calls for after in (False, True)]
        self._hit: set[tuple[str | int, bool]] = set()
        self.kinds = [self._kind(*call) for call in self._calls]
        self.kinds.append(f"{function}: the table refused")

    def count_steps(self, steps: int) -> None:
        """Note that an undisturbed invocation took *steps* steps."""
        if steps > self.most:
            self.most = steps
            self.numbers = [(at, after) for at in range(1, steps + 1) for after in (False, True)]

    def count_failure(self, result: InvocationResult, faults: InjectedFaults) -> bool:
        """Count an invocation that was killed or refused by the table; return False for another."""
        if result.ended == KILLED:
            name = result.calls[-1]
            number = len(result.calls)
            self._hit |= {(name, faults.after), (number, faults.after)}
            self._happened[self._kind(name, faults.after)] += 1
            return True
        is_refused = result.error == "TableError" and faults.refused_at is not None
        self._happened[f"{self._function}: the table refused"] += is_refused
        return is_refused

    def next_call(self) -> tuple[str, bool] | None:
        """Return a kind of call at which no invocation has ended yet."""
        return next((call for call in self._calls if call not in self._hit), None)

    def next_number(self) -> tuple[int, bool] | None:
        """
        Return a number of a step at which no invocation has ended yet; lower numbers sooner.

        A killed run leaves its work to the next, a complete run leaves none.
        """
        left = [number for number in self.numbers if number not in self._hit]
        return self._rng.choice(left[:NEAR]) if left else None

    @property
    def numbers_hit(self) -> int:
        """Return how many of the numbers were reached."""
        return sum(number in self._hit for number in self.numbers)

    def _kind(self, name: str, after: bool) -> str:  # noqa: FBT001  # of one pair
        return f"{self._function} killed {'after' if after else 'before'} {name}"
